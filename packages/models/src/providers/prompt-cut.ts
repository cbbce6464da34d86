// The room of prompts that a server cuts without a word (F184).
//
// Some servers cut what does not fit into the context they loaded, from the front, where the system prompt stands, and
// answer as if nothing had happened. What gives them away is their own count: far fewer tokens than the texts of the
// request can have come to. Texts are measured, not the encoded body: pictures are long there and few tokens.

import {
  type AssistantMessage,
  type Message,
  type Model,
  type ModelRequest,
  modelFace,
  RondoError,
} from "@rondo/core";

interface PromptCutOptions {
  /** `warn` emits a `context_truncated` warning, `fail` makes it the call's error. Default: `warn`. */
  onPromptCut?: "warn" | "fail";
  /** Who cuts. Default: `the server`. */
  speaker?: string;
  /** What to do about it, as a sentence. Default: to load the model with more context. */
  advice?: string;
}

/** The model, which tells of prompts that its server has cut: with a warning, or by failing the call with `context_truncated`. */
export function watchingCuts(model: Model, options: PromptCutOptions = {}): Model {
  const sizes = new WeakMap<Message, number>();
  return {
    ...modelFace(model),
    async call(request, io): Promise<AssistantMessage> {
      const answer = await model.call(request, io);
      const message = cutOf(request, answer, sizes, options);
      if (message === undefined) return answer;
      const { usage } = answer;
      if (options.onPromptCut === "fail")
        throw new RondoError(
          "context_truncated",
          `${model.id}: ${message}`,
          usage === undefined ? {} : { usage },
        );
      io.emit({ type: "warning", code: "context_truncated", message: `${model.id}: ${message}` });
      return answer;
    },
  };
}

/** What was cut, in words; undefined where nothing was. */
function cutOf(
  request: ModelRequest,
  { usage }: AssistantMessage,
  sizes: WeakMap<Message, number>,
  {
    speaker = "the server",
    advice = "Load the model with as much context as the conversation needs",
  }: PromptCutOptions,
): string | undefined {
  const told = usage?.inputTokens;
  if (told === undefined) return undefined;
  let chars = request.system?.length ?? 0;
  for (const message of request.messages) {
    // A message is measured once.
    const size = sizes.get(message) ?? sizeOf(message);
    sizes.set(message, size);
    chars += size;
  }
  const estimate = Math.floor(chars / charsPerToken);
  if (estimate < worthChecking || told >= estimate * leastShare) return undefined;
  return `${speaker} read ${told} tokens of a prompt of about ${estimate}: it was probably cut to the context the model is loaded with. ${advice}`;
}

function sizeOf({ content }: Message): number {
  let size = 0;
  for (const part of content)
    if (part.type === "text") size += part.text.length;
    else if (part.type === "tool_call") size += part.rawArgs.length;
  return size;
}

/** High, so that a prompt is taken for cut rather too rarely than too often. */
const charsPerToken = 4.5;
/** Tokens. Below, templates and rounding weigh too much. */
const worthChecking = 1000;
/** A count below this share of the estimate is no matter of tokenizers any more. */
const leastShare = 0.6;

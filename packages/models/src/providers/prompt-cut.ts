// The room of prompts that a server cuts without reporting it (F184).
//
// Some servers cut what does not fit into the loaded context, from the front, where the system prompt is, and answer as if
// nothing had happened. The reported usage gives them away: far fewer input tokens than the request's texts must have. The
// texts are measured, not the encoded body: images are long there but few tokens.

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
  /** The server's name in the message. Default: `the server`. */
  speaker?: string;
  /** What to do about it, as a sentence. Default: advice to load the model with more context. */
  advice?: string;
}

/** The model, reporting prompts that its server cut: by a warning, or by failing the call with `context_truncated`. */
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

/** The message about a cut prompt; undefined if it was not cut. */
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
    // Each message is measured once.
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

/** High, so that the estimate is low: better to miss a cut than to report one that did not happen. */
const charsPerToken = 4.5;
/** In tokens. Below this, chat templates and rounding weigh too much. */
const worthChecking = 1000;
/** A reported count below this share of the estimate cannot be explained by a different tokenizer. */
const leastShare = 0.6;

// The room of prompts that a server cuts without a word (F184).
//
// Some servers cut what does not fit into the context they loaded, from the front, where the system prompt stands, and
// answer as if nothing had happened. What gives them away is their own count: far fewer tokens than the texts of the
// request can have come to. Texts are measured, not the encoded body: pictures are long there and few tokens.

import {
  type AssistantMessage,
  type Message,
  type Model,
  type ModelFacts,
  type ModelIo,
  type ModelRequest,
  type Origin,
  RondoError,
} from "@rondo/core";

export interface PromptCutOptions {
  /** `warn` emits a `context_truncated` warning, `fail` makes it the call's error. Default: `warn`. */
  onPromptCut?: "warn" | "fail";
  /** Who cuts. Default: `the server`. */
  speaker?: string;
  /** What to do about it, as a sentence. Default: to load the model with more context. */
  advice?: string;
}

/** Tells of answers to a prompt that was cut. */
export class PromptCutWatch {
  readonly #options: PromptCutOptions;
  readonly #sizes = new WeakMap<Message, number>();

  constructor(options: PromptCutOptions = {}) {
    this.#options = options;
  }

  /** @throws RondoError `context_truncated`, where that was asked for */
  check(id: string, request: ModelRequest, answer: AssistantMessage, io: Pick<ModelIo, "emit">): void {
    const told = answer.usage?.inputTokens;
    if (told === undefined) return;
    const estimate = Math.floor(this.#chars(request) / charsPerToken);
    if (estimate < worthChecking || told >= estimate * leastShare) return;
    const {
      speaker = "the server",
      advice = "Load the model with as much context as the conversation needs",
    } = this.#options;
    const message = `${id}: ${speaker} read ${told} tokens of a prompt of about ${estimate}: it was probably cut to the context the model is loaded with. ${advice}`;
    if (this.#options.onPromptCut === "fail")
      throw new RondoError("context_truncated", message, {
        ...(answer.usage === undefined ? {} : { usage: answer.usage }),
      });
    io.emit({ type: "warning", code: "context_truncated", message });
  }

  /** A message is measured once. */
  #chars(request: ModelRequest): number {
    let chars = request.system?.length ?? 0;
    for (const message of request.messages) {
      let size = this.#sizes.get(message);
      if (size === undefined) {
        size = 0;
        for (const part of message.content)
          if (part.type === "text") size += part.text.length;
          else if (part.type === "tool_call") size += part.rawArgs.length;
        this.#sizes.set(message, size);
      }
      chars += size;
    }
    return chars;
  }
}

/** The model, with a warning when its server has cut the prompt. */
export function watchingCuts(model: Model, options: PromptCutOptions = {}): Model {
  return new WatchedModel(model, new PromptCutWatch(options));
}

class WatchedModel implements Model {
  readonly id: string;
  readonly origin: Origin;
  readonly facts?: ModelFacts;
  readonly #model: Model;
  readonly #watch: PromptCutWatch;

  constructor(model: Model, watch: PromptCutWatch) {
    this.id = model.id;
    this.origin = model.origin;
    if (model.facts !== undefined) this.facts = model.facts;
    this.#model = model;
    this.#watch = watch;
  }

  async call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage> {
    const answer = await this.#model.call(request, io);
    this.#watch.check(this.id, request, answer, io);
    return answer;
  }
}

/** High, so that a prompt is taken for cut rather too rarely than too often. */
const charsPerToken = 4.5;
/** Tokens. Below, templates and rounding weigh too much. */
const worthChecking = 1000;
/** A count below this share of the estimate is no matter of tokenizers any more. */
const leastShare = 0.6;

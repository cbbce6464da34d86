// The room of the model: the one interface behind which every provider stands.
//
// A model gets a request and a signal, emits what arrives while it arrives, and returns the whole answer.
// It makes one attempt. Retry, fall-back, limits and time-outs between events are the loop's.

import type { Clock } from "./clock.ts";
import { isObject } from "./json/object.ts";
import type { AssistantMessage, Json, JsonObject, Message, Origin } from "./message.ts";
import { headOf } from "./text/size.ts";

/** A read-only list of messages that costs nothing to pass on. Iterate it, or ask `at`. */
export interface MessageList extends Iterable<Message> {
  readonly length: number;
  at(index: number): Message | undefined;
  /** True when the other list is a prefix of this one; false when that cannot be told without looking at every message. */
  extends?(other: MessageList): boolean;
}

/** A tool as the model sees it. Compare by identity: an unchanged tool is the same object at every step. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments, an object schema. */
  inputSchema: JsonObject;
}

/** `auto`: the model decides. `any`: it must call some tool. `none`: it must not. `{ tool }`: it must call this one. */
export type ToolChoice = "auto" | "any" | "none" | { tool: string };

/** Sampling and provider settings. Default of each: the provider's own. A setting that the provider lacks is left out with a `warning` event. */
export interface Settings {
  /** From 0; the maximum depends on the provider (1 or 2). */
  temperature?: number;
  /** From 0 to 1. */
  topP?: number;
  /** How many of the likeliest tokens are chosen from. */
  topK?: number;
  /** The most tokens of one answer, including reasoning. */
  maxOutputTokens?: number;
  /** Stop sequences: texts that end an answer where they would appear. */
  stop?: string[];
  /** The same seed and request give the same answer, as far as the provider keeps to it. */
  seed?: number;
  /** From -2 to 2: against tokens by how often they have come. */
  frequencyPenalty?: number;
  /** From -2 to 2: against tokens that have come at all. */
  presencePenalty?: number;
  /** Effort by level, or a budget in tokens, or `off`. A level that the model lacks becomes the nearest one it has. */
  reasoning?: "off" | "minimal" | "low" | "medium" | "high" | { budgetTokens: number };
  /** `false` asks for at most one call an answer. */
  parallelToolCalls?: boolean;
  /** Extra HTTP headers of each request; they win over the model's own. They are kept with the run: a key belongs to the model. */
  headers?: Record<string, string>;
  /** Fields of the provider's own request, by provider: `{ anthropic: { service_tier: "auto" } }`. */
  providerOptions?: Record<string, JsonObject>;
}

export interface ModelRequest {
  /** The system prompt. */
  system?: string;
  messages: MessageList;
  tools: readonly ToolDefinition[];
  toolChoice: ToolChoice;
  settings: Settings;
  /** JSON Schema that the answer's text must satisfy. Set only if the model supports one natively. */
  outputSchema?: JsonObject;
}

/** What a model emits while its answer arrives. `index` is the position of the part in the answer. */
export type ModelEvent =
  | { type: "text_delta"; index: number; text: string }
  | { type: "reasoning_delta"; index: number; text: string }
  /** `id` and `name` may be incomplete, or empty, until they have arrived. */
  | { type: "tool_args_delta"; index: number; id: string; name: string; delta: string }
  /** Work goes on, with nothing to show (a tool of the provider's runs, say). Resets the idle clock; pings are not emitted. */
  | { type: "progress" }
  | { type: "warning"; code: string; message: string };

export interface ModelIo {
  /** Fires on abort, time-out, or when the answer is no longer wanted. */
  signal: AbortSignal;
  /**
   * Called for each event, synchronously.
   * @param more true: another event follows at once, and the idle clock is read with that one. Default: false
   */
  emit(event: ModelEvent, more?: boolean): void;
  /** Time-outs in milliseconds. A transport must apply the first two; the loop applies the third, and passes it on for information. */
  clocks?: { connectMs?: number; firstByteMs?: number; idleMs?: number };
  /** Default: the host's. */
  clock?: Clock;
  /** For a model that answers one call at a time: give a promise that resolves when this call's turn has come. The first-byte clock starts then. */
  queued?(turn: Promise<unknown>): void;
}

/** What is known of a model. Absent is unknown. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  contextWindow?: number;
  maxOutputTokens?: number;
  /** The most tokens of input alone, if the provider has such a limit. */
  maxInputTokens?: number;
  /** US dollars per million tokens. */
  price?: { input: number; output: number; cachedInput?: number; cacheWrite?: number };
  /** Media types accepted beside text, e.g. `image/*`. */
  accepts?: readonly string[];
  /** Whether it can be given tools natively. Default: yes. */
  tools?: boolean;
  /** Whether it can follow a JSON Schema natively, and whether also with tools in the same request. */
  output?: "native" | "native_without_tools" | "none";
  /** Its native JSON Schemas allow only objects with named members. A typed output with free keys (`z.record`) is then asked for by a tool. Default: false. */
  closedOutput?: boolean;
}

export interface Model {
  /** Its name, e.g. `anthropic/claude-sonnet-5`. Unique among an agent's models. */
  readonly id: string;
  /** The protocol, provider and model: stands in each of its answers. */
  readonly origin: Origin;
  /** Its window, limits, prices and abilities, as far as they are known. */
  readonly facts?: ModelFacts;
  /** Clocks of its own, in milliseconds, over the agent's: a slow server may need a longer wait. 0: none. Default: the agent's. */
  readonly clocks?: { readonly connectMs?: number; readonly firstByteMs?: number };
  /**
   * One attempt at one answer.
   * Rejects with a `RondoError` whose `kind` says what failed, with `partial` and `usage` where there are any.
   */
  call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage>;
}

/** Everything of a model but its `call`, for a model that wraps another. */
export function modelFace({ id, origin, facts, clocks }: Omit<Model, "call">): Omit<Model, "call"> {
  return {
    id,
    origin,
    ...(facts === undefined ? {} : { facts }),
    ...(clocks === undefined ? {} : { clocks }),
  };
}

/** A raw value of a provider, cut to a size that an error or a journal can hold. */
export function cutRaw(raw: unknown, limit: number = 4096): Json {
  const text = typeof raw === "string" ? raw : (JSON.stringify(raw) ?? "");
  return text.length <= limit ? text : `${headOf(text, limit)}…`;
}

/**
 * Whether what a model returned has the shape of an answer. A model may be user code: a wrapper passes on anything else
 * unchanged, and the loop reports what is wrong with it.
 */
export function isAnswerLike(said: unknown): said is AssistantMessage {
  if (!isObject(said)) return false;
  const { content, stop } = said;
  return isObject(stop) && Array.isArray(content) && content.every((part) => isObject(part));
}

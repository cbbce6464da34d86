// The room of the model: the one interface that every provider implements.
//
// A model gets a request and a signal, emits deltas as they arrive, and returns the complete answer.
// It makes one attempt. Retries, fallback, limits and timeouts between events are the loop's.

import type { Clock } from "./clock.ts";
import { isObject } from "./json/object.ts";
import type { AssistantMessage, Json, JsonObject, Message, Origin } from "./message.ts";
import type { Price } from "./price.ts";
import { headOf } from "./text/size.ts";

/** A read-only list of messages that costs nothing to pass on. Iterate it, or use `at`. */
export interface MessageList extends Iterable<Message> {
  readonly length: number;
  at(index: number): Message | undefined;
  /** True if the other list is known to be a prefix of this one; false if that would take comparing every message. */
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

/** Sampling and provider settings. Default of each: the provider's. A setting that the provider does not support is left out with a `warning` event. */
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
  /** The same seed and request give the same answer, as far as the provider guarantees that. */
  seed?: number;
  /** From -2 to 2: against tokens by how often they have come. */
  frequencyPenalty?: number;
  /** From -2 to 2: against tokens that have come at all. */
  presencePenalty?: number;
  /** A level of effort, a budget in tokens, or `off`. A level that the model does not support becomes the nearest one. */
  reasoning?: "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | { budgetTokens: number };
  /** `false` asks for at most one call per answer. */
  parallelToolCalls?: boolean;
  /** Extra HTTP headers of each request; they override the model's own. They are stored with the run, so an API key belongs to the model instead. */
  headers?: Record<string, string>;
  /** Fields of the provider's own request, by provider: `{ anthropic: { service_tier: "auto" } }`. */
  providerOptions?: Record<string, JsonObject>;
}

export interface ModelRequest {
  /** The system prompt. */
  system?: string;
  messages: MessageList;
  tools: readonly ToolDefinition[];
  /** Tools that wait until a result offers them (`when: "offered"`). The model is not told of them. Absent: there are none. */
  waiting?: readonly ToolDefinition[];
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
  /** The model is still working, with nothing to show (e.g. the provider runs a tool). Resets the idle timeout; not emitted for pings. */
  | { type: "progress" }
  | { type: "warning"; code: string; message: string };

export interface ModelIo {
  /** Fires on an abort, a timeout, or when the answer is no longer wanted. */
  signal: AbortSignal;
  /**
   * Called for each event, synchronously.
   * @param more true: another event follows at once, and the idle clock is read with that one. Default: false
   */
  emit(event: ModelEvent, more?: boolean): void;
  /** Timeouts in milliseconds. A transport must apply the first two; the loop applies the third, which is passed for information. */
  clocks?: { connectMs?: number; firstByteMs?: number; idleMs?: number };
  /**
   * A name of the session whose request this is, always the same: a provider that keeps the requests of one together finds more
   * in its cache. A digest of the session's id. Absent: there is no session.
   */
  session?: string;
  /** Default: the host's. */
  clock?: Clock;
  /** For a model that answers one call at a time: pass a promise that resolves when it is this call's turn. The first-byte timeout starts then. */
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
  price?: Price;
  /** Media types accepted besides text, e.g. `image/*`. */
  accepts?: readonly string[];
  /** Whether it supports tool calls natively. Default: yes. */
  tools?: boolean;
  /** Whether it can follow a JSON Schema natively, and whether also with tools in the same request. */
  output?: "native" | "native_without_tools" | "none";
  /**
   * Its native JSON Schemas allow only objects with named members, and none that contains itself. A typed output with arbitrary
   * keys (`z.record`), or a recursive one (a tree), is then asked for with a tool. Default: false.
   */
  closedOutput?: boolean;
  /** It is told of a tool that a result offered where that result is, so that the front of the request stays the same. Default: false. */
  offersInPlace?: boolean;
}

export interface Model {
  /** Its name, e.g. `anthropic/claude-sonnet-5`. Unique among an agent's models. */
  readonly id: string;
  /** The protocol, provider and model, as recorded in each of its answers. */
  readonly origin: Origin;
  /** Its window, limits, prices and capabilities, as far as they are known. */
  readonly facts?: ModelFacts;
  /** Its own timeouts in milliseconds, in place of the agent's: a slow server may need longer ones. 0: none. Default: the agent's. */
  readonly clocks?: { readonly connectMs?: number; readonly firstByteMs?: number };
  /**
   * One attempt at one answer.
   * Rejects with a `RondoError` whose `kind` says what failed, with `partial` and `usage` if there are any.
   */
  call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage>;
}

/** All members of a model except `call`, for a model that wraps another. */
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

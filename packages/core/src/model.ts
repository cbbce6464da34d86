// The room of the model: the one interface behind which every provider stands.
//
// A model gets a request and a signal, says what arrives while it arrives, and returns the whole answer.
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

/** Sampling and provider settings, each the provider's own where it is left out. What a provider lacks becomes a `warning` event, never silence. */
export interface Settings {
  /** From 0; what is most depends on the provider (1, or 2). */
  temperature?: number;
  /** From 0 to 1. */
  topP?: number;
  topK?: number;
  /** Tokens of one answer, reasoning among them. */
  maxOutputTokens?: number;
  /** Texts that end an answer where they would appear. */
  stop?: string[];
  seed?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  /** Effort by level, or a budget in tokens, or `off`. A level that a model has no word for becomes the nearest one it has. */
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
  /** JSON Schema the answer's text must satisfy, where the model can be held to one natively. */
  outputSchema?: JsonObject;
}

/** What a model says while its answer arrives. `index` is the position of the part in the answer. */
export type ModelEvent =
  | { type: "text_delta"; index: number; text: string }
  | { type: "reasoning_delta"; index: number; text: string }
  /** `id` and `name` are as far as they are known. */
  | { type: "tool_args_delta"; index: number; id: string; name: string; delta: string }
  /** Alive, with nothing to show: a server-run tool works, say. Counts against the idle clock; pings do not come here. */
  | { type: "progress" }
  | { type: "warning"; code: string; message: string };

export interface ModelIo {
  /** Fires on abort, time-out, or when the answer is no longer wanted. */
  signal: AbortSignal;
  /** Called for each event, synchronously. */
  emit(event: ModelEvent): void;
  /** Time-outs in milliseconds: a transport keeps the first two itself, and is told the third, which is kept for it. */
  clocks?: { connectMs?: number; firstByteMs?: number; idleMs?: number };
  /** Default: the host's. */
  clock?: Clock;
  /** Told by a model that answers one call after another: the first byte's clock begins once this one's turn has come. */
  queued?(turn: Promise<unknown>): void;
}

/** What is known of a model. Absent is unknown. */
export interface ModelFacts {
  /** Tokens of input and output together. */
  contextWindow?: number;
  maxOutputTokens?: number;
  /** The most tokens of input alone, where the provider says so. */
  maxInputTokens?: number;
  /** US dollars per million tokens. */
  price?: { input: number; output: number; cachedInput?: number; cacheWrite?: number };
  /** Media types accepted beside text, e.g. `image/*`. */
  accepts?: readonly string[];
  /** Whether it can be given tools natively. Default: yes. */
  tools?: boolean;
  /** Whether it holds to a JSON Schema natively, and whether it can do so with tools in the same request. */
  output?: "native" | "native_without_tools" | "none";
  /** Held to a JSON Schema natively it gives objects of named members alone. A typed output with free ones (`z.record`) is then asked for by a tool. Default: false. */
  closedOutput?: boolean;
}

export interface Model {
  /** How a person names it, e.g. `anthropic/claude-sonnet-5`. Unique among an agent's models. */
  readonly id: string;
  readonly origin: Origin;
  readonly facts?: ModelFacts;
  /** Clocks of its own, in milliseconds, over the agent's: a slow server may need a longer wait. 0: none. Default: the agent's. */
  readonly clocks?: { readonly connectMs?: number; readonly firstByteMs?: number };
  /**
   * One attempt at one answer.
   * Rejects with a `RondoError` whose `kind` says what failed, with `partial` and `usage` where there are any.
   */
  call(request: ModelRequest, io: ModelIo): Promise<AssistantMessage>;
}

/** What a model is known by, for whoever stands before one: everything but how it is called. */
export function modelFace({ id, origin, facts, clocks }: Omit<Model, "call">): Omit<Model, "call"> {
  return {
    id,
    origin,
    ...(facts === undefined ? {} : { facts }),
    ...(clocks === undefined ? {} : { clocks }),
  };
}

/** A raw value of a provider, cut so that it can stand in an error or a journal. */
export function cutRaw(raw: unknown, limit: number = 4096): Json {
  const text = typeof raw === "string" ? raw : (JSON.stringify(raw) ?? "");
  return text.length <= limit ? text : `${headOf(text, limit)}…`;
}

/**
 * Whether what a model gave can be looked into as an answer. A model may be anybody's code: who stands before one hands on
 * what is none as it is, and whoever asked says what it lacks.
 */
export function isAnswerLike(said: unknown): said is AssistantMessage {
  if (!isObject(said)) return false;
  const { content, stop } = said;
  return isObject(stop) && Array.isArray(content) && content.every((part) => isObject(part));
}

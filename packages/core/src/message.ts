// The room of messages: what a conversation consists of.
//
// Everything here is plain JSON, because a message is journaled as it is. There are only types and small helpers here:
// codecs translate these shapes to a provider's and back, the loop stores them, tools make them.

import { isBytes } from "./json/base64.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Which wire protocol, provider and model an answer came from. Opaque data is replayed only to the same origin. */
export interface Origin {
  /** Wire protocol, e.g. `anthropic-messages`. */
  api: string;
  /** Provider, e.g. `anthropic`, `openrouter`. */
  provider: string;
  /** The provider's model id. */
  model: string;
}

/** Whether two answers come from the same protocol, provider and model. A history from elsewhere may lack the origin. */
export const isSameOrigin = (one: Origin | undefined, other: Origin): boolean =>
  one?.api === other.api && one.provider === other.provider && one.model === other.model;

/** Data that only the provider understands (signatures, encrypted reasoning, item ids): kept byte for byte. */
export type Opaque = JsonObject;

/** A reference to bytes or text in a blob store. */
export interface BlobRef {
  blob: string;
  /** Size of the blob, in bytes. */
  bytes: number;
}

export interface TextPart {
  type: "text";
  text: string;
  /** Citations as the provider gave them. */
  citations?: Json[];
  /** It is not the answer, but was said on the way to it. Set if the provider tells the two apart. */
  commentary?: true;
  opaque?: Opaque;
}

export interface ReasoningPart {
  type: "reasoning";
  text: string;
  opaque?: Opaque;
}

/** A call that the model makes. `argsError`: the arguments are incomplete or not a JSON object; such a call never reaches `execute`. */
export interface ToolCallPart {
  type: "tool_call";
  /** Unique in the session: the provider's id, if that is unique. */
  id: string;
  name: string;
  /** Parsed arguments; `{}` if `argsError` is set. */
  args: JsonObject;
  /** The arguments as the provider wrote them. */
  rawArgs: string;
  argsError?: string;
  opaque?: Opaque;
}

/** An image, sound or document: `data` is base64 or a blob; or a `url`. */
export interface FilePart {
  type: "file";
  /** IANA media type, e.g. `image/png`. */
  mediaType: string;
  data?: string | BlobRef;
  url?: string;
  name?: string;
  opaque?: Opaque;
}

/** A refusal, in the provider's words. */
export interface RefusalPart {
  type: "refusal";
  text: string;
}

/**
 * A block that only its own provider understands: a tool the provider itself ran and its result, or a block newer
 * than this code. Replayed as it is to the same origin, left out for any other. Never a client call.
 */
export interface NativePart {
  type: "native";
  /** The provider's own type word, e.g. `server_tool_use`, `web_search_call`. */
  kind: string;
  opaque: Opaque;
}

export type Part = TextPart | ReasoningPart | ToolCallPart | FilePart | RefusalPart | NativePart;

/** Parts a user message or a tool result may hold. */
export type ContentPart = TextPart | FilePart;

/** Why an answer ended. */
export type StopKind =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "stop_sequence"
  | "pause"
  | "refusal"
  | "content_filter"
  | "context_overflow"
  | "malformed_call"
  | "error"
  | "aborted"
  | "unknown";

export interface Stop {
  /** Decided from the wire word and the content together. */
  kind: StopKind;
  /** What the wire word alone means. */
  wire: StopKind;
  /** The provider's word, unchanged. Absent if it sent none. */
  raw?: string;
  /** Explanation, category or ratings the provider gave, in words. */
  detail?: string;
  /** The rule that broke the answer off while it arrived (`Rule.hear`); `detail` says why. */
  by?: string;
}

/** Tokens as the provider counted them. An absent number is unknown, which is not zero. */
export interface Usage {
  /** All tokens of the request, including those read from or written to a cache. */
  inputTokens?: number;
  /** All tokens of the answer, including reasoning. */
  outputTokens?: number;
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
  /** Of `cacheWriteTokens`, those that are kept for an hour, which costs more than five minutes. Absent: none, or the provider does not say. */
  cacheWrite1hTokens?: number;
  reasoningTokens?: number;
}

export interface SystemMessage {
  role: "system";
  content: TextPart[];
}

export interface UserMessage {
  role: "user";
  content: ContentPart[];
}

export interface AssistantMessage {
  role: "assistant";
  content: Part[];
  origin: Origin;
  stop: Stop;
  usage?: Usage;
  /** The provider's own message, kept only on request. */
  raw?: Json;
}

/** The one result of one call. */
export interface ToolMessage {
  role: "tool";
  callId: string;
  name: string;
  content: ContentPart[];
  isError: boolean;
  /** The ref of its full text, if that is kept. Never sent. */
  ref?: string;
  /** Plain JSON from the tool, for programs (`toolResult(text, { details })`). Never sent. */
  details?: Json;
  /** Names of tools with `when: "offered"` that it was the first to offer. Some protocols take the definition of such a tool here (`ModelFacts.offersInPlace`). */
  offers?: string[];
}

/** The names of the tools that a result offered. A history may come from elsewhere: what is no list of names is none. */
export const offersOf = ({ offers }: ToolMessage): readonly string[] =>
  Array.isArray(offers) ? offers.filter((name) => typeof name === "string") : [];

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

const roles: ReadonlySet<unknown> = new Set<Message["role"]>(["system", "user", "assistant", "tool"]);

/** Whether it is one of the four roles a message may have. */
export const isRole = (value: unknown): value is Message["role"] => roles.has(value);

/** A user message with one text. */
export function userText(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

/** The text of a message: its text parts joined without a separator. */
export function textOf(message: Message): string {
  let text = "";
  for (const part of message.content) if (part.type === "text") text += part.text;
  return text;
}

/** Whether a message has text that is more than white space: only that is shown, stored or taken for an answer. */
export const hasText = (message: Message): boolean => textOf(message).trim() !== "";

/** The text of an answer without its commentary; all of its text if there is nothing else. */
export function answerTextOf(message: AssistantMessage): string {
  let text = "";
  for (const part of message.content) if (part.type === "text" && part.commentary !== true) text += part.text;
  return text.trim() === "" ? textOf(message) : text;
}

/** The calls of an assistant message, in order. */
export function callsOf(message: AssistantMessage): ToolCallPart[] {
  return message.content.filter((part): part is ToolCallPart => part.type === "tool_call");
}

/** Input and output tokens together; undefined if they were not counted. */
export function tokensOf({ inputTokens, outputTokens }: Usage = {}): number | undefined {
  return inputTokens === undefined && outputTokens === undefined
    ? undefined
    : (inputTokens ?? 0) + (outputTokens ?? 0);
}

/** The sum of two usages, number by number; a number that neither has stays unknown. */
export function addUsage(one: Usage, more: Usage): Usage {
  const sums: Usage = { ...one };
  for (const [name, value] of Object.entries(more) as [keyof Usage, number][])
    sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

/** Whether a file part, ours or from elsewhere, has content: one with only a name cannot be sent. */
export function holdsFile({ data, url }: { data?: unknown; url?: unknown }): boolean {
  if (data === undefined || data === null) return typeof url === "string";
  return typeof data === "string" || isBytes(data) || typeof (data as Partial<BlobRef>).blob === "string";
}

// The room of errors: one class, a closed list of kinds.
//
// Decisions (retry, fall back, compact, give up) are made from `kind` and `retryable`, never from the text.

import { knownAcrossCopies } from "./copies.ts";
import { jsonCopy } from "./json/copy.ts";
import type { AssistantMessage, Json, Usage } from "./message.ts";
import { headOf } from "./text/size.ts";

/** Every kind of failure there is. */
export const errorKinds = [
  "rate_limit",
  "overloaded",
  "quota_exhausted",
  "request_too_large_for_tier",
  "auth",
  "permission",
  "invalid_request",
  "capability",
  "context_overflow",
  "context_truncated",
  "content_filter",
  "malformed_tool_call",
  "empty_response",
  "stream_truncated",
  "stream_error",
  "stream_idle",
  "timeout",
  "network",
  "server_error",
  "payload_too_large",
  "protocol",
  "structured_output",
  "loop_detected",
  "aborted",
  /** Another writer holds the session, or wrote first. */
  "conflict",
  /** The journal could not read or write: a full or failing disk, a damaged file. */
  "storage",
  "internal",
] as const;

export type ErrorKind = (typeof errorKinds)[number];

/** Kinds after which the same request may succeed when it is sent again. */
const retryableKinds: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "rate_limit",
  "overloaded",
  "empty_response",
  "malformed_tool_call",
  "stream_truncated",
  "stream_error",
  "stream_idle",
  "timeout",
  "network",
  "server_error",
]);

/**
 * What may be left out of a refused request: the reasoning of the answers in the history; all files, one of them (named by `repairOfFile`) or all
 * but the last few; a setting; the schema of a typed output, which is then asked for in another way.
 */
export type Repair =
  | "reasoning"
  | "files"
  | `file.${string}`
  | `files.last.${number}`
  | `settings.${RefusableSetting}`
  | "schema";

/** A setting that may be left out without changing what the request asks for. */
export type RefusableSetting =
  | "temperature"
  | "topP"
  | "topK"
  | "maxOutputTokens"
  | "stop"
  | "seed"
  | "frequencyPenalty"
  | "presencePenalty"
  | "reasoning"
  | "parallelToolCalls";

/** An error as plain JSON, as it is journaled. */
export interface ErrorData {
  kind: ErrorKind;
  message: string;
  retryable: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  retryAfterMs?: number;
  /** HTTP status. */
  status?: number;
  /** The provider's own error, cut to a few kilobytes. */
  raw?: Json;
  /** The request may be accepted without this. */
  repair?: Repair;
  /** An output limit in tokens with which the request may be accepted: what fits after the input, what the model can write, or what the credit pays for. */
  maxOutputTokens?: number;
  /** The model's window in tokens, if the provider named it in its refusal. */
  contextWindow?: number;
}

export interface RondoErrorOptions {
  /** Default: by kind (rate limits, overload, server, network and stream failures are retryable). */
  retryable?: boolean;
  retryAfterMs?: number;
  status?: number;
  raw?: Json;
  /** Set by a codec: the request may be accepted without this. */
  repair?: Repair;
  /** Set by a codec: the request may be accepted with this output limit, in tokens. */
  maxOutputTokens?: number;
  /** Set by a codec: the model's window in tokens, as the provider named it. */
  contextWindow?: number;
  cause?: unknown;
  /** What had arrived of the answer when it failed. */
  partial?: AssistantMessage;
  /** The usage of the failed call, if the provider reported it. */
  usage?: Usage;
}

/** The error class of Rondo. `kind` comes from a closed list; `message` says what was wrong, where, and what to do. */
export class RondoError extends Error {
  /** `RondoError`, or `AbortError` if `kind` is `aborted`, as in web APIs. */
  override readonly name: string;
  readonly kind: ErrorKind;
  readonly retryable: boolean;
  // Only declared, and set if there is a value: so a printed error does not list members that are undefined.
  /** How long the provider asks to wait, in milliseconds. */
  declare readonly retryAfterMs: number | undefined;
  /** HTTP status. */
  declare readonly status: number | undefined;
  /** The provider's own error, cut to a few kilobytes. */
  declare readonly raw: Json | undefined;
  declare readonly repair: Repair | undefined;
  declare readonly maxOutputTokens: number | undefined;
  declare readonly contextWindow: number | undefined;
  /** What had arrived of the answer when it failed. */
  declare readonly partial: AssistantMessage | undefined;
  /** The usage of the failed call, if the provider reported it. */
  declare readonly usage: Usage | undefined;

  constructor(kind: ErrorKind, message: string, options: RondoErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = kind === "aborted" ? "AbortError" : "RondoError";
    this.kind = kind;
    this.retryable = options.retryable ?? retryableKinds.has(kind);
    const { retryAfterMs, status, raw, repair, maxOutputTokens, contextWindow, partial, usage } = options;
    // A header may lead to NaN or infinity, which nobody can wait for, and which JSON does not have.
    if (Number.isFinite(retryAfterMs)) this.retryAfterMs = retryAfterMs;
    if (status !== undefined) this.status = status;
    if (raw !== undefined) this.raw = raw;
    if (repair !== undefined) this.repair = repair;
    if (maxOutputTokens !== undefined) this.maxOutputTokens = maxOutputTokens;
    if (contextWindow !== undefined) this.contextWindow = contextWindow;
    if (partial !== undefined) this.partial = partial;
    if (usage !== undefined) this.usage = usage;
  }

  /** The error as plain JSON, for a journal. Parts of the provider's own error that are not JSON are left out. */
  toJSON(): ErrorData {
    const raw = asJson(this.raw);
    return {
      kind: this.kind,
      message: this.message,
      retryable: this.retryable,
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs }),
      ...(this.status === undefined ? {} : { status: this.status }),
      ...(raw === undefined ? {} : { raw }),
      ...(this.repair === undefined ? {} : { repair: this.repair }),
      ...(this.maxOutputTokens === undefined ? {} : { maxOutputTokens: this.maxOutputTokens }),
      ...(this.contextWindow === undefined ? {} : { contextWindow: this.contextWindow }),
    };
  }
}

knownAcrossCopies({ RondoError });

/** An error of kind `invalid_request` about something the caller passed. */
export function invalidRequest(message: string): RondoError {
  return new RondoError("invalid_request", message);
}

function asJson(raw: Json | undefined): Json | undefined {
  try {
    return raw === undefined ? undefined : jsonCopy(raw, "raw", "lenient");
  } catch {
    return undefined;
  }
}

/** What to change in a copy of an error; `undefined` removes a member. */
export type ErrorChange = {
  readonly [option in keyof RondoErrorOptions]?: RondoErrorOptions[option] | undefined;
} & { readonly kind?: ErrorKind; readonly message?: string };

/** The same error with something changed. */
export function errorWith(error: RondoError, change: ErrorChange): RondoError {
  const { kind, message, retryable, retryAfterMs, status, raw, repair, cause } = error;
  const { maxOutputTokens, contextWindow, partial, usage } = error;
  const kept = { kind, message, retryable, retryAfterMs, status, raw, repair, cause };
  const told = { ...kept, maxOutputTokens, contextWindow, partial, usage, ...change };
  return new RondoError(told.kind, told.message, told as RondoErrorOptions);
}

/** Whether a value is an error, also one of another realm: a test runner's, `node:vm`'s. */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";

/** What was thrown, as a text: an error's message, or the value itself. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    // `message` of a foreign error may be anything.
    if (isError(thrown)) return String(thrown.message || nameOf(thrown));
    const text = typeof thrown === "string" ? thrown : String(thrown);
    return text === "[object Object]" ? (wordsIn(thrown) ?? text) : text;
  } catch {
    return "something that cannot be put into words was thrown";
  }
}

/**
 * An error without a message: its name, and the first words of what caused it. Node refuses a connection so, if the host has
 * several addresses: an `AggregateError` whose errors alone say why.
 */
function nameOf(thrown: Error): string {
  const said = causesOf(thrown).find((cause) => isA(Error, cause) && cause.message !== "") as
    | Error
    | undefined;
  return said === undefined ? thrown.name : `${thrown.name}: ${said.message}`;
}

const mostWords = 1_000;

/** The text of a thrown object that is not an error: its message, or all of it as JSON. */
function wordsIn(thrown: unknown): string | undefined {
  const { message } = Object(thrown) as { message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  try {
    const json = JSON.stringify(thrown) ?? "{}";
    if (json === "{}") return undefined;
    return json.length <= mostWords ? json : `${headOf(json, mostWords)}…`;
  } catch {
    return undefined;
  }
}

/** The longest chain of causes that is looked at. */
const longestChain = 8;

/** What was thrown, what caused that, and so on; of several errors in one, the first. Never throws. */
export function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = thrown; at !== undefined && chain.length < longestChain; at = causeOf(at)) chain.push(at);
  return chain;
}

/** The words of an error; `why` has also those of what caused it. */
export interface Thrown {
  message: string;
  why: string;
}

/** The words of what was thrown, and of what caused that, as far as they say more: `fetch failed: getaddrinfo ENOTFOUND example`. */
export function thrownIn(thrown: unknown): Thrown {
  const message = messageOf(thrown);
  let told = message;
  for (const cause of causesOf(thrown)) {
    // What is neither an error nor a text (an issue of a schema, say) has no words of its own.
    const words = typeof cause === "string" || isA(Error, cause) ? messageOf(cause) : "";
    if (!told.includes(words)) told += `: ${words}`;
  }
  return { message, why: told };
}

function causeOf(thrown: unknown): unknown {
  try {
    const { cause, errors } = Object(thrown) as { cause?: unknown; errors?: unknown };
    return cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  } catch {
    return undefined;
  }
}

/** Whether something is of a class. Never throws: a proxy may, when it is asked. */
export function isA<Kind>(kind: abstract new (...given: never[]) => Kind, thrown: unknown): thrown is Kind {
  try {
    return thrown instanceof kind;
  } catch {
    return false;
  }
}

/** A journaled error as a `RondoError` again, with all its members. */
export function errorFrom({ kind, message, ...known }: ErrorData): RondoError {
  return new RondoError(kind, message, known);
}

/** Anything thrown, as a RondoError: a RondoError is returned unchanged, everything else becomes `kind` (default `internal`). */
export function toRondoError(thrown: unknown, kind: ErrorKind = "internal"): RondoError {
  return isA(RondoError, thrown) ? thrown : new RondoError(kind, messageOf(thrown), { cause: thrown });
}

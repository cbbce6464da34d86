// The room of the wire: the messages between clients, objects and workers through Restate. Plain JSON.

import {
  type BroughtResult,
  type CallKey,
  type ErrorData,
  type Fact,
  type Grant,
  type JsonObject,
  type LogRecord,
  type Message,
  type ParentFacts,
  type PassedAnswer,
  parsedJson,
  type Spent,
} from "@rondo/core";
import type { Above } from "./hub.ts";

/** Restate's limit for one message in bytes, minus its envelope. */
export const maxMessageBytes: number = 31 * 2 ** 20;
/** Limit in bytes for one fact, and for one message that becomes a fact: it is stored and written together with others. */
export const maxFactBytes: number = maxMessageBytes / 2;
/** Limit in bytes for one page of records, unless a single record is larger. */
export const pageBytes: number = 4 * 2 ** 20;

/** An answer to a waiting call. Edited arguments are checked against the tool's schema by the driver. */
export type Answer =
  | { answer: "approve"; always?: Grant }
  | { answer: "deny"; reason?: string; stop?: boolean }
  | { answer: "edit"; args: JsonObject }
  | ({ answer: "result" } & BroughtResult);

/** What may be sent to a session. `answer`: to the call with that id or key. */
export type Saying =
  | (Fact & { type: "queued" | "withdrawn" | "allowed" | "revoked" | "mode" | "child_waits" })
  /** `of`: only for the run with the id that its requester gave it. */
  | (Fact & { type: "abort_asked" } & { of?: string })
  /** `round`: which of the call's questions it answers; absent: whatever the call waits for. */
  | { type: "answer"; call: string; round?: number; said: Answer };

/** A message, numbered by the inbox from 1. */
export interface Mail {
  n: number;
  at: number;
  /** The agent to drive with, if nobody drives. */
  agent: string;
  say: Saying;
}

export interface PostRequest {
  agent: string;
  say: Saying;
}

/** The receipt for a mail. Without the mail itself: the sender has it, and returning a large one costs as much as sending it. */
export type Posted = Pick<Mail, "n" | "at">;

export interface ListenRequest {
  /** Resolved once, with the mails that came. */
  awakeable: string;
  taken: TakenData;
}

/** Which mails a session has taken: all up to a number, and some beyond. */
export interface TakenData {
  upTo: number;
  beyond: number[];
}

export interface RunRequest {
  agent: string;
  /** The id that the requester gives the run. */
  id?: string;
  input: Message[];
  history?: Message[];
  only?: "compaction" | "clearing";
}

/** Starts or continues a sub-agent's session. */
export interface ChildRequest {
  /** The agent of the outermost run, and the path of tools from there: `assistant/research`. */
  agent: string;
  /** Its place in the parent: the call in the parent's session, and the parent's agent. */
  call: CallKey;
  /** That call's id. */
  id: string;
  parentAgent: string;
  parent: ParentFacts;
  /** The parent's own ancestors, the nearest first. */
  above: readonly Above[];
  args: JsonObject;
  answers: readonly PassedAnswer[];
  /** Usage it has already reported. */
  told: Spent;
  graceMs: number;
}

/** Brings a sub-agent that was left behind to its end. */
export interface EndRequest {
  agent: string;
  call: CallKey;
  /** Usage it has already reported. */
  told: Spent;
  reason: string;
  graceMs: number;
}

/** The outcome of driving: records from a seq on, as text, if they fit; or why it was refused. */
export interface Driven {
  /** The session's record count. */
  seq: number;
  /** Seq of the first record in `text`. */
  from?: number;
  /** Records as lines of JSON. */
  text?: string;
  error?: ErrorData;
}

export interface ReadRequest {
  from: number;
}

export interface Page {
  /** The session's record count when this was read. */
  seq: number;
  /** Records as lines of JSON, from the requested one on. */
  text: string;
  /** Seq where the next page begins; absent on the last page. */
  next?: number;
  /** The session is being driven. */
  driven?: true;
}

export interface AppendRequest {
  expectedSeq: number;
  /** Records as lines of JSON. */
  text: string;
  token?: number;
}

export interface LeaseAsk {
  what: "take" | "renew" | "release";
  owner?: string;
  ttlMs?: number;
  takeOver?: boolean;
  token?: number;
}

export interface DeleteAsk {
  /** `check`: only whether it may be deleted. */
  what: "check" | "delete";
}

/** The answer of an exclusive handler that may refuse. */
export type Refusable<T> = { ok: T } | { error: ErrorData };

export interface Listed {
  id: string;
  length: number;
  createdAt: number;
  updatedAt: number;
  /** Orders sessions by when they began. */
  born: number;
}

export const linesOf = (text: string): LogRecord[] =>
  text === "" ? [] : text.split("\n").map((line) => parsedJson<LogRecord>(line));

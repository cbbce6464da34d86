// The room of the wire: what clients, objects and workers say to each other through Restate. Plain JSON.

import type {
  BroughtResult,
  CallKey,
  ErrorData,
  Fact,
  Grant,
  JsonObject,
  LogRecord,
  Message,
  ParentFacts,
  PassedAnswer,
  Spent,
} from "@rondo/core";
import type { Above } from "./hub.ts";

/** What the server takes in one message, less what wraps it. */
export const maxMessageBytes: number = 31 * 2 ** 20;
/** What one fact has at most, and one word that becomes a fact: it is kept and written with others. */
export const maxFactBytes: number = maxMessageBytes / 2;
/** What one page of records has at most, unless one record alone has more. */
export const pageBytes: number = 4 * 2 ** 20;

/** What somebody says to a call that waits. An edit is checked against the tool's schema by whoever drives. */
export type Answer =
  | { answer: "approve"; always?: Grant }
  | { answer: "deny"; reason?: string; stop?: boolean }
  | { answer: "edit"; args: JsonObject }
  | ({ answer: "result" } & BroughtResult);

/** What may be said to a session. `answer`: to the call of that id or key. */
export type Saying =
  | (Fact & { type: "queued" | "withdrawn" | "allowed" | "revoked" | "mode" | "child_waits" })
  /** `of`: to that run alone, by what whoever asked for it calls it. */
  | (Fact & { type: "abort_asked" } & { of?: string })
  | { type: "answer"; call: string; said: Answer };

/** Something said, numbered by the inbox from 1. */
export interface Mail {
  n: number;
  at: number;
  /** Whose agent drives, if nobody does. */
  agent: string;
  say: Saying;
}

export interface PostRequest {
  agent: string;
  say: Saying;
}

/** What became of it. Not the mail: whoever posted it has it, and a large word on its way back costs as much as on its way there. */
export type Posted = Pick<Mail, "n" | "at">;

export interface ListenRequest {
  /** Resolved with what came, once. */
  awakeable: string;
  taken: TakenData;
}

/** Which mails a session has taken: all up to one, and some beyond. */
export interface TakenData {
  upTo: number;
  beyond: number[];
}

export interface RunRequest {
  agent: string;
  /** What whoever asks for it calls it. */
  id?: string;
  input: Message[];
  history?: Message[];
  only?: "compaction" | "clearing";
}

/** A sub-agent's session is started, or gone on with. */
export interface ChildRequest {
  /** The agent of the outermost run, and the tools from there on: `assistant/research`. */
  agent: string;
  /** Whose it is: the call of its parent's session, and the parent's agent. */
  call: CallKey;
  /** That call's id. */
  id: string;
  parentAgent: string;
  parent: ParentFacts;
  /** Whose sub-agent its parent is, the nearest first. */
  above: readonly Above[];
  args: JsonObject;
  answers: readonly PassedAnswer[];
  /** What it has told of what it spent. */
  told: Spent;
  graceMs: number;
}

/** A sub-agent that is left behind is to come to its end. */
export interface EndRequest {
  agent: string;
  call: CallKey;
  /** What it has told of what it spent. */
  told: Spent;
  reason: string;
  graceMs: number;
}

/** What came of driving: records from one on, as text, where they fit; or why it was refused. */
export interface Driven {
  /** How many records the session has. */
  seq: number;
  /** The first record in `text`. */
  from?: number;
  /** Records as lines of JSON. */
  text?: string;
  error?: ErrorData;
}

export interface ReadRequest {
  from: number;
}

export interface Page {
  /** The session's length when this was read. */
  seq: number;
  /** Records as lines of JSON, from the asked one on. */
  text: string;
  /** Where the next page begins; absent on the last. */
  next?: number;
  /** Somebody drives the session. */
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

/** What an exclusive handler that may refuse answers. */
export type Refusable<T> = { ok: T } | { error: ErrorData };

export interface Listed {
  id: string;
  length: number;
  createdAt: number;
  updatedAt: number;
  /** The order in which sessions began. */
  born: number;
}

export const linesOf = (text: string): LogRecord[] =>
  text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as LogRecord);

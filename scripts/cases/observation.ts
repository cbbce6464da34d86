// The room of observations: what happened when a case was played, as plain data.
//
// Playing knows nothing of expectations and judging knows nothing of sockets; this is all that passes between them.

import type { AssistantMessage, CallCheck, ErrorData, LogRecord, Message, RunEnd, Usage } from "@rondo/core";

export interface SeenRequest {
  url: string;
  headers: Record<string, string>;
  body: unknown;
  text: string;
}

export interface SeenCall {
  key: string;
  id: string;
  name: string;
  /** As the tool gets them, or as the model wrote them; null when they cannot be read. */
  args: unknown;
  /** Their text, as the model wrote it. */
  rawArgs: string;
  ok: boolean;
  started: number;
  result?: { text: string; isError: boolean; code?: string };
  /** Real milliseconds from the first start to the result. */
  realMs?: number;
}

/** One HTTP exchange and what Rondo made of it. */
export interface SeenResponse {
  request: SeenRequest;
  status: number;
  /** Made up by the runner, beyond the case's own. */
  madeUp: boolean;
  closedByClient: boolean;
  /** Of its model call: the transport may send twice within one. */
  lastOfCall: boolean;
  run: number;
  startedAt: number;
  settledAt?: number;
  message?: AssistantMessage;
  failure?: ErrorData;
  partial?: AssistantMessage;
  usage?: Usage;
  checks: CallCheck[];
  calls: SeenCall[];
  judged?: Extract<LogRecord, { type: "turn_judged" }>;
  /** Ids of tool calls that were told to watchers. */
  toldCalls: string[];
  /** The history when all that follows from this response was settled. */
  historyAfter: Message[];
  /** Whether a compaction asked for it. */
  compaction: boolean;
  /** Which turn of the case it is, where that is not its place in the order. */
  turn?: number;
}

export interface SeenRun {
  number: number;
  startedAt: number;
  endedAt?: number;
  end?: RunEnd;
  text: string;
  output?: unknown;
  parked: boolean;
  /** When the abort was asked for. */
  abortedAt?: number;
  /** Model calls and tools that started after it. */
  startedAfterAbort: string[];
  terminalEvents: number;
  compactions: number;
  /** How often texts were cut to make a request fit. */
  cuts: number;
  warnings: { code: string; message: string }[];
  history: Message[];
  /** What `run` or `send` rejected with, in words. */
  rejected?: string;
}

export interface SeenProcess {
  unhandledRejections: number;
  activeTimers: number;
  abortListeners: number;
  /** Of its tools, that are still there. */
  childProcesses: number;
  warnings: string[];
  exitCode: number;
  cpuMs: number;
  heapGrowthMb: number;
}

/** What became of a second process that opened the session, and of the session when the first was killed. */
export interface SeenOpener {
  wrote: boolean;
  /** Why it was kept out, in words. */
  words: string;
  /** Records it could read, of those that were there. */
  read: number;
  held: number;
  /** What the first had written is as it was. */
  untouched: boolean;
  /** When the first was killed the session could be opened at once. */
  recovered: boolean;
}

export interface Observation {
  responses: SeenResponse[];
  runs: SeenRun[];
  /** The history at the end. */
  history: Message[];
  /** Texts the user side put in: tasks, steering, prompts. */
  said: string[];
  /** What a reader of the last run has before it, step by step, who forgets what is void; and how often something was. */
  shown?: string[];
  resets?: number;
  /** What became of messages sent while a run was active. */
  second: { text: string; outcome: "rejected" | "ran"; words: string }[];
  /** Everything a person or a disk gets to see: addresses, errors, log lines, records. */
  sinks: string[];
  /** Files of the case's folder at the end. */
  files: Record<string, string>;
  process?: SeenProcess;
  /** Whether the prototype of all objects has a member it had not. */
  polluted?: boolean;
  /** Agents that worked, the first among them. */
  agents?: number;
  /** Rows of a table of requests: what was asked, whether it was let through, and what it did outside. */
  rows?: { request: string; allow: boolean; allowed: boolean; words: string }[];
  opener?: SeenOpener;
  /** Why it could not be played to its end. */
  broke?: string;
}

export const nothingSeen = (): Observation => ({
  responses: [],
  runs: [],
  history: [],
  said: [],
  second: [],
  sinks: [],
  files: {},
});

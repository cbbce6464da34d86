// The room of observations: what happened when a case was played, as plain data.
//
// Playing knows nothing of expectations, and judging knows nothing of sockets; this is all that passes between them.

import type {
  AssistantMessage,
  CallCheck,
  ErrorData,
  LogRecord,
  Message,
  RondoError,
  RunEnd,
  Usage,
} from "@rondo/core";

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
  /** As the tool gets them, or as the model wrote them; null when they cannot be parsed. */
  args: unknown;
  /** The text the model wrote. */
  rawArgs: string;
  ok: boolean;
  started: number;
  result?: { text: string; isError: boolean; code?: string };
  /** Real milliseconds from the first start to the result. */
  realMs?: number;
}

/** One HTTP exchange, and what Rondo made of it. */
export interface SeenResponse {
  request: SeenRequest;
  status: number;
  /** A response that the runner added to the case's own. */
  madeUp: boolean;
  closedByClient: boolean;
  /** It was sent in one piece and ended, so that nobody could close it before. */
  sentAtOnce: boolean;
  /** The last exchange of its model call: the transport may send twice within one. */
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
  /** Ids of tool calls that were reported to listeners. */
  toldCalls: string[];
  /** The history when everything that follows from this response was settled. */
  historyAfter: Message[];
  /** Whether it belongs to a compaction. */
  compaction: boolean;
  /** The turn of the case, if it differs from its position. */
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
  /** When the abort was requested. */
  abortedAt?: number;
  /** Model calls and tools that started after it. */
  startedAfterAbort: string[];
  terminalEvents: number;
  compactions: number;
  /** How often texts were cut to make a request fit. */
  cuts: number;
  warnings: { code: string; message: string }[];
  history: Message[];
  /** The error message of a rejected `run` or `send`. */
  rejected?: string;
}

export interface SeenProcess {
  unhandledRejections: number;
  activeTimers: number;
  abortListeners: number;
  /** Child processes of its tools that still exist. */
  childProcesses: number;
  warnings: string[];
  exitCode: number;
  cpuMs: number;
  heapGrowthMb: number;
}

/** What happened to a second process that opened the session, and to the session when the first was killed. */
export interface SeenOpener {
  wrote: boolean;
  /** Why it was refused. */
  words: string;
  /** How many of the existing records it could read. */
  read: number;
  held: number;
  /** What the first process had written was unchanged. */
  untouched: boolean;
  /** After the first was killed, the session could be opened at once. */
  recovered: boolean;
}

export interface Observation {
  responses: SeenResponse[];
  runs: SeenRun[];
  /** The history at the end. */
  history: Message[];
  /** Texts from the user side: tasks, steering, prompts. */
  said: string[];
  /** What a reader of the last run's events has, step by step, after dropping what was voided; and how often that happened. */
  shown?: string[];
  resets?: number;
  /** What happened to messages sent while a run was active. */
  second: { text: string; outcome: "rejected" | "ran"; words: string }[];
  /** Everything that reaches a person or a disk: addresses, errors, log lines, records. */
  sinks: string[];
  /** Files of the case's folder at the end. */
  files: Record<string, string>;
  process?: SeenProcess;
  /** Whether Object.prototype got a new member. */
  polluted?: boolean;
  /** Number of agents that worked, the first included. */
  agents?: number;
  /** Rows of a table of requests: what was asked, whether it was allowed, and what it did outside. */
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

/** What is seen of a run that was not begun, because its options are refused: two tools of one name, say (F060). */
export function refusedAtOnce({ kind, message }: RondoError, now: number): Observation {
  const end: RunEnd = {
    reason: "error",
    rule: "options",
    evidence: {},
    error: { kind, message, retryable: false },
    landed: false,
    resumable: false,
  };
  const run: SeenRun = {
    number: 1,
    startedAt: now,
    endedAt: now,
    end,
    text: "",
    parked: false,
    startedAfterAbort: [],
    terminalEvents: 0,
    compactions: 0,
    cuts: 0,
    warnings: [],
    history: [],
    rejected: message,
  };
  return { ...nothingSeen(), runs: [run] };
}

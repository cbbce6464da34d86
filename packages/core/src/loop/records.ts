// The room of records: every fact a run is made of.
//
// A record says what happened, never what to do. It is plain JSON and is never changed once appended.
// State is a fold of records and nothing else, so whatever a decision needs must stand in one of these.
// One decision is one record: if it took two, a crash could lose half of it. Deltas are never records.

import type { LedgerEntry } from "../context/compact/ledger.ts";
import type { Replacement, StageNote } from "../context/stage.ts";
import type { ErrorData, Repair } from "../errors.ts";
import type {
  AssistantMessage,
  ContentPart,
  Json,
  JsonObject,
  Message,
  Usage,
  UserMessage,
} from "../message.ts";
import type { Settings, ToolChoice } from "../model.ts";
import type { Grant } from "../rules/grants.ts";
import type { CallKey } from "./call-key.ts";
import type { Amounts, ParentFacts, PassedAnswer, Spent, WaitingCall } from "./child-facts.ts";
import type { RunOptions } from "./run-options.ts";

export type { CallKey } from "./call-key.ts";

/** The version of this format. A journal with a higher one is refused. */
export const formatVersion = 1;

const doneReasons = ["completed", "done_tool"] as const;

/** Why a run ended, if a limit ended it. */
export const limitReasons = [
  "max_steps",
  "token_budget",
  "cost_budget",
  "deadline",
  "duplicate_call",
  "tool_call_limit",
  "no_progress",
] as const;

const otherReasons = [
  "truncated",
  "empty_response",
  "unexpected_stop",
  "refused",
  "output_invalid",
  "requires_action",
  "turn_stopped",
  "aborted",
  "error",
] as const;

export type EndReason = (typeof doneReasons | typeof limitReasons | typeof otherReasons)[number];

/** Why a run ended: every reason there is. */
export const endReasons: readonly EndReason[] = [...doneReasons, ...limitReasons, ...otherReasons];

/** Why a decision was made: the rule that made it, and what it saw. */
export interface Because {
  /** Name of the rule. */
  rule: string;
  /** The facts on which it decided, e.g. `{ steps: 100, max: 100 }`. */
  evidence: JsonObject;
}

/** How a run ended, and why. */
export interface RunEnd extends Because {
  reason: EndReason;
  /** Whether it makes sense to send another message: false if that would send again what was refused. Advice: `send` takes one all the same. */
  resumable: boolean;
  /** What failed, when the reason is a failure. */
  error?: ErrorData;
  /** The run landed: the model was asked once more without tools, and the run's text is its answer; if that was empty, its last text before. */
  landed: boolean;
}

/** What of the code has changed since the run began. */
export interface CodeChange {
  what: "rule" | "tool" | "model" | "hook" | "option";
  name: string;
  how: "gone" | "new" | "changed" | "moved";
}

/** A change to the history, as a list of ranges of kept messages and new messages: its size is that of the change. */
export type HistoryEdit = ({ keep: [from: number, to: number] } | { put: Message })[];

/** The outcome of checking a call's arguments, in the order of the calls. Made by the driver when the answer arrives, because schemas are user code. */
export type CallCheck =
  /** `raw`: the arguments are not a JSON object, and the tool takes them as text (`executeRaw`). */
  | { ok: true; args: JsonObject; keys: string[] | null; raw?: true }
  | { ok: false; error: string; code: "unknown_tool" | "invalid_args" };

/** What was decided about one call of an answer. */
export type Verdict =
  | ({ do: "run" } & Partial<Because>)
  /** Answer it without running it. */
  | ({ do: "answer"; code: ResultCode; text: string } & Partial<Because>);

/** How a result came about when the tool did not simply return. */
export type ResultCode =
  | "unknown_tool"
  | "invalid_args"
  | "truncated_args"
  | "too_many_calls"
  | "repeated"
  | "limit"
  | "denied"
  | "skipped"
  | "not_executed"
  | "threw"
  | "timeout"
  | "aborted"
  | "outcome_unknown"
  /** A crash cut it off, and the tool found out later what came of it (`reconcile`). */
  | "reconciled"
  /** Somebody gave the result (`answer`), and the tool did not run. */
  | "answered"
  | "hook_failed";

export interface CallResult {
  content: ContentPart[];
  isError: boolean;
  /** Absent when the tool returned. */
  code?: ResultCode;
  /** The tool wants the run to end; a text is the run's text. */
  done?: boolean | string;
  /** Where its whole text is kept. */
  ref?: string;
  /** For programs alone: the model does not read it. */
  details?: Json;
  /** What the cap did: the sizes of the whole text and of what is left of it, in bytes (UTF-8), and how many lines it had. */
  capped?: { bytes: number; keptBytes: number; lines: number };
  /** What the tool did, for the ledger. */
  ledger?: LedgerEntry[];
  /** What a sub-agent has spent since it was last started: counted with the run's own. */
  spent?: Spent;
}

/** What follows from a judged turn. */
export type Follows =
  /** Settle the calls, then ask the model again. */
  | { do: "act" }
  /** Ask again, once `until` has passed. `note` is shown once and not stored; `model` is an index; `maxOutputTokens` holds from now on, and what is in `drop` is left out of all requests from now on. */
  | {
      do: "ask_again";
      until?: number;
      note?: string;
      model?: number;
      maxOutputTokens?: number;
      drop?: Repair;
      /** Make the history smaller first: sum it up, or only cut its longest texts. */
      reduce?: "compact" | "cut";
    }
  /** This is the answer. `text`: what it says, where that is not its own text. */
  | { do: "finish"; text?: string }
  /** Settle the calls, then one last turn without tools. */
  | { do: "land"; reason: EndReason }
  /** Settle the calls (closing those that did not run), then end. */
  | { do: "stop"; reason: EndReason; text?: string; error?: ErrorData };

/** How a queued message is delivered: at the start of a run, before its next model call, or when it would end. */
export type Lane = "steer" | "follow_up";

export type Approval =
  /** `grant`: nobody was asked, because this grant covers the call. `always`: also makes a grant for later calls. */
  | { answer: "approve"; grant?: string; always?: Grant }
  | { answer: "deny"; reason?: string; stop?: boolean }
  | { answer: "edit"; args: JsonObject; check: CallCheck };

export type HookAnswer =
  | {
      hook: "permission";
      call: CallKey;
      answer: "allow" | "deny" | "ask" | "stop";
      reason?: string;
      text?: string;
    }
  | { hook: "beforeTool"; call: CallKey; args?: JsonObject; check?: CallCheck; result?: CallResult }
  | { hook: "afterTool"; call: CallKey; result?: CallResult }
  /** `stop`: the run ends, for this reason. */
  | {
      hook: "prepareStep";
      step: number;
      model?: number;
      tools?: string[];
      toolChoice?: ToolChoice;
      settings?: Settings;
      stop?: string;
      text?: string;
    }
  | { hook: "transformContext"; step: number; edit?: HistoryEdit }
  | { hook: "onFinish"; messages: UserMessage[] };

/** Fields the driver stamps on every record when it appends it. */
export interface Stamp {
  /** Position in the session, from 0. */
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  /** A random number in [0, 1), for jitter and the like. */
  rand: number;
}

/** Where a fork comes from. */
export interface Origins {
  session: string;
  /** How many of that session's records it shares. */
  seq: number;
  /** The step it was taken at, where it was named by one. */
  step?: number;
  /** The call whose result was replaced. */
  edited?: CallKey;
}

/** A fact, as it is before the driver stamps it. */
export type Fact =
  /** `options` is absent when they are those of the session's last run. `history` replaces what the session held (a run over a given history). */
  | {
      type: "run_started";
      format: number;
      input: Message[];
      history?: Message[];
      options?: RunOptions;
      /** The caller's own data about the run: kept, never looked at by the loop. */
      about?: JsonObject;
      /** The run only does this, and ends with it. */
      only?: "compaction" | "clearing";
      /** Whose sub-agent the run is, and what it may spend. */
      parent?: ParentFacts;
    }
  /**
   * A process took the session over: whatever was in flight is lost, and is not counted as an attempt. `options` hold
   * from here on, also in the run that is open. `changed`: what of the code has changed since the run began.
   */
  | {
      type: "opened";
      by: string;
      about?: JsonObject;
      changed?: CodeChange[];
      options?: RunOptions;
      from?: Origins;
    }
  | { type: "queued"; id: string; lane: Lane; message: UserMessage }
  | { type: "delivered"; lane: Lane; ids: string[] }
  /** Somebody took a queued message back. What was delivered by then stays. */
  | { type: "withdrawn"; id: string }
  /** A rule's note to the model: part of the next request, not stored in the history. */
  | ({ type: "noted"; text: string } & Because)
  /** From here on the run lands, stops, asks for its typed output or compacts, or a tool is hidden. `cancel`: what is in flight is cancelled. */
  | ({ type: "mode"; mode: "landing"; reason: EndReason; cancel: boolean } & Because)
  | ({ type: "mode"; mode: "stopping"; reason: EndReason; error?: ErrorData; cancel: boolean } & Because)
  /** `message`: the words that ask for the output, where they enter the history. */
  | ({ type: "mode"; mode: "output"; attempt: number; message?: UserMessage } & Because)
  | ({ type: "mode"; mode: "hide_tool"; tool: string } & Because)
  | ({ type: "mode"; mode: "compacting" } & Because)
  /** `stages`: what the stages of the context left out of this request only. */
  | {
      type: "model_started";
      step: number;
      attempt: number;
      model: number;
      digest: string;
      broke?: string;
      stages?: StageNote[];
    }
  | { type: "model_finished"; message: AssistantMessage; checks: CallCheck[] }
  /** `shown`: events showed some of what came (reasoning, or the beginning of a call) that `partial` does not keep. */
  | { type: "model_failed"; error: ErrorData; partial?: AssistantMessage; usage?: Usage; shown?: true }
  /** A model's turn is judged once: one verdict per call, and what follows. `store`: whether the answer enters the history. */
  | ({ type: "turn_judged"; verdicts: Verdict[]; follows: Follows; store: boolean } & Because)
  /** `child`: the session of the sub-agent that is started or resumed; `reserved`: its share of what this run had left to spend. */
  | { type: "tool_started"; call: CallKey; idempotencyKey: string; child?: string; reserved?: Amounts }
  | { type: "tool_finished"; call: CallKey; result: CallResult }
  | { type: "approval_asked"; calls: CallKey[] }
  | { type: "approval_given"; call: CallKey; approval: Approval; by?: string }
  /** A grant: approval given in advance. A second one with the same id changes nothing. */
  | { type: "allowed"; grant: Grant; by?: string }
  | { type: "revoked"; id: string; by?: string }
  /** What the tool found out about a write that a crash cut off. `not_done`: it may start again. */
  | { type: "reconciled"; call: CallKey; found: "done"; result: CallResult }
  | { type: "reconciled"; call: CallKey; found: "not_done" | "unknown"; error?: string }
  /** Calls of a sub-agent wait for approval. `parked`: it has stopped until they are answered, and has spent this since it was last started. `left`: it was drained, and will be resumed. */
  | {
      type: "child_waits";
      call: CallKey;
      pending: WaitingCall[];
      parked: boolean;
      left?: true;
      spent?: Spent;
    }
  /** Somebody answered a call of a sub-agent; `inside` is the call's id there. The sub-agent is told now, or when it is resumed. */
  | { type: "approval_passed"; call: CallKey; inside: string; said: PassedAnswer["said"]; by?: string }
  | { type: "output_checked"; ok: boolean; value?: Json; error?: string }
  | ({ type: "hook_answered"; error?: string } & HookAnswer)
  /** Results in the history were cut to make room: for good. */
  | ({ type: "trimmed"; edits: Replacement[] } & StageNote)
  /** A model is asked to summarise a part of the history. */
  | { type: "summary_started"; part: number; of: number; attempt: number; digest: string }
  | { type: "summary_finished"; message: AssistantMessage }
  | { type: "summary_failed"; error: ErrorData; usage?: Usage }
  /** The history as it is from here on; without `edit` it stays as it was, and `note` says why. */
  | ({ type: "compacted"; edit?: HistoryEdit } & StageNote)
  /**
   * `error` is set if a failure asked for it and not a person; `rule` then says what failed: the rule that threw, `listener`,
   * or `texts`. An `error` without a `rule`: the driver (the end's rule is `driver`).
   */
  | { type: "abort_asked"; reason: string; error?: ErrorData; rule?: string }
  /** A wait ran out. */
  | { type: "woke" }
  /**
   * A result that came after its call already had one. It is kept; the fold takes from it only what a sub-agent spent, and
   * that it is over. `open`: the sub-agent is not over, it has only stopped; with an `error`, it could not be ended this time.
   */
  | { type: "late_result"; call: CallKey | null; result?: CallResult; error?: string; open?: true }
  /** `keep` is what had arrived of an answer that will not be finished. */
  | { type: "run_ended"; end: RunEnd; text?: string; keep?: AssistantMessage };

export type LogRecord = Fact & Stamp;

/** A record of these types. */
export type RecordOf<Type extends LogRecord["type"]> = LogRecord & { type: Type };

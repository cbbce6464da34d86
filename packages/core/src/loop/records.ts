// The room of records: every fact a run is made of.
//
// A record says what happened, never what to do. It is plain JSON and is never changed once appended.
// State is computed from records alone, so whatever a decision needs must be in one of them.
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
import type { Permission } from "../tool/effect.ts";
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

/** All reasons why a run may end. */
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
  /** Whether it makes sense to send another message: false if that would send again what was refused. Only advice: `send` accepts one all the same. */
  resumable: boolean;
  /** What failed, if the reason is a failure. */
  error?: ErrorData;
  /** The run landed: the model was asked once more without tools, and the run's text is that answer, or the last text before it if that was empty. */
  landed: boolean;
}

/** One difference between the code a run began with and the current code. */
export interface CodeChange {
  what: "rule" | "tool" | "model" | "hook" | "option";
  name: string;
  how: "gone" | "new" | "changed" | "moved";
}

/** A change to the history, as a list of kept ranges and new messages: so it is only as large as the change. */
export type HistoryEdit = ({ keep: [from: number, to: number] } | { put: Message })[];

/** The outcome of checking one call's arguments. Made by the driver when the answer arrives, because schemas are user code. */
export type CallCheck =
  /** `keys`: what the tool's `keys` returned; `null`: it may touch anything. `permission`: what the tool's `permission` returned, if it is a function; `permissionError`: it failed, so that the call is denied. `raw`: the arguments are not a JSON object, and the tool takes them as text (`executeRaw`). */
  | {
      ok: true;
      args: JsonObject;
      keys: string[] | null;
      permission?: Permission;
      permissionError?: string;
      raw?: true;
    }
  | { ok: false; error: string; code: "unknown_tool" | "invalid_args" };

/** What was decided about one call of an answer. */
export type Verdict =
  | ({ do: "run" } & Partial<Because>)
  /** Answer it without running it. */
  | ({ do: "answer"; code: ResultCode; text: string } & Partial<Because>);

/** How a result may have come about when the tool did not simply return. */
export const resultCodes = [
  "unknown_tool",
  "invalid_args",
  "truncated_args",
  "too_many_calls",
  /** The tool choice of the request did not allow the call. */
  "tool_choice",
  "repeated",
  "limit",
  "denied",
  "skipped",
  "not_executed",
  "threw",
  "timeout",
  "aborted",
  "outcome_unknown",
  /** A crash interrupted it, and the tool found out the result later (`reconcile`). */
  "reconciled",
  /** Somebody gave the result (`answer`), and the tool did not run. */
  "answered",
  "hook_failed",
] as const;

export type ResultCode = (typeof resultCodes)[number];

export interface CallResult {
  content: ContentPart[];
  isError: boolean;
  /** Absent if the tool simply returned. */
  code?: ResultCode;
  /** The tool wants the run to end; a string becomes the run's text. */
  done?: boolean | string;
  /** Identifies its full text in the blob store. */
  ref?: string;
  /** For programs only: the model does not read it. */
  details?: Json;
  /** What the cap did: the sizes of the full and of the remaining text in UTF-8 bytes, and how many lines the full text had. */
  capped?: { bytes: number; keptBytes: number; lines: number };
  /** What the tool did, for the ledger. */
  ledger?: LedgerEntry[];
  /** Names of tools that the model is offered from now on: of those that wait for it (`when: "offered"`). */
  offers?: string[];
  /** What the tool spent, or a sub-agent since it was last started; added to the run's own spending. */
  spent?: Spent;
}

/** What follows from a judged turn. */
export type Follows =
  /** Settle the calls, then ask the model again. */
  | { do: "act" }
  /** Ask again, once `until` has passed. `note` is part of one request and not stored; `model` is an index; `maxOutputTokens` applies from now on, and what `drop` names is left out of all requests from now on. */
  | {
      do: "ask_again";
      until?: number;
      note?: string;
      model?: number;
      maxOutputTokens?: number;
      drop?: Repair;
      /** Make the history smaller first: summarise it, or only cut its longest texts. */
      reduce?: "compact" | "cut";
    }
  /** This is the final answer. `text` replaces its own text as the run's text. */
  | { do: "finish"; text?: string }
  /** Settle the calls, then one last turn without tools. */
  | { do: "land"; reason: EndReason }
  /** Settle the calls (answering those that did not run), then end. */
  | { do: "stop"; reason: EndReason; text?: string; error?: ErrorData };

/** When a queued message is delivered. `steer`: before the next model call. `follow_up`: when the run would end. */
export type Lane = "steer" | "follow_up";

export type Approval =
  /** `grant`: no person was asked, because this grant covers the call. `always`: also makes a grant for later calls. */
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

/** Fields that the driver adds to every record when it appends it. */
export interface Stamp {
  /** Position in the session, from 0. */
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  /** A random number in [0, 1), e.g. for the jitter of a retry. */
  rand: number;
}

/** Where a fork comes from. */
export interface Origins {
  session: string;
  /** How many of that session's records it shares. */
  seq: number;
  /** The step it was taken at, if it was given as a step. */
  step?: number;
  /** The call whose result was replaced. */
  edited?: CallKey;
}

/** A record before the driver stamps it. */
export type Fact =
  /** `options` is absent if they are those of the session's last run. `history` replaces the session's history. */
  | {
      type: "run_started";
      format: number;
      input: Message[];
      history?: Message[];
      options?: RunOptions;
      /** The caller's own data about the run: stored, never read by the loop. */
      about?: JsonObject;
      /** The run does only this, and then ends. */
      only?: "compaction" | "clearing";
      /** For a sub-agent's run: its parent, and what it may spend. */
      parent?: ParentFacts;
    }
  /**
   * A process took the session over: whatever was in flight is lost, and is not counted as an attempt. `options` apply
   * from here on, also in the open run. `changed`: what in the code has changed since the run began.
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
  /** A queued message was taken back. If it had been delivered by then, it stays. */
  | { type: "withdrawn"; id: string }
  /** A rule's note to the model: part of the next request, not stored in the history. */
  | ({ type: "noted"; text: string } & Because)
  /** From here on the run lands, stops, asks for its typed output or compacts, or a tool is hidden. `cancel`: what is in flight is cancelled. */
  | ({ type: "mode"; mode: "landing"; reason: EndReason; cancel: boolean } & Because)
  | ({ type: "mode"; mode: "stopping"; reason: EndReason; error?: ErrorData; cancel: boolean } & Because)
  /** `message`: the request for the output, if it enters the history (`outputRequest: "stored"`). */
  | ({ type: "mode"; mode: "output"; attempt: number; message?: UserMessage } & Because)
  | ({ type: "mode"; mode: "hide_tool"; tool: string } & Because)
  | ({ type: "mode"; mode: "compacting" } & Because)
  /** `broke`: what changed the front of the request. `stages`: what the stages of the context left out of this request only. */
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
  /** `partial`: the text that had arrived. `shown`: events showed something (reasoning, or the beginning of a call) that `partial` does not contain. */
  | { type: "model_failed"; error: ErrorData; partial?: AssistantMessage; usage?: Usage; shown?: true }
  /** A model's turn is judged once: one verdict per call, and what follows. `store`: whether the answer enters the history. `withheld`: a rule will not have the text of a landing's answer read. */
  | ({
      type: "turn_judged";
      verdicts: Verdict[];
      follows: Follows;
      store: boolean;
      withheld?: true;
    } & Because)
  /** `child`: the session of the sub-agent that is started or resumed; `reserved`: its share of what this run had left to spend. */
  | { type: "tool_started"; call: CallKey; idempotencyKey: string; child?: string; reserved?: Amounts }
  /** `rule`: the rule that answered the call in place of starting it (`judgeStart`), with what it saw. */
  | ({ type: "tool_finished"; call: CallKey; result: CallResult } & Partial<Because>)
  /** The tool has begun, and waits for an answer (`waitForAnswer`): until then nothing of it runs. */
  | { type: "tool_waits"; call: CallKey; question: Json }
  /** Somebody answered the tool's question: it may go on (`resume`). */
  | { type: "tool_answered"; call: CallKey; answer: Json }
  | { type: "approval_asked"; calls: CallKey[] }
  | { type: "approval_given"; call: CallKey; approval: Approval; by?: string }
  /** A grant: approval given in advance. A second one with the same id changes nothing. */
  | { type: "allowed"; grant: Grant; by?: string }
  | { type: "revoked"; id: string; by?: string }
  /** What the tool found out about a write that a crash interrupted. `not_done`: it may start again. */
  | { type: "reconciled"; call: CallKey; found: "done"; result: CallResult }
  | { type: "reconciled"; call: CallKey; found: "not_done" | "unknown"; error?: string }
  /** Calls of a sub-agent wait for an approval or an answer. `parked`: it does nothing until they are answered. `spent`: since it was last started. `left`: it was drained, and will be resumed. */
  | {
      type: "child_waits";
      call: CallKey;
      pending: WaitingCall[];
      parked: boolean;
      left?: true;
      spent?: Spent;
    }
  /** A call of a sub-agent was answered; `inside` is the call's id there, `round` says which question of its tool. The answer is passed on now, or when the sub-agent is resumed. */
  | ({ type: "approval_passed"; call: CallKey; by?: string } & PassedAnswer)
  | { type: "output_checked"; ok: boolean; value?: Json; error?: string }
  | ({ type: "hook_answered"; error?: string } & HookAnswer)
  /** Results in the history were cut for good, to make room. */
  | ({ type: "trimmed"; edits: Replacement[] } & StageNote)
  /** A model was called to summarise part `part` of `of` of the history. */
  | { type: "summary_started"; part: number; of: number; attempt: number; digest: string }
  | { type: "summary_finished"; message: AssistantMessage }
  /** `partial`: the text that had arrived. It is not used, but was paid for. */
  | { type: "summary_failed"; error: ErrorData; partial?: AssistantMessage; usage?: Usage }
  /** The end of a compaction: the history changes by `edit`; without it the history stays, and `note` says why. */
  | ({ type: "compacted"; edit?: HistoryEdit } & StageNote)
  /**
   * `error` is set if a failure and not a person caused the abort; `rule` then says what failed: the rule that threw, `listener`,
   * or `texts`. An `error` without a `rule`: the driver failed (the end's rule is `driver`).
   */
  | { type: "abort_asked"; reason: string; error?: ErrorData; rule?: string }
  /** The time that a wait was for has come. */
  | { type: "woke" }
  /**
   * A result that came after its call already had one. It is stored but not used; only what it cost counts, and that a
   * sub-agent has ended. `open`: the sub-agent has not ended, only stopped; with an `error`, it could not be ended this time.
   * `call`: null for a model call that was given up; `usage` and `usd` are then what it cost, as far as that is known.
   */
  | {
      type: "late_result";
      call: CallKey | null;
      result?: CallResult;
      error?: string;
      open?: true;
      usage?: Usage;
      usd?: number;
    }
  /** `keep`: the part of an unfinished answer that had arrived; it enters the history. */
  | { type: "run_ended"; end: RunEnd; text?: string; keep?: AssistantMessage };

export type LogRecord = Fact & Stamp;

/** A record of these types. */
export type RecordOf<Type extends LogRecord["type"]> = LogRecord & { type: Type };

// The room of the state: what the loop knows, given the records.
//
// State is never saved; the journal is the run, and `reduce` is the only thing that makes a state. The stored history
// is valid in every state (P1): an answer with calls enters it together with all its results.

import { emptyLedger, type Ledger } from "../context/compact/ledger.ts";
import type { ErrorData, Repair } from "../errors.ts";
import type { AssistantMessage, JsonObject, Message, Usage, UserMessage } from "../message.ts";
import type { Settings, ToolChoice } from "../model.ts";
import type { HeldGrant } from "../rules/grants.ts";
import type { ChildCall, LeftChild, ParentFacts, Spent } from "./child-facts.ts";
import { Log, Names } from "./log.ts";
import type {
  Because,
  CallCheck,
  CallKey,
  CallResult,
  EndReason,
  Follows,
  HistoryEdit,
  Lane,
  RunEnd,
  Verdict,
} from "./records.ts";
import type { ModelRef, RunOptions, ToolFacts } from "./run-options.ts";

/** One call of the open turn. */
export interface Call {
  readonly key: CallKey;
  /** Unique in the session. */
  readonly id: string;
  readonly name: string;
  /** The arguments it runs with: checked, coerced, perhaps edited. */
  readonly args: JsonObject;
  readonly rawArgs: string;
  readonly argsError?: string | undefined;
  readonly check: CallCheck;
  /** Absent when there is no such tool. */
  readonly tool?: ToolFacts;
  readonly verdict?: Verdict;
  /** What the permission hook or the tool's own `permission` decided. `approved`: for the arguments the call had then. */
  readonly permission?: {
    answer: "allow" | "deny" | "ask" | "stop";
    reason?: string;
    failed?: true;
    approved?: true;
  };
  readonly asked: boolean;
  readonly prepared: boolean;
  readonly startedAt?: number;
  /** The idempotency key it was started with last. Before a fork that was the other session's. */
  readonly startedAs?: string;
  /** It is a write, and had started when a process died. */
  readonly interrupted: boolean;
  /** It had started when a process died, and may have had its effect. It runs again, because twice does no harm, or because somebody approved it. */
  readonly begun?: true;
  /** What `reconcile` found out about that: the result, or nothing. Absent: it has not been asked, or the tool has none. */
  readonly reconciled?: CallResult | "unknown" | undefined;
  /** Somebody who knows that it was cut off approved that it runs again. */
  readonly again?: true | undefined;
  readonly result?: CallResult;
  /** It is a sub-agent, and has begun. */
  readonly child?: ChildCall;
  /** The afterTool hook has answered, or there is none. */
  readonly settled: boolean;
}

/** The open turn: an answer with its calls, until all have results. */
export interface Turn {
  readonly seq: number;
  readonly message: AssistantMessage;
  readonly calls: readonly Call[];
  /** The request it answers was pruned: it held less than the history. */
  readonly pruned?: boolean;
  /** The request it answers was that of a landing. */
  readonly lands?: true;
  /** `text`: that of the paused answers before it, followed by its own. */
  readonly judged?: { follows: Follows; store: boolean; text: string } & Because;
}

export interface Spend {
  /** Sums of what the provider counted. */
  readonly usage: Usage;
  /** Input and output tokens together. */
  readonly tokens: number;
  /** US dollars; undefined once any call had no known price or count. */
  readonly usd: number | undefined;
  /** Model calls whose tokens nobody counted. */
  readonly uncounted: number;
}

/** A compaction under way: why, and how far it has come. */
export interface Compacting extends Because {
  /** The summaries so far, in order. */
  readonly summaries: readonly string[];
  /** Failed attempts at the next one. */
  readonly failures: number;
  /** The last failure: of the next summary, as long as it may be tried again. */
  readonly failure?: ErrorData | undefined;
  readonly failedAt?: { at: number; rand: number } | undefined;
  /** How often its requests were too long for the summarising model. */
  readonly narrowed?: number | undefined;
  /** The output limit to use after another one was refused; `null`: none. */
  readonly limit?: number | null | undefined;
  /** How many of the failed attempts ended at their output limit without any text. */
  readonly cut?: number | undefined;
  readonly call?: { startedAt: number } | undefined;
}

/** Members that no longer apply are `undefined`, not left out: so every run has the same shape, and copying one stays cheap. */
export interface Run {
  readonly number: number;
  readonly startedAt: number;
  /** Answers judged so far; a paused answer and its continuation count as one. */
  readonly steps: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Failed attempts at the present step. */
  readonly failures: number;
  /** A model was asked for the present step, so listeners were told that the step begins. */
  readonly stepBegun?: true | undefined;
  /** Index of the run's own model: the agent's, or the one it has fallen back to. What a step asks: `modelInUse`. */
  readonly model: number;
  readonly maxOutputTokens?: number;
  /** The run only does this, and then ends. */
  readonly only?: "compaction" | "clearing" | undefined;
  /** It was begun without a new message: from the conversation as it stands, and with what waits. */
  readonly goesOn?: true | undefined;
  readonly compacting?: Compacting | undefined;
  /** A request was too large, and no answer has come since. `helped`: the history has been made smaller. */
  readonly reduced?: { error: ErrorData; helped: boolean } | undefined;
  /** What requests of this run leave out of the history, because the provider refused it. */
  readonly dropped: readonly Repair[];
  /** Includes what sub-agents spent. */
  readonly spend: Spend;
  /** What sub-agents spent, and how many there were: absent before the first. */
  readonly below?: Spent;
  /** Whose sub-agent this is. */
  readonly parent?: ParentFacts;
  /** Notes of rules for the next request. */
  readonly notes: readonly string[];
  readonly hidden: readonly string[];
  /** Rules that nudged or hid a tool since the last model call: each may do so once. */
  readonly spoken: readonly string[];
  readonly landing?: { reason: EndReason } & Because;
  readonly output?: { attempt: number; error?: string } | undefined;
  readonly abort?: { at: number; reason: string; error?: ErrorData; rule?: string };
  /** Since when the work in flight is cancelled. */
  readonly cancelledAt?: number | undefined;
  readonly call?:
    | { startedAt: number; step: number; attempt: number; pruned?: boolean; lands?: true }
    | undefined;
  readonly failure?:
    | { error: ErrorData; partial?: AssistantMessage; shown?: true; at: number; rand: number }
    | undefined;
  readonly turn?: Turn | undefined;
  /** A paused answer is waiting to be sent again as it is. */
  readonly paused: boolean;
  /** The text of the paused answers that the next answer continues: together they are one answer. */
  readonly pausedText: string;
  /** No model call before this time. */
  readonly notBefore?: number | undefined;
  /** The candidate for the final answer. */
  readonly answer?: { text: string } | undefined;
  readonly checked?: { ok: boolean; value?: unknown; error?: string } | undefined;
  readonly finishAsked: boolean;
  readonly prepared?:
    | {
        step: number;
        model?: number;
        tools?: readonly string[];
        toolChoice?: ToolChoice;
        settings?: Settings;
      }
    | undefined;
  readonly transformed?: { step: number; edit?: HistoryEdit };
  readonly stopping?: ({ reason: EndReason; text?: string; error?: ErrorData } & Because) | undefined;
  /** A hook of the run itself failed. */
  readonly broken?: ErrorData;
  /** A rule's `fold` threw: no rule folds any record after that, and the driver ends the run. */
  readonly ruleFailed?: { rule: string; error: ErrorData };
  /** The text of the last answer stored in this run. */
  readonly lastText: string;
  readonly end?: RunEnd;
  readonly text?: string;
}

export interface Queued {
  readonly id: string;
  readonly lane: Lane;
  readonly message: UserMessage;
  /** The onFinish hook returned it, after the run had already gone on. */
  readonly hook?: "onFinish";
}

export interface State {
  /** How many records were folded; the next one's sequence number. */
  readonly seq: number;
  /** Time of the last record. */
  readonly now: number;
  readonly history: Log<Message>;
  /** How many records there were when the history was last replaced: facts about the old history are void. */
  readonly changedSeq: number;
  /** Ids of tool calls in use. */
  readonly ids: Names;
  readonly inbox: readonly Queued[];
  /** Client ids of every message ever queued. */
  readonly seen: Names;
  /** All grants, whether they still hold or not. */
  readonly grants: readonly HeldGrant[];
  readonly options?: RunOptions;
  readonly run?: Run;
  /** The provider's last count: all tokens of the first so many messages. Absent: these have changed since. */
  readonly counted?: { tokens: number; length: number } | undefined;
  /** Tokens of the last model call of any kind, as its provider counted them. */
  readonly lastTokens?: number | undefined;
  /** Windows that refusals named, in tokens, by the model's id. Absent: none did. */
  readonly windows?: ReadonlyMap<string, number>;
  /** The stages that changed the history, other than by adding to it, since a model was last asked. */
  readonly rewritten: readonly string[];
  /** The time of the last request that a model answered. */
  readonly touchedAt?: number;
  /** The last compaction: how long the history was after it, and whether it helped. `forced`: no request fitted without it. `inARow`: how many came on answers in a row. */
  readonly compacted?: { length: number; answers: number; helped: boolean; forced: boolean; inARow: number };
  /** The ledger: what tools have done, as data. */
  readonly ledger: Ledger;
  /** Answers in the session. */
  readonly answers: number;
  /** Refs of all whole texts of cut results, oldest first. */
  readonly outputs: Log<string>;
  /** The conversation holds a ref to a kept text: the reader tools are offered from then on. */
  readonly readable?: true;
  /** Sub-agents that were left behind (their calls have results) and have not ended. Absent: there are none. */
  readonly left?: readonly LeftChild[];
  /** What each rule remembers, in the order of the rules. */
  readonly memories: readonly unknown[];
}

export const emptyState: State = {
  seq: 0,
  now: 0,
  history: Log.of<Message>(),
  changedSeq: 0,
  ids: Names.empty(),
  inbox: [],
  seen: Names.empty(),
  grants: [],
  ledger: emptyLedger,
  outputs: Log.of<string>(),
  answers: 0,
  counted: undefined,
  lastTokens: undefined,
  rewritten: [],
  memories: [],
};

/** Whether there is a run that has not ended. */
export function isOpen(run: Run | undefined): run is Run & { readonly end?: never } {
  return run !== undefined && run.end === undefined;
}

/** Whether a model call, a summary or a tool is under way. */
export function inFlight(run: Run): boolean {
  return isThinking(run) || (run.turn?.calls.some(isRunning) ?? false);
}

/** Whether a model is at work, for an answer or for a summary. */
export function isThinking(run: Run): boolean {
  return run.call !== undefined || run.compacting?.call !== undefined;
}

/** A cancellation that was not an abort is over once nothing is in flight. */
export function settleCancel(run: Run): Run {
  if (run.cancelledAt === undefined || run.abort !== undefined || inFlight(run)) return run;
  // A cancelled run has no time left for making room.
  return { ...run, cancelledAt: undefined, compacting: undefined };
}

/** Whether a run was begun without a new message, and its model has none to answer yet: what is to be answered waits, or was taken back. */
export function hasNothingToAnswer({ run, history }: State): boolean {
  if (run?.goesOn !== true || run.steps > 0 || run.paused) return false;
  const last = history.at(-1)?.role;
  return last === undefined || last === "assistant";
}

/** Whether a call has started and has no result. */
export function isRunning(call: Call): boolean {
  return call.startedAt !== undefined && call.result === undefined;
}

/** Whether a call has ever started, including one that was cut off since, or whose sub-agent has stopped and will be resumed. */
export function hasBegun(call: Call): boolean {
  return call.startedAt !== undefined || call.child !== undefined || call.begun === true;
}

/** A state that has a run, and with it its options. */
export interface RunState extends State {
  readonly options: RunOptions;
  readonly run: Run;
}

/** The same state, for whoever knows that it has a run. @throws Error if it has none */
export function withRun(state: State): RunState {
  if (state.run === undefined) throw new Error("there is no run: this is a defect");
  return state as RunState;
}

/** A call of the open turn, by its key. */
export function callIn(run: Run | undefined, key: CallKey): Call | undefined {
  for (const call of run?.turn?.calls ?? []) if (call.key === key) return call;
  return undefined;
}

/** The number of the step that is under way, or comes next. */
export const stepOf = (state: RunState): number => state.run.steps + 1;

/** What the prepareStep hook answered for the step that is under way, or comes next; undefined if it has not been asked about it. */
export const preparedOf = ({ prepared, steps }: Run): Run["prepared"] =>
  prepared?.step === steps + 1 ? prepared : undefined;

/** What the transformContext hook answered for that step's request. */
export const transformedOf = ({ transformed, steps }: Run): Run["transformed"] =>
  transformed?.step === steps + 1 ? transformed : undefined;

/** Index of the model for the step that is under way, or comes next: the one a hook chose for it, else the run's own. */
export const modelInUse = (run: Run): number => preparedOf(run)?.model ?? run.model;

/** The model that summarises: `compaction.model`, else the run's own. Not one that a hook chose for a step, because a summary outlives the step. */
export function summariserOf(state: RunState): ModelRef | undefined {
  const { compactor, models } = state.options;
  return compactor ?? models[state.run.model];
}

/** A run that has more to do: it has no final answer any more. */
export function working(run: Run): Run {
  const stopping = run.stopping?.reason === "completed" ? undefined : run.stopping;
  return { ...run, answer: undefined, checked: undefined, output: undefined, only: undefined, stopping };
}

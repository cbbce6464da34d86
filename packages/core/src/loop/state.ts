// The room of the state: what the loop knows, given the records.
//
// State is never saved: it is computed from the journal, only by `reduce`. The stored history is valid in every state
// (P1): an answer with calls enters it together with all its results.

import { emptyLedger, type Ledger } from "../context/compact/ledger.ts";
import type { ErrorData, Repair } from "../errors.ts";
import type { AssistantMessage, Json, JsonObject, Message, Usage, UserMessage } from "../message.ts";
import type { Settings, ToolChoice } from "../model.ts";
import type { HeldGrant } from "../rules/grants.ts";
import type { AskedQuestion, ChildCall, LeftChild, ParentFacts, Spent } from "./child-facts.ts";
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

/** A question of a call's tool, and what came of it. */
export interface Question extends AskedQuestion {
  /** The answer, once there is one: the tool goes on with it. */
  readonly answer?: { readonly value: Json };
}

/** One call of the open turn. */
export interface Call {
  readonly key: CallKey;
  /** Unique in the session. */
  readonly id: string;
  readonly name: string;
  /** The arguments it runs with: validated, coerced, perhaps edited. */
  readonly args: JsonObject;
  readonly rawArgs: string;
  readonly argsError?: string | undefined;
  readonly check: CallCheck;
  /** Absent when there is no such tool. */
  readonly tool?: ToolFacts;
  readonly verdict?: Verdict;
  /** What the permission hook or the tool's own `permission` decided. `approved`: by a person, for the arguments the call had then. */
  readonly permission?: {
    answer: "allow" | "deny" | "ask" | "stop";
    reason?: string;
    failed?: true;
    approved?: true;
  };
  /** An approval was requested. */
  readonly asked: boolean;
  /** The beforeTool hook has answered. */
  readonly prepared: boolean;
  readonly startedAt?: number;
  /** The idempotency key of its last start. If that was before a fork, the key has the original session's id. */
  readonly startedAs?: string;
  /** It is a write, and was running when a process died. */
  readonly interrupted: boolean;
  /** It was running when a process died, and may have had its effect. It runs again, because repeating it is harmless, or because a person approved that. */
  readonly begun?: true;
  /** What `reconcile` found out about an interrupted call: the result, or nothing. Absent: it has not been asked, or the tool has none. */
  readonly reconciled?: CallResult | "unknown" | undefined;
  /** A person, knowing that it was interrupted, approved that it runs again. */
  readonly again?: true | undefined;
  readonly result?: CallResult;
  /** The tool's last question, once it has asked one. */
  readonly question?: Question;
  /** Set once the call is a sub-agent that has begun. */
  readonly child?: ChildCall;
  /** The afterTool hook has answered, or there is none. */
  readonly settled: boolean;
}

/** The open turn: an answer with its calls, until all have results. */
export interface Turn {
  readonly seq: number;
  readonly message: AssistantMessage;
  readonly calls: readonly Call[];
  /** The request it answers was pruned: it contained less than the history. */
  readonly pruned?: boolean;
  /** The request it answers was that of a landing. */
  readonly lands?: true;
  /** How many tools results had offered before it. Absent: none. */
  readonly offeredBefore?: number;
  /** `text`: the texts of the paused answers that it continues, followed by its own. */
  readonly judged?: { follows: Follows; store: boolean; text: string } & Because;
}

export interface Spend {
  /** Sums of the usage that providers reported. */
  readonly usage: Usage;
  /** Input and output tokens together. */
  readonly tokens: number;
  /** US dollars; undefined as soon as one call has no known price or usage. */
  readonly usd: number | undefined;
  /** Model calls without reported usage, or with that of a part only. */
  readonly uncounted: number;
  /** About how many tokens those took. Absent: none. */
  readonly estimated?: number;
}

/** A compaction in progress: why, and how far it is. */
export interface Compacting extends Because {
  /** The summaries so far, in order. */
  readonly summaries: readonly string[];
  /** Failed attempts at the next one. */
  readonly failures: number;
  /** The last failure of the next summary, as long as it may be retried. */
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

/** A run, open or ended. Members that no longer apply are set to `undefined`, not removed: so every run has the same hidden class, and copying one stays cheap. */
export interface Run {
  readonly number: number;
  readonly startedAt: number;
  /** Answers judged so far; a paused answer and its continuation count as one. */
  readonly steps: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Failed attempts at the current step. */
  readonly failures: number;
  /** A model was called for the current step, so `step_start` was emitted. */
  readonly stepBegun?: true | undefined;
  /** Index of the run's own model: the agent's, or the one it has fallen back to. For the model of a step see `modelInUse`. */
  readonly model: number;
  readonly maxOutputTokens?: number;
  /** The run only does this, and then ends. */
  readonly only?: "compaction" | "clearing" | undefined;
  /** It was started without a new message (`continue`): from the history as it is, with queued messages. */
  readonly goesOn?: true | undefined;
  readonly compacting?: Compacting | undefined;
  /** A request was refused as too large, and no answer has come since. `helped`: the history has been made smaller. */
  readonly reduced?: { error: ErrorData; helped: boolean } | undefined;
  /** What requests of this run leave out of the history, because the provider refused it. */
  readonly dropped: readonly Repair[];
  /** Includes what sub-agents spent. */
  readonly spend: Spend;
  /** What sub-agents spent, and how many there were; absent before the first. */
  readonly below?: Spent;
  /** The parent, if this run is a sub-agent's. */
  readonly parent?: ParentFacts;
  /** Notes of rules for the next request. */
  readonly notes: readonly string[];
  readonly hidden: readonly string[];
  /** Rules that gave a note or hid a tool since the last model call: each may do so once. */
  readonly spoken: readonly string[];
  readonly landing?: { reason: EndReason } & Because;
  readonly output?: { attempt: number; error?: string } | undefined;
  readonly abort?: { at: number; reason: string; error?: ErrorData; rule?: string };
  /** When the work in flight was cancelled. */
  readonly cancelledAt?: number | undefined;
  readonly call?:
    | { startedAt: number; step: number; attempt: number; pruned?: boolean; lands?: true }
    | undefined;
  readonly failure?:
    | { error: ErrorData; partial?: AssistantMessage; shown?: true; at: number; rand: number }
    | undefined;
  readonly turn?: Turn | undefined;
  /** The last answer paused: it is sent back unchanged for the model to continue. */
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
  /** A hook of the run (not of one call) failed. */
  readonly broken?: ErrorData;
  /** A rule's `fold` threw: from then on no rule folds records, and the driver ends the run. */
  readonly ruleFailed?: { rule: string; error: ErrorData };
  /** What had arrived of a landing's answer that failed or was cut off: the best there is, unless another comes. */
  readonly unfinished?: AssistantMessage;
  /** The text of the last answer stored in this run. */
  readonly lastText: string;
  readonly end?: RunEnd;
  readonly text?: string;
}

export interface Queued {
  readonly id: string;
  readonly lane: Lane;
  readonly message: UserMessage;
  /** The onFinish hook returned it, but the run had already continued. */
  readonly hook?: "onFinish";
}

/** What a session knows of the files that a model refused. */
export interface RefusedFiles {
  readonly files: ReadonlySet<Extract<Repair, `file.${string}`>>;
  /** What the run had left out when it was learnt: the same list teaches nothing new. */
  readonly dropped: readonly Repair[];
}

export interface State {
  /** How many records were folded; the next one's sequence number. */
  readonly seq: number;
  /** Time of the last record. */
  readonly now: number;
  readonly history: Log<Message>;
  /** How many user's messages have entered the conversation, those that a summary replaced included. */
  readonly said: number;
  /** The `seq` at which the history was last replaced: facts about an older history no longer apply. */
  readonly changedSeq: number;
  /** Ids of tool calls in use. */
  readonly ids: Names;
  readonly inbox: readonly Queued[];
  /** Ids of all messages ever queued: a message with a known id is dropped. */
  readonly seen: Names;
  /** All grants, whether they still hold or not. */
  readonly grants: readonly HeldGrant[];
  readonly options?: RunOptions;
  readonly run?: Run;
  /** What the session's earlier runs spent. Absent: there were none. */
  readonly spentBefore?: Spent;
  /** The provider's last count: `tokens` of the first `length` messages. Absent if these have changed since. */
  readonly counted?: { tokens: number; length: number } | undefined;
  /** Tokens of the last model call of any kind, as the provider counted them. */
  readonly lastTokens?: number | undefined;
  /** Context windows named in refusals, in tokens, by the model's id. Absent: there were none. */
  readonly windows?: ReadonlyMap<string, number>;
  /** Files that a model answered only without, by the model's id. Absent: there were none. */
  readonly refusedFiles?: ReadonlyMap<string, RefusedFiles>;
  /** The stages that changed the history, other than by appending to it, since the last model call. */
  readonly rewritten: readonly string[];
  /** The time of the last request that a model answered. */
  readonly touchedAt?: number;
  /** The last compaction: the history's length and the number of answers after it, and whether it helped. `forced`: no request would have fitted without it. `inARow`: how many compactions came after consecutive answers. */
  readonly compacted?: { length: number; answers: number; helped: boolean; forced: boolean; inARow: number };
  /** The ledger: what tools have done, as data. */
  readonly ledger: Ledger;
  /** Answers in the session. */
  readonly answers: number;
  /** Refs of all kept full texts of cut results, oldest first. */
  readonly outputs: Log<string>;
  /** The history contains a ref to a kept text: from then on the reader tools are offered. */
  readonly readable?: true;
  /** The messages of the history with which the loop asked for a typed output: nobody said them. */
  readonly asked: readonly Message[];
  /** Names of the tools that results have offered, in that order. Absent: there are none. */
  readonly offered?: readonly string[];
  /** Abandoned sub-agents: their calls have results, but they have not ended. Absent: there are none. */
  readonly left?: readonly LeftChild[];
  /** The memory of each rule, in the order of the rules. */
  readonly memories: readonly unknown[];
}

export const emptyState: State = {
  seq: 0,
  now: 0,
  history: Log.of<Message>(),
  said: 0,
  asked: [],
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

/** Whether a model call, a summary or a tool is in flight. */
export function inFlight(run: Run): boolean {
  return isThinking(run) || (run.turn?.calls.some(isRunning) ?? false);
}

/** Whether a model call is in flight, for an answer or for a summary. */
export function isThinking(run: Run): boolean {
  return run.call !== undefined || run.compacting?.call !== undefined;
}

/** Whether no request fits without this compaction: then the history must become smaller, with a summary or without. */
export const isForced = (compacting: Compacting | undefined): boolean =>
  compacting?.rule === "overflow" || compacting?.rule === "guard";

/** Whether a run was started without a new message, and there is nothing for the model to answer: its messages are still queued, or were withdrawn. */
export function hasNothingToAnswer({ run, history }: State): boolean {
  if (run?.goesOn !== true || run.steps > 0 || run.paused) return false;
  const last = history.at(-1)?.role;
  return last === undefined || last === "assistant";
}

/** Whether a call has started and has no result. */
export function isRunning(call: Call): boolean {
  return call.startedAt !== undefined && call.result === undefined;
}

/** Whether nothing more can change a call: it has a result, and the afterTool hook has seen it. */
export function isOver(call: Call): boolean {
  return call.result !== undefined && call.settled;
}

/**
 * Whether a call has ever started: also one that waits for an answer, whose sub-agent is parked and will be resumed, or that was
 * lost in a crash and may run again (`begun`). A write that a crash interrupted counts as neither begun nor fresh: it is `interrupted`.
 */
export function hasBegun(call: Call): boolean {
  return (
    call.startedAt !== undefined ||
    call.child !== undefined ||
    call.begun === true ||
    call.question !== undefined
  );
}

/** The question of a call's tool that nobody has answered; undefined if there is none. */
export function openQuestion({ question, result }: Call): Question | undefined {
  return question?.answer === undefined && result === undefined ? question : undefined;
}

/** Whether a call waits for an answer to its tool's question. */
export const awaitsAnswer = (call: Call): boolean => openQuestion(call) !== undefined;

/** A state that has a run, and with it its options. */
export interface RunState extends State {
  readonly options: RunOptions;
  readonly run: Run;
}

/** The same state, for callers that know that it has a run. @throws Error if it has none */
export function withRun(state: State): RunState {
  if (state.run === undefined) throw new Error("there is no run: this is a defect");
  return state as RunState;
}

/** A call of the open turn, by its key. */
export function callIn(run: Run | undefined, key: CallKey): Call | undefined {
  for (const call of run?.turn?.calls ?? []) if (call.key === key) return call;
  return undefined;
}

/** The number of the current or next step. */
export const stepOf = (state: RunState): number => state.run.steps + 1;

/** What the prepareStep hook returned for the current or next step; undefined if it has not been called for it. */
export const preparedOf = ({ prepared, steps }: Run): Run["prepared"] =>
  prepared?.step === steps + 1 ? prepared : undefined;

/** What the transformContext hook returned for that step's request. */
export const transformedOf = ({ transformed, steps }: Run): Run["transformed"] =>
  transformed?.step === steps + 1 ? transformed : undefined;

/** Index of the model for the current or next step: the one a hook chose for it, else the run's own. */
export const modelInUse = (run: Run): number => preparedOf(run)?.model ?? run.model;

/** The model that summarises: `compaction.model`, else the run's own. Not one that a hook chose for a step, because a summary outlives the step. */
export function summariserOf(state: RunState): ModelRef | undefined {
  const { compactor, models } = state.options;
  return compactor ?? models[state.run.model];
}

/** The run after it got more to do: without its candidate for the final answer. */
export function working(run: Run): Run {
  const stopping = run.stopping?.reason === "completed" ? undefined : run.stopping;
  return { ...run, answer: undefined, checked: undefined, output: undefined, only: undefined, stopping };
}

// The room of the state: what is so, given what happened.
//
// `reduce` folds one record into the state and is the only thing that makes a state. It is total (a record that does
// not fit changes nothing), pure in effect, and costs what is new: no record is ever looked at twice, no history is
// copied. State is never saved; the journal is the run.
//
// The stored history is valid in every state (P1): an answer with calls enters it together with all its results.

import type { ErrorData } from "../errors.ts";
import type {
  AssistantMessage,
  JsonObject,
  Message,
  ToolCallPart,
  ToolMessage,
  Usage,
  UserMessage,
} from "../message.ts";
import { callsOf, textOf } from "../message.ts";
import type { ToolChoice } from "../model.ts";
import type { Rules } from "../rules/rule.ts";
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
  LogRecord,
  RunEnd,
  RunOptions,
  ToolFacts,
  Verdict,
} from "./records.ts";

/** One call of the open turn. */
export interface Call {
  readonly key: CallKey;
  /** Unique in the session. */
  readonly id: string;
  readonly name: string;
  /** What it runs with: checked, coerced, perhaps edited. */
  readonly args: JsonObject;
  readonly rawArgs: string;
  readonly argsError?: string;
  readonly check: CallCheck;
  /** Absent when there is no such tool. */
  readonly tool?: ToolFacts;
  readonly verdict?: Verdict;
  /** What the permission hook or the tool's own word came to. */
  readonly permission?: { answer: "allow" | "deny" | "ask" | "stop"; reason?: string };
  readonly asked: boolean;
  readonly prepared: boolean;
  readonly startedAt?: number;
  /** It had started when a process died. */
  readonly interrupted: boolean;
  readonly result?: CallResult;
  /** The afterTool hook has spoken, or there is none. */
  readonly settled: boolean;
}

/** An answer with everything that still hangs on it. */
export interface Turn {
  readonly seq: number;
  readonly message: AssistantMessage;
  readonly calls: readonly Call[];
  readonly judged?: { follows: Follows; store: boolean } & Because;
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

export interface Run {
  readonly number: number;
  readonly startedAt: number;
  /** Answers judged so far; a paused answer and its rest are one. */
  readonly steps: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Failed attempts at the present step. */
  readonly failures: number;
  /** Index of the model in use. */
  readonly model: number;
  readonly maxOutputTokens?: number;
  readonly spend: Spend;
  /** What rules have to say in the next request. */
  readonly notes: readonly string[];
  readonly hidden: readonly string[];
  /** Rules that nudged or hid a tool since the last model call: each may do so once. */
  readonly spoken: readonly string[];
  readonly landing?: { reason: EndReason } & Because;
  readonly output?: { attempt: number; error?: string };
  readonly abort?: { at: number; reason: string; error?: ErrorData };
  /** Since when what is in flight is no longer wanted. */
  readonly cancelledAt?: number;
  readonly call?: { startedAt: number; step: number; attempt: number };
  readonly failure?: { error: ErrorData; partial?: AssistantMessage; at: number; rand: number };
  readonly turn?: Turn;
  /** A paused answer is waiting to be sent again as it is. */
  readonly paused: boolean;
  /** No model call before this time. */
  readonly notBefore?: number;
  /** The candidate for the final answer. */
  readonly answer?: { text: string };
  readonly checked?: { ok: boolean; value?: unknown; error?: string };
  readonly finishAsked: boolean;
  readonly prepared?: { step: number; model?: number; tools?: readonly string[]; toolChoice?: ToolChoice };
  readonly transformed?: { step: number; edit?: HistoryEdit };
  readonly stopping?: { reason: EndReason; text?: string; error?: ErrorData } & Because;
  /** A hook of the run itself failed. */
  readonly broken?: ErrorData;
  /** The text of the last answer stored in this run. */
  readonly lastText: string;
  readonly end?: RunEnd;
  readonly text?: string;
}

export interface Queued {
  readonly id: string;
  readonly lane: Lane;
  readonly message: UserMessage;
}

export interface State {
  /** How many records were folded; the next one's sequence number. */
  readonly seq: number;
  /** Time of the last record. */
  readonly now: number;
  readonly history: Log<Message>;
  /** Ids of tool calls in use. */
  readonly ids: Names;
  readonly inbox: readonly Queued[];
  /** Client ids of every message ever queued. */
  readonly seen: Names;
  readonly options?: RunOptions;
  readonly run?: Run;
  /** What each rule remembers, in the order of the rules. */
  readonly memories: readonly unknown[];
}

export const emptyState: State = {
  seq: 0,
  now: 0,
  history: Log.of<Message>(),
  ids: Names.empty(),
  inbox: [],
  seen: Names.empty(),
  memories: [],
};

/** The state after one more record. */
export function reduce(state: State, record: LogRecord, rules: Rules): State {
  const stamped: State = { ...state, seq: record.seq + 1, now: record.at };
  const folded = fold(stamped, record);
  if (record.type === "run_started")
    return { ...folded, memories: rules.list.map((rule) => rule.init?.(folded)) };
  return remember(folded, record, state, rules);
}

/** The state after many records. */
export function reduceAll(records: Iterable<LogRecord>, rules: Rules, from: State = emptyState): State {
  let state = from;
  for (const record of records) state = reduce(state, record, rules);
  return state;
}

function remember(folded: State, record: LogRecord, before: State, rules: Rules): State {
  let memories = folded.memories as unknown[];
  rules.list.forEach((rule, at) => {
    if (rule.fold === undefined) return;
    const memory = rule.fold(memories[at], record, before);
    if (memory === memories[at]) return;
    if (memories === folded.memories) memories = [...memories];
    memories[at] = memory;
  });
  return memories === folded.memories ? folded : { ...folded, memories };
}

function fold(state: State, record: LogRecord): State {
  if (record.type === "run_started") return startRun(state, record);
  if (record.type === "queued") return queue(state, record);
  const { run } = state;
  if (run === undefined || run.end !== undefined) return state;
  const to = (change: Partial<Run>): State => ({ ...state, run: { ...run, ...change } });
  switch (record.type) {
    case "opened":
      return { ...state, run: settleCancel(interrupt(run)) };
    case "delivered":
      return deliver(state, run, record.ids);
    case "noted":
      return to({ notes: [...run.notes, record.text], spoken: [...run.spoken, record.rule] });
    case "mode":
      return { ...state, run: changeMode(run, record) };
    case "model_started":
      return { ...state, run: startModel(run, record) };
    case "model_finished":
      return finishModel(state, run, record);
    case "model_failed":
      return { ...state, run: failModel(state, run, record) };
    case "turn_judged":
      return judge(state, run, record);
    case "tool_started":
      return changeCall(state, run, record.call, (call) => ({
        ...call,
        startedAt: record.at,
        interrupted: false,
      }));
    case "tool_finished":
      return finishTool(state, run, record.call, record.result);
    case "approval_asked":
      return {
        ...state,
        run: {
          ...run,
          ...mapCalls(run, (call) => (record.calls.includes(call.key) ? { ...call, asked: true } : call)),
        },
      };
    case "approval_given":
      return approve(state, run, record);
    case "output_checked":
      return to({
        checked: {
          ok: record.ok,
          ...(record.value === undefined ? {} : { value: record.value }),
          ...(record.error === undefined ? {} : { error: record.error }),
        },
      });
    case "hook_answered":
      return hookAnswered(state, run, record);
    case "compacted":
      return {
        ...state,
        history: Log.of(record.history),
        run: { ...run, spend: spendMore(state, run, record.usage) },
      };
    case "abort_asked":
      if (run.abort !== undefined) return state;
      return to({
        abort: {
          at: record.at,
          reason: record.reason,
          ...(record.error === undefined ? {} : { error: record.error }),
        },
        cancelledAt: run.cancelledAt ?? record.at,
      });
    case "run_ended": {
      const history = record.keep === undefined ? state.history : state.history.push(record.keep);
      const { turn: _turn, call: _call, answer: _answer, ...rest } = run;
      return { ...state, history, run: { ...rest, end: record.end, text: record.text ?? "" } };
    }
    case "woke":
    case "late_result":
      return state;
  }
}

function startRun(state: State, record: LogRecord & { type: "run_started" }): State {
  if (state.run !== undefined && state.run.end === undefined) return state;
  const options = record.options ?? state.options;
  if (options === undefined) return state;
  const base = record.history === undefined ? state.history : Log.of(record.history);
  let ids = record.history === undefined ? state.ids : Names.empty();
  for (const message of [...(record.history ?? []), ...record.input])
    if (message.role === "assistant") for (const call of callsOf(message)) ids = ids.add(call.id);
  return {
    ...state,
    options,
    ids,
    history: base.push(...record.input),
    run: {
      number: (state.run?.number ?? 0) + 1,
      startedAt: record.at,
      steps: 0,
      modelCalls: 0,
      toolCalls: 0,
      failures: 0,
      model: 0,
      spend: { usage: {}, tokens: 0, usd: 0, uncounted: 0 },
      notes: [],
      hidden: [],
      spoken: [],
      paused: false,
      finishAsked: false,
      lastText: "",
    },
  };
}

function queue(state: State, record: LogRecord & { type: "queued" }): State {
  if (state.seen.has(record.id)) return state;
  const { id, lane, message } = record;
  return { ...state, seen: state.seen.add(id), inbox: [...state.inbox, { id, lane, message }] };
}

function deliver(state: State, run: Run, ids: readonly string[]): State {
  const delivered = state.inbox.filter((one) => ids.includes(one.id));
  if (delivered.length === 0) return state;
  const { answer: _answer, checked: _checked, output: _output, ...rest } = run;
  return {
    ...state,
    inbox: state.inbox.filter((one) => !ids.includes(one.id)),
    history: state.history.push(...delivered.map((one) => one.message)),
    run: rest,
  };
}

/** What was in flight when a process died is lost. It was an answer of the world, so it uses up no attempt and no count. */
function interrupt(run: Run): Run {
  const { call: _call, ...rest } = run;
  return {
    ...rest,
    ...mapCalls(run, (call) => {
      if (call.startedAt === undefined || call.result !== undefined) return call;
      const { startedAt: _startedAt, ...unstarted } = call;
      // A write may have had its effect; anything else may simply run again.
      return { ...unstarted, interrupted: call.tool?.effect === "write" };
    }),
  };
}

function changeMode(run: Run, record: LogRecord & { type: "mode" }): Run {
  const because = { rule: record.rule, evidence: record.evidence };
  switch (record.mode) {
    case "landing": {
      if (run.landing !== undefined) return run;
      return {
        ...run,
        landing: { reason: record.reason, ...because },
        ...(record.cancel && inFlight(run) ? { cancelledAt: record.at } : {}),
      };
    }
    case "stopping":
      return {
        ...run,
        stopping: {
          reason: record.reason,
          ...because,
          ...(record.error === undefined ? {} : { error: record.error }),
        },
        ...(record.cancel && inFlight(run) ? { cancelledAt: record.at } : {}),
      };
    case "output": {
      const { answer: _answer, checked, ...rest } = run;
      return {
        ...rest,
        output: {
          attempt: record.attempt,
          ...(checked?.error === undefined ? {} : { error: checked.error }),
        },
      };
    }
    case "hide_tool":
      return { ...run, hidden: [...run.hidden, record.tool], spoken: [...run.spoken, record.rule] };
  }
}

function startModel(run: Run, record: LogRecord & { type: "model_started" }): Run {
  const { notBefore: _notBefore, failure: _failure, ...rest } = run;
  return { ...rest, call: { startedAt: record.at, step: record.step, attempt: record.attempt } };
}

function finishModel(state: State, run: Run, record: LogRecord & { type: "model_finished" }): State {
  if (run.call === undefined) return state;
  const { call: _call, ...rest } = run;
  const parts = callsOf(record.message);
  const { message, ids } = withUniqueIds(record.message, parts, state.ids, record.seq);
  const tools = new Map(state.options?.tools.map((tool) => [tool.definition.name, tool]));
  const hookless = !state.options?.hooks.includes("afterTool");
  const calls = callsOf(message).map((part, at): Call => {
    const check = record.checks[at] ?? { ok: false, error: "not checked", code: "invalid_args" };
    const tool = tools.get(part.name);
    return {
      key: `${record.seq}.${at}`,
      id: part.id,
      name: part.name,
      args: check.ok ? check.args : part.args,
      rawArgs: part.rawArgs,
      ...(part.argsError === undefined ? {} : { argsError: part.argsError }),
      check,
      ...(tool === undefined ? {} : { tool }),
      asked: false,
      prepared: false,
      interrupted: false,
      settled: hookless,
    };
  });
  return {
    ...state,
    ids,
    run: settleCancel({
      ...rest,
      modelCalls: run.modelCalls + 1,
      spend: spendMore(state, run, record.message.usage),
      notes: [],
      spoken: [],
      turn: { seq: record.seq, message, calls },
    }),
  };
}

/** Providers repeat ids, and leave them out. In a session each call has its own. */
function withUniqueIds(
  message: AssistantMessage,
  parts: readonly ToolCallPart[],
  ids: Names,
  seq: number,
): { message: AssistantMessage; ids: Names } {
  let names = ids;
  let changed = false;
  const fresh = new Map<ToolCallPart, string>();
  parts.forEach((part, at) => {
    let id = part.id;
    if (id === "" || names.has(id)) {
      id = `${part.id === "" ? "call" : part.id}_${seq}_${at}`;
      changed = true;
    }
    names = names.add(id);
    fresh.set(part, id);
  });
  if (!changed) return { message, ids: names };
  const content = message.content.map((part) =>
    part.type === "tool_call" ? { ...part, id: fresh.get(part) ?? part.id } : part,
  );
  return { message: { ...message, content }, ids: names };
}

function failModel(state: State, run: Run, record: LogRecord & { type: "model_failed" }): Run {
  if (run.call === undefined) return run;
  const { call: _call, ...rest } = run;
  const next: Run = {
    ...rest,
    modelCalls: run.modelCalls + 1,
    spend: spendMore(state, run, record.usage ?? {}, true),
  };
  // A landing that cancelled this call has its own turn to come: nothing is left to judge.
  if (run.cancelledAt !== undefined && run.abort === undefined) return settleCancel(next);
  return {
    ...next,
    failure: {
      error: record.error,
      at: record.at,
      rand: record.rand,
      ...(record.partial === undefined ? {} : { partial: record.partial }),
    },
  };
}

function judge(state: State, run: Run, record: LogRecord & { type: "turn_judged" }): State {
  const because = { rule: record.rule, evidence: record.evidence };
  if (run.failure !== undefined) {
    const { failure: _failure, ...rest } = run;
    const failed = { ...rest, failures: run.failures + 1 };
    return { ...state, run: follow(failed, record.follows, because) };
  }
  const { turn } = run;
  if (turn === undefined || turn.judged !== undefined) return state;
  const text = textOf(turn.message);
  const paused = record.follows.do === "ask_again" && record.store;
  const judged: Run = {
    ...run,
    failures: 0,
    steps: paused ? run.steps : run.steps + 1,
    paused,
    lastText: record.store && text !== "" ? text : run.lastText,
    turn: {
      ...turn,
      judged: { follows: record.follows, store: record.store, ...because },
      calls: turn.calls.map((call, at) => {
        const verdict = record.verdicts[at];
        return verdict === undefined ? call : { ...call, verdict };
      }),
    },
  };
  return closeTurn({ ...state, run: judged });
}

function finishTool(state: State, run: Run, key: CallKey, result: CallResult): State {
  const call = run.turn?.calls.find((one) => one.key === key);
  if (call === undefined || call.result !== undefined) return state;
  const ran = call.startedAt !== undefined;
  const counted: Run = {
    ...run,
    toolCalls: ran ? run.toolCalls + 1 : run.toolCalls,
    ...(result.done ? { stopping: doneBy(call, result.done) } : {}),
  };
  return changeCall(state, counted, key, (one) => ({ ...one, result, settled: one.settled || !ran }));
}

function doneBy(call: Call, done: boolean | string): NonNullable<Run["stopping"]> {
  return {
    reason: "done_tool",
    rule: "done_tool",
    evidence: { tool: call.name, call: call.key },
    ...(typeof done === "string" ? { text: done } : {}),
  };
}

function approve(state: State, run: Run, record: LogRecord & { type: "approval_given" }): State {
  const { approval } = record;
  const stopped: Run =
    approval.answer === "deny" && approval.stop === true
      ? { ...run, stopping: { reason: "turn_stopped", rule: "approval", evidence: { call: record.call } } }
      : run;
  return changeCall(state, stopped, record.call, (call) => {
    if (call.permission !== undefined && call.permission.answer !== "ask") return call;
    if (approval.answer === "deny")
      return {
        ...call,
        permission: { answer: "deny", ...(approval.reason === undefined ? {} : { reason: approval.reason }) },
      };
    if (approval.answer === "approve") return { ...call, permission: { answer: "allow" } };
    const args = approval.check.ok ? approval.check.args : approval.args;
    return { ...call, args, check: approval.check, permission: { answer: "allow" } };
  });
}

function hookAnswered(state: State, run: Run, record: LogRecord & { type: "hook_answered" }): State {
  switch (record.hook) {
    case "permission": {
      const permission = {
        answer: record.answer,
        ...(record.reason === undefined ? {} : { reason: record.reason }),
      };
      const stopped: Run =
        record.answer === "stop"
          ? {
              ...run,
              stopping: { reason: "turn_stopped", rule: "permission", evidence: { call: record.call } },
            }
          : run;
      return changeCall(state, stopped, record.call, (call) => ({ ...call, permission }));
    }
    case "beforeTool":
      return changeCall(state, run, record.call, (call) => ({
        ...call,
        prepared: true,
        ...(record.args === undefined ? {} : { args: record.check?.ok ? record.check.args : record.args }),
        ...(record.check === undefined ? {} : { check: record.check }),
        ...(record.result === undefined ? {} : { result: record.result, settled: true }),
      }));
    case "afterTool":
      return changeCall(state, run, record.call, (call) => ({
        ...call,
        settled: true,
        ...(record.result === undefined ? {} : { result: record.result }),
      }));
    case "prepareStep": {
      const {
        type: _type,
        hook: _hook,
        seq: _seq,
        at: _at,
        rand: _rand,
        error: _error,
        ...prepared
      } = record;
      return { ...state, run: { ...run, prepared, ...brokenBy(record) } };
    }
    case "transformContext": {
      const transformed = { step: record.step, ...(record.edit === undefined ? {} : { edit: record.edit }) };
      return { ...state, run: { ...run, transformed, ...brokenBy(record) } };
    }
    case "onFinish": {
      const asked: Run = { ...run, finishAsked: true, ...brokenBy(record) };
      if (record.messages.length === 0) return { ...state, run: asked };
      const { answer: _answer, checked: _checked, output: _output, ...working } = asked;
      return { ...state, history: state.history.push(...record.messages), run: working };
    }
  }
}

function brokenBy(record: LogRecord & { type: "hook_answered" }): Partial<Run> {
  if (record.error === undefined) return {};
  return {
    broken: {
      kind: "internal",
      message: `the ${record.hook} hook failed: ${record.error}`,
      retryable: false,
    },
  };
}

function mapCalls(run: Run, change: (call: Call) => Call): { turn?: Turn } {
  if (run.turn === undefined) return {};
  return { turn: { ...run.turn, calls: run.turn.calls.map(change) } };
}

function changeCall(state: State, run: Run, key: CallKey, change: (call: Call) => Call): State {
  const changed = mapCalls(run, (call) => (call.key === key && !isOver(call) ? change(call) : call));
  return closeTurn({ ...state, run: { ...run, ...changed } });
}

/** Nothing changes a call any more that has its result and was seen by the afterTool hook. */
function isOver(call: Call): boolean {
  return call.result !== undefined && call.settled;
}

/** Once every call has settled the turn is over: the answer and its results enter the history together. */
function closeTurn(state: State): State {
  const { run } = state;
  const turn = run?.turn;
  if (run === undefined || turn?.judged === undefined) return state;
  if (turn.calls.some((call) => call.result === undefined || !call.settled)) return state;
  const { turn: _turn, ...rest } = run;
  const results = turn.calls.map(
    (call): ToolMessage => ({
      role: "tool",
      callId: call.id,
      name: call.name,
      content: call.result?.content ?? [],
      isError: call.result?.isError ?? true,
    }),
  );
  const { judged } = turn;
  return {
    ...state,
    history: judged.store ? state.history.push(turn.message, ...results) : state.history,
    run: settleCancel(
      follow(rest, judged.follows, { rule: judged.rule, evidence: judged.evidence }, textOf(turn.message)),
    ),
  };
}

/** A cancellation that was not an abort is over once nothing is in flight. */
function settleCancel(run: Run): Run {
  if (run.cancelledAt === undefined || run.abort !== undefined || inFlight(run)) return run;
  const { cancelledAt: _cancelledAt, ...rest } = run;
  return rest;
}

function follow(run: Run, follows: Follows, because: Because, text: string = ""): Run {
  switch (follows.do) {
    case "act":
      return run;
    case "ask_again":
      return {
        ...run,
        ...(follows.until === undefined ? {} : { notBefore: follows.until }),
        ...(follows.note === undefined ? {} : { notes: [...run.notes, follows.note] }),
        ...(follows.model === undefined ? {} : { model: follows.model, failures: 0 }),
        ...(follows.maxOutputTokens === undefined ? {} : { maxOutputTokens: follows.maxOutputTokens }),
      };
    case "finish":
      return { ...run, answer: { text } };
    case "land":
      return { ...run, landing: run.landing ?? { reason: follows.reason, ...because } };
    case "stop":
      return {
        ...run,
        stopping: run.stopping ?? {
          reason: follows.reason,
          ...because,
          ...(follows.text === undefined ? {} : { text: follows.text }),
          ...(follows.error === undefined ? {} : { error: follows.error }),
        },
      };
  }
}

function spendMore(state: State, run: Run, usage: Usage | undefined, failed: boolean = false): Spend {
  const { spend } = run;
  const { inputTokens, outputTokens } = usage ?? {};
  if (inputTokens === undefined && outputTokens === undefined)
    return failed
      ? spend
      : { ...spend, uncounted: spend.uncounted + 1, usd: priceOf(state, run)?.free ? spend.usd : undefined };
  const sums: Usage = { ...spend.usage };
  for (const [name, value] of Object.entries(usage ?? {}) as [keyof Usage, number][])
    sums[name] = (sums[name] ?? 0) + value;
  const cost = costOf(state, run, usage ?? {});
  return {
    usage: sums,
    tokens: spend.tokens + (inputTokens ?? 0) + (outputTokens ?? 0),
    usd: cost === undefined || spend.usd === undefined ? undefined : spend.usd + cost,
    uncounted: spend.uncounted,
  };
}

function priceOf(state: State, run: Run): { free: boolean } | undefined {
  const price = state.options?.models[run.model]?.facts.price;
  return price === undefined ? undefined : { free: price.input === 0 && price.output === 0 };
}

function costOf(state: State, run: Run, usage: Usage): number | undefined {
  const price = state.options?.models[run.model]?.facts.price;
  if (price === undefined) return undefined;
  const cached = usage.cachedInputTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const plain = Math.max(0, (usage.inputTokens ?? 0) - cached - written);
  return (
    (plain * price.input +
      cached * (price.cachedInput ?? price.input) +
      written * (price.cacheWrite ?? price.input) +
      (usage.outputTokens ?? 0) * price.output) /
    1_000_000
  );
}

/** Whether a model call or a tool is under way. */
export function inFlight(run: Run): boolean {
  return run.call !== undefined || running(run).length > 0;
}

/** The calls that have started and have no result. */
export function running(run: Run): readonly Call[] {
  return run.turn?.calls.filter((call) => call.startedAt !== undefined && call.result === undefined) ?? [];
}

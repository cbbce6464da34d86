// The room of the fold: how a record changes the state.
//
// `reduce` is total: a record that does not fit the state changes nothing. To its callers it is pure. Its cost does not
// grow with the history: no record is read twice, no history is copied.

import { callsOf, hasText, offersOf } from "../message.ts";
import type { Rules } from "../rules/rule.ts";
import { spentInSession } from "./children.ts";
import { settleCancel, withoutTime } from "./folding/cancelled.ts";
import {
  countChild,
  hearLeft,
  parkChild,
  passAnswer,
  rollUp,
  startChild,
  takeLeft,
} from "./folding/children.ts";
import { allow, countGrantUse, revoke } from "./folding/grants.ts";
import { hookAnswered, untransformed } from "./folding/hooks.ts";
import { beginMemories, remember } from "./folding/memories.ts";
import { answerQuestion, askQuestion } from "./folding/question.ts";
import { saying } from "./folding/saying.ts";
import { compact, endSummary, newCompaction, startSummary, trim } from "./folding/shrink.ts";
import { spendLate, spendMore } from "./folding/spend.ts";
import { reopen } from "./folding/takeover.ts";
import {
  alsoOffered,
  approve,
  changeCall,
  finishModel,
  finishTool,
  judge,
  mapCalls,
  reconcile,
} from "./folding/turn.ts";
import { windowsOf } from "./folding/windows.ts";
import { Log, Names } from "./log.ts";
import type { LogRecord, RecordOf } from "./records.ts";
import { emptyState, inFlight, isOpen, modelInUse, type Run, type State, withRun, working } from "./state.ts";

/** The state after one more record. */
export function reduce(state: State, record: LogRecord, rules: Rules): State {
  const stamped: State = { ...state, seq: record.seq + 1, now: record.at };
  const changed = fold(stamped, record, state.now);
  const folded = changed.history === state.history ? changed : withOtherHistory(changed);
  if (record.type !== "run_started") return remember(folded, record, state, rules);
  return folded.run === state.run ? folded : beginMemories(folded, rules);
}

/** After the history was replaced: remembers when, and drops what the transformContext hook returned for the old one. */
function withOtherHistory(state: State): State {
  const { run, seq } = state;
  return { ...state, changedSeq: seq, ...(run === undefined ? {} : { run: untransformed(run) }) };
}

/** The state after many records. */
export function reduceAll(records: Iterable<LogRecord>, rules: Rules, from: State = emptyState): State {
  let state = from;
  for (const record of records) state = reduce(state, record, rules);
  return state;
}

/** @param last the time of the previous record */
function fold(state: State, record: LogRecord, last: number): State {
  if (record.type === "run_started") return startRun(state, record);
  if (record.type === "queued") return queue(state, record);
  if (record.type === "withdrawn") return withdraw(state, record.id);
  if (record.type === "allowed") return allow(state, record.grant);
  if (record.type === "revoked") return revoke(state, record.id);
  const { run } = state;
  // What was spent counts even if it is reported after the run's end.
  if (record.type === "late_result") {
    if (run === undefined) return state;
    const paid = { ...run, spend: spendLate(run.spend, record) };
    return { ...hearLeft(state, record), run: rollUp(paid, record.result?.spent) };
  }
  if (record.type === "opened") return reopen(state, record, last);
  if (!isOpen(run)) return state;
  const to = (change: Partial<Run>): State => ({ ...state, run: { ...run, ...change } });
  switch (record.type) {
    case "delivered":
      return deliver(state, run, record.ids);
    case "noted":
      return to({ notes: [...run.notes, record.text], spoken: [...run.spoken, record.rule] });
    case "mode": {
      const asks = record.mode === "output" ? record.message : undefined;
      const next = { ...state, run: changeMode(run, record) };
      if (asks === undefined) return next;
      return { ...next, ...saying(state, [asks]), asked: [...state.asked, asks] };
    }
    case "model_started":
      return {
        ...state,
        rewritten: state.rewritten.length === 0 ? state.rewritten : [],
        run: startModel(run, record),
      };
    case "model_finished":
      return finishModel(state, run, record);
    case "model_failed":
      return failModel(state, run, record);
    case "turn_judged":
      return judge(state, run, record);
    case "tool_started":
      return changeCall(state, countChild(run, record), record.call, (call) => ({
        ...call,
        startedAt: record.at,
        startedAs: record.idempotencyKey,
        interrupted: false,
        reconciled: undefined,
        again: undefined,
        ...(call.interrupted ? { begun: true as const } : {}),
        ...startChild(call, record),
      }));
    case "tool_finished":
      return finishTool(state, run, record.call, record.result);
    case "tool_waits":
      return changeCall(state, run, record.call, (call) => askQuestion(call, record.question));
    case "tool_answered":
      return changeCall(state, run, record.call, (call) => answerQuestion(call, record.answer));
    case "approval_asked":
      return to(mapCalls(run, (call) => (record.calls.includes(call.key) ? { ...call, asked: true } : call)));
    case "approval_given": {
      const known = countGrantUse(state, run, record);
      // A grant that does not cover the call approves nothing, whoever wrote the record.
      return known === undefined ? state : approve(known, run, record);
    }
    case "reconciled":
      return reconcile(state, run, record);
    case "child_waits":
      return changeCall(state, rollUp(run, record.spent), record.call, (call) => parkChild(call, record));
    case "approval_passed":
      return changeCall(state, run, record.call, (call) => passAnswer(call, record));
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
    case "trimmed":
      return trim(state, run, record.edits, record.stage);
    case "summary_started":
      return to(startSummary(run, record.at));
    case "summary_finished":
    case "summary_failed":
      return endSummary(state, run, record);
    case "compacted":
      return compact(state, run, record);
    case "abort_asked":
      if (run.abort !== undefined) return state;
      return to({
        abort: {
          at: record.at,
          reason: record.reason,
          ...(record.error === undefined ? {} : { error: record.error }),
          ...(record.rule === undefined ? {} : { rule: record.rule }),
        },
        cancelledAt: run.cancelledAt ?? record.at,
      });
    case "run_ended": {
      const history = record.keep === undefined ? state.history : state.history.push(record.keep);
      const over = { turn: undefined, call: undefined, answer: undefined, compacting: undefined };
      return { ...state, history, run: { ...run, ...over, end: record.end, text: record.text ?? "" } };
    }
    case "woke":
      return state;
  }
}

function startRun(state: State, record: RecordOf<"run_started">): State {
  if (isOpen(state.run)) return state;
  const options = record.options ?? state.options;
  if (options === undefined) return state;
  const base = record.history === undefined ? state.history : Log.of(record.history);
  let ids = record.history === undefined ? state.ids : Names.empty();
  const offers: string[] = [];
  for (const message of [...(record.history ?? []), ...record.input])
    if (message.role === "assistant") for (const call of callsOf(message)) ids = ids.add(call.id);
    else if (message.role === "tool") offers.push(...offersOf(message));
  return {
    ...takeLeft(state),
    ...(offers.length === 0 ? {} : alsoOffered(state, offers)),
    options,
    ids,
    ...saying(state, record.input, base),
    asked: record.history === undefined ? state.asked : [],
    counted: record.history === undefined ? state.counted : undefined,
    rewritten: record.history === undefined ? state.rewritten : ["a history of its own"],
    ...(state.run === undefined ? {} : { spentBefore: spentInSession(state) }),
    run: {
      number: (state.run?.number ?? 0) + 1,
      startedAt: record.at,
      steps: 0,
      modelCalls: 0,
      toolCalls: 0,
      failures: 0,
      stepBegun: undefined,
      model: 0,
      dropped: [],
      spend: { usage: {}, tokens: 0, usd: 0, uncounted: 0 },
      notes: [],
      hidden: [],
      spoken: [],
      paused: false,
      pausedText: "",
      finishAsked: false,
      lastText: "",
      // All members are set, so that every run has the same shape and copying one stays cheap.
      compacting: record.only === "compaction" ? newCompaction({ rule: "asked", evidence: {} }) : undefined,
      reduced: undefined,
      output: undefined,
      cancelledAt: undefined,
      call: undefined,
      failure: undefined,
      turn: undefined,
      notBefore: undefined,
      answer: undefined,
      checked: undefined,
      only: record.only,
      goesOn: isGoingOn(record) ? true : undefined,
      ...(record.parent === undefined ? {} : { parent: record.parent }),
    },
  };
}

const isGoingOn = ({ input, history, only }: RecordOf<"run_started">): boolean =>
  input.length === 0 && history === undefined && only === undefined;

function queue(state: State, record: RecordOf<"queued">): State {
  if (state.seen.has(record.id)) return state;
  const { id, lane, message } = record;
  return { ...state, seen: state.seen.add(id), inbox: [...state.inbox, { id, lane, message }] };
}

/** Its id stays known: if a client that does not know of the withdrawal sends the message again, it is dropped. */
function withdraw(state: State, id: string): State {
  const inbox = state.inbox.filter((one) => one.id !== id);
  return inbox.length === state.inbox.length ? state : { ...state, inbox };
}

function deliver(state: State, run: Run, ids: readonly string[]): State {
  const delivered = state.inbox.filter((one) => ids.includes(one.id));
  if (delivered.length === 0) return state;
  return {
    ...state,
    inbox: state.inbox.filter((one) => !ids.includes(one.id)),
    ...saying(
      state,
      delivered.map((one) => one.message),
    ),
    run: working(run),
  };
}

function changeMode(run: Run, record: RecordOf<"mode">): Run {
  const because = { rule: record.rule, evidence: record.evidence };
  switch (record.mode) {
    case "landing": {
      // The first limit is the reason; a later one can only cancel what is still in flight.
      if (run.landing !== undefined && !record.cancel) return run;
      const landing = run.landing ?? { reason: record.reason, ...because };
      if (!record.cancel) return { ...run, landing };
      if (inFlight(run)) return { ...run, landing, cancelledAt: record.at };
      return withoutTime({ ...run, landing });
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
      const { checked } = run;
      return {
        ...run,
        answer: undefined,
        checked: undefined,
        output: {
          attempt: record.attempt,
          ...(checked?.error === undefined ? {} : { error: checked.error }),
        },
      };
    }
    case "compacting":
      return run.compacting === undefined ? { ...run, compacting: newCompaction(because) } : run;
    case "hide_tool":
      return { ...run, hidden: [...run.hidden, record.tool], spoken: [...run.spoken, record.rule] };
  }
}

function startModel(run: Run, record: RecordOf<"model_started">): Run {
  const pruned = record.stages?.some(({ stage }) => stage === "prune") === true;
  const call = {
    startedAt: record.at,
    step: record.step,
    attempt: record.attempt,
    ...(pruned ? { pruned } : {}),
    ...(run.landing === undefined ? {} : { lands: true as const }),
  };
  return { ...run, notBefore: undefined, failure: undefined, stepBegun: true, call };
}

function failModel(state: State, run: Run, record: RecordOf<"model_failed">): State {
  if (run.call === undefined) return state;
  const known = {
    ...state,
    ...windowsOf(state, record.error, withRun(state).options.models[modelInUse(run)]),
  };
  const next: Run = {
    ...run,
    call: undefined,
    modelCalls: run.modelCalls + 1,
    spend: spendMore(state, run, record),
    ...(run.call.lands === true && record.partial !== undefined && hasText(record.partial)
      ? { unfinished: record.partial }
      : {}),
  };
  // If a landing cancelled this call, the landing's own turn comes next: nothing is left to judge.
  if (run.cancelledAt !== undefined && run.abort === undefined) return { ...known, run: settleCancel(next) };
  const failure = {
    error: record.error,
    at: record.at,
    rand: record.rand,
    ...(record.partial === undefined ? {} : { partial: record.partial }),
    ...(record.shown === undefined ? {} : { shown: record.shown }),
  };
  return { ...known, run: { ...next, failure } };
}

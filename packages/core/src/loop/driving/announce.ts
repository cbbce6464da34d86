// The room of announcements: which events a record causes.
//
// A pure function from a record and the states before and after it to live events. Deltas and tool progress, which are not
// records, are the only events made elsewhere.

import type { CallView, RondoEvent } from "../../events.ts";
import { canonical } from "../../json/digest.ts";
import { offersOutput } from "../../output/ways.ts";
import type { LeftChild, WaitingCall } from "../child-facts.ts";
import { waitingInside } from "../children.ts";
import { leftChildOf } from "../folding/children.ts";
import { workGiven } from "../folding/hooks.ts";
import {
  type Because,
  type CallKey,
  type CallResult,
  type EndReason,
  type LogRecord,
  limitReasons,
  type RecordOf,
} from "../records.ts";
import {
  type Call,
  callIn,
  isOpen,
  modelInUse,
  openQuestion,
  type Run,
  type State,
  withRun,
} from "../state.ts";

/** A call as events show it. */
export function viewOf(call: Call): CallView {
  const { key, id, name, args, interrupted } = call;
  const question = openQuestion(call);
  return {
    key,
    id,
    name,
    args,
    ...(interrupted ? { interrupted } : {}),
    ...(question === undefined ? {} : { question }),
  };
}

/** A call inside a sub-agent, as events of its parent show it. */
export function viewInside(call: Call, inside: WaitingCall): CallView {
  const { id, session, agents, ...waiting } = inside;
  return {
    ...waiting,
    key: call.key,
    id: `${call.id}/${id}`,
    child: { session, agents: [call.name, ...agents] },
  };
}

/** The events a record causes. */
export function announce(record: LogRecord, before: State, after: State, session: string): RondoEvent[] {
  const told = announced(record, before, after, session);
  if (before.run?.compacting === undefined || after.run?.compacting !== undefined) return told;
  if (record.type === "compacted" || before.run.end !== undefined) return told;
  return [givenUp(before), ...told];
}

/** Every `compaction_start` gets its `compaction_end`, also if the run no longer needs the compaction. */
function givenUp({ counted, lastTokens }: State): RondoEvent {
  const size = counted?.tokens ?? lastTokens ?? 0;
  const note = "it was given up: the run has to end";
  return { type: "compaction_end", before: size, after: size, helped: false, note };
}

function announced(record: LogRecord, before: State, after: State, session: string): RondoEvent[] {
  const step = (before.run?.steps ?? 0) + 1;
  switch (record.type) {
    case "run_started":
      return after.run === before.run ? [] : runStarted(record, after, session);
    case "model_started":
      return modelStarted(record, before);
    case "model_finished":
      return [{ type: "message", step, message: after.run?.turn?.message ?? record.message }];
    case "turn_judged":
      return [...turnJudged(record, before, step), ...stepEnds(before, after, step)];
    case "noted":
      return [{ type: "nudge", rule: record.rule, text: record.text }];
    case "mode":
      // A mode that the run is already in changes nothing: a compaction under way does not begin again.
      return after.run === before.run ? [] : modeChanged(record);
    case "delivered":
      return delivered(record, before);
    case "withdrawn":
      return before.inbox
        .filter(({ id }) => id === record.id)
        .map(({ id, lane, message }) => ({ type: "message_withdrawn", lane, id, message }));
    case "tool_started":
      return callSeen(before, record.call).map((call) => ({ type: "tool_start", call }));
    case "tool_finished":
      return [...toolFinished(record, before), ...stepEnds(before, after, step)];
    case "tool_waits":
      return callSeen(after, record.call).map((call) => ({ type: "answer_request", call }));
    case "approval_asked":
      return record.calls
        .flatMap((key) => callSeen(before, key))
        .map((call) => ({ type: "approval_request", call }));
    case "child_waits":
      return childWaits(record, before, after);
    case "approval_given": {
      const { call, approval } = record;
      return callSeen(before, call).map((seen) => ({ type: "approval_result", call: seen, approval }));
    }
    case "hook_answered":
      return record.hook === "onFinish"
        ? workDelivered(record, before)
        : [...givenByHook(record, before), ...stepEnds(before, after, step)];
    case "trimmed": {
      const { stage, before: was, after: is, note } = record;
      return [{ type: "context", stage, before: was, after: is, note }];
    }
    case "summary_failed":
      return [{ type: "warning", code: "summary_failed", message: record.error.message }];
    case "compacted":
      return compacted(record);
    case "run_ended":
      return runEnded(record, before);
    case "late_result":
      return lateResult(record, before, after);
    default:
      return [];
  }
}

const limits: ReadonlySet<EndReason> = new Set(limitReasons);

function runEnded({ end, text = "" }: RecordOf<"run_ended">, { run }: State): RondoEvent[] {
  if (!isOpen(run)) return [];
  // A step without an answer ends with its run.
  const unanswered: RondoEvent[] = run.stepBegun === true ? [{ type: "step_end", step: run.steps + 1 }] : [];
  return [...limitMet(end, end.reason, run), ...unanswered, { type: "run_end", end, text }];
}

/** A limit that ends the run without a landing, so that no event has told of it before. */
function limitMet({ rule, evidence }: Because, reason: EndReason, run: Run): RondoEvent[] {
  if (!limits.has(reason) || run.stopping !== undefined || run.landing !== undefined) return [];
  return [{ type: "limit", rule, reason, evidence, lands: false }];
}

/** An open call as events show it; none if it is no longer open. */
function callSeen({ run }: State, key: CallKey): CallView[] {
  const call = callIn(run, key);
  return call === undefined ? [] : [viewOf(call)];
}

function delivered({ ids }: RecordOf<"delivered">, { inbox }: State): RondoEvent[] {
  return inbox
    .filter((one) => ids.includes(one.id))
    .map(({ id, lane, message, hook }) => ({
      type: "message_delivered",
      lane,
      id,
      message,
      ...(hook === undefined ? {} : { hook }),
    }));
}

/** The calls inside a sub-agent that did not wait before. */
function childWaits({ call: key }: RecordOf<"child_waits">, before: State, after: State): RondoEvent[] {
  const known = waitingInside(before);
  const isKnown = ({ id, question }: WaitingCall): boolean =>
    known.some(({ inside: one }) => one.id === id && one.question?.round === question?.round);
  return waitingInside(after)
    .filter(({ call, inside }) => call.key === key && !isKnown(inside))
    .map(({ call, inside }) => ({
      type: inside.question === undefined ? "approval_request" : "answer_request",
      call: viewInside(call, inside),
    }));
}

/** A message that came after the run had continued is queued, and gets its event when it is delivered. */
function workDelivered(
  record: RecordOf<"hook_answered"> & { hook: "onFinish" },
  { run }: State,
): RondoEvent[] {
  if (run?.answer === undefined) return [];
  return workGiven(record).map((work) => ({ type: "message_delivered", ...work }));
}

function lateResult(record: RecordOf<"late_result">, before: State, after: State): RondoEvent[] {
  // The end of an abandoned sub-agent is not a late result.
  const left = leftChildOf(record, before);
  if (left !== undefined) return leftForGood(left, record, after);
  const message = `a result came after it was given up: ${record.call ?? "the model's answer"}`;
  return [{ type: "warning", code: "late_result", message }];
}

/** A warning about a sub-agent that could not be ended, after the last try. */
function leftForGood({ session }: LeftChild, record: RecordOf<"late_result">, after: State): RondoEvent[] {
  const { error } = record;
  if (error === undefined || leftChildOf(record, after) !== undefined) return [];
  const message = `the sub-agent ${session} waits on, though nobody wants it any more: ${error}`;
  return [{ type: "warning", code: "child_left", message }];
}

function runStarted(record: RecordOf<"run_started">, { run }: State, session: string): RondoEvent[] {
  const input = record.history === undefined ? record.input : record.history.slice(-1);
  const start: RondoEvent = { type: "run_start", session, run: run?.number ?? 0, input };
  const { compacting } = run ?? {};
  if (compacting === undefined) return [start];
  return [start, { type: "compaction_start", rule: compacting.rule, evidence: compacting.evidence }];
}

function modelStarted(record: RecordOf<"model_started">, before: State): RondoEvent[] {
  const asked = withRun(before);
  const { models, output } = asked.options;
  const model = models[record.model];
  const request: RondoEvent = {
    type: "request",
    step: record.step,
    attempt: record.attempt,
    model: model?.id ?? "",
    origin: model?.origin ?? { api: "", provider: "", model: "" },
    digest: record.digest,
    ...(record.broke === undefined ? {} : { broke: record.broke }),
    ...(output !== undefined && offersOutput(asked) ? { output: true as const } : {}),
  };
  const stages = (record.stages ?? []).map((one): RondoEvent => ({ type: "context", ...one }));
  return [
    ...(asked.run.stepBegun ? [] : [{ type: "step_start" as const, step: record.step }]),
    ...stages,
    request,
  ];
}

/** The events of the end of a compaction. */
function compacted(record: RecordOf<"compacted">): RondoEvent[] {
  const { stage, before, after, note } = record;
  const helped = record.edit !== undefined;
  return [
    { type: "compaction_end", before, after, helped, note },
    { type: "context", stage, before, after, note },
  ];
}

function turnJudged(record: RecordOf<"turn_judged">, before: State, step: number): RondoEvent[] {
  const { follows, rule, evidence } = record;
  const failure = before.run?.failure;
  if (follows.do === "land") return [{ type: "limit", rule, reason: follows.reason, evidence, lands: true }];
  if (follows.do === "stop") return limitMet(record, follows.reason, withRun(before).run);
  if (follows.do === "ask_again" && follows.reduce === "compact")
    // One that is under way does not begin again.
    return before.run?.compacting === undefined ? [{ type: "compaction_start", rule, evidence }] : [];
  if (follows.do !== "ask_again") return [];
  if (failure !== undefined) {
    const { error } = failure;
    const discard = failure.partial !== undefined || failure.shown === true;
    if (follows.model !== undefined) {
      const { run, options } = withRun(before);
      const from = options.models[modelInUse(run)]?.id ?? "";
      return [{ type: "fallback", step, from, to: options.models[follows.model]?.id ?? "", error, discard }];
    }
    return [
      {
        type: "retry",
        step,
        error,
        delayMs: (follows.until ?? failure.at) - failure.at,
        discard,
        rule,
        evidence,
      },
    ];
  }
  if (record.store) return [];
  const text = follows.note ?? "the same request is sent again";
  const wasShown = before.run?.turn?.message.content.length !== 0;
  return [{ type: "nudge", rule, text, ...(wasShown ? { discard: true } : {}) }];
}

function modeChanged(record: RecordOf<"mode">): RondoEvent[] {
  const { rule, evidence } = record;
  switch (record.mode) {
    case "landing":
      return [{ type: "limit", rule, reason: record.reason, evidence, lands: true }];
    case "stopping":
      return [{ type: "limit", rule, reason: record.reason, evidence, lands: false }];
    case "compacting":
      return [{ type: "compaction_start", rule, evidence }];
    case "hide_tool":
      return [{ type: "nudge", rule, text: `the tool ${record.tool} is no longer offered` }];
    case "output":
      return record.attempt === 0
        ? []
        : [{ type: "nudge", rule, text: "the output did not fit and is asked for again" }];
  }
}

/** A call that was answered without running has the same events as one that ran: listeners need no special case. */
function toolFinished(
  record: { call: CallKey; result: CallResult; at: number },
  before: State,
): RondoEvent[] {
  const call = callIn(before.run, record.call);
  if (call === undefined || call.result !== undefined) return [];
  const { content, isError, code, details, done } = record.result;
  const view = viewOf(call);
  const end: RondoEvent = {
    type: "tool_end",
    call: view,
    content,
    isError,
    ms: call.startedAt === undefined ? 0 : record.at - call.startedAt,
    ...(code === undefined ? {} : { code }),
    ...(details === undefined ? {} : { details }),
    ...(call.permission?.answer === "stop" ? { done: true } : {}),
    ...(done === undefined ? {} : { done }),
  };
  const told = [...cappedBy(record.result, call), end];
  if (call.startedAt !== undefined) return told;
  return [{ type: "tool_start", call: view, ...(code === undefined ? {} : { code }) }, ...told];
}

/** What the cap did to a result. Sizes in bytes (UTF-8). */
function cappedBy({ capped, ref }: CallResult, call: Call): RondoEvent[] {
  if (capped === undefined) return [];
  const { bytes: before, keptBytes: after, lines } = capped;
  const note = `the result of ${call.name} was cut: it had ${before} bytes in ${lines} lines${ref === undefined ? "" : `, kept as ${ref}`}`;
  return [{ type: "context", stage: "cap", before, after, note }];
}

/** The events of a result that a hook gave. If it replaces the tool's, whose `tool_end` was sent, the only event is that it was cut, unless the tool's was cut in the same way. */
function givenByHook(record: RecordOf<"hook_answered">, before: State): RondoEvent[] {
  const result = "result" in record ? record.result : undefined;
  if (result === undefined || !("call" in record)) return [];
  if (record.hook === "beforeTool") return toolFinished({ call: record.call, result, at: record.at }, before);
  const call = callIn(before.run, record.call);
  const isTold = canonical(result.capped) === canonical(call?.result?.capped);
  return call === undefined || isTold ? [] : cappedBy(result, call);
}

/** A step ends when its turn has settled and left the open state. */
function stepEnds(before: State, after: State, step: number): RondoEvent[] {
  const turn = before.run?.turn;
  if (turn === undefined || after.run?.turn !== undefined) return [];
  const { usage } = turn.message;
  const number = turn.judged === undefined ? step : step - 1;
  return [{ type: "step_end", step: number, ...(usage === undefined ? {} : { usage }) }];
}

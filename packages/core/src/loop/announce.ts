// The room of announcements: what a record looks like to a watcher.
//
// A pure function from a record and the states around it to live events. Deltas and tool progress, which are no
// records, are the only events made elsewhere.

import type { CallView, RondoEvent } from "../events.ts";
import type { LogRecord } from "./records.ts";
import { offersOutput } from "./request.ts";
import type { Call, State } from "./state.ts";

/** A call as watchers see it. */
export function viewOf(call: Call): CallView {
  return { key: call.key, id: call.id, name: call.name, args: call.args };
}

function find(state: State, key: string): Call | undefined {
  return state.run?.turn?.calls.find((call) => call.key === key);
}

/** The events a record causes. */
export function announce(record: LogRecord, before: State, after: State, session: string): RondoEvent[] {
  const step = (before.run?.steps ?? 0) + 1;
  switch (record.type) {
    case "run_started":
      return after.run === before.run ? [] : [{ type: "run_start", session, run: after.run?.number ?? 0 }];
    case "model_started":
      return modelStarted(record, before);
    case "model_finished":
      return [{ type: "message", step, message: after.run?.turn?.message ?? record.message }];
    case "turn_judged":
      return [...turnJudged(record, before, step), ...stepEnds(before, after, step)];
    case "noted":
      return [{ type: "nudge", rule: record.rule, text: record.text }];
    case "mode":
      return modeChanged(record);
    case "delivered":
      return before.inbox
        .filter((one) => record.ids.includes(one.id))
        .map(({ id, lane, message }) => ({ type: "message_delivered", lane, id, message }));
    case "tool_started": {
      const call = find(before, record.call);
      return call === undefined ? [] : [{ type: "tool_start", call: viewOf(call) }];
    }
    case "tool_finished":
      return [...toolFinished(record, before), ...stepEnds(before, after, step)];
    case "approval_asked":
      return record.calls.flatMap((key) => {
        const call = find(before, key);
        return call === undefined ? [] : [{ type: "approval_request" as const, call: viewOf(call) }];
      });
    case "approval_given": {
      const call = find(before, record.call);
      return call === undefined
        ? []
        : [{ type: "approval_result", call: viewOf(call), approval: record.approval }];
    }
    case "hook_answered":
      return stepEnds(before, after, step);
    case "compacted":
      return [{ type: "compaction_end", before: before.history.length, after: after.history.length }];
    case "run_ended":
      return before.run === undefined || before.run.end !== undefined
        ? []
        : [{ type: "run_end", end: record.end, text: record.text ?? "" }];
    case "late_result":
      return [
        {
          type: "warning",
          code: "late_result",
          message: `a result came after it was given up: ${record.call ?? "the model's answer"}`,
        },
      ];
    default:
      return [];
  }
}

function modelStarted(record: LogRecord & { type: "model_started" }, before: State): RondoEvent[] {
  const model = before.options?.models[record.model];
  const request: RondoEvent = {
    type: "request",
    step: record.step,
    attempt: record.attempt,
    model: model?.id ?? "",
    origin: model?.origin ?? { api: "", provider: "", model: "" },
    digest: record.digest,
    ...(record.broke === undefined ? {} : { broke: record.broke }),
    ...(before.options?.output !== undefined && offersOutput(before) ? { output: true as const } : {}),
  };
  return record.attempt === 1 ? [{ type: "step_start", step: record.step }, request] : [request];
}

function turnJudged(record: LogRecord & { type: "turn_judged" }, before: State, step: number): RondoEvent[] {
  const { follows, rule, evidence } = record;
  const failure = before.run?.failure;
  if (follows.do === "land") return [{ type: "limit", rule, reason: follows.reason, evidence, lands: true }];
  if (follows.do !== "ask_again") return [];
  if (failure !== undefined) {
    const { error } = failure;
    const discard = failure.partial !== undefined;
    if (follows.model !== undefined) {
      const models = before.options?.models ?? [];
      const from = models[before.run?.model ?? 0]?.id ?? "";
      return [{ type: "fallback", step, from, to: models[follows.model]?.id ?? "", error, discard }];
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
  return [{ type: "nudge", rule, text: follows.note ?? "the same request is sent again" }];
}

function modeChanged(record: LogRecord & { type: "mode" }): RondoEvent[] {
  const { rule, evidence } = record;
  switch (record.mode) {
    case "landing":
      return [{ type: "limit", rule, reason: record.reason, evidence, lands: true }];
    case "stopping":
      return [{ type: "limit", rule, reason: record.reason, evidence, lands: false }];
    case "hide_tool":
      return [{ type: "nudge", rule, text: `the tool ${record.tool} is no longer offered` }];
    case "output":
      return record.attempt === 0
        ? []
        : [{ type: "nudge", rule, text: "the output did not fit and is asked for again" }];
  }
}

/** A call that was answered without running is announced like one that ran: watchers need no special case. */
function toolFinished(record: LogRecord & { type: "tool_finished" }, before: State): RondoEvent[] {
  const call = find(before, record.call);
  if (call === undefined || call.result !== undefined) return [];
  const { content, isError, code } = record.result;
  const view = viewOf(call);
  const end: RondoEvent = {
    type: "tool_end",
    call: view,
    content,
    isError,
    ms: call.startedAt === undefined ? 0 : record.at - call.startedAt,
    ...(code === undefined ? {} : { code }),
  };
  return call.startedAt === undefined ? [{ type: "tool_start", call: view }, end] : [end];
}

/** A step ends when its turn has settled and left the open state. */
function stepEnds(before: State, after: State, step: number): RondoEvent[] {
  const turn = before.run?.turn;
  if (turn === undefined || after.run?.turn !== undefined) return [];
  const { usage } = turn.message;
  const number = turn.judged === undefined ? step : step - 1;
  return [{ type: "step_end", step: number, ...(usage === undefined ? {} : { usage }) }];
}

// The room of the fold of hooks: how a hook's answer changes a run or a call.

import { canonical } from "../../json/digest.ts";
import type { RecordOf } from "../records.ts";
import { type Call, callIn, isOver, type Queued, type Run, type State, working } from "../state.ts";
import { saying } from "./saying.ts";
import { changeCall, noteResult, stoppedBy } from "./turn.ts";

/** A hook has answered, or failed. */
export function hookAnswered(state: State, run: Run, record: RecordOf<"hook_answered">): State {
  switch (record.hook) {
    case "permission":
      return permit(state, run, record);
    case "beforeTool":
      return changeCall(noteGiven(state, run, record), stopped(run, record), record.call, (call) => ({
        ...call,
        prepared: true,
        ...unapproved(call, record),
        // An error in the model's own arguments no longer matters.
        ...(record.args === undefined
          ? {}
          : { args: record.check?.ok ? record.check.args : record.args, argsError: undefined }),
        ...(record.check === undefined ? {} : { check: record.check }),
        ...(record.result === undefined ? {} : { result: record.result, settled: true }),
      }));
    case "afterTool":
      return changeCall(noteGiven(state, run, record), stopped(run, record), record.call, (call) => ({
        ...call,
        settled: true,
        ...(record.result === undefined ? {} : { result: record.result }),
      }));
    case "prepareStep": {
      // A landing does not wait for the hook: its last step uses the agent's options.
      if (run.landing !== undefined) return state;
      const {
        type: _type,
        hook: _hook,
        seq: _seq,
        at: _at,
        rand: _rand,
        error: _error,
        stop,
        text,
        ...prepared
      } = record;
      if (stop === undefined) return { ...state, run: { ...run, prepared, ...brokenBy(record) } };
      const because = { reason: "turn_stopped", rule: "prepareStep", evidence: { said: stop } } as const;
      const stopping = { ...because, ...(text === undefined ? {} : { text }) };
      return { ...state, run: { ...run, prepared, stopping } };
    }
    case "transformContext": {
      const transformed = { step: record.step, ...(record.edit === undefined ? {} : { edit: record.edit }) };
      return { ...state, run: { ...run, transformed, ...brokenBy(record) } };
    }
    case "onFinish": {
      const asked: Run = { ...run, finishAsked: true, ...brokenBy(record) };
      if (record.messages.length === 0) return { ...state, run: asked };
      // The run has continued meanwhile: this is queued until it would end again.
      if (run.answer === undefined)
        return { ...state, inbox: [...state.inbox, ...workGiven(record)], run: asked };
      return { ...state, ...saying(state, record.messages), run: working(asked) };
    }
  }
}

/** More work returned by the onFinish hook, as queued messages. */
export const workGiven = ({
  messages,
  seq,
}: RecordOf<"hook_answered"> & { hook: "onFinish" }): (Queued & { hook: "onFinish" })[] =>
  messages.map((message, at) => ({
    id: `onFinish_${seq}_${at}`,
    lane: "follow_up",
    message,
    hook: "onFinish",
  }));

/** The permission hook's answer: whether a call may run, or the run must end. */
function permit(state: State, run: Run, record: RecordOf<"hook_answered"> & { hook: "permission" }): State {
  const { answer, call: key, reason, error, text } = record;
  // The answer is too late: the call has a result.
  const asked = callIn(run, key);
  if (asked === undefined || asked.result !== undefined) return state;
  const permission = {
    answer,
    ...(reason === undefined ? {} : { reason }),
    ...(error === undefined ? {} : { failed: true as const }),
  };
  const evidence = { call: key, ...(reason === undefined ? {} : { said: reason }) };
  const because = { reason: "turn_stopped", rule: "permission", evidence } as const;
  const stopping = { ...because, ...(text === undefined ? {} : { text }) };
  const stopped: Run = answer === "stop" ? { ...run, stopping } : run;
  return changeCall(state, stopped, key, (call) => ({ ...call, permission }));
}

/** The run, which a result with `done` ends. One that came too late ends nothing. */
function stopped(
  run: Run,
  { call: key, result }: RecordOf<"hook_answered"> & { hook: "beforeTool" | "afterTool" },
): Run {
  const call = callIn(run, key);
  return call === undefined || isOver(call) || result === undefined
    ? run
    : { ...run, ...stoppedBy(run, call, result) };
}

/** The ref of the full text that a hook returned. The ledger and the ref of the tool's own result are recorded already. */
function noteGiven(
  state: State,
  run: Run,
  { call: key, result }: RecordOf<"hook_answered"> & { hook: "beforeTool" | "afterTool" },
): State {
  const call = callIn(run, key);
  if (call === undefined || isOver(call) || result?.ref === undefined || result.ref === call.result?.ref)
    return state;
  const { ledger: _ledger, ...given } = result;
  return noteResult(state, run, call, given);
}

/** An approval holds for the arguments that were shown: if they change, it is requested again. */
function unapproved(call: Call, record: RecordOf<"hook_answered"> & { hook: "beforeTool" }): Partial<Call> {
  if (record.args === undefined || call.permission?.approved !== true) return {};
  const args = record.check?.ok ? record.check.args : record.args;
  return canonical(args) === canonical(call.args) ? {} : { asked: false, permission: { answer: "ask" } };
}

function brokenBy(record: RecordOf<"hook_answered">): Partial<Run> {
  if (record.error === undefined) return {};
  return {
    broken: {
      kind: "internal",
      message: `the ${record.hook} hook failed: ${record.error}`,
      retryable: false,
    },
  };
}

/** The run without what the transformContext hook returned. */
export function untransformed(run: Run): Run {
  if (run.transformed === undefined) return run;
  const { transformed: _transformed, ...rest } = run;
  return rest;
}

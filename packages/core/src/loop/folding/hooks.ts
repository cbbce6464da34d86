// The room of the fold of hooks: what a hook's answer changes of a run, or of a call.

import { canonical } from "../../json/digest.ts";
import type { RecordOf } from "../records.ts";
import { type Call, callIn, type Queued, type Run, type State, working } from "../state.ts";
import { changeCall, isOver, noteKept } from "./turn.ts";

/** A hook has answered. */
export function hookAnswered(state: State, run: Run, record: RecordOf<"hook_answered">): State {
  switch (record.hook) {
    case "permission":
      return permit(state, run, record);
    case "beforeTool":
      return changeCall(noteGiven(state, run, record), run, record.call, (call) => ({
        ...call,
        prepared: true,
        ...unapproved(call, record),
        // What was wrong with the model's own text is of no matter any more.
        ...(record.args === undefined
          ? {}
          : { args: record.check?.ok ? record.check.args : record.args, argsError: undefined }),
        ...(record.check === undefined ? {} : { check: record.check }),
        ...(record.result === undefined ? {} : { result: record.result, settled: true }),
      }));
    case "afterTool":
      return changeCall(noteGiven(state, run, record), run, record.call, (call) => ({
        ...call,
        settled: true,
        ...(record.result === undefined ? {} : { result: record.result }),
      }));
    case "prepareStep": {
      // A run that lands has not waited for it: its last step is as the agent says.
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
      // Somebody had more work sooner: this is the next, when the run would end again.
      if (run.answer === undefined)
        return { ...state, inbox: [...state.inbox, ...workGiven(record)], run: asked };
      return { ...state, history: state.history.push(...record.messages), run: working(asked) };
    }
  }
}

/** More work that the onFinish hook gave, as what is queued. */
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

/** Whether a call may run, or the run is to end. */
function permit(state: State, run: Run, record: RecordOf<"hook_answered"> & { hook: "permission" }): State {
  const { answer, call: key, reason, error, text } = record;
  // Nobody has waited for it: the call was answered without.
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

/** Where the whole of what a hook gave is kept. What the tool did, and where its own text is, is known already. */
function noteGiven(
  state: State,
  run: Run,
  { call: key, result }: RecordOf<"hook_answered"> & { hook: "beforeTool" | "afterTool" },
): State {
  const call = callIn(run, key);
  if (call === undefined || isOver(call) || result?.ref === undefined || result.ref === call.result?.ref)
    return state;
  const { ledger: _ledger, ...given } = result;
  return noteKept(state, run, call, given);
}

/** Who approved a call approved what it was to run with: for anything else somebody is asked again. */
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

/** The run without what the transformContext hook made of its conversation. */
export function untransformed(run: Run): Run {
  if (run.transformed === undefined) return run;
  const { transformed: _transformed, ...rest } = run;
  return rest;
}

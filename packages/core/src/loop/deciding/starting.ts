// The room of starting: which work starts, and with what.
//
// Calls that may run now, with the shares of sub-agents among them; the hooks to be asked; the model call with its request.
// Whether anything prevents it was decided by rows further up in the table.

import type { Rules } from "../../rules/rule.ts";
import type { Action, HookAsk } from "../action.ts";
import { askable, isPrepared, permissionOf, startable } from "../batch.ts";
import type { Amounts } from "../child-facts.ts";
import { sharesOf } from "../children.ts";
import type { CallKey } from "../records.ts";
import { requestOf, shaped } from "../request.ts";
import type { RunOptions } from "../run-options.ts";
import { type Call, modelInUse, type RunState, stepOf } from "../state.ts";
import { callsOfTurn, closing, result } from "./closing.ts";
import { untilWake, wakeTime } from "./consulting.ts";

/** Starts the calls that may start; sub-agents among them get their share of what is left to spend. */
export function startCalls(state: RunState, rules: Rules): Action | undefined {
  const calls = startable(callsOfTurn(state), state.options);
  if (calls.length === 0) return undefined;
  const children = callsOfTurn(state).filter(
    (call) => call.tool?.agent !== undefined && calls.includes(call.key),
  );
  if (children.length === 0) return { do: "start_tools", calls };
  const shares = sharesOf(state, rules);
  const reserved: { [call: CallKey]: Amounts } = {};
  for (const { key, child } of children) {
    const share = shares.get(key);
    reserved[key] = child?.reserved ?? (share !== undefined && "reserved" in share ? share.reserved : {});
  }
  return { do: "start_tools", calls, reserved };
}

/** Answers the calls of sub-agents that may not start because a limit is reached. */
export function refuseChildren(state: RunState, rules: Rules): Action | undefined {
  const shares = sharesOf(state, rules);
  if (shares.size === 0) return undefined;
  return closing((call) => {
    const share = shares.get(call.key);
    return share !== undefined && "refused" in share
      ? result("limit", rules.texts.limitRefusal(call.name, share.refused))
      : undefined;
  })(state, rules);
}

/** Ends abandoned sub-agents, so that no person is asked for an approval that nobody needs. If one could not be ended, it is tried again after a while. */
export function endChildren(state: RunState, rules: Rules): Action | undefined {
  const { now } = state;
  const left = state.left?.filter(({ until }) => until > now);
  if (left === undefined || left.length === 0) return undefined;
  const due = left.filter(({ notBefore = now }) => notBefore <= now);
  const ends = left.map(({ until, notBefore = now }) =>
    notBefore > now ? Math.min(until, notBefore) : until,
  );
  // Rules are not asked about a run that is being aborted.
  const wake = state.run.abort === undefined ? wakeTime(state, rules) : undefined;
  const until = Math.min(...ends, wake ?? Number.POSITIVE_INFINITY);
  if (due.length === 0) return { do: "wait", until };
  return { do: "end_children", calls: due.map(({ call }) => call), until };
}

export function callHooks(state: RunState, rules: Rules): Action | undefined {
  const { options } = state;
  const hooks: HookAsk[] = [];
  for (const call of askable(callsOfTurn(state), options)) {
    const hook = hookFor(call, options);
    if (hook !== undefined) hooks.push({ hook, call: call.key });
  }
  return hooks.length === 0 ? undefined : { do: "run_hook", hooks, ...untilWake(state, rules) };
}

function hookFor(call: Call, options: RunOptions): "permission" | "beforeTool" | "afterTool" | undefined {
  if (call.result !== undefined) return call.settled ? undefined : "afterTool";
  const permission = permissionOf(call, options);
  if (permission === "unasked") return "permission";
  // Before an approval is requested, so that what is approved is what runs.
  const mayRun = permission === "allow" || permission === "ask";
  return mayRun && !isPrepared(call, options) ? "beforeTool" : undefined;
}

/** Asks a hook of the run, if there is one. @param rules whose wake time bounds the wait. Default: no bound */
export function runHook(state: RunState, ask: HookAsk, rules?: Rules): Action | undefined {
  if (!state.options.hooks.includes(ask.hook)) return undefined;
  return { do: "run_hook", hooks: [ask], ...(rules && untilWake(state, rules)) };
}

export function callModel(state: RunState, rules: Rules): Action {
  const { run } = state;
  const step = stepOf(state);
  const shape = shaped(state, rules);
  const { messages, stages, by } = shape;
  const request = requestOf(state, rules, shape);
  return {
    do: "call_model",
    step,
    attempt: run.failures + 1,
    model: modelInUse(run),
    request,
    ...(stages.length === 0 ? {} : { stages }),
    shape: {
      rewritten: [...state.rewritten],
      by,
      notes: request.messages.length - messages.length,
      ...(state.options.models[modelInUse(run)]?.facts?.offersInPlace ? { offersInPlace: true } : {}),
    },
  };
}

// The room of closing: every call that will not run, or is no longer waited for, gets its one result here.
//
// Abort, limit, denial, steering, time-out, crash: they all close calls by this one way, so that none can forget one.

import type { Rules } from "../rules/rule.ts";
import type { Action } from "./action.ts";
import { permissionOf } from "./batch.ts";
import type { CallResult, Fact, ResultCode } from "./records.ts";
import { type Call, hasBegun, runOf, type State } from "./state.ts";

/** The calls of the open turn. */
export const openCalls = (state: State): readonly Call[] => runOf(state).turn?.calls ?? [];

/** A result the loop itself gives. */
export function result(code: ResultCode, text: string): CallResult {
  return { content: [{ type: "text", text }], isError: true, code };
}

/** Closes the calls that get a result from `resultOf` and have none yet. */
export function closeSome(
  state: State,
  resultOf: (call: Call) => CallResult | undefined,
): Action | undefined {
  const facts: Fact[] = [];
  for (const call of openCalls(state)) {
    const closed = call.result === undefined ? resultOf(call) : undefined;
    if (closed !== undefined) facts.push({ type: "tool_finished", call: call.key, result: closed });
  }
  return facts.length === 0 ? undefined : { do: "record", facts };
}

/** Closes every call, also those whose result the afterTool hook has yet to see: a cancelled run asks no hooks. */
export function closeAll(state: State, resultOf: (call: Call) => CallResult): Action | undefined {
  const unseen = openCalls(state)
    .filter((call) => call.result !== undefined && !call.settled)
    .map((call): Fact => ({ type: "hook_answered", hook: "afterTool", call: call.key }));
  const closed = closeSome(state, resultOf);
  const facts = [...unseen, ...(closed?.do === "record" ? closed.facts : [])];
  return facts.length === 0 ? undefined : { do: "record", facts };
}

/** Whether a call has not started, and never had. */
export const isFresh = (call: Call): boolean => !hasBegun(call) && !call.interrupted;

/** What a call gets that nobody waits for any more. A crash is no abort: what is known of it is told all the same. */
export function abandonedResult(call: Call, { texts }: Rules): CallResult {
  const { interrupted, name, reconciled } = call;
  if (interrupted && reconciled !== undefined && reconciled !== "unknown") return reconciled;
  if (interrupted) return result("outcome_unknown", texts.outcomeUnknown(name));
  return hasBegun(call)
    ? result("aborted", texts.aborted(name))
    : result("not_executed", texts.notExecuted(name));
}

/** The result of a write that was cut off; undefined while somebody may say that it is to run again. */
export function interruptedResult(call: Call, state: State, rules: Rules): CallResult | undefined {
  if (!call.interrupted || state.options === undefined) return undefined;
  if (call.reconciled !== undefined && call.reconciled !== "unknown") return call.reconciled;
  const { texts } = rules;
  const unknown = texts.outcomeUnknown(call.name);
  const { landing, stopping } = runOf(state);
  // A run that is ending has no time to ask anybody.
  if (state.options.onInterrupted !== "ask" || landing !== undefined || stopping !== undefined)
    return result("outcome_unknown", unknown);
  if (permissionOf(call, state.options) === "ask" || call.again) return undefined;
  const why = call.check.ok
    ? texts.denied(call.permission?.reason)
    : texts.invalidArgs(call.name, call.check.error);
  return result("outcome_unknown", `${unknown} ${why}`);
}

/** The result of a call that was denied; undefined for any other. */
export function deniedResult(call: Call, state: State, rules: Rules): CallResult | undefined {
  if (state.options === undefined || !isFresh(call)) return undefined;
  const permission = permissionOf(call, state.options);
  if (permission !== "deny" && permission !== "stop") return undefined;
  const { reason, failed } = call.permission ?? {};
  if (failed) return result("hook_failed", rules.texts.permissionFailed(reason ?? ""));
  return result("denied", rules.texts.denied(reason));
}

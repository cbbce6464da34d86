// The room of closing: every call that will not run, or is no longer waited for, gets its one result here.
//
// Abort, limit, denial, steering, time-out, crash: they all close calls by this one way, so that none can forget one.

import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import { permissionOf } from "../batch.ts";
import { placeIn } from "../call-key.ts";
import type { CallResult, Fact, ResultCode } from "../records.ts";
import { type Call, hasBegun, type RunState, type State } from "../state.ts";
import { spokenAgainst, timeoutAt } from "./consulting.ts";
import { grantOf } from "./grants-in-force.ts";

/** The calls of the open turn. */
export const openCalls = (state: RunState): readonly Call[] => state.run.turn?.calls ?? [];

/** A result the loop itself gives. */
export function result(code: ResultCode, text: string): CallResult {
  return { content: [{ type: "text", text }], isError: true, code };
}

/** The result a call gets without running, or without being waited for; undefined where it gets none. */
export type ResultOf = (call: Call, state: RunState, rules: Rules) => CallResult | undefined;

/** Closes the calls that get a result from `resultOf` and have none yet. Asked by a row after the other, and mostly there are none: then no list of them is made. */
export const closing =
  (resultOf: ResultOf) =>
  (state: RunState, rules: Rules): (Action & { do: "record" }) | undefined => {
    let facts: Fact[] | undefined;
    for (const call of state.run.turn?.calls ?? []) {
      const closed = call.result === undefined ? resultOf(call, state, rules) : undefined;
      if (closed === undefined) continue;
      facts ??= [];
      facts.push({ type: "tool_finished", call: call.key, result: closed });
    }
    return facts && record(...facts);
  };

/** Closes every call, also those whose result the afterTool hook has yet to see: a cancelled run asks no hooks. */
export function closeAll(
  state: RunState,
  rules: Rules,
  resultOf: (...asked: Parameters<ResultOf>) => CallResult,
): Action | undefined {
  const unseen = openCalls(state)
    .filter((call) => call.result !== undefined && !call.settled)
    .map((call): Fact => ({ type: "hook_answered", hook: "afterTool", call: call.key }));
  const facts = [...unseen, ...(closing(resultOf)(state, rules)?.facts ?? [])];
  return facts.length === 0 ? undefined : record(...facts);
}

/** Whether a call has not started, and never had. */
export const isFresh = (call: Call): boolean => !hasBegun(call) && !call.interrupted;

/** What the tool found out of a call that was cut off; undefined where that is nothing, or it was not asked. */
const foundOut = ({ reconciled }: Call): CallResult | undefined =>
  reconciled === "unknown" ? undefined : reconciled;

/** What a call gets that nobody waits for any more. A crash is no abort: what is known of it is told all the same. */
export function abandonedResult(call: Call, _state: State, { texts }: Rules): CallResult {
  const { interrupted, name, tool } = call;
  if (interrupted) return foundOut(call) ?? result("outcome_unknown", texts.outcomeUnknown(name));
  return hasBegun(call)
    ? result("aborted", texts.aborted(name, tool?.effect))
    : result("not_executed", texts.notExecuted(name));
}

/** What a call gets whose run was cancelled once its start was written down, and before it was started: that it was not, unless it had been before. */
export function unstartedResult(call: Call, { texts }: Rules): CallResult {
  const { child, name, tool } = call;
  const waited = child !== undefined && (child.waiting.length > 0 || child.spent.modelCalls > 0);
  if (call.begun !== true && !waited)
    return result("aborted", `${name} was not started: the run was cancelled`);
  return tool?.effect === "write"
    ? result("outcome_unknown", texts.outcomeUnknown(name))
    : result("aborted", texts.aborted(name, tool?.effect));
}

/** The result of a write that was cut off; undefined while somebody may say that it is to run again. */
export function interruptedResult(call: Call, state: RunState, rules: Rules): CallResult | undefined {
  if (!call.interrupted) return undefined;
  const found = foundOut(call);
  if (found !== undefined) return found;
  const { texts } = rules;
  const unknown = texts.outcomeUnknown(call.name);
  const { landing, stopping } = state.run;
  const { options } = state;
  // A run that is ending has no time to ask anybody.
  if (options.onInterrupted !== "ask" || landing !== undefined || stopping !== undefined)
    return result("outcome_unknown", unknown);
  if (permissionOf(call, options) === "ask" || call.again) return undefined;
  const why = call.check.ok
    ? texts.denied(call.permission?.reason)
    : texts.invalidArgs(call.name, call.check.error);
  return result("outcome_unknown", `${unknown} ${why}`);
}

/** The result of a call that was denied; undefined for any other. */
export function deniedResult(call: Call, state: RunState, rules: Rules): CallResult | undefined {
  if (!isFresh(call)) return undefined;
  const permission = permissionOf(call, state.options);
  if (permission !== "deny" && permission !== "stop") return undefined;
  const { reason, failed } = call.permission ?? {};
  if (failed) return result("hook_failed", rules.texts.permissionFailed(reason ?? ""));
  return result("denied", rules.texts.denied(reason));
}

/** The result of a call that was judged not to run. */
export const judgedResult: ResultOf = ({ verdict }) =>
  verdict?.do === "answer" ? result(verdict.code, verdict.text) : undefined;

/** The result of a call that was edited, and no longer fits its schema. */
export const misfitResult: ResultOf = ({ startedAt, check, name }, _state, { texts }) =>
  startedAt === undefined && !check.ok
    ? result("invalid_args", texts.invalidArgs(name, check.error))
    : undefined;

/** What a call gets that has not started when the run is to end, or to land. */
export const endedResult: ResultOf = (call, state, { texts }) => {
  if (call.startedAt !== undefined) return undefined;
  const { landing, stopping } = state.run;
  // Whoever said yes is owed a word of why nothing came of it.
  const approved = call.permission?.approved ? (stopping ?? landing)?.reason : undefined;
  return isFresh(call)
    ? result("skipped", texts.skippedForEnd(call.name, approved))
    : result("aborted", texts.aborted(call.name, call.tool?.effect));
};

/**
 * What a call gets that has not started when somebody has something to say. They are heard behind a call, not before the
 * first one, and behind what somebody said yes to. A call that nobody has said yes to, and somebody must, makes nobody wait.
 */
export const interjectedResult: ResultOf = (call, state, { texts }) => {
  const calls = openCalls(state);
  const isHeard = needsWord(call, state) || calls.slice(0, placeIn(call.key)).some(hadItsTurn);
  return isHeard && isFresh(call) && call.permission?.approved !== true
    ? result("skipped", texts.skippedForMessage(call.name))
    : undefined;
};

/** Whether a call runs only once somebody says so. */
const needsWord = (call: Call, state: RunState): boolean =>
  permissionOf(call, state.options) === "ask" && grantOf(call, state) === undefined;

/** Whether a call is no longer one that is simply to come. */
const hadItsTurn = (call: Call): boolean => !isFresh(call) || call.result !== undefined || call.asked;

/** The result of a call that has run past its time. */
export const timedOutResult: ResultOf = (call, { now }, { texts }) =>
  call.startedAt !== undefined && now >= timeoutAt(call)
    ? result("timeout", texts.timeout(call.name, call.tool?.timeoutMs ?? 0, call.tool?.effect))
    : undefined;

/** The result of a call that has not started, and that a rule speaks against. */
export const opposedResult: ResultOf = (call, state, rules) => {
  const said = isFresh(call) ? spokenAgainst(call, state, rules) : undefined;
  return said && result(said.code, said.text);
};

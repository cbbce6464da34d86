// The room of closing: every call that will not run, or is no longer waited for, gets its one result here.
//
// Abort, limit, denial, steering, timeout, crash: all of them close calls in this one way, so that no call is forgotten.

import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import { permissionOf } from "../batch.ts";
import { placeIn } from "../call-key.ts";
import type { Because, CallResult, Fact, ResultCode } from "../records.ts";
import { type Call, hasBegun, type RunState, type State } from "../state.ts";
import { spokenAgainst, timeoutAt } from "./consulting.ts";
import { grantOf } from "./grants-in-force.ts";

/** The calls of the open turn, those with a result among them. */
export const callsOfTurn = (state: RunState): readonly Call[] => state.run.turn?.calls ?? [];

/** A result that the loop itself writes. */
export function result(code: ResultCode, text: string): CallResult {
  return { content: [{ type: "text", text }], isError: true, code };
}

/** The result that a call gets without running, or without being waited for; undefined if it gets none. */
export type ResultOf = (call: Call, state: RunState, rules: Rules) => CallResult | undefined;

/** A result that a rule gave, and why. */
type Opposed = { readonly result: CallResult } & Partial<Because>;

/** Closes the calls that get a result from `resultOf` and have none yet. Several rows use it, mostly in vain: so no list is allocated before there is a result. */
export const closing =
  (resultOf: (...asked: Parameters<ResultOf>) => CallResult | Opposed | undefined) =>
  (state: RunState, rules: Rules): (Action & { do: "record" }) | undefined => {
    let facts: Fact[] | undefined;
    for (const call of state.run.turn?.calls ?? []) {
      const closed = call.result === undefined ? resultOf(call, state, rules) : undefined;
      if (closed === undefined) continue;
      facts ??= [];
      facts.push({
        type: "tool_finished",
        call: call.key,
        ...("result" in closed ? closed : { result: closed }),
      });
    }
    return facts && record(...facts);
  };

/** Closes every call, also those whose result the afterTool hook has not seen yet: a cancelled run asks no hooks. */
export function closeAll(
  state: RunState,
  rules: Rules,
  resultOf: (...asked: Parameters<ResultOf>) => CallResult,
): Action | undefined {
  const unseen = callsOfTurn(state)
    .filter((call) => call.result !== undefined && !call.settled)
    .map((call): Fact => ({ type: "hook_answered", hook: "afterTool", call: call.key }));
  const facts = [...unseen, ...(closing(resultOf)(state, rules)?.facts ?? [])];
  return facts.length === 0 ? undefined : record(...facts);
}

/** Whether a call has never started. */
export const isFresh = (call: Call): boolean => !hasBegun(call) && !call.interrupted;

/** What the tool found out about an interrupted call; undefined if that is nothing, or it was not asked. */
const foundOut = ({ reconciled }: Call): CallResult | undefined =>
  reconciled === "unknown" ? undefined : reconciled;

/** The result of a call that is no longer waited for. If a crash interrupted it, the result says what is known of its outcome, not that it was aborted. */
export function abandonedResult(call: Call, _state: State, { texts }: Rules): CallResult {
  const { interrupted, name, tool } = call;
  if (interrupted) return foundOut(call) ?? result("outcome_unknown", texts.outcomeUnknown(name));
  return hasBegun(call)
    ? result("aborted", texts.aborted(name, tool?.effect))
    : result("not_executed", texts.notExecuted(name));
}

/** The result of a call whose run was cancelled after the record of its start, and before it was started: that it did not run, unless it had run before. */
export function unstartedResult(call: Call, { texts }: Rules): CallResult {
  const { child, name, tool } = call;
  const waited = child !== undefined && (child.waiting.length > 0 || child.spent.modelCalls > 0);
  if (call.begun !== true && call.question === undefined && !waited)
    return result("aborted", `${name} was not started: the run was cancelled`);
  return tool?.effect === "write"
    ? result("outcome_unknown", texts.outcomeUnknown(name))
    : result("aborted", texts.aborted(name, tool?.effect));
}

/** The result of an interrupted write; undefined while a person may still decide that it runs again. */
export function interruptedResult(call: Call, state: RunState, rules: Rules): CallResult | undefined {
  if (!call.interrupted) return undefined;
  const found = foundOut(call);
  if (found !== undefined) return found;
  const { texts } = rules;
  const unknown = texts.outcomeUnknown(call.name);
  const { landing, stopping } = state.run;
  const { options } = state;
  // A run that is ending asks nobody.
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
  const error = failed ? (reason ?? "") : call.check.ok ? call.check.permissionError : undefined;
  if (error !== undefined) return result("hook_failed", rules.texts.permissionFailed(error));
  return result("denied", rules.texts.denied(reason));
}

/** The result of a call that was judged not to run. */
export const judgedResult: ResultOf = ({ verdict }) =>
  verdict?.do === "answer" ? result(verdict.code, verdict.text) : undefined;

/** The result of a call whose edited arguments do not fit its schema. */
export const misfitResult: ResultOf = ({ startedAt, check, name }, _state, { texts }) =>
  startedAt === undefined && !check.ok
    ? result("invalid_args", texts.invalidArgs(name, check.error))
    : undefined;

/** The result of a call that has not started when the run is to end or land. */
export const endedResult: ResultOf = (call, state, { texts }) => {
  if (call.startedAt !== undefined) return undefined;
  const { landing, stopping } = state.run;
  // If it was approved, its result says why it did not run all the same.
  const approved = call.permission?.approved ? (stopping ?? landing)?.reason : undefined;
  return isFresh(call)
    ? result("skipped", texts.skippedForEnd(call.name, approved))
    : result("aborted", texts.aborted(call.name, call.tool?.effect));
};

/**
 * The result of a call that has not started when a steering message waits. The message is delivered after a call, never before
 * the first one, and after any call that was approved. It does not wait for a call that still needs an approval.
 */
export const interjectedResult: ResultOf = (call, state, { texts }) => {
  const calls = callsOfTurn(state);
  const isHeard = needsWord(call, state) || calls.slice(0, placeIn(call.key)).some(hadItsTurn);
  return isHeard && isFresh(call) && call.permission?.approved !== true
    ? result("skipped", texts.skippedForMessage(call.name))
    : undefined;
};

/** Whether a call runs only after an approval. */
const needsWord = (call: Call, state: RunState): boolean =>
  permissionOf(call, state.options) === "ask" && grantOf(call, state) === undefined;

/** Whether a call has started, has a result, or was asked about. */
const hadItsTurn = (call: Call): boolean => !isFresh(call) || call.result !== undefined || call.asked;

/** The result of a call that has exceeded its timeout. */
export const timedOutResult: ResultOf = (call, { now }, { texts }) =>
  call.startedAt !== undefined && now >= timeoutAt(call)
    ? result("timeout", texts.timeout(call.name, call.tool?.timeoutMs ?? 0, call.tool?.effect))
    : undefined;

/** The result of a call that has not started, if a rule answers it instead: the record names the rule, with its evidence. */
export function opposedResult(call: Call, state: RunState, rules: Rules): Opposed | undefined {
  const said = isFresh(call) ? spokenAgainst(call, state, rules) : undefined;
  if (said === undefined) return undefined;
  const { code, text, ...because } = said;
  return { result: result(code, text), ...because };
}

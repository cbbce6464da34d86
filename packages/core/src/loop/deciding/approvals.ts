// The room of approvals: which calls need one, which have one already, and which were interrupted by a crash.
//
// An approval is requested for the call as it would run: the beforeTool hook, which may change it, is asked first.

import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import { askable, isPrepared, permissionOf } from "../batch.ts";
import type { Call, RunState } from "../state.ts";
import { callsOfTurn } from "./closing.ts";
import { untilWake } from "./consulting.ts";
import { grantOf } from "./grants-in-force.ts";

/** Requests approvals for the calls for which none was requested yet. */
export function askApprovals(state: RunState): Action | undefined {
  const calls = needingPermission(state).filter((call) => !call.asked);
  return calls.length === 0 ? undefined : { do: "ask", calls: calls.map((call) => call.key) };
}

/** Lets one call run because a grant covers it. */
export function useGrant(state: RunState): Action | undefined {
  if (state.grants.length === 0) return undefined;
  for (const call of needingPermission(state)) {
    const grant = grantOf(call, state);
    if (grant === undefined) continue;
    const approval = { answer: "approve", grant: grant.id } as const;
    return record({ type: "approval_given", call: call.key, approval });
  }
  return undefined;
}

function needingPermission(state: RunState): readonly Call[] {
  const { options } = state;
  return askable(callsOfTurn(state), options).filter(
    (call) => call.result === undefined && permissionOf(call, options) === "ask" && isPrepared(call, options),
  );
}

/** Asks the tools of interrupted calls for the outcome, if they have `reconcile`. */
export function reconcileCalls(state: RunState, rules: Rules): Action | undefined {
  const calls = callsOfTurn(state).filter(
    (call) =>
      call.interrupted &&
      call.tool?.reconciles === true &&
      call.result === undefined &&
      call.reconciled === undefined,
  );
  if (calls.length === 0) return undefined;
  return { do: "reconcile", calls: calls.map((call) => call.key), ...untilWake(state, rules) };
}

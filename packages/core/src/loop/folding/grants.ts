// The room of grants, folded: as they are given, used up and taken back.

import { covers, type Grant } from "../../rules/grants.ts";
import { toolNamed } from "../offered-tools.ts";
import type { RecordOf } from "../records.ts";
import { callIn, type Run, type State, withRun } from "../state.ts";

/** A grant was given. One whose id is known changes nothing: a client that says it twice gives no more uses. */
export function allow(state: State, grant: Grant): State {
  if (state.grants.some((one) => one.id === grant.id)) return state;
  return { ...state, grants: [...state.grants, { ...grant, used: 0 }] };
}

/** A grant was taken back. What it has let run stays as it is. */
export function revoke(state: State, id: string): State {
  const grants = state.grants.map((one) => (one.id === id ? { ...one, revoked: true as const } : one));
  return { ...state, grants };
}

/**
 * What an approval does to the grants: one more use of the one that lets the call run, or a new one.
 * Undefined when it names one that does not cover the call.
 */
export function countGrantUse(
  state: State,
  run: Run,
  { call: key, approval }: RecordOf<"approval_given">,
): State | undefined {
  const call = callIn(run, key);
  if (approval.answer !== "approve" || call === undefined) return state;
  if (approval.grant === undefined)
    return approval.always === undefined ? state : allow(state, approval.always);
  const grant = state.grants.find((one) => one.id === approval.grant);
  const today = toolNamed(withRun(state).options.tools, call.name);
  if (grant === undefined || grant.revoked || call.interrupted || !covers(grant, call, today))
    return undefined;
  if (grant.uses !== undefined && grant.used >= grant.uses) return undefined;
  return {
    ...state,
    grants: state.grants.map((one) => (one === grant ? { ...one, used: one.used + 1 } : one)),
  };
}

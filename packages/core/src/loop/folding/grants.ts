// The room of grants, folded: given, used and revoked.

import { covers, type Grant } from "../../rules/grants.ts";
import { toolNamed } from "../offered-tools.ts";
import type { RecordOf } from "../records.ts";
import { callIn, type Run, type State, withRun } from "../state.ts";

/**
 * A grant was given, for the tool as it is: whoever gave it knew no other. One with a known id changes nothing: a client
 * that sends it twice gives no more uses.
 */
export function allow(state: State, grant: Grant): State {
  if (state.grants.some((one) => one.id === grant.id)) return state;
  const tool = toolNamed(state.options?.tools ?? [], grant.tool);
  const version = tool === undefined ? {} : { version: tool.version ?? null };
  return { ...state, grants: [...state.grants, { ...grant, used: 0, ...version }] };
}

/** A grant was revoked. Calls that it has let run are not affected. */
export function revoke(state: State, id: string): State {
  const grants = state.grants.map((one) => (one.id === id ? { ...one, revoked: true as const } : one));
  return { ...state, grants };
}

/**
 * What an approval changes in the grants: one more use of the grant that lets the call run, or a new grant.
 * Undefined if it names a grant that does not cover the call.
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

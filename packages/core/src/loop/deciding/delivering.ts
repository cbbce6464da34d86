// The room of delivering: what was said while a run worked reaches its model, once.

import { type Action, record } from "../action.ts";
import type { RunState } from "../state.ts";

/** What was said while the run worked, then what it was told to do after it. */
export const deliverAll = (state: RunState): Action | undefined =>
  deliver(state, "steer") ?? deliver(state, "follow_up");

/** What waits in one lane; undefined where nothing does. */
export function deliver(state: RunState, lane: "steer" | "follow_up"): Action | undefined {
  const ids = state.inbox.filter((one) => one.lane === lane).map((one) => one.id);
  return ids.length === 0 ? undefined : record({ type: "delivered", lane, ids });
}

// The room of delivering: queued messages enter the history, each once.

import { type Action, record } from "../action.ts";
import type { RunState } from "../state.ts";

/** Delivers the steering messages, or else follow-ups. */
export const deliverAny = (state: RunState): Action | undefined =>
  deliver(state, "steer") ?? deliver(state, "follow_up");

/** Delivers the messages queued in one lane, of follow-ups perhaps only the oldest; undefined if there are none. */
export function deliver(state: RunState, lane: "steer" | "follow_up"): Action | undefined {
  const queued = state.inbox.filter((one) => one.lane === lane).map((one) => one.id);
  const ids = lane === "follow_up" && state.options.followUps === "one_by_one" ? queued.slice(0, 1) : queued;
  return ids.length === 0 ? undefined : record({ type: "delivered", lane, ids });
}

// The room of delivering: queued messages enter the history, each once.

import { type Action, record } from "../action.ts";
import type { RunState } from "../state.ts";

/** Delivers all steering messages, or else all follow-ups. */
export const deliverAll = (state: RunState): Action | undefined =>
  deliver(state, "steer") ?? deliver(state, "follow_up");

/** Delivers all messages queued in one lane; undefined if there are none. */
export function deliver(state: RunState, lane: "steer" | "follow_up"): Action | undefined {
  const ids = state.inbox.filter((one) => one.lane === lane).map((one) => one.id);
  return ids.length === 0 ? undefined : record({ type: "delivered", lane, ids });
}

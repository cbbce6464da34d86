// The room of a drain: which actions are held back so that the driver can stop.

import type { Action, Deed } from "../action.ts";

/** During a drain nothing is started: the driver waits for what is in flight instead. */
export function held(action: Deed): Deed {
  if (!startsWork.has(action.do)) return action;
  return { do: "wait", ...("until" in action ? { until: action.until } : {}) };
}

/** The actions that start work. */
const startsWork: ReadonlySet<Action["do"]> = new Set<Action["do"]>([
  "call_model",
  "summarise",
  "start_tools",
  "reconcile",
  "end_children",
  "check_output",
  "run_hook",
]);

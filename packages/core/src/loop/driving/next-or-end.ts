// The room of `next` for drivers: the next action, even if user code throws while it is decided.
//
// Rules and texts may be user code. If they throw during a run, the run ends, by a record like any other end.

import { inAnyWords } from "../../rules/custom-texts.ts";
import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import { next } from "../next.ts";
import { isOpen, type State } from "../state.ts";
import { endsOver } from "./thrown.ts";

/**
 * As `next`, for drivers: if a rule, or one of the user's texts, throws, the run ends and its end names it. The rest of that run
 * is then closed with the built-in texts.
 * @throws what a rule throws while the run is being closed
 */
export function nextOrEnd(state: State, rules: Rules): Action {
  const { run } = state;
  if (!isOpen(run) || run.abort !== undefined) return inAnyWords(rules, (worded) => next(state, worded));
  try {
    if (run.ruleFailed === undefined) return next(state, rules);
    const { rule, error } = run.ruleFailed;
    return record({ type: "abort_asked", reason: error.message, error, rule });
  } catch (thrown) {
    return record(endsOver(thrown));
  }
}

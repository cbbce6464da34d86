// The room of the next step for whoever drives: what is to be done now, also where somebody's code fails in saying it.
//
// Rules and words are somebody's. What they throw in the middle of a run ends it, by its records like any other end.

import { inAnyWords } from "../../rules/own-texts.ts";
import type { Rules } from "../../rules/rule.ts";
import { type Action, record } from "../action.ts";
import { next } from "../next.ts";
import { isOpen, type State } from "../state.ts";
import { endsOver } from "./failing.ts";

/**
 * As `next`, for whoever drives: a rule that throws ends its run, and is named, and so are words of somebody's own. A run
 * that is being closed is closed with our own words then.
 * @throws what a rule throws while that is done
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

// The room of what may not be read: a rule that will not have an answer's text stored keeps it from being the run's text, too.

import { type AssistantMessage, hasText } from "../../message.ts";
import { firstSaid, type Rules } from "../../rules/rule.ts";
import type { RunState } from "../state.ts";

/** Whether a rule will not have the text of the open turn read. One that is only asked for again is different: a landing has no other. */
export const isWithheld = (state: RunState, rules: Rules): boolean =>
  state.run.turn !== undefined &&
  hasText(state.run.turn.message) &&
  firstSaid(rules, state, "judge", [state, rules.texts], ({ store }) => store === false || undefined) ===
    true;

/** The part of an answer that had arrived before it was broken off; undefined if that is no text, or a rule would not have it read. */
export function brokenOff(
  partial: AssistantMessage | undefined,
  state: RunState,
  rules: Rules,
): AssistantMessage | undefined {
  if (partial === undefined || !hasText(partial)) return undefined;
  // The rules are asked as if it were whole: that it is not would be a reason for many.
  const message: AssistantMessage = { ...partial, stop: { kind: "end_turn", wire: "end_turn" } };
  const turn = { seq: state.seq, message, calls: [] };
  const run = { ...state.run, call: undefined, failure: undefined, turn };
  return isWithheld({ ...state, run }, rules)
    ? undefined
    : { ...partial, stop: { ...partial.stop, kind: "aborted" } };
}

// The room of what was thrown: the fact that ends a run because something threw during it.
//
// The fact names whose code threw, so that the run's end does, and is not taken for an abort by a person.

import { causesOf, toRondoError } from "../../errors.ts";
import { areWordsMissing } from "../../rules/custom-texts.ts";
import { failedRule } from "../../rules/rule.ts";
import type { Fact } from "../records.ts";

/** The fact that ends the run over what was thrown. It names the rule that threw, or `texts`; otherwise the driver is taken for it. */
export function endsOver(thrown: unknown): Fact {
  const error = toRondoError(thrown).toJSON();
  // Built-in rules use these texts too: then `texts` failed, and not the rule.
  const rule = causesOf(thrown).some(areWordsMissing) ? "texts" : failedRule(thrown);
  return { type: "abort_asked", reason: error.message, error, ...(rule === undefined ? {} : { rule }) };
}

// The room of code that failed: the fact that ends a run over what was thrown in the middle of it.
//
// It names whose code that was, for the run's end names whoever decided it, and nobody asked for an abort.

import { causesOf, toRondoError } from "../../errors.ts";
import { areWordsMissing } from "../../rules/own-texts.ts";
import { failedRule } from "../../rules/rule.ts";
import type { Fact } from "../records.ts";

/** Ends the run over what was thrown: by the rule that threw it, or by `texts`; what is nobody's, by whoever drives. */
export function endsOver(thrown: unknown): Fact {
  const error = toRondoError(thrown).toJSON();
  // Rules of ours say such words too, and do not throw of themselves.
  const rule = causesOf(thrown).some(areWordsMissing) ? "texts" : failedRule(thrown);
  return { type: "abort_asked", reason: error.message, error, ...(rule === undefined ? {} : { rule }) };
}

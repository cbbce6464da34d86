// The room of remedies: what would have had to be otherwise for a run not to end as it did.
//
// One row for each rule that may end a run. The option is named as the agent's options name it.

import type { RunEnd, RunOptions } from "../loop/records.ts";
import type { Json } from "../message.ts";

/** What would have had to be otherwise. */
export interface Remedy {
  text: string;
  /** The option that sets the limit, e.g. `maxSteps`. */
  option?: string;
  /** What it was. */
  value?: Json;
}

/** What would have had to be otherwise for this end not to come. `options` are those the run had. */
export function remedyOf(end: RunEnd, options?: RunOptions): Remedy {
  return byRule[end.rule]?.(end, options) ?? byReason(end);
}

const byRule: { readonly [rule: string]: (end: RunEnd, options: RunOptions | undefined) => Remedy } = {
  answer: () => ({
    text: "a call of a tool in the last answer, or more work queued, would have made it go on",
  }),
  max_steps: ({ evidence }) => limit("maxSteps", evidence.max, "with more steps it would have gone on"),
  budget: ({ reason, evidence }) =>
    reason === "token_budget"
      ? limit("budget.tokens", evidence.max, "with more tokens it would have gone on")
      : reason === "cost_budget"
        ? limit("budget.usd", evidence.max, "with more money it would have gone on")
        : limit("budget.ms", evidence.max, "with more time it would have gone on"),
  deadline: ({ evidence }) =>
    limit("rules: deadline()", evidence.at, "a later deadline would have let it go on"),
  retry: ({ evidence }, options) =>
    (options?.models.length ?? 1) > 1
      ? limit("retry.attempts", evidence.allowed, "every model failed; more attempts might have helped")
      : limit(
          "retry.attempts",
          evidence.allowed,
          "the failure was for good, or the attempts were used up; another model in `fallback` would have been asked next",
        ),
  repairs: () => ({ text: "the provider refuses this request: what it names must be other" }),
  refusals: () => ({ text: "the model refused; another task or another model might not" }),
  pauses: ({ evidence }) => limit("pauseResumes", evidence.max, "it would have been resumed once more"),
  truncations: ({ evidence }) =>
    limit(
      "maxTruncations",
      evidence.max,
      "more room for the answer (settings.maxOutputTokens), or one more try",
    ),
  malformed_calls: ({ evidence }) =>
    limit("malformedRetries", evidence.max, "it would have been asked again"),
  empty_answers: ({ evidence }) => limit("emptyNudges", evidence.max, "it would have been asked again"),
  degenerate_answers: ({ evidence }) =>
    limit("degenerateRetries", evidence.max, "it would have been asked again"),
  repeats: ({ evidence }) =>
    limit(
      "repeats.landAt",
      evidence.times,
      "a call with another outcome would have started the count again; a tool that may repeat is named in repeats.exempt",
    ),
  output: (_end, options) =>
    limit(
      "decodeRetries",
      options?.output?.decodeRetries,
      "an answer that fits the schema of `output` would have completed it",
    ),
  abort: () => ({ text: "somebody asked for the abort; without it, it would have gone on" }),
  hooks: () => ({ text: "the hook that failed would have had to return", option: "hooks" }),
  prepareStep: ({ evidence }) => ({
    text: `the prepareStep hook said stop: ${String(evidence.said)}`,
    option: "hooks.prepareStep",
  }),
  permission: () => ({ text: "the permission hook said stop", option: "hooks.permission" }),
  approval: () => ({
    text: "the call was denied with an order to stop; denied without it, the model is told and goes on",
  }),
  done_tool: () => ({ text: "the tool ended the run by its result" }),
  auto_execute_tools: () => limit("autoExecuteTools", false, "with true it would have run the calls itself"),
  compaction: ({ reason }) =>
    reason === "completed"
      ? { text: "the run was for a compaction alone" }
      : {
          text: "the history could not be made small enough; another model with a larger window might take it",
          option: "context.compaction",
        },
  guard: () => ({ text: "the request does not fit into the window of the model", option: "context.guard" }),
};

const limit = (option: string, value: Json | undefined, text: string): Remedy => ({
  text,
  option,
  ...(value === undefined ? {} : { value }),
});

/** A rule of the user's own. */
function byReason({ reason, rule }: RunEnd): Remedy {
  if (reason === "completed")
    return { text: `the rule ${rule} took this for the answer`, option: "continueRule" };
  return { text: `the rule ${rule} decided it from this evidence`, option: "rules" };
}

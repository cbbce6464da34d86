// The room of remedies: what would have had to be otherwise for a run not to end as it did.
//
// One row for each rule of ours that may end a run. The option is named as the agent's options name it.

import { ownMember } from "../json/object.ts";
import type { EndReason, RunEnd } from "../loop/records.ts";
import type { RunOptions } from "../loop/run-options.ts";
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
  // A rule that throws has decided nothing, whatever it is for.
  if (end.reason === "error" && end.evidence.failed === true)
    return { text: "what failed here, code of one's own or a journal, would have had to do its work" };
  // A rule of the user's own may be named like a member that every object has.
  return ownMember(byRule, end.rule)?.(end, options) ?? byReason(end);
}

const byRule: { readonly [rule: string]: (end: RunEnd, options: RunOptions | undefined) => Remedy } = {
  answer: () => ({
    text: "a call of a tool in the last answer, or more work queued, would have made it go on",
  }),
  clearing: () => ({ text: "the run was for that alone" }),
  max_steps: ({ evidence }) => limit("maxSteps", evidence.max, "with more steps it would have gone on"),
  budget: ({ reason, evidence }) => {
    const { option, more } = budgets[reason] ?? { option: "budget", more: "a larger budget" };
    return limit(option, evidence.max, `with ${more} it would have gone on`);
  },
  tree: ({ evidence }) => ({
    text:
      evidence.given === true
        ? "its parent gave it no more than this to spend: with a larger share it would have gone on"
        : "sub-agents were asked for again after it was told that there are none for it; more of them (maxSubAgents), a deeper tree (maxDepth of the sub-agent) or a larger budget would have given it some",
  }),
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
          text: 'nobody knows how large the window of the model is; with one that is told, or with withoutLimit: "skip", it would have gone on',
          option: "context.window",
        },
  guard: () => ({ text: "the request does not fit into the window of the model", option: "context.guard" }),
  by_content: () => ({
    text: "the provider said that its answer went wrong; the same task might pass another time",
  }),
  default: () => ({ text: "a model call failed, and no rule asked again", option: "retry" }),
};

/** What each of a budget's limits ends a run with, and what more of it is called. */
const budgets: { readonly [reason in EndReason]?: { readonly option: string; readonly more: string } } = {
  token_budget: { option: "budget.tokens", more: "more tokens" },
  cost_budget: { option: "budget.usd", more: "more money" },
  max_steps: { option: "budget.modelCalls", more: "more model calls" },
  deadline: { option: "budget.ms", more: "more time" },
};

const limit = (option: string, value: Json | undefined, text: string): Remedy => ({
  text,
  option,
  ...(value === undefined ? {} : { value }),
});

/** A continue rule, or one of the user's own. */
function byReason({ reason, rule }: RunEnd): Remedy {
  if (reason === "completed")
    return { text: `the rule ${rule} took this for the answer`, option: "continueRule" };
  return { text: `the rule ${rule} decided it from this evidence`, option: "rules" };
}

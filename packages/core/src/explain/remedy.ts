// The room of remedies: what would have let a run continue where it ended.
//
// There is one row for each of our rules that may end a run. Options are named as in the agent's options.

import { ownMember } from "../json/object.ts";
import type { EndReason, RunEnd } from "../loop/records.ts";
import type { RunOptions } from "../loop/run-options.ts";
import type { Json } from "../message.ts";
import { fewerAttempts, mayFallBack } from "../rules/retry.ts";

/** What would have let the run continue, or end in another way. */
export interface Remedy {
  text: string;
  /** The option that sets the limit, e.g. `maxSteps`. */
  option?: string;
  /** Its value in the run. */
  value?: Json;
}

/** What would have prevented this end. `options` are those of the run. */
export function remedyOf(end: RunEnd, options?: RunOptions): Remedy {
  // A rule that threw has decided nothing, whatever its purpose is.
  if (end.reason === "error" && end.evidence.failed === true)
    return { text: "what failed here, code of one's own or a journal, would have had to do its work" };
  // A user's rule may have the name of a member that every object has.
  return ownMember(byRule, end.rule)?.(end, options) ?? byReason(end);
}

const byRule: { readonly [rule: string]: (end: RunEnd, options: RunOptions | undefined) => Remedy } = {
  answer: () => ({
    text: "a call of a tool in the last answer, or more work queued, would have made it go on",
  }),
  clearing: () => ({ text: "the run was for that alone" }),
  continue: () => ({
    text: "a message that waits, or one that the model has not answered yet, would have given it something to do",
  }),
  max_steps: ({ evidence }) => limit("maxSteps", evidence.max, "with more steps it would have gone on"),
  budget: ({ reason, evidence }) => {
    if (evidence.usd === "unknown")
      return {
        text: "what it cost is unknown, for nobody counted it, so that no larger budget would have helped: a model that tells its usage would have",
      };
    const { option, more } = budgets[reason] ?? { option: "", more: "a larger budget" };
    const of = evidence.own === true ? "budget.own" : evidence.session === true ? "budget.session" : "budget";
    return limit(`${of}${option}`, evidence.max, `with ${more} it would have gone on`);
  },
  max_calls: ({ evidence }) =>
    limit(
      "rules: maxCalls()",
      evidence.max,
      "with more calls allowed they would have run; so would calls of other tools",
    ),
  max_failures: ({ evidence }) =>
    limit(
      "rules: maxFailures()",
      evidence.max,
      "it would have gone on; a success of that tool would have begun its count anew",
    ),
  must_call: ({ evidence }) =>
    limit(
      "rules: mustCall()",
      evidence.max,
      "it would have been asked again; a call of what is missing would have completed it",
    ),
  must_not_say: ({ evidence }) =>
    limit(
      "rules: mustNotSay()",
      evidence.max,
      "it would have been asked again; an answer without these words would have completed it",
    ),
  stop_after: ({ evidence }) => ({
    text: `${String(evidence.tool)} did its work, and the run was to end with that`,
    option: "rules: stopAfter()",
  }),
  tree: ({ evidence }) => ({
    text:
      evidence.given === true
        ? "its parent gave it no more than this to spend: with a larger share it would have gone on"
        : "sub-agents were asked for again after it was told that there are none for it; more of them (maxSubAgents), a deeper tree (maxDepth of the sub-agent) or a larger budget would have given it some",
  }),
  deadline: ({ evidence }) =>
    limit("rules: deadline()", evidence.at, "a later deadline would have let it go on"),
  retry: failed,
  repairs: () => ({ text: "the provider refuses this request: what it names must be other" }),
  refusals: () => ({ text: "the model refused; another task or another model might not" }),
  pauses: ({ evidence }) => limit("pauseResumes", evidence.max, "it would have been resumed once more"),
  truncations: ({ evidence, landed }, options) => {
    if (landed)
      return limit(
        "maxTruncations",
        evidence.max,
        "it would have been asked again; more room for an answer (settings.maxOutputTokens) might have let it be whole",
      );
    return evidence.stop === "context_overflow"
      ? { text: "the window was full: a shorter conversation or a larger window would have left it room" }
      : moreRoom(options);
  },
  malformed_calls: ({ evidence }) =>
    limit("malformedRetries", evidence.max, "it would have been asked again"),
  empty_answers: ({ evidence }) => limit("emptyNudges", evidence.max, "it would have been asked again"),
  degenerate_answers: ({ evidence }) =>
    limit("degenerateRetries", evidence.max, "it would have been asked again"),
  repeats: ({ evidence }) =>
    limit(
      "repeats.landAt",
      evidence.landAt,
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
  default: ({ error }) =>
    error?.retryable === true
      ? { text: "a model call failed, and no rule asked again", option: "retry" }
      : { text: "a model call failed for good: what it names has to be mended first" },
  llm_retry: ({ evidence: { attempts, maxAttempts } }) =>
    typeof maxAttempts === "number" && attempts === maxAttempts
      ? limit("llmMaxRetries", maxAttempts - 1, "it would have been asked once more")
      : {
          text: "a failure of this kind, or at this time, is not tried again: what it names has to be mended first",
        },
  loop_detection: () => ({
    text: "calls that come to something else, or other calls, would have started the count again",
    option: "loopDetection",
  }),
  steerable: ({ reason }, options) => {
    if (reason !== "truncated")
      return { text: "the provider said that its answer went wrong; the same task might pass another time" };
    return moreRoom(options);
  },
  step_sequence: ({ reason, rule }) => sequenceLimits[reason] ?? byReason({ reason, rule }),
};

/** After a failed model call: the option that prevented a retry, if one did. */
function failed({ evidence, error }: RunEnd, options: RunOptions | undefined): Remedy {
  const kind = error?.kind ?? "internal";
  const { attempt, allowed, longestRetryAfterMs } = evidence;
  const others = options?.fallbacks ?? (options?.models.length ?? 1) - 1;
  const fallsBack = mayFallBack(error ?? { kind });
  const next = !fallsBack
    ? ""
    : others > 0
      ? "; every model failed"
      : "; another model in `fallback` would have been asked next";
  if (longestRetryAfterMs !== undefined)
    return limit(
      "retry.longestRetryAfterMs",
      longestRetryAfterMs,
      `the provider asks for a longer wait than is waited${next}`,
    );
  if (error?.retryable !== true) {
    const text = `the failure is for good: what it names has to be mended first${next}`;
    return fallsBack && others === 0 ? { text, option: "fallback" } : { text };
  }
  if (Number(attempt) < Number(allowed))
    return { text: `a failure of this kind is not tried again${next}`, option: "retry.kinds" };
  return allowed === fewerAttempts[kind]
    ? { text: `at a failure of this kind no more attempts are made${next}` }
    : limit("retry.attempts", allowed, `the attempts were used up, and one more might have helped${next}`);
}

const moreRoom = (options: RunOptions | undefined): Remedy =>
  limit(
    "settings.maxOutputTokens",
    options?.settings.maxOutputTokens,
    "more room for the answer would have let it be whole",
  );

/** The limits of a step sequence, with its own names for them. */
const sequenceLimits: { readonly [reason in EndReason]?: Remedy } = {
  duplicate_call: {
    text: "with more of them allowed the call would have run again; so would one with other arguments",
    option: "maxDuplicateToolCalls",
  },
  tool_call_limit: {
    text: "with more of them allowed the call would have run",
    option: "maxToolCallsPerTool",
  },
  max_steps: { text: "with more steps it would have gone on", option: "maxSteps" },
};

/** For each limit of a budget, by its end reason: its name in a budget, and the words for more of it. */
const budgets: { readonly [reason in EndReason]?: { readonly option: string; readonly more: string } } = {
  token_budget: { option: ".tokens", more: "more tokens" },
  cost_budget: { option: ".usd", more: "more money" },
  max_steps: { option: ".modelCalls", more: "more model calls" },
  deadline: { option: ".ms", more: "more time" },
};

const limit = (option: string, value: Json | undefined, text: string): Remedy => ({
  text,
  option,
  ...(value === undefined ? {} : { value }),
});

/** A continue rule, or a rule of the user. */
function byReason({ reason, rule }: Pick<RunEnd, "reason" | "rule">): Remedy {
  if (reason === "completed")
    return { text: `the rule ${rule} took this for the answer`, option: "continueRule" };
  return { text: `the rule ${rule} decided it from this evidence`, option: "rules" };
}

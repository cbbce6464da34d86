// The room of overflow: the provider says that the request is too large, or its output limit.
//
// It is made smaller and sent again, once until an answer comes: a second refusal is the end, or a conversation whose
// fixed parts do not fit would be compacted for ever. What is too large is said by the error's kind, never by its text.

import type { ErrorData } from "../errors.ts";
import { countFiles } from "../loop/request/omissions.ts";
import { stepSettings } from "../loop/request/step-settings.ts";
import { type RunState, withRun } from "../loop/state.ts";
import type { Judgement, Rule } from "./rule.ts";

/**
 * Makes the request smaller that was too large: files go first where bytes are the matter, and the output limit where it alone did not fit; else the history is compacted, or its longest texts are cut.
 * @param mends whether files may be left out, and the limit lowered
 */
export function overflow(mends: boolean = true): Rule {
  return {
    name: "overflow",
    version: 2,
    judge(_memory, state): Judgement | undefined {
      const { run } = state;
      if (run?.failure === undefined) return undefined;
      const { error } = run.failure;
      const isTooLarge = error.kind === "context_overflow" || error.kind === "payload_too_large";
      const window = error.contextWindow;
      const evidence = { kind: error.kind, ...(window === undefined ? {} : { window }) };
      if (
        mends &&
        error.kind === "payload_too_large" &&
        !run.dropped.includes("files") &&
        countFiles(state) > 0
      )
        return { follows: { do: "ask_again", drop: "files" }, evidence };
      const maxOutputTokens = mends ? lowerLimit(withRun(state), error) : undefined;
      if (maxOutputTokens !== undefined)
        return { follows: { do: "ask_again", maxOutputTokens }, evidence: { ...evidence, maxOutputTokens } };
      if (!isTooLarge) return undefined;
      const { compaction, guard } = withRun(state).options.context ?? {};
      // A paused answer goes back as it is: there is nothing in that request to make smaller.
      if (run.paused || run.reduced !== undefined || (compaction === undefined && guard === undefined))
        return undefined;
      return { follows: { do: "ask_again", reduce: compaction === undefined ? "cut" : "compact" }, evidence };
    },
  };
}

/** The output limit that fits beside the input, where that is a lower one. A few times in a row at most: each time it must be lower. */
function lowerLimit(state: RunState, { maxOutputTokens }: ErrorData): number | undefined {
  const { run } = state;
  if (maxOutputTokens === undefined || run.failures >= 3) return undefined;
  const asked = run.maxOutputTokens ?? stepSettings(state).maxOutputTokens;
  return asked === undefined || maxOutputTokens < asked ? maxOutputTokens : undefined;
}

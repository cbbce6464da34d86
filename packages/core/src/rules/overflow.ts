// The room of overflow: the provider refuses a request as too large, or its output limit.
//
// The request is made smaller and sent again, once until an answer comes: a second refusal ends the run, because otherwise a
// conversation whose fixed parts do not fit would be compacted for ever. The error's kind says what is too large, never its
// text.

import type { ErrorData } from "../errors.ts";
import { countFiles } from "../loop/request/omissions.ts";
import { stepSettings } from "../loop/request/step-settings.ts";
import { type RunState, withRun } from "../loop/state.ts";
import type { Judgement, Rule } from "./rule.ts";

/**
 * Makes a request smaller that was refused as too large: if it had too many bytes, files are left out first; if only the output limit did not fit, that is lowered; else the history is compacted, or its longest texts are cut.
 * @param mends whether files may be left out, and the limit lowered
 */
export function overflow(mends: boolean = true): Rule {
  return {
    name: "overflow",
    version: 3,
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
        countFiles(withRun(state)) > 0
      )
        return { follows: { do: "ask_again", drop: "files" }, evidence };
      const maxOutputTokens = mends ? lowerLimit(withRun(state), error) : undefined;
      if (maxOutputTokens !== undefined)
        return { follows: { do: "ask_again", maxOutputTokens }, evidence: { ...evidence, maxOutputTokens } };
      if (!isTooLarge) return undefined;
      const { compaction, guard } = withRun(state).options.context ?? {};
      // A paused answer must be sent back unchanged: nothing in that request can be made smaller.
      if (run.paused || run.reduced !== undefined || (compaction === undefined && guard === undefined))
        return undefined;
      return { follows: { do: "ask_again", reduce: compaction === undefined ? "cut" : "compact" }, evidence };
    },
  };
}

/** A lower output limit that fits after the input, if there is one. At most a few times in a row, each time lower. */
function lowerLimit(state: RunState, { maxOutputTokens }: ErrorData): number | undefined {
  const { run } = state;
  if (maxOutputTokens === undefined || run.failures >= 3) return undefined;
  const asked = run.maxOutputTokens ?? stepSettings(state).maxOutputTokens;
  return asked === undefined || maxOutputTokens < asked ? maxOutputTokens : undefined;
}

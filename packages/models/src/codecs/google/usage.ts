// The room of Google's usage: its token counts converted to our sums.

import type { Usage } from "@rondo/core";
import { countIn } from "../../json-values.ts";
import type { GoogleUsage } from "./wire.ts";

/** The last value of each count; what an event lacks changes nothing. Written out member by member, because it runs with every event. */
export function latest(before: GoogleUsage, told: GoogleUsage): GoogleUsage {
  keep(before, "promptTokenCount", told.promptTokenCount);
  keep(before, "candidatesTokenCount", told.candidatesTokenCount);
  keep(before, "thoughtsTokenCount", told.thoughtsTokenCount);
  keep(before, "toolUsePromptTokenCount", told.toolUsePromptTokenCount);
  keep(before, "cachedContentTokenCount", told.cachedContentTokenCount);
  keep(before, "totalTokenCount", told.totalTokenCount);
  return before;
}

function keep(usage: GoogleUsage, name: keyof GoogleUsage, told: number | undefined): void {
  const count = countIn(told);
  if (count !== undefined && usage[name] !== count) usage[name] = count;
}

/** Google counts reasoning, and the prompts of its own tools, separately; our counts include them. */
export function usageOf(usage: GoogleUsage): Usage {
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, thoughtsTokenCount: thoughts } = usage;
  const toolUse = usage.toolUsePromptTokenCount ?? 0;
  // Zeros are left out of the JSON, so an answer without output shows only in the total.
  const output =
    candidates !== undefined || thoughts !== undefined
      ? (candidates ?? 0) + (thoughts ?? 0)
      : prompt !== undefined && usage.totalTokenCount !== undefined
        ? Math.max(0, usage.totalTokenCount - prompt - toolUse)
        : undefined;
  return {
    ...(prompt === undefined ? {} : { inputTokens: prompt + toolUse }),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(thoughts === undefined ? {} : { reasoningTokens: thoughts }),
    ...(usage.cachedContentTokenCount === undefined
      ? {}
      : { cachedInputTokens: usage.cachedContentTokenCount }),
  };
}

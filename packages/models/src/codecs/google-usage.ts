// The room of Google's counts: tokens as Google tells them into sums.

import type { Usage } from "@rondo/core";
import type { GoogleUsage } from "./google-wire.ts";

const counts = [
  "promptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
  "cachedContentTokenCount",
  "totalTokenCount",
] as const;

/** The last word on each count; what an event does not tell changes nothing. */
export function latest(before: GoogleUsage, told: GoogleUsage): GoogleUsage {
  for (const name of counts) if (typeof told[name] === "number") before[name] = told[name];
  return before;
}

/** Google counts thoughts and the prompts of its own tools apart; ours are sums. */
export function usageOf(usage: GoogleUsage): Usage {
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, thoughtsTokenCount: thoughts } = usage;
  const toolUse = usage.toolUsePromptTokenCount ?? 0;
  // Zeros are left out of the JSON, so an answer that cost nothing shows only in the total.
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

// The room of token counts in the OpenAI protocols.
//
// Providers put the same numbers in different places and leave out what they do not count: absent stays absent (F084).

import type { Json, Usage } from "@rondo/core";
import { numberIn, objectIn } from "./openai-json.ts";

type Count = { [K in keyof Usage]: number | undefined };

/** A `usage` object of Chat Completions. */
export function chatUsage(given: Json | undefined): Count {
  const usage = objectIn(given);
  if (usage === undefined) return {};
  const prompt = objectIn(usage.prompt_tokens_details);
  const completion = objectIn(usage.completion_tokens_details);
  const input = numberIn(usage.prompt_tokens);
  const reasoning = numberIn(completion?.reasoning_tokens) ?? numberIn(usage.reasoning_tokens);
  let output = numberIn(usage.completion_tokens);
  const total = numberIn(usage.total_tokens);
  // xAI counts reasoning beside the completion; the total gives it away.
  if (input !== undefined && output !== undefined && total !== undefined && reasoning !== undefined)
    if (reasoning > 0 && total === input + output + reasoning) output += reasoning;
  return {
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens:
      numberIn(prompt?.cached_tokens) ??
      numberIn(usage.prompt_cache_hit_tokens) ??
      numberIn(usage.cached_tokens),
    cacheWriteTokens: numberIn(prompt?.cache_write_tokens),
    reasoningTokens: reasoning,
  };
}

/** A `usage` object of Responses. */
export function responsesUsage(given: Json | undefined): Count {
  const usage = objectIn(given);
  if (usage === undefined) return {};
  const input = objectIn(usage.input_tokens_details);
  return {
    inputTokens: numberIn(usage.input_tokens),
    outputTokens: numberIn(usage.output_tokens),
    cachedInputTokens: numberIn(input?.cached_tokens),
    cacheWriteTokens: numberIn(input?.cache_write_tokens),
    reasoningTokens: numberIn(objectIn(usage.output_tokens_details)?.reasoning_tokens),
  };
}

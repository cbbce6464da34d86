// The room of usage in the OpenAI protocols.
//
// Providers put the same numbers in different places and leave out what they do not count: absent stays absent (F084).

import type { Json, JsonObject, Usage } from "@rondo/core";
import { countIn, objectIn } from "../../json-values.ts";

type Count = { [K in keyof Usage]: number | undefined };

/** A `usage` object of Chat Completions. */
export function chatUsage(given: Json | undefined): Count {
  const usage = objectIn(given);
  if (usage === undefined) return {};
  // Mistral has both spellings; gateways that speak Responses to the server behind them may leave its names.
  const prompt =
    objectIn(usage.prompt_tokens_details ?? usage.input_tokens_details) ??
    objectIn(usage.prompt_token_details);
  const completion = objectIn(usage.completion_tokens_details ?? usage.output_tokens_details);
  return whole(usage, {
    // Gateways to Claude may use its names, and its way of counting.
    inputTokens: countIn(usage.prompt_tokens) ?? readOfClaude(usage),
    outputTokens:
      withReasoning(countIn(usage.completion_tokens), countIn(usage.reasoning_tokens)) ??
      countIn(usage.output_tokens),
    cachedInputTokens:
      countIn(prompt?.cached_tokens) ??
      countIn(usage.prompt_cache_hit_tokens) ??
      countIn(usage.cached_tokens) ??
      countIn(usage.num_cached_tokens) ??
      countIn(usage.cache_read_input_tokens),
    cacheWriteTokens: written(usage, prompt),
    reasoningTokens: countIn(completion?.reasoning_tokens) ?? countIn(usage.reasoning_tokens),
  });
}

/** A `usage` object of Responses. */
export function responsesUsage(given: Json | undefined): Count {
  const usage = objectIn(given);
  if (usage === undefined) return {};
  // Gateways that speak Chat Completions to the server behind them may leave its names.
  const input = objectIn(usage.input_tokens_details ?? usage.prompt_tokens_details);
  const output = objectIn(usage.output_tokens_details ?? usage.completion_tokens_details);
  return whole(usage, {
    inputTokens: countIn(usage.input_tokens) ?? countIn(usage.prompt_tokens),
    outputTokens: countIn(usage.output_tokens) ?? countIn(usage.completion_tokens),
    cachedInputTokens: countIn(input?.cached_tokens) ?? countIn(input?.cache_read_input_tokens),
    cacheWriteTokens: written(usage, input),
    reasoningTokens: countIn(output?.reasoning_tokens),
  });
}

/** Claude counts cache reads and writes separately from the rest. */
function readOfClaude(usage: JsonObject): number | undefined {
  const fresh = countIn(usage.input_tokens);
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  return fresh === undefined ? undefined : fresh + (countIn(read) ?? 0) + (countIn(written) ?? 0);
}

/** Cache writes, under OpenAI's name or those of gateways to Claude (LiteLLM, Perplexity). */
function written(usage: JsonObject, details: JsonObject | undefined): number | undefined {
  return (
    countIn(details?.cache_write_tokens) ??
    countIn(details?.cache_creation_tokens) ??
    countIn(details?.cache_creation_input_tokens) ??
    countIn(usage.cache_creation_input_tokens)
  );
}

/**
 * Counts including the reasoning that is only in the total: xAI reports how much that is, Gemini's OpenAI endpoint does
 * not. Cached tokens that some count beside the input are not reasoning: they are input.
 */
function whole(usage: JsonObject, told: Count): Count {
  const count = besideCache(told);
  const { inputTokens, outputTokens, cachedInputTokens: read = 0, cacheWriteTokens: write = 0 } = count;
  const total = countIn(usage.total_tokens);
  if (inputTokens === undefined || outputTokens === undefined || total === undefined) return count;
  const beside = total - inputTokens - outputTokens;
  if (beside <= 0 || beside !== (count.reasoningTokens ?? beside)) return count;
  if (count.reasoningTokens === undefined && [read, write, read + write].includes(beside))
    return { ...count, inputTokens: inputTokens + beside };
  return { ...count, outputTokens: outputTokens + beside, reasoningTokens: beside };
}

/** If there was more reasoning than completion, it is counted separately, and not in the total: Perplexity's place for it. */
function withReasoning(completion: number | undefined, reasoning: number | undefined): number | undefined {
  if (completion === undefined || reasoning === undefined || reasoning <= completion) return completion;
  return completion + reasoning;
}

/** If more was read from the cache than the whole input, the cache is counted separately. */
export function besideCache(count: Count): Count {
  const { inputTokens, cachedInputTokens: read = 0, cacheWriteTokens: write = 0 } = count;
  if (inputTokens === undefined || read <= inputTokens) return count;
  return { ...count, inputTokens: inputTokens + read + write };
}

// The room of the route: what to do about a request that is too large, before it is sent.
//
// Compaction costs a model call and loses words. Shorter results, or a lower output limit, cost nothing: if they are enough,
// nothing is compacted.

import { guardTexts } from "../guard.ts";

/** `fits`: send it. `compact`. `truncate_results`: shorten results, then send it. `compact_then_truncate`: both. */
export type Route = "fits" | "compact" | "truncate_results" | "compact_then_truncate";

export interface RouteAsk {
  /** Estimated tokens of the whole request. */
  tokens: number;
  /** The model's window, in tokens. */
  window: number;
  /** Tokens kept free for the answer. */
  reserve: number;
  /** Characters that shortening results would free: `reducibleChars`. */
  reducible: number;
  /** How many messages there are. Default: 0. */
  messages?: number;
  /** The estimate is multiplied by this, because it may be too low. Use 1 for tokens that the provider counted. Default: 1.2. */
  safety?: number;
}

export interface RouteAnswer {
  route: Route;
  /** The given tokens, with the margin for error. */
  tokens: number;
  /** The limit for them. */
  budget: number;
  /** By how much they exceed it, 0 if they fit. */
  overflow: number;
  /** An error text, unless it fits. */
  error?: string;
}

/** With more messages than this, results are not shortened without a compaction. */
const manyMessages = 200;

/** Which route to take. */
export function routeOf(ask: RouteAsk): RouteAnswer {
  const tokens = Math.ceil(ask.tokens * (ask.safety ?? 1.2));
  const budget = Math.max(1, ask.window - ask.reserve);
  const overflow = Math.max(0, tokens - budget);
  if (overflow === 0) return { route: "fits", tokens, budget, overflow };
  // Half as much again is freed, and at least 512 tokens more, because both estimates may be wrong.
  const needed = Math.max(overflow * 4 + 512 * 4, Math.ceil(overflow * 4 * 1.5));
  const route =
    ask.reducible <= 0
      ? "compact"
      : ask.reducible >= needed && (ask.messages ?? 0) <= manyMessages
        ? "truncate_results"
        : "compact_then_truncate";
  return { route, tokens, budget, overflow, error: guardTexts.precheck };
}

/**
 * The output limit that still fits after the input, at least 16 tokens: a limit that is too high is lowered, and nothing
 * is compacted for it. Unchanged if it fits or something is unknown.
 */
export function fittingOutput<Limit extends number | undefined>(
  maxOutputTokens: Limit,
  inputTokens: number,
  window: number | undefined,
): Limit | number {
  if (maxOutputTokens === undefined || window === undefined) return maxOutputTokens;
  return inputTokens + maxOutputTokens > window ? Math.max(16, window - inputTokens) : maxOutputTokens;
}

// The room of the way out: what to do about a request that is too large, before it is sent.
//
// Compaction costs a model call and loses words. Shorter results, or a lower limit on the answer, cost nothing: where
// they are enough, nothing is compacted.

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
  /** What the estimate is multiplied by, since it may be too low. 1 for tokens the provider counted. Default: 1.2. */
  safety?: number;
}

export interface RouteAnswer {
  route: Route;
  /** The tokens asked about, with the margin for error. */
  tokens: number;
  /** What they may be. */
  budget: number;
  /** By how much they are too many, 0 when they fit. */
  overflow: number;
  /** In the words of an error, unless it fits. */
  error?: string;
}

/** More messages than this are not looked through for results to shorten without compacting too. */
const manyMessages = 200;

/** Which way out there is. */
export function routeOf(ask: RouteAsk): RouteAnswer {
  const tokens = Math.ceil(ask.tokens * (ask.safety ?? 1.2));
  const budget = Math.max(1, ask.window - ask.reserve);
  const overflow = Math.max(0, tokens - budget);
  if (overflow === 0) return { route: "fits", tokens, budget, overflow };
  // Room for half as much again, and at least for 512 tokens: the estimate may be wrong in both places.
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
 * The output limit that still fits behind the input, at least 16 tokens: a limit that is too high is lowered, nothing is
 * compacted for it. As it was where it fits or something is not known.
 */
export function fittingOutput<Limit extends number | undefined>(
  maxOutputTokens: Limit,
  inputTokens: number,
  window: number | undefined,
): Limit | number {
  if (maxOutputTokens === undefined || window === undefined) return maxOutputTokens;
  return inputTokens + maxOutputTokens > window ? Math.max(16, window - inputTokens) : maxOutputTokens;
}

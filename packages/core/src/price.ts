// The room of prices: what a model call costs, from its usage and its model's price.
//
// Providers have one price for the whole of a request, and which one depends on how long the prompt is, cached tokens
// included. A kind of token without a price of its own has that of what it is a kind of.

import type { Usage } from "./message.ts";

/** US dollars per million tokens. */
export interface Rates {
  input: number;
  output: number;
  /** Input read from a cache. Default: as `input`. */
  cachedInput?: number;
  /** Input written to a cache. Default: as `input`. */
  cacheWrite?: number;
  /** Input written to a cache that keeps it for an hour. Default: as `cacheWrite`. */
  cacheWrite1h?: number;
}

/** US dollars per million tokens, of requests of any length. */
export interface Price extends Rates {
  /** The rates of requests with more input tokens than `above`, cached ones included: they hold for the whole request. Default: none. */
  longPrompts?: readonly LongPromptRates[];
}

export interface LongPromptRates extends Rates {
  /** Tokens. */
  above: number;
}

/** US dollars. */
export interface Cost {
  input: number;
  output: number;
  total: number;
}

/** Prices are for so many tokens. */
const unit = 1_000_000;

/** The cost of a call with this usage. What it does not count costs nothing. */
export function costOf(price: Price, usage: Usage): Cost {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens: read = 0, cacheWriteTokens = 0 } = usage;
  const {
    input,
    output,
    cachedInput = input,
    cacheWrite = input,
    cacheWrite1h = cacheWrite,
  } = ratesOf(price, inputTokens);
  const forAnHour = Math.min(usage.cacheWrite1hTokens ?? 0, cacheWriteTokens);
  const plain = Math.max(0, inputTokens - read - cacheWriteTokens);
  const written = (cacheWriteTokens - forAnHour) * cacheWrite + forAnHour * cacheWrite1h;
  const prompt = plain * input + read * cachedInput + written;
  const answer = outputTokens * output;
  return { input: prompt / unit, output: answer / unit, total: (prompt + answer) / unit };
}

/** The total cost in US dollars; undefined if no price is known. */
export const usdOf = (usage: Usage | undefined, price: Price | undefined): number | undefined =>
  price && costOf(price, usage ?? {}).total;

/** The rates of a request of this length. */
export function ratesOf(price: Price, inputTokens: number): Rates {
  let rates: Rates = price;
  let from = -1;
  for (const long of price.longPrompts ?? []) {
    if (inputTokens <= long.above || long.above <= from) continue;
    rates = long;
    from = long.above;
  }
  return rates;
}

/** Whether nothing is paid for any request. */
export const isFree = (price: Price): boolean =>
  [price, ...(price.longPrompts ?? [])].every(({ input, output }) => input === 0 && output === 0);

// The room of Anthropic's counts: what a message cost, all that the provider did for it counted once.
//
// The totals hold the rounds of the model that answered. What a summary of the provider's own, an advisor, or a model that
// began the answer and declined cost stands in the list of rounds alone. The list may say nothing of a round, and the totals
// nothing of a kind of round: the larger sum holds both.

import type { Json, JsonObject, Usage } from "@rondo/core";
import { countIn, objectIn } from "../../json-values.ts";

/** What is counted of a message and of each of its rounds, under the protocol's names. */
const names = [
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "output_tokens",
] as const;
type Counts = { [name in (typeof names)[number]]?: number };

/** Takes running totals, as often as they come: the last word on each wins. */
export class AnthropicCounts {
  readonly #totals: Counts = {};
  #rounds: Counts = {};

  take(usage: JsonObject): { [K in keyof Usage]: number | undefined } {
    keep(this.#totals, usage);
    if (Array.isArray(usage.iterations)) this.#rounds = sumOf(usage.iterations);
    const input = this.#most("input_tokens");
    const read = this.#most("cache_read_input_tokens");
    const written = this.#most("cache_creation_input_tokens");
    return {
      // The protocol counts cached tokens beside the input, not in it.
      inputTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
      outputTokens: this.#most("output_tokens"),
      cachedInputTokens: read,
      cacheWriteTokens: written,
      reasoningTokens: countIn(objectIn(usage.output_tokens_details)?.thinking_tokens),
    };
  }

  #most(name: keyof Counts): number | undefined {
    const { [name]: total } = this.#totals;
    const { [name]: rounds } = this.#rounds;
    return total === undefined || rounds === undefined ? (total ?? rounds) : Math.max(total, rounds);
  }
}

function sumOf(rounds: readonly Json[]): Counts {
  const sum: Counts = {};
  for (const round of rounds) {
    const told: Counts = {};
    keep(told, objectIn(round) ?? {});
    // A model that declined before it said a word costs nothing.
    if ((told.output_tokens ?? 0) === 0) continue;
    for (const name of names) if (told[name] !== undefined) sum[name] = (sum[name] ?? 0) + told[name];
  }
  return sum;
}

function keep(counts: Counts, told: JsonObject): void {
  for (const name of names) {
    const count = countIn(told[name]);
    // Gateways put a zero into the last event where they have nothing to tell of the input.
    if (count !== undefined && (count > 0 || !counts[name])) counts[name] = count;
  }
}

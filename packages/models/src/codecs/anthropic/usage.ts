// The room of Anthropic's usage: what a message cost, with each thing the provider did counted once.
//
// The totals cover the rounds of the model that answered. What a summary by the provider, an advisor, or a model that began
// the answer and declined cost is only in the list of rounds. The list may lack a round, and the totals a kind of round:
// the larger sum covers both.

import type { Json, JsonObject, Usage } from "@rondo/core";
import { countIn, objectIn } from "../../json-values.ts";

/** The counts of a message and of each of its rounds, by the protocol's names. */
const names = [
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "ephemeral_1h_input_tokens",
  "output_tokens",
] as const;
type Counts = { [name in (typeof names)[number]]?: number };

/** Takes running totals, as often as they come: the last value of each wins. */
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
      // The protocol counts cached tokens separately from the input.
      inputTokens: input === undefined ? undefined : input + (read ?? 0) + (written ?? 0),
      outputTokens: this.#most("output_tokens"),
      cachedInputTokens: read,
      cacheWriteTokens: written,
      // A zero is what all others have, too.
      cacheWrite1hTokens: this.#most("ephemeral_1h_input_tokens") || undefined,
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
    // A model that declined before writing anything costs nothing.
    if ((told.output_tokens ?? 0) === 0) continue;
    for (const name of names) if (told[name] !== undefined) sum[name] = (sum[name] ?? 0) + told[name];
  }
  return sum;
}

function keep(counts: Counts, told: JsonObject): void {
  // How long what was written is kept is told in an object of its own.
  const { ephemeral_1h_input_tokens } = objectIn(told.cache_creation) ?? {};
  for (const name of names) {
    const count = countIn(name === "ephemeral_1h_input_tokens" ? ephemeral_1h_input_tokens : told[name]);
    // Gateways put zeros into the last event if they do not know the input.
    if (count !== undefined && (count > 0 || !counts[name])) counts[name] = count;
  }
}

// The room of spending: what a run has cost, as far as it is known.
//
// Tokens are summed as providers report them. Money needs a price and reported usage for every call; if either is
// missing, the sum is unknown from then on, which is not zero.

import { addUsage, tokensOf, type Usage } from "../../message.ts";
import type { ModelRef } from "../run-options.ts";
import { modelInUse, type Run, type Spend, type State, withRun } from "../state.ts";

/** The spending after one more model call. `failed`: the call gave no answer; without reported usage it counts as free. `by`: the model that was called; default: the one in use. */
export function spendMore(
  state: State,
  run: Run,
  usage: Usage = {},
  failed: boolean = false,
  by: ModelRef | undefined = withRun(state).options.models[modelInUse(run)],
): Spend {
  const { spend } = run;
  const tokens = tokensOf(usage);
  if (tokens === undefined)
    return failed
      ? spend
      : { ...spend, uncounted: spend.uncounted + 1, usd: isFree(by) ? spend.usd : undefined };
  const cost = costOf(by, usage);
  return {
    usage: addUsage(spend.usage, usage),
    tokens: spend.tokens + tokens,
    usd: cost === undefined || spend.usd === undefined ? undefined : spend.usd + cost,
    uncounted: spend.uncounted,
  };
}

function isFree(by: ModelRef | undefined): boolean {
  const price = by?.facts.price;
  return price !== undefined && price.input === 0 && price.output === 0;
}

function costOf(by: ModelRef | undefined, usage: Usage): number | undefined {
  const price = by?.facts.price;
  if (price === undefined) return undefined;
  const cached = usage.cachedInputTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const plain = Math.max(0, (usage.inputTokens ?? 0) - cached - written);
  return (
    (plain * price.input +
      cached * (price.cachedInput ?? price.input) +
      written * (price.cacheWrite ?? price.input) +
      (usage.outputTokens ?? 0) * price.output) /
    1_000_000
  );
}

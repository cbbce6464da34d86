// The room of spending: what a run has cost, as far as anybody counted.
//
// Tokens are summed as the provider told them. Money needs a price and a count for every call; where either is
// missing the sum is unknown from then on, which is not zero.

import { addUsage, tokensOf, type Usage } from "../../message.ts";
import type { ModelRef } from "../run-options.ts";
import { modelInUse, type Run, type Spend, type State, withRun } from "../state.ts";

/** What has been spent after one more model call. `failed`: a call that brought no answer; uncounted, it is taken to cost nothing. `by`: the model that was asked; default: the one in use. */
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

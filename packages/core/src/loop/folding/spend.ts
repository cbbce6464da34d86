// The room of spending: what a run has cost, as far as it is known.
//
// Tokens are summed as providers report them. Those of an answer that nobody counted are estimated, beside that sum, so that
// a budget has an end; so are those of a request of which a server says that it had none, which is what many send that did not
// count. Money needs a price and reported usage for every answer; if either is missing, the sum is unknown from then on, which
// is not zero. A call that broke off is counted by no one, or only as far as its stream's beginning says: what had arrived is
// estimated, in money too, so that one lost connection does not end a run with a budget.

import { charEstimator } from "../../context/estimate.ts";
import { type AssistantMessage, addUsage, tokensOf, type Usage } from "../../message.ts";
import { isFree, type Price, usdOf } from "../../price.ts";
import type { RecordOf } from "../records.ts";
import { frontOf } from "../request/window.ts";
import type { ModelRef } from "../run-options.ts";
import { modelInUse, type Run, type Spend, type State, withRun } from "../state.ts";

/** What a model call that gave no answer left: the usage that was reported, and the part of an answer that had arrived, or that only what is not kept had. */
interface Failed {
  usage?: Usage | undefined;
  partial?: AssistantMessage | undefined;
  shown?: true | undefined;
}

/**
 * The spending after one more model call.
 * @param came its answer, or what a call left that gave none: without usage or a part of an answer that counts as free
 * @param by the model that was called; default: the one in use
 */
export function spendMore(
  state: State,
  run: Run,
  came: AssistantMessage | Failed,
  by: ModelRef | undefined = withRun(state).options.models[modelInUse(run)],
): Spend {
  const { spend } = run;
  const price = by?.facts.price;
  if (!("role" in came))
    return counted(brokenOff(state, spend, came, price), came.usage, usdOf(came.usage, price));
  const { inputTokens = 0, outputTokens = 0 } = came.usage ?? {};
  if (inputTokens > 0) return counted(spend, came.usage, usdOf(came.usage, price));
  return {
    ...spend,
    // What was told of the answer counts as told.
    usage: outputTokens > 0 ? addUsage(spend.usage, { outputTokens }) : spend.usage,
    tokens: spend.tokens + outputTokens,
    uncounted: spend.uncounted + 1,
    estimated: (spend.estimated ?? 0) + sentIn(state) + (outputTokens > 0 ? 0 : estimator.message(came)),
    usd: price !== undefined && isFree(price) ? spend.usd : undefined,
  };
}

/** The spending with a model call that had been given up, whose usage came late. Nothing was counted of it before. */
export function spendLate(
  spend: Spend,
  { usage, usd }: Pick<RecordOf<"late_result">, "usage" | "usd">,
): Spend {
  return counted(spend, usage, usd);
}

/** The spending with what a provider counted. @param usd what that cost; undefined: nobody knows */
function counted(spend: Spend, usage: Usage = {}, usd: number | undefined): Spend {
  const tokens = tokensOf(usage);
  if (tokens === undefined) return spend;
  return {
    ...spend,
    usage: addUsage(spend.usage, usage),
    tokens: spend.tokens + tokens,
    usd: paid(spend, usd),
  };
}

const paid = ({ usd }: Spend, more: number | undefined): number | undefined =>
  usd === undefined || more === undefined ? undefined : usd + more;

/** The spending with what nobody counted of an answer that broke off. */
function brokenOff(
  state: State,
  spend: Spend,
  { usage = {}, partial, shown }: Failed,
  price: Price | undefined,
): Spend {
  const isKept = partial !== undefined && partial.content.length > 0;
  if (!isKept && shown !== true) return spend;
  // How much there was of thoughts, or of a call that was not whole, is not known; that the request was read, is.
  const arrived = isKept ? estimator.message(partial) : 0;
  const { inputTokens = 0, outputTokens = 0 } = usage;
  const input = inputTokens > 0 ? 0 : sentIn(state);
  // Counts at the beginning of a stream are far below what had arrived, and those of the whole are near it.
  const output = outputTokens * 2 < arrived ? arrived - outputTokens : 0;
  if (input === 0 && output === 0) return spend;
  return {
    ...spend,
    uncounted: spend.uncounted + 1,
    estimated: (spend.estimated ?? 0) + input + output,
    usd: paid(spend, usdOf({ inputTokens: input, outputTokens: output }, price)),
  };
}

/** Always the same, whatever the agent's own is: the same records give the same spending. */
const estimator = charEstimator();

/** About how many tokens a request had that nobody counted. */
const sentIn = (state: State): number => frontOf(state, { estimator }) + state.history.sum(estimator.message);

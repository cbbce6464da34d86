// The room of spending: what a run has cost, as far as it is known.
//
// Tokens are summed as providers report them. Those of an answer that nobody counted are estimated, beside that sum, so that
// a budget has an end; so are those of a request of which a server says that it had none, which is what many send that did not
// count. Money needs a price and reported usage for every call; if either is missing, the sum is unknown from then on, which
// is not zero.

import { charEstimator } from "../../context/estimate.ts";
import { type AssistantMessage, addUsage, tokensOf, type Usage } from "../../message.ts";
import { costOf, isFree } from "../../price.ts";
import { frontOf } from "../request/window.ts";
import type { ModelRef } from "../run-options.ts";
import { modelInUse, type Run, type Spend, type State, withRun } from "../state.ts";

/**
 * The spending after one more model call.
 * @param came its answer, or the usage of a call that gave none: without reported usage that counts as free
 * @param by the model that was called; default: the one in use
 */
export function spendMore(
  state: State,
  run: Run,
  came: AssistantMessage | { usage?: Usage | undefined },
  by: ModelRef | undefined = withRun(state).options.models[modelInUse(run)],
): Spend {
  const { spend } = run;
  const { usage = {} } = came;
  const { inputTokens = 0, outputTokens = 0 } = usage;
  const price = by?.facts.price;
  if ("role" in came && inputTokens <= 0)
    return {
      ...spend,
      // What was told of the answer counts as told.
      usage: outputTokens > 0 ? addUsage(spend.usage, { outputTokens }) : spend.usage,
      tokens: spend.tokens + outputTokens,
      uncounted: spend.uncounted + 1,
      estimated: (spend.estimated ?? 0) + estimated(state, came),
      usd: price !== undefined && isFree(price) ? spend.usd : undefined,
    };
  const tokens = tokensOf(usage);
  if (tokens === undefined) return spend;
  const { usd } = spend;
  return {
    ...spend,
    usage: addUsage(spend.usage, usage),
    tokens: spend.tokens + tokens,
    usd: price === undefined || usd === undefined ? undefined : usd + costOf(price, usage).total,
  };
}

/** Always the same, whatever the agent's own is: the same records give the same spending. */
const estimator = charEstimator();

/** About how many tokens of a call nobody counted: the history that it was sent, and its answer unless that was counted. */
const estimated = (state: State, answer: AssistantMessage): number =>
  frontOf(state, { estimator }) +
  state.history.sum(estimator.message) +
  ((answer.usage?.outputTokens ?? 0) > 0 ? 0 : estimator.message(answer));

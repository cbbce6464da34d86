// The room of the window: how full it is.
//
// Pure functions of the state. The provider's count is used as far as it goes; only what is newer is estimated.

import { fittingOutput } from "../../context/guard/route.ts";
import { knownWindow, narrowed, type WindowFacts } from "../../context/stage.ts";
import { type ContextAccount, contextAccount } from "../../context/window-usage.ts";
import type { Rules } from "../../rules/rule.ts";
import { definitionsOf, knownTools } from "../offered-tools.ts";
import type { ModelRef } from "../run-options.ts";
import { modelInUse, type RunState, type State, summariserOf } from "../state.ts";
import { besideOf } from "./notes.ts";

/** What is known of the window of the model in use. The option `context.window` outranks the model's facts; a smaller window named in a refusal outranks both. */
export function windowFacts(state: State): WindowFacts {
  const { options, run } = state;
  const model = options?.models[run === undefined ? 0 : modelInUse(run)];
  const window = options?.context?.window;
  return asRefused(state, model, window === undefined ? (model?.facts ?? {}) : { contextWindow: window });
}

/** The window of the summarising model, which is `windowOf` if it is the model in use; undefined if it is unknown. */
export function summariserWindow(state: RunState): number | undefined {
  const { run } = state;
  if (state.options.compactor === undefined && modelInUse(run) === run.model) return windowOf(state);
  const summariser = summariserOf(state);
  return asRefused(state, summariser, summariser?.facts ?? {}).contextWindow;
}

function asRefused({ windows }: State, model: ModelRef | undefined, facts: WindowFacts): WindowFacts {
  const most = model && windows?.get(model.id);
  return most === undefined ? facts : narrowed(facts, most);
}

/** The size of the window in tokens, input and output together; undefined if it is unknown. */
export const windowOf = (state: State): number | undefined => knownWindow(windowFacts(state));

/** The estimated tokens of the next request. The cost is that of what is newer than the provider's last count. */
export function sizeOf(state: State, rules: Pick<Rules, "estimator">): number {
  const { counted, history } = state;
  if (counted !== undefined) return counted.tokens + history.sum(rules.estimator.message, counted.length);
  return frontOf(state, rules) + history.sum(rules.estimator.message);
}

/** Tokens of what comes before the messages: system prompt and tools. */
export function frontOf(state: State, { estimator }: Pick<Rules, "estimator">): number {
  return estimator.text(state.options?.system ?? "") + estimator.tools(definitionsOf(knownTools(state)));
}

/** The output limit, lowered to what the input leaves of the window: one that is too large is no reason to compact. */
export function outputThatFits<Limit extends number | undefined>(
  state: RunState,
  rules: Rules,
  limit: Limit,
): Limit | number {
  // The request's size is only computed if it matters.
  const window = limit === undefined ? undefined : windowOf(state);
  if (limit === undefined || window === undefined) return limit;
  return fittingOutput(limit, sizeOf(state, rules) + besideOf(state, rules), window);
}

/** What fills the window, by source. */
export function accountOf(state: State, rules: Rules): ContextAccount {
  const { history, counted } = state;
  const tools = rules.estimator.tools(definitionsOf(knownTools(state)));
  return contextAccount(
    { messages: history, system: frontOf(state, rules) - tools, tools, window: windowOf(state), counted },
    rules.estimator,
  );
}

// The room of the window: how full it is, and what is to be done about it before the next request.
//
// Pure questions about a state. Room is made at chosen moments and then for a while, so that what the provider has
// cached of the history stays good in between: what trimming and compaction leave is the history from then on, and
// stands in a record. What the provider counted is believed; only what is newer is estimated.

import { type ContextAccount, contextAccount } from "../context/account.ts";
import { cutLongest } from "../context/cut.ts";
import { fittingOutput } from "../context/guard-route.ts";
import { knownWindow, type WindowFacts } from "../context/stage.ts";
import { trim } from "../context/trim.ts";
import type { JsonObject } from "../message.ts";
import type { Rules } from "../rules/rule.ts";
import { type Action, record } from "./action.ts";
import { end } from "./ending.ts";
import { definitionsOf } from "./offered.ts";
import { runOf, type State } from "./state.ts";

/** What is known of the window of the model in use; the option outranks the model's own. */
export function windowFacts({ options, run }: State): WindowFacts {
  const window = options?.context?.window;
  return window === undefined ? (options?.models[run?.model ?? 0]?.facts ?? {}) : { contextWindow: window };
}

/** Tokens of the window, input and output together; undefined when nobody knows. */
export const windowOf = (state: State): number | undefined => knownWindow(windowFacts(state));

/** Tokens that the next request is estimated to take. Costs what is newer than the provider's last count. */
export function sizeOf(state: State, rules: Pick<Rules, "estimator">): number {
  const { counted, history } = state;
  if (counted !== undefined) return counted.tokens + history.sum(rules.estimator.message, counted.length);
  return frontOf(state, rules) + history.sum(rules.estimator.message);
}

/** Tokens of what stands before the messages. */
export function frontOf({ options }: State, { estimator }: Pick<Rules, "estimator">): number {
  if (options === undefined) return 0;
  return estimator.text(options.system ?? "") + estimator.tools(definitionsOf(options.tools));
}

/** Cuts the oldest results for good when all of them together are over their budget. */
export function trimmed(state: State): Action | undefined {
  const settings = state.options?.context?.trim;
  if (settings === undefined || runOf(state).paused) return undefined;
  const { edits, note } = trim(state.history, settings, windowFacts(state));
  return note && record({ type: "trimmed", edits: [...edits], ...note });
}

/** Decides on a compaction when the history fills its share of the window. */
export function compactionDue(state: State, rules: Rules): Action | undefined {
  const { options, run } = state;
  const settings = options?.context?.compaction;
  const { id = "" } = options?.models[run?.model ?? 0] ?? {};
  if (settings === undefined || !settings.auto || !mayCompact(state)) return undefined;
  // Where nobody counted there is nothing to compare with a limit, known or not.
  if (settings.format === "tagged" && state.lastTokens === undefined) return undefined;
  const limit = knownWindow(
    windowFacts(state),
    settings.limit === "input_tokens" ? "maxInputTokens" : undefined,
  );
  if (limit === undefined) {
    if (settings.withoutLimit === "skip") return undefined;
    const message = `Missing context limit for ${id} in model registry`;
    const error = { kind: "capability" as const, message, retryable: false };
    return end(state, { reason: "error", rule: "compaction", evidence: {}, error });
  }
  // The tagged format goes by what was counted last, whatever it was for; the other by what the next request will take.
  const tokens = settings.format === "tagged" ? state.lastTokens : sizeOf(state, rules);
  if (tokens === undefined || tokens < Math.floor(limit * settings.at)) return undefined;
  return compacting("compaction", { tokens, limit, at: settings.at });
}

/** Sees to it that no request goes out that cannot fit, and that one that did not fit does not go out again as it was. */
export function guarded(state: State, rules: Rules): Action | undefined {
  const { guard, compaction } = state.options?.context ?? {};
  const { reduced } = runOf(state);
  const window = windowOf(state);
  const tokens = sizeOf(state, rules);
  const refused = reduced !== undefined && !reduced.helped;
  // A paused answer goes back as it is, or it is not the same answer.
  if (runOf(state).paused) return undefined;
  if (!refused && (guard?.results !== "cut" || window === undefined || tokens <= window)) return undefined;
  const evidence: JsonObject = { tokens, ...(window === undefined ? {} : { window }) };
  if (!refused && compaction !== undefined && mayCompact(state)) return compacting("guard", evidence);
  const room = refused ? Math.floor(Math.min(tokens, window ?? tokens) / 2) : (window as number);
  const goal = room - (tokens - state.history.sum(rules.estimator.message));
  const cut = guard === undefined ? undefined : cutLongest(state.history, goal, rules.estimator);
  if (cut !== undefined) return record({ type: "trimmed", edits: cut.edits, ...cut.note });
  const message = `the request takes about ${tokens} tokens and the window is ${window}: nothing in it can be made smaller`;
  const error = reduced?.error ?? { kind: "context_overflow" as const, message, retryable: false };
  return end(state, { reason: "error", rule: "guard", evidence, error });
}

/** The output limit, lowered to what the input leaves of the window: a too large one is no reason to compact. */
export function outputThatFits<Limit extends number | undefined>(
  state: State,
  rules: Rules,
  limit: Limit,
): Limit | number {
  const window = windowOf(state);
  // What the request takes is not asked where it does not matter.
  if (limit === undefined || window === undefined) return limit;
  return fittingOutput(limit, sizeOf(state, rules), window);
}

/** What fills the window, by source. */
export function accountOf(state: State, rules: Rules): ContextAccount {
  const { history, counted, options } = state;
  const tools = options === undefined ? 0 : rules.estimator.tools(definitionsOf(options.tools));
  return contextAccount(
    { messages: history, system: frontOf(state, rules) - tools, tools, window: windowOf(state), counted },
    rules.estimator,
  );
}

/** The decision to compact. */
export const compacting = (rule: string, evidence: JsonObject): Action =>
  record({ type: "mode", mode: "compacting", rule, evidence });

/** Compactions that may come one answer after the other; after them, or after one that did not help, so many answers go by. */
const mostInARow = 3;
const answersToWait = 5;

/**
 * Whether another compaction could help: there has been an answer since the last one, which helped; and where one came
 * after each of the last answers, what cannot be compacted is too large, and more of them would not end.
 */
export function mayCompact(state: State): boolean {
  const { compacted, answers, options, run } = state;
  const settings = options?.context?.compaction;
  if (settings === undefined || run === undefined || run.paused) return false;
  // Whoever must end now has no use for a long history.
  if (run.landing !== undefined && run.landing.reason !== "max_steps") return false;
  if (compacted === undefined) return true;
  const since = answers - compacted.answers;
  return since >= (compacted.helped && compacted.inARow < mostInARow ? 1 : answersToWait);
}

// The room of the threshold: whether the window is so full that the history should be compacted.

import { RondoError } from "../../errors.ts";
import { tokensOf, type Usage } from "../../message.ts";
import { knownWindow, type WindowFacts } from "../stage.ts";
import type { CompactionSettings } from "./settings.ts";

/** The limit that the threshold is a share of; undefined if the model has none. */
export function limitOf(settings: CompactionSettings, facts: WindowFacts): number | undefined {
  return knownWindow(facts, settings.limit === "input_tokens" ? "maxInputTokens" : "contextWindow");
}

/** The error for a model without a limit, if `withoutLimit` is `throw`. */
export const missingLimit = (model: string): string => `Missing context limit for ${model} in model registry`;

/** Whether so many tokens reach the share of the limit at which the history is compacted. */
export const isFull = (settings: CompactionSettings, tokens: number, limit: number): boolean =>
  tokens >= Math.floor(limit * settings.at);

/**
 * The limit that the threshold is a share of; undefined if the model has none and `withoutLimit` is `skip`.
 * @param model the model's name in the error
 * @throws RondoError `capability` if there is none and `withoutLimit` is `throw`
 */
export function compactionLimit(
  settings: CompactionSettings,
  limits: WindowFacts,
  model: string,
): number | undefined {
  const limit = limitOf(settings, limits);
  if (limit === undefined && settings.withoutLimit === "throw")
    throw new RondoError("capability", missingLimit(model));
  return limit;
}

/**
 * Whether the last call used so much of the limit that the history should be compacted. `last` is the usage of the newest
 * model call of any purpose; an unknown usage is not full.
 */
export function compactionDue(
  settings: CompactionSettings,
  last: Usage | undefined,
  limit: number | undefined,
): boolean {
  const tokens = tokensOf(last);
  return settings.auto && limit !== undefined && tokens !== undefined && isFull(settings, tokens, limit);
}

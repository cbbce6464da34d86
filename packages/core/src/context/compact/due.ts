// The room of the threshold: whether the window is so full that it is time to compact.

import { RondoError } from "../../errors.ts";
import type { Usage } from "../../message.ts";
import type { CompactionSettings } from "./settings.ts";

/** What is known of a model's size. */
export interface ModelLimits {
  /** Tokens of input and output together. */
  contextWindow?: number;
  /** Tokens of input alone. */
  maxInputTokens?: number;
}

/**
 * The limit the threshold is a share of; undefined where the model names none and `withoutLimit` is `skip`.
 * @param model how the model is called in the error
 * @throws RondoError `capability` where there is none and `withoutLimit` is `throw`
 */
export function compactionLimit(
  settings: CompactionSettings,
  limits: ModelLimits,
  model: string,
): number | undefined {
  const { contextWindow, maxInputTokens } = limits;
  const limit =
    settings.limit === "context_window"
      ? (contextWindow ?? maxInputTokens)
      : (maxInputTokens ?? contextWindow);
  if (limit === undefined && settings.withoutLimit === "throw")
    throw new RondoError("capability", `Missing context limit for ${model} in model registry`);
  return limit;
}

/** Whether the last call used so much of the limit that the history should be compacted. `last` is the usage of the newest model call of any purpose; unknown is not full. */
export function compactionDue(
  settings: CompactionSettings,
  last: Usage | undefined,
  limit: number | undefined,
): boolean {
  if (!settings.auto || limit === undefined || last === undefined) return false;
  if (last.inputTokens === undefined && last.outputTokens === undefined) return false;
  return (last.inputTokens ?? 0) + (last.outputTokens ?? 0) >= Math.floor(limit * settings.at);
}

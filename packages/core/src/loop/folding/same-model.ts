// The room of which model is which: records name a model by its index, and another process may list them in another order.

import { isSameOrigin } from "../../message.ts";
import type { Model } from "../../model.ts";
import type { ModelRef } from "../run-options.ts";
import type { RunState } from "../state.ts";

type Named = Pick<ModelRef, "id" | "origin">;

/** Whether two models are the same to a run: same id, same origin. */
export const isSameModel = (one: Named, other: Named): boolean =>
  one.id === other.id && isSameOrigin(one.origin, other.origin);

/** The index of a model in a list: its old one if it is still there, else wherever it is now; -1 if it is gone. */
export function placeOf(models: readonly Named[], ref: Named | undefined, at: number): number {
  const there = models[at];
  if (ref === undefined) return -1;
  return there !== undefined && isSameModel(there, ref)
    ? at
    : models.findIndex((one) => isSameModel(one, ref));
}

/** The model that a run means by an index: when the run began, the agent's models may have been in another order. */
export const modelOf = (models: readonly Model[], { options }: RunState, at: number): Model | undefined =>
  models[placeOf(models, options.models[at], at)];

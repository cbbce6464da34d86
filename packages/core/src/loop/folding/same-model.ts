// The room of which model is which: records name one by its place, and a process may have them in another order.

import type { ModelRef } from "../records.ts";

/** Whether two models are the same to a run: by their id, and by who answers. */
export function isSameModel(
  one: Pick<ModelRef, "id" | "origin">,
  other: Pick<ModelRef, "id" | "origin">,
): boolean {
  const [{ api, provider, model }, { origin }] = [one.origin, other];
  return one.id === other.id && api === origin.api && provider === origin.provider && model === origin.model;
}

/** Where a model stands in a list: at its place, if it is still the one there, else wherever it is now; -1 when it is gone. */
export function placeOf(
  models: readonly Pick<ModelRef, "id" | "origin">[],
  ref: Pick<ModelRef, "id" | "origin"> | undefined,
  at: number,
): number {
  const there = models[at];
  if (ref === undefined) return -1;
  return there !== undefined && isSameModel(there, ref)
    ? at
    : models.findIndex((one) => isSameModel(one, ref));
}

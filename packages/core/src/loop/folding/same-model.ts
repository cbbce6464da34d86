// The room of which model is which: records name one by its place, and a process may have them in another order.

import { isSameOrigin } from "../../message.ts";
import type { ModelRef } from "../run-options.ts";

type Named = Pick<ModelRef, "id" | "origin">;

/** Whether two models are the same to a run: by their id, and by who answers. */
export const isSameModel = (one: Named, other: Named): boolean =>
  one.id === other.id && isSameOrigin(one.origin, other.origin);

/** Where a model stands in a list: at its place, if it is still the one there, else wherever it is now; -1 when it is gone. */
export function placeOf(models: readonly Named[], ref: Named | undefined, at: number): number {
  const there = models[at];
  if (ref === undefined) return -1;
  return there !== undefined && isSameModel(there, ref)
    ? at
    : models.findIndex((one) => isSameModel(one, ref));
}

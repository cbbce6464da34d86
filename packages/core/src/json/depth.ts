// The room of depth: how deeply a value from a model may be nested.

import type { Json } from "../message.ts";

/** Values are checked, copied and written by recursion at every step: a much deeper one would overflow the stack. */
export const deepest = 512;

/** Whether objects and lists are nested more than `deepest` levels deep. It goes level by level, so a deep value does no harm here. */
export function isTooDeep(value: Json): boolean {
  let level = [value].filter(isNesting);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > deepest) return true;
    level = level.flatMap((one) => Object.values(one).filter(isNesting));
  }
  return false;
}

const isNesting = (value: Json): value is Json & object => typeof value === "object" && value !== null;

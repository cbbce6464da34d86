// The room of depth: how far a value may be nested that a model wrote.

import type { Json } from "../message.ts";

/** What is checked, copied and written at every step is walked by recursion: far deeper no stack would hold it. */
export const deepest = 512;

/** Whether objects and lists stand in one another more than `deepest` levels deep. Level by level: its own depth costs nothing. */
export function isTooDeep(value: Json): boolean {
  let level = [value].filter(isNesting);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > deepest) return true;
    level = level.flatMap((one) => Object.values(one).filter(isNesting));
  }
  return false;
}

const isNesting = (value: Json): value is Json & object => typeof value === "object" && value !== null;

// The room of minimizing an input: removes halves, then quarters, and so on, as long as it stays broken in the same way.

import type { Json } from "@rondo/core";
import { isObject, objectOf } from "./mutate.ts";

/**
 * The smallest broken input found.
 * @param isBroken whether a smaller one is still broken
 * @param most how many may be tried
 */
export async function minimise(
  input: Json,
  isBroken: (input: Json) => Promise<boolean>,
  most: number,
): Promise<Json> {
  let left = most;
  let now = input;
  for (;;) {
    let smaller = false;
    for (const candidate of smallerOnes(now)) {
      if (left <= 0) return now;
      left -= 1;
      if (!(await isBroken(candidate))) continue;
      now = candidate;
      smaller = true;
      break;
    }
    if (!smaller) return now;
  }
}

/** Smaller inputs, smallest first: without a half, a quarter and so on, then the same for nested values. */
function* smallerOnes(value: Json): Generator<Json> {
  if (typeof value === "string") {
    for (const [from, to] of pieces(value.length)) yield value.slice(0, from) + value.slice(to);
  } else if (Array.isArray(value)) {
    for (const [from, to] of pieces(value.length)) yield [...value.slice(0, from), ...value.slice(to)];
    for (const [at, item] of value.entries())
      for (const smaller of smallerOnes(item)) yield value.with(at, smaller);
  } else if (isObject(value)) {
    const entries = Object.entries(value) as [string, Json][];
    for (const [from, to] of pieces(entries.length))
      yield objectOf([...entries.slice(0, from), ...entries.slice(to)]);
    for (const [at, [name, item]] of entries.entries())
      for (const smaller of smallerOnes(item)) yield objectOf(entries.with(at, [name, smaller]));
  }
}

function* pieces(length: number): Generator<readonly [from: number, to: number]> {
  for (let size = Math.ceil(length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < length; from += size) yield [from, Math.min(from + size, length)];
}

// The room of the verdict on one input: what it threw, how long it took, and how large its result is.
//
// Time is the thread's own processor time: a busy machine is no defect. Inputs that never finish are detected from
// outside.

import type { Json } from "@rondo/core";
import type { FuzzTarget } from "./target.ts";

/** Processor time in milliseconds allowed per input (all chunkings together), plus the second figure per character. */
const mostMs = 1_000;
const msPerChar = 0.05;
/** Characters allowed in the result, plus the second figure per character of input. */
const mostGiven = 200_000;
const givenPerChar = 100;

/** What is wrong, in words; undefined when nothing is. */
export async function wrongWith(target: FuzzTarget, input: Json): Promise<string | undefined> {
  const size = JSON.stringify(input).length;
  const from = process.threadCpuUsage();
  let gave: unknown;
  try {
    gave = await target.run(input);
  } catch (thrown) {
    return thrown instanceof Error
      ? `${thrown.name}: ${thrown.message}${placeOf(thrown)}`
      : `threw ${String(thrown)}`;
  }
  const { user, system } = process.threadCpuUsage(from);
  const ms = (user + system) / 1_000;
  if (ms > mostMs + msPerChar * size) return `slow: ${ms.toFixed(0)} ms for ${size} characters`;
  const given = JSON.stringify(gave)?.length ?? 0;
  if (given > mostGiven + givenPerChar * size) return `growth: ${given} characters came of ${size}`;
  return undefined;
}

/** Where our own code failed, looking through wrapping errors. */
function placeOf(thrown: Error): string {
  let inner = thrown;
  while (inner.cause instanceof Error) inner = inner.cause;
  const place = /\(?([^\s(]*packages\/[^\s)]*)\)?/.exec(inner.stack ?? "")?.[1];
  const words = inner === thrown ? "" : ` (${inner.name}: ${inner.message})`;
  return `${words}${place === undefined ? "" : ` at ${place.replace(/^.*?packages\//, "packages/")}`}`;
}

/** Identifies a finding by its message, ignoring numbers and quoted text. */
export const kindOf = (words: string): string => words.slice(0, 60).replaceAll(/[\d"'`][\w.]*/g, "");

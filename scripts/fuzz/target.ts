// The room of the target: what is fuzzed, and the requirements for all of it.
//
// An input is plain JSON, so that it can be printed, minimized and replayed. Bytes are stored as text, one character
// per byte. A RondoError is as good a result as any; anything else that is thrown, and a RondoError that only wraps a bug
// in our own code, is broken. Results are compared and measured as JSON.

import { type Json, RondoError } from "@rondo/core";
import { Chance } from "../chance.ts";

export interface FuzzTarget {
  readonly name: string;
  /** Relative frequency: 1 unless it is slow. */
  readonly share?: number;
  /** Generates an input, only from `chance`. */
  make(chance: Chance): Json;
  /**
   * Tries an input. Takes any JSON: what is no input of this target is ignored.
   * @returns the result, to measure its size
   * @throws Broken, or anything that is not a RondoError
   */
  run(input: Json): unknown;
}

/** A violated requirement. */
export class Broken extends Error {
  override readonly name: string = "Broken";
}

export type Outcome = { gave: unknown } | { failed: unknown };

/** The outcome: a result, or a typed error. @throws anything else */
export function outcomeOf(act: () => unknown): Outcome {
  try {
    return { gave: act() };
  } catch (thrown) {
    return { failed: typed(thrown) };
  }
}

export async function outcomeLater(act: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { gave: await act() };
  } catch (thrown) {
    return { failed: typed(thrown) };
  }
}

function typed(thrown: unknown): unknown {
  if (!(thrown instanceof RondoError)) throw thrown;
  for (
    let cause = thrown.cause;
    cause !== undefined;
    cause = cause instanceof Error ? cause.cause : undefined
  )
    if (cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError)
      throw new Broken(`a mistake of our own was wrapped: ${thrown.message}`, { cause });
  if (thrown.kind === "internal") throw new Broken(`an error of kind internal: ${thrown.message}`);
  const { partial, usage } = thrown;
  return { ...thrown.toJSON(), ...(partial && { partial }), ...(usage && { usage }) };
}

/** Ways to split: not at all, one by one, and at pseudo-random places that depend only on the length. */
export function cuts<T extends string | Uint8Array>(whole: T): T[][] {
  const slice = (from: number, to: number): T =>
    (typeof whole === "string" ? whole.slice(from, to) : whole.subarray(from, to)) as T;
  const chance = new Chance("cuts", whole.length);
  const single: T[] = [];
  for (let at = 0; at < whole.length; at += 1) single.push(slice(at, at + 1));
  const random = [4, 64].map((most) => {
    const pieces: T[] = [];
    for (let at = 0; at < whole.length; ) {
      const length = 1 + chance.below(most);
      pieces.push(slice(at, at + length));
      at += length;
    }
    return pieces;
  });
  return [[whole], single, ...random];
}

/** @throws Broken when several ways to do the same had different results */
export function same(results: readonly unknown[], of: string): void {
  const texts = results.map((result) => JSON.stringify(result));
  const other = texts.findIndex((text) => text !== texts[0]);
  if (other < 0) return;
  const [first = "undefined", second = "undefined"] = [texts[0], texts[other]];
  let at = 0;
  while (at < first.length && first[at] === second[at]) at += 1;
  const from = Math.max(0, at - 60);
  throw new Broken(
    `${of} ${other} gives, from character ${from} on, ${second.slice(from, at + 120)}, the first ${first.slice(from, at + 120)}`,
  );
}

/** @throws Broken unless it holds */
export function demand(holds: boolean, words: string): void {
  if (!holds) throw new Broken(words);
}

/** A text whose characters are bytes. */
export const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
export const utf8 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));

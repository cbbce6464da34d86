// When an answer that is coming repeats itself, asked piece by piece.

import { type Message, type State, userText } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { type RepetitionWatch, repetitionWatch } from "../../src/loop/driving/repetition.ts";
import { Log } from "../../src/loop/log.ts";
import { rules, stateOf } from "./support.ts";

/** A sentence of so many characters, the blank before it among them. */
const sentence = (length: number): string => `${" I am sorry for the delay".padEnd(length - 1, "y")}.`;
/** So many characters that repeat nothing that counts. */
const other = (length: number): string => "0123456789".repeat(length / 10);

/** A part of which nothing was looked at. */
const part = (): { pieces: string[]; looked: number; end: string } => ({ pieces: [], looked: 0, end: "" });

const watchOf = (state: State): RepetitionWatch => repetitionWatch(rules, state) as RepetitionWatch;

/** Looks each time a piece has come. */
function takesAll(pieces: readonly string[], watch: RepetitionWatch = watchOf(stateOf())): boolean[] {
  const coming = part();
  return pieces.map((piece) => {
    coming.pieces.push(piece);
    return watch(coming);
  });
}

describe("an answer repeats itself", () => {
  test("if a sentence came twenty times, with over 1,500 characters together", () => {
    expect(takesAll([other(500) + sentence(75).repeat(20)])).toStrictEqual([true]);
    expect(takesAll([other(2_000) + sentence(100).repeat(19)])).toStrictEqual([false]);
    expect(takesAll([other(1_000) + sentence(74).repeat(20)])).toStrictEqual([false]);
  });

  test("each time it is checked again, counting everything so far", () => {
    expect(takesAll([other(20), ...Array(20).fill(sentence(100))])).toStrictEqual([
      ...Array(20).fill(false),
      true,
    ]);
    expect(takesAll([other(2_000), ...Array(40).fill(sentence(75))]).indexOf(true)).toBe(20);
  });

  test("unless a user asked for that sentence", () => {
    const asked = Log.of<Message>([userText(`Say${sentence(100)}`)]);
    const said = [sentence(100).repeat(20)];
    expect(takesAll(said, watchOf(stateOf({}, { history: asked })))).toStrictEqual([false]);
    expect(takesAll(said)).toStrictEqual([true]);
  });

  test("counted once if all of it is checked at once", () => {
    expect(takesAll([sentence(100).repeat(15), "", ""])).toStrictEqual([false, false, false]);
  });

  test("in one part of it: other parts do not count", () => {
    const half = sentence(100).repeat(10);
    const watch = watchOf(stateOf());
    for (const coming of [part(), part()]) {
      coming.pieces.push(half);
      expect(watch(coming)).toBe(false);
      expect(coming.end).toBe(half);
    }
  });
});

test("in the last 4,000 characters of the current part", () => {
  const coming = part();
  const watch = watchOf(stateOf());
  const said = other(5_000);
  coming.pieces.push(said);
  watch(coming);
  expect(coming).toMatchObject({ looked: 1, end: said.slice(-4_000) });
  coming.pieces.push("and", " so");
  watch(coming);
  expect(coming).toMatchObject({ looked: 3, end: `${said.slice(-3_994)}and so` });
});

test("an answer is watched only if the rule of degenerate answers is among the others", () => {
  expect(repetitionWatch(rules, stateOf())).toBeInstanceOf(Function);
  const list = rules.list.filter(({ name }) => name !== "degenerate_answers");
  expect(list.length).toBe(rules.list.length - 1);
  expect(repetitionWatch({ ...rules, list }, stateOf())).toBeUndefined();
});

// When an answer that is coming is babble, asked piece by piece.

import { type Message, userText } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { Babble } from "../../src/loop/driving/babble.ts";
import { Log } from "../../src/loop/log.ts";
import { rules, stateOf } from "./support.ts";

/** A sentence of so many characters, the blank before it among them. */
const sentence = (length: number): string => `${" I am sorry for the delay".padEnd(length - 1, "y")}.`;
/** So many characters that repeat nothing that counts. */
const other = (length: number): string => "0123456789".repeat(length / 10);

const takesAll = (pieces: readonly string[], babble: Babble = new Babble(stateOf())): boolean[] =>
  pieces.map((piece) => babble.takes("text_delta", 0, piece));

describe("an answer is babble", () => {
  test("where a sentence came twenty times, over 1,500 characters together", () => {
    expect(takesAll([other(500) + sentence(75).repeat(20)])).toStrictEqual([true]);
    expect(takesAll([other(2_000) + sentence(100).repeat(19)])).toStrictEqual([false]);
    expect(takesAll([other(1_000) + sentence(74).repeat(20)])).toStrictEqual([false]);
  });

  test("each time 2,000 characters have come, not before", () => {
    expect(takesAll([other(500).slice(1) + sentence(75).repeat(20)])).toStrictEqual([false]);
    expect(takesAll([other(20).slice(1), ...Array(20).fill(sentence(100))])).toStrictEqual([
      ...Array(20).fill(false),
      true,
    ]);
    const later = [other(2_000), ...Array(40).fill(sentence(75))];
    expect(takesAll(later).indexOf(true)).toBe(27);
  });

  test("unless somebody asked for that sentence", () => {
    const asked = Log.of<Message>([userText(`Say${sentence(100)}`)]);
    const said = [sentence(100).repeat(20)];
    expect(takesAll(said, new Babble(stateOf({}, { history: asked })))).toStrictEqual([false]);
    expect(takesAll(said)).toStrictEqual([true]);
  });

  test("in one part of it: what another part or another kind said is not counted with it", () => {
    const half = sentence(100).repeat(10);
    for (const [type, index] of [
      ["text_delta", 1],
      ["reasoning_delta", 0],
    ] as const) {
      const babble = new Babble(stateOf());
      expect(babble.takes("text_delta", 0, half)).toBe(false);
      expect(babble.takes(type, index, half)).toBe(false);
      expect(babble.end).toBe(half);
    }
  });
});

test("of the part that is coming its last 4,000 characters are kept, and what came since the last look", () => {
  const babble = new Babble(stateOf());
  expect(babble.end).toBe("");
  const said = other(5_000);
  takesAll([said], babble);
  expect(babble.end).toBe(said.slice(-4_000));
  takesAll(["and", " so"], babble);
  expect(babble.end).toBe(`${said.slice(-4_000)}and so`);
});

test("an answer is watched where the rule of degenerate answers is among the others, and only there", () => {
  expect(Babble.under(rules, stateOf())).toBeInstanceOf(Babble);
  const list = rules.list.filter(({ name }) => name !== "degenerate_answers");
  expect(list.length).toBe(rules.list.length - 1);
  expect(Babble.under({ ...rules, list }, stateOf())).toBeUndefined();
});

// How rules listen to an answer that is coming, asked piece by piece.

import { type ArrivingPart, type Message, RondoError, type Rule, type State, userText } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { type BrokenOff, type Coming, type Hearing, hearing } from "../../src/loop/driving/hearing.ts";
import { Log } from "../../src/loop/log.ts";
import { rules, stateOf } from "./support.ts";

/** A sentence of so many characters, the blank before it among them. */
const sentence = (length: number): string => `${" I am sorry for the delay".padEnd(length - 1, "y")}.`;
/** So many characters that repeat nothing that counts. */
const other = (length: number): string => "0123456789".repeat(length / 10);

/** A part of which nothing has come. */
const part = (type: Coming["type"] = "text_delta"): Coming & { pieces: string[] } => ({
  type,
  pieces: [],
  unheard: 0,
});

/** One more piece has come, and the rules are asked, as the driver does it. */
function comes(to: Coming & { pieces: string[] }, piece: string, by: Hearing): BrokenOff | undefined {
  to.pieces.push(piece);
  to.unheard += piece.length;
  return to.unheard >= by.every ? by.hear(to) : undefined;
}

/** What a rule heard, as it was told. */
function ears(every?: number, name = "ears"): { rule: Rule; heard: ArrivingPart[] } {
  const heard: ArrivingPart[] = [];
  const hear = (_memory: unknown, one: ArrivingPart): undefined => void heard.push(one);
  return { heard, rule: { name, version: 1, ...(every === undefined ? {} : { hearEvery: every }), hear } };
}

const hearingOf = (list: readonly Rule[], state: State = stateOf()): Hearing =>
  hearing(list, state) as Hearing;

describe("a rule that listens", () => {
  test("hears each piece, with what came before it, and that it is the beginning", () => {
    const { rule, heard } = ears();
    const coming = part();
    for (const piece of ["Good", " mor", "ning"]) comes(coming, piece, hearingOf([rule]));
    expect(heard).toStrictEqual(
      ["Good", "Good mor", "Good morning"].map((text) => ({ type: "text", text, from: 0 })),
    );
  });

  test("hears no more than 4,000 characters again, and all that is new", () => {
    const { rule, heard } = ears();
    const coming = part("reasoning_delta");
    for (const piece of [other(3_990), "ab", "cd", "efghijkl", "m", other(9_000), "n"])
      comes(coming, piece, hearingOf([rule]));
    expect(heard.map(({ type, text, from }) => [type, text.length, from])).toStrictEqual([
      ["reasoning", 3_990, 0],
      ["reasoning", 3_992, 0],
      ["reasoning", 3_994, 0],
      ["reasoning", 4_002, 0],
      ["reasoning", 4_001, 2],
      ["reasoning", 13_000, 3],
      ["reasoning", 4_001, 9_003],
    ]);
    const all = coming.pieces.join("");
    for (const { text, from } of heard) expect(all.startsWith(text, from)).toBe(true);
  });

  test("hears a part again after as many characters as it says, and misses none", () => {
    const [seldom, often] = [ears(10), ears(4, "often")];
    const listening = hearingOf([seldom.rule, rules.list[0] as Rule, often.rule]);
    expect(listening.every).toBe(4);
    const coming = part();
    for (const piece of ["abc", "d", "efgh", "i", "jkl", "m"]) comes(coming, piece, listening);
    expect(often.heard.map(({ text }) => text)).toStrictEqual(["abcd", "abcdefgh", "abcdefghijkl"]);
    expect(seldom.heard.map(({ text }) => text)).toStrictEqual(["abcdefghijkl"]);
  });

  test("is told of each part by itself", () => {
    const { rule, heard } = ears(4);
    const listening = hearingOf([rule]);
    const [one, two] = [part(), part()];
    for (const piece of ["ab", "cd"]) for (const coming of [one, two]) comes(coming, piece, listening);
    expect(heard.map(({ text }) => text)).toStrictEqual(["abcd", "abcd"]);
  });

  test("breaks the answer off with a text that says why, and the first to do so counts", () => {
    const saying = (name: string, why: string | undefined): Rule => ({ name, version: 1, hear: () => why });
    const listening = hearingOf([saying("a", undefined), saying("b", "too loud"), saying("c", "too long")]);
    expect(comes(part(), "Hello", listening)).toStrictEqual({ rule: "b", why: "too loud", end: "Hello" });
    expect(comes(part(), other(9_000), listening)?.end).toBe(other(4_000));
  });

  test("is given its memory and the state in which the answer was asked for", () => {
    const told: unknown[] = [];
    const rule: Rule = {
      name: "ears",
      version: 1,
      hear: (...all) => void told.push(all[0], all[2]) as undefined,
    };
    const state = stateOf({}, { memories: [undefined, "remembered"] });
    comes(part(), "a", hearingOf([ears().rule, rule], state));
    expect(told).toStrictEqual(["remembered", state]);
  });

  test("fails if it throws or says anything but a text", () => {
    for (const [hear, why] of [
      [
        () => {
          throw new TypeError("oops");
        },
        "the rule ears failed in hear: oops",
      ],
      [() => true, "the rule ears failed in hear: a text that says why the rest is not wanted, or nothing,"],
    ] as const) {
      const listening = hearingOf([{ name: "ears", version: 1, hear: hear as never }]);
      expect(() => comes(part(), "a", listening)).toThrow(why);
      expect(() => comes(part(), "a", listening)).toThrow(RondoError);
    }
  });
});

test("nobody listens if no rule does", () => {
  const list = rules.list.filter(({ hear }) => hear === undefined);
  expect(list.length).toBe(rules.list.length - 1);
  expect(hearing(list, stateOf())).toBeUndefined();
});

describe("an answer repeats itself", () => {
  const listening = hearingOf(rules.list);

  /** Whether it is broken off when each of these has come: the rule listens again after 2,000 characters. */
  function takesAll(pieces: readonly string[], by: Hearing = listening): boolean[] {
    const coming = part();
    return pieces.map((piece) => comes(coming, piece, by) !== undefined);
  }

  test("if a sentence came twenty times, with over 1,500 characters together", () => {
    expect(takesAll([other(500) + sentence(75).repeat(20)])).toStrictEqual([true]);
    expect(takesAll([other(2_000) + sentence(100).repeat(19)])).toStrictEqual([false]);
    expect(takesAll([other(1_000) + sentence(74).repeat(20)])).toStrictEqual([false]);
  });

  test("when it is checked, counting everything so far", () => {
    expect(takesAll([other(20), ...Array(20).fill(sentence(100))])).toStrictEqual(
      Array(21).fill(false).with(20, true),
    );
    expect(takesAll([other(2_000), ...Array(40).fill(sentence(75))]).indexOf(true)).toBe(27);
  });

  test("unless a user asked for that sentence", () => {
    const history = Log.of<Message>([userText(`Say${sentence(100)}`)]);
    const said = [sentence(100).repeat(20)];
    expect(takesAll(said, hearingOf(rules.list, stateOf({}, { history })))).toStrictEqual([false]);
    expect(takesAll(said)).toStrictEqual([true]);
  });

  test("if it ends with that, in units of at most 200 characters", () => {
    expect(takesAll([sentence(200).repeat(19) + other(10) + sentence(200).repeat(19)])).toStrictEqual([
      false,
    ]);
    expect(takesAll([sentence(200).repeat(10), sentence(200).repeat(10)])).toStrictEqual([false, true]);
    expect(takesAll([sentence(201).repeat(40)])).toStrictEqual([false]);
  });

  test("in one part of it: other parts do not count", () => {
    const half = sentence(100).repeat(10) + other(1_000);
    for (const coming of [part(), part()]) expect(comes(coming, half, listening)).toBeUndefined();
  });
});

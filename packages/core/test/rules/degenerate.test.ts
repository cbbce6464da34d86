// What counts as saying the same thing without end, asked of the rule and its measure by themselves.

import { defaultTexts, degenerateAnswers, type Message, type Part, type State, userText } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { Log } from "../../src/loop/log.ts";
import type { Call } from "../../src/loop/state.ts";
import { endsTwice, isOwnSentence, repetition } from "../../src/rules/degenerate.ts";
import { answerOf, callOf, stateOf } from "../loop/support.ts";
import { afterAll, judgedBy, judgementOf, stopOf, turnOf, words } from "./support.ts";

test("an answer that is arriving is broken off as soon as it repeats itself", () => {
  const { hear, hearEvery } = degenerateAnswers();
  const text = "I am sorry for the long delay. ".repeat(60);
  expect(hear?.(0, { type: "text", text, from: 0 }, stateOf())).toBe("it repeated itself");
  expect(hear?.(0, { type: "text", text: `${text}It is there.`, from: 0 }, stateOf())).toBeUndefined();
  expect(hearEvery).toBe(2_000);
});

describe("a repetition", () => {
  test("is a unit of words that the text ends with three times or more", () => {
    expect(repetition("abcabcabc")).toStrictEqual({ unit: "abc", times: 3, length: 9 });
    expect(repetition("once: abcabcabcabc \n")).toStrictEqual({ unit: "abc", times: 4, length: 12 });
    expect(repetition("bcabcabcabc")).toStrictEqual({ unit: "abc", times: 3, length: 11 });
    expect(repetition("yes, yes, yes, y")).toStrictEqual({ unit: "es, y", times: 3, length: 16 });
    for (const text of ["", "a", "ab", "abab", "abcabcab", "abcabcabc, it ended"])
      expect(repetition(text)).toBeUndefined();
  });

  test("is the largest of several with the same count", () => {
    expect(repetition("abbbabbbabbb")).toStrictEqual({ unit: "abbb", times: 3, length: 12 });
  });

  test("is the one with the highest count", () => {
    expect(repetition(`${"abc abc abc. ".repeat(3)}xyxyxyxyxy`)).toStrictEqual({
      unit: "xy",
      times: 5,
      length: 10,
    });
    expect(repetition("xyxyxyz xyxyxyz xyxyxyz xyxyxyz ")).toStrictEqual({
      unit: " xyxyxyz",
      times: 3,
      length: 31,
    });
  });

  test("is found after beginnings that almost continue it", () => {
    expect(repetition(`aabaab${"aab".repeat(1)}aaab${"aaab".repeat(3)}`)).toMatchObject({
      unit: "aaab",
      times: 4,
    });
    expect(repetition(`xaby${"aby".repeat(5)}ab`)).toMatchObject({ unit: "yab", times: 6 });
  });

  test("is a small unit with a high count rather than a large one around it", () => {
    expect(repetition("zxyxyxyxy".repeat(3))).toStrictEqual({ unit: "xy", times: 4, length: 8 });
    expect(repetition("zxyxyxyxy".repeat(4))).toStrictEqual({ unit: "zxyxyxyxy", times: 4, length: 36 });
  });

  test("is found if its unit resembles its own beginning", () => {
    expect(repetition("baaba".repeat(3))).toStrictEqual({ unit: "baaba", times: 3, length: 15 });
  });

  test("contains two adjacent letters: rulers and numbers are not repetitions", () => {
    for (const unit of ["-", "a1", "| 0 |", "é "]) expect(repetition(unit.repeat(20))).toBeUndefined();
    expect(repetition("éa".repeat(20))).toMatchObject({ times: 20 });
  });

  test("may be one sign of a script without spaces, a picture or an exclamation mark", () => {
    for (const unit of ["哈", "ー", "ก", "😀", "👍🏽", "!", "?!"])
      expect(repetition(unit.repeat(20))).toMatchObject({ times: 20 });
    for (const unit of ["─", "…", "•", "█", "　"]) expect(repetition(unit.repeat(20))).toBeUndefined();
  });

  test("of a word of two letters is found wherever it was cut off", () => {
    expect(repetition("no, no, no, n")).toStrictEqual({ unit: "o, n", times: 3, length: 13 });
    expect(repetition("aaaaaaaaaaaa")).toBeUndefined();
  });

  test("is the same that an exhaustive search finds", () => {
    const slowly = (text: string): unknown => {
      let best: { period: number; length: number } | undefined;
      for (let length = 1; length <= text.length; length += 1) {
        const end = text.slice(-length);
        for (let period = 1; period * 3 <= length; period += 1)
          if (end.startsWith(end.slice(period))) {
            if (best === undefined || length / period >= best.length / best.period) best = { period, length };
            break;
          }
      }
      return best && { times: Math.floor(best.length / best.period), length: best.length };
    };
    const texts = ["a", "b"].flatMap((end) => {
      let all = [end];
      for (let length = 1; length < 11; length += 1)
        all = [
          ...all,
          ...all.filter((one) => one.length === length).flatMap((one) => [`a${one}`, `b${one}`]),
        ];
      return all;
    });
    expect(texts).toHaveLength(4_094);
    for (const text of texts) {
      const found = repetition(text);
      if (found === undefined) expect([undefined, "aaa", "bbb"]).toContain(slowly(text) && text.slice(-3));
      else expect(slowly(text)).toStrictEqual({ times: found.times, length: found.length });
    }
  });

  test("is searched for in the last 20,000 characters", () => {
    expect(repetition("ab".repeat(15_000))).toStrictEqual({ unit: "ab", times: 10_000, length: 20_000 });
  });
});

describe("an answer that reached the output limit", () => {
  const cut = stopOf("max_tokens");
  const judged = (content: Part[], retries: number = 0, max?: number): unknown =>
    judgementOf(degenerateAnswers(max), { turn: turnOf(cut, content) }, retries);
  const thirty = "all work and no play makes it ";

  test("with ten repetitions, over 300 characters together, is requested again once, and then ends the run", () => {
    const text = thirty.repeat(10);
    const evidence = { part: "text", times: 10, unit: expect.stringMatching(/no play/), max: 1 };
    // A blank at the end does not count, and is made up for by one at the beginning.
    expect(judged([words(` ${text}`)])).toStrictEqual({
      follows: { do: "ask_again", note: defaultTexts.degenerateAnswer() },
      evidence: { ...evidence, retries: 0 },
    });
    expect(judged([words(` ${text}`)], 1)).toStrictEqual({
      follows: {
        do: "stop",
        reason: "no_progress",
        error: {
          kind: "loop_detected",
          message: expect.stringMatching(/repeated ".*" 10 times/),
          retryable: false,
        },
      },
      store: false,
      evidence: { ...evidence, retries: 1 },
    });
    expect(judged([words(` ${text}`)], 1, 2)).toMatchObject({ follows: { do: "ask_again" } });
  });

  test("with fewer or shorter repetitions is accepted", () => {
    expect(judged([words(thirty.repeat(10))])).toBeUndefined();
    expect(judged([words("all play and no work makes it well, too. ".repeat(9))])).toBeUndefined();
    expect(judged([words("play ".repeat(59))])).toBeUndefined();
    expect(judged([])).toBeUndefined();
  });

  test("is checked part by part, including the model's thoughts", () => {
    const play = "play ".repeat(100);
    expect(judged([words("so"), { type: "reasoning", text: play }])).toMatchObject({
      evidence: { part: "reasoning" },
    });
    expect(judged([{ type: "refusal", text: play }])).toBeUndefined();
  });

  test("has only the beginning of the unit in its evidence", () => {
    const unit = Array.from({ length: 60 }, (_, at) => `w${at} and`).join(" ");
    const said = judged([words(unit.repeat(12))]) as { evidence: { unit: string } };
    expect(said.evidence.unit).toHaveLength(100);
  });

  test("with calls is accepted, and so are text that ended by itself and other endings", () => {
    const play = [words("play ".repeat(200))];
    const rule = degenerateAnswers();
    expect(judgementOf(rule, { turn: turnOf(cut, play, [callOf("5.0")]) })).toBeUndefined();
    expect(judgementOf(rule, { turn: turnOf(stopOf("end_turn"), play) })).toBeUndefined();
    for (const kind of ["refusal", "stop_sequence"] as const)
      expect(judgementOf(rule, { turn: turnOf(stopOf(kind), play) })).toBeUndefined();
    expect(judgementOf(rule, {})).toBeUndefined();
    expect([rule.name, rule.version]).toStrictEqual(["degenerate_answers", 5]);
  });

  test("with dozens of calls that are mostly the same one is no answer if it was cut off", () => {
    const same = (count: number): Call[] => Array.from({ length: count }, () => callOf("5.0"));
    const other = (count: number): Call[] =>
      Array.from({ length: count }, (_, at) => ({ ...callOf("5.0"), rawArgs: `{"at":${at}}` }));
    const said = (calls: Call[], stop = cut): unknown =>
      judgementOf(degenerateAnswers(), { turn: turnOf(stop, [], calls) });
    expect(said(same(64), stopOf("tool_use"))).toBeUndefined();
    expect(said(same(64))).toMatchObject({
      follows: { do: "ask_again", note: defaultTexts.degenerateAnswer() },
      evidence: { part: "calls", times: 64 },
    });
    expect(said([...same(60), ...other(20)])).toMatchObject({ evidence: { times: 60 } });
    expect(said([...same(59), ...other(21)])).toBeUndefined();
    expect(said(same(63))).toBeUndefined();
    expect(said(other(200))).toBeUndefined();
  });

  test("is counted over the whole run", () => {
    const one = judgedBy("degenerate_answers");
    const note = { type: "noted", rule: "degenerate_answers", text: "", evidence: {} };
    expect(afterAll(degenerateAnswers(), [one, judgedBy("act"), note, one])).toBe(2);
  });
});

describe("an answer that ended by itself", () => {
  const sorry = "I apologize for the confusion. ";
  const judged = (text: string, more: Partial<State> = {}): unknown =>
    judgementOf(degenerateAnswers(), { turn: turnOf(stopOf("end_turn"), [words(text)]) }, 0, {}, more);

  test("with one sentence again and again is requested again like a truncated one", () => {
    expect(judged(` ${sorry.repeat(20)}`)).toMatchObject({
      follows: { do: "ask_again" },
      evidence: { unit: " I apologize for the confusion.", times: 20 },
    });
    expect(judged("I apologize for the confusion.\n".repeat(100))).toMatchObject({
      evidence: { times: 99 },
    });
    expect(judged(sorry.repeat(20))).toBeUndefined();
    expect(judged("So it is. ".repeat(20))).toBeUndefined();
  });

  test("is accepted if a user asked for what is repeated", () => {
    const asked = (text: string): unknown =>
      judged(sorry.repeat(100), { history: Log.of<Message>([userText(text)]) });
    expect(asked("Write 'I apologize for the confusion!' 100 times")).toBeUndefined();
    expect(asked("Why do you apologize for it?")).toBeDefined();
  });

  test("is accepted if it is no prose: words, lists, tables, code, texts of some length", () => {
    for (const unit of [
      "token ",
      "- an item of a list that is there.\n",
      "1. an item of a list that is there.\n",
      "| a cell. | another cell. |\n",
      'say("this is some code. "); ',
      "no sentence ends in here, ever, ",
      `${"A text of many words is a text of its own, and may well be a filler. ".repeat(3)}So. `,
    ])
      expect(judged(unit.repeat(60)), unit).toBeUndefined();
  });
});

describe("the end of a text is repeated", () => {
  /** So many characters, none of which comes again soon. */
  const once = (length: number): string =>
    Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + at)).join("");

  test("if its last 200 characters came before, within 200 more", () => {
    expect(endsTwice(once(200).repeat(2))).toBe(true);
    expect(endsTwice(`${once(200).repeat(2)} \n\n`)).toBe(true);
    expect(endsTwice(once(201).repeat(3))).toBe(false);
    expect(endsTwice(once(500))).toBe(false);
  });

  test("but not in a text of less than 400 characters", () => {
    expect(endsTwice("a".repeat(400))).toBe(true);
    expect(endsTwice("a".repeat(399))).toBe(false);
  });
});

describe("a sentence of the model", () => {
  const isOwn = (unit: string, history: Message[] = []): boolean =>
    isOwnSentence(unit, stateOf({}, { history: Log.of(history) }));

  test("has three words of two letters, and at most 200 characters", () => {
    expect(isOwn("It is so.")).toBe(true);
    for (const unit of ["It is.", "It is a.", "1 2 3. "]) expect(isOwn(unit), unit).toBe(false);
    expect(isOwn(`${"It is so".padEnd(199, "o")}.`)).toBe(true);
    expect(isOwn(`${"It is so".padEnd(200, "o")}.`)).toBe(false);
  });

  test("has an end: its own, or before a blank if the text was cut off in it", () => {
    for (const unit of ["for the confusion. I apologize ", "for the confusion.\nI apologize", "It is so!"])
      expect(isOwn(unit), unit).toBe(true);
    for (const unit of ["It is all in loop.ts ", "It is so"]) expect(isOwn(unit), unit).toBe(false);
  });

  test("has six letters in a script without spaces, wherever it was cut off", () => {
    for (const unit of [
      "对不起，我会再试一次。",
      "试一次。对不起，我会再",
      "申し訳ございません。",
      "会再试一次吧。",
      "죄송합니다. 다시 해 볼게요. ",
    ])
      expect(isOwn(unit), unit).toBe(true);
    for (const unit of ["对不起。", "再试一次吧。", "我会再试一次", "对不起，我会再试一次"])
      expect(isOwn(unit), unit).toBe(false);
    expect(isOwn("对不起，我会再试一次。", [userText("请说「对不起，我会再试一次」")])).toBe(false);
  });

  test("does not begin like an item of a list, whatever is in it", () => {
    for (const item of ["- ", "  - ", "10. ", "\n2) ", "So it is.\n* "])
      expect(isOwn(`${item}it is well known.`), item).toBe(false);
    for (const unit of ["It is well-known here.", "Well-known it is here.", "It came in 1984."])
      expect(isOwn(unit), unit).toBe(true);
  });

  test("was not written by anybody else, in any capitals, marks and parts", () => {
    const unit = "I'm sorry, it is my fault. ";
    expect(isOwn(unit, [userText("Why? Say (I am SORRY) - 'it is my fault'")])).toBe(true);
    expect(isOwn(unit, [userText("Say: I'M SORRY IT IS -- my fault!")])).toBe(false);
    const parts = ["Say: I'm sorry,", "it is my fault"].map((text) => ({ type: "text" as const, text }));
    expect(isOwn(unit, [{ role: "user", content: parts }])).toBe(false);
    expect(isOwn("Die Maße sind gut.", [userText("Die Masse sind gut.")])).toBe(true);
  });

  test("is the model's own even if the model wrote it before", () => {
    const unit = "I apologize for the confusion.";
    expect(isOwn(unit, [answerOf([words(unit)])])).toBe(true);
    const told: Message = {
      role: "tool",
      callId: "a",
      name: "read",
      content: [{ type: "text", text: unit }],
      isError: false,
    };
    expect(isOwn(unit, [told])).toBe(false);
  });
});

// Odd answers: what follows from each of them, asked of the rules by themselves.

import {
  emptyAnswers,
  emptyState,
  malformedCalls,
  pauses,
  type Rule,
  refusals,
  type Stop,
  truncations,
} from "@rondo/core";
import { beforeEach, describe, expect, test } from "vitest";
import { callOf, stateOf } from "../loop/support.ts";
import {
  afterAll,
  afterOne,
  failureOf,
  judgedBy,
  judgementOf,
  stopOf,
  texts,
  turnOf,
  words,
} from "./support.ts";

const called = [callOf("5.0")];
const ended = stopOf("end_turn");
const noted = (rule: string): object => ({ type: "noted", text: "so", rule, evidence: {} });

test.each([
  ["refusals", refusals],
  ["pauses", pauses],
  ["truncations", truncations],
  ["malformed_calls", malformedCalls],
  ["empty_answers", emptyAnswers],
] as [string, () => Rule<never>][])(
  "%s decides nothing if there is no answer, or a good one",
  (name, make) => {
    const rule = make();
    const versions: { [rule: string]: number } = { pauses: 2, malformed_calls: 2, empty_answers: 3 };
    expect([rule.name, rule.version]).toStrictEqual([name, versions[name] ?? 1]);
    expect(rule.judge?.(0 as never, emptyState, texts)).toBeUndefined();
    expect(judgementOf(rule, {})).toBeUndefined();
    expect(judgementOf(rule, { turn: turnOf(ended, [words("done")]) })).toBeUndefined();
    expect(judgementOf(rule, { turn: turnOf(stopOf("tool_use"), [], called) })).toBeUndefined();
  },
);

describe("a refusal", () => {
  const said = (stop: Stop, ...content: Parameters<typeof turnOf>[1] & object[]): unknown =>
    judgementOf(refusals(), { turn: turnOf(stop, content) });

  test("ends the run with the words of the refusal, and is not stored", () => {
    const detail = { raw: "REFUSED", detail: "category: x" };
    const parts = [
      words("Well. "),
      { type: "refusal", text: "I " },
      { type: "refusal", text: "won't" },
    ] as const;
    expect(said(stopOf("refusal", detail), ...parts)).toStrictEqual({
      follows: { do: "stop", reason: "refused", text: "I won't" },
      store: false,
      evidence: { stop: "refusal", ...detail },
    });
    expect(said(stopOf("content_filter"), words("Well."))).toStrictEqual({
      follows: { do: "stop", reason: "refused", text: "Well." },
      store: false,
      evidence: { stop: "content_filter" },
    });
  });

  test("without words has those of the provider, or none", () => {
    expect(said(stopOf("refusal", { detail: "category: x" }))).toMatchObject({
      follows: { text: "category: x" },
      evidence: { detail: "category: x" },
    });
    expect(said(stopOf("refusal"))).toMatchObject({ follows: { text: "" } });
  });
});

describe("a pause", () => {
  const turn = turnOf(stopOf("pause"), [words("so far")]);

  test("is continued, five times in a row by default; then it is the end", () => {
    expect(judgementOf(pauses(), { turn }, 4)).toStrictEqual({
      follows: { do: "ask_again" },
      store: true,
      evidence: { resumes: 4, max: 5 },
    });
    expect(judgementOf(pauses(), { turn }, 5)).toStrictEqual({
      follows: { do: "stop", reason: "unexpected_stop" },
      evidence: { resumes: 5, max: 5, stop: "pause" },
    });
    expect(judgementOf(pauses(1), { turn }, 0)).toMatchObject({ follows: { do: "ask_again" } });
    expect(judgementOf(pauses(1), { turn }, 1)).toMatchObject({ follows: { do: "stop" } });
  });

  test("with calls does not count as a pause", () => {
    expect(judgementOf(pauses(), { turn: turnOf(stopOf("pause"), [], called) })).toBeUndefined();
  });

  test("counts as long as nothing else is judged", () => {
    const pause = judgedBy("pauses");
    expect(afterAll(pauses(), [pause, noted("pauses"), pause])).toBe(2);
    expect(afterAll(pauses(), [pause, pause, judgedBy("by_content"), pause])).toBe(1);
  });

  test("counts on over a model call that failed: else a model that pauses and fails by turns would never be stopped", () => {
    const failed = stateOf({ failure: failureOf("overloaded") });
    expect(afterAll(pauses(), [judgedBy("retry")], failed, 4)).toBe(4);
  });
});

describe("a truncated answer", () => {
  const cut = stopOf("max_tokens");
  const full = stopOf("context_overflow");
  const text = turnOf(cut, [words("half of")]);
  const blank = turnOf(cut, [words(" \n")]);
  const calls = turnOf(cut, [words("so")], called);
  const judged = (options: Parameters<typeof truncations>[0] = {}, ...rest: unknown[]): unknown =>
    judgementOf(truncations(options), ...(rest as [object, number, object]));
  const limits = (maxOutputTokens: number | undefined, most: number | undefined): object => ({
    settings: maxOutputTokens === undefined ? {} : { maxOutputTokens },
    models: [{ id: "one", origin: {}, facts: most === undefined ? {} : { maxOutputTokens: most } }],
  });
  const atLimit = limits(2_000, 2_000);

  test("with text alone ends the run, and the text is kept", () => {
    const follows = { do: "stop", reason: "truncated" };
    expect(judged({}, { turn: text }, 0)).toStrictEqual({
      follows,
      store: true,
      evidence: { truncations: 1, max: 2, stop: "max_tokens" },
    });
    expect(judged({}, { turn: turnOf(full, [words("half of")]) }, 0)).toStrictEqual({
      follows,
      store: true,
      evidence: { truncations: 1, max: 2, stop: "context_overflow" },
    });
  });

  test("without any text is requested again with a higher limit, and is not stored if there is none", () => {
    expect(judged({}, { turn: blank }, 0)).toStrictEqual({
      follows: { do: "ask_again", maxOutputTokens: 2_000 },
      evidence: { truncations: 1, max: 2, stop: "max_tokens", maxOutputTokens: 2_000 },
    });
    expect(judged({}, { turn: blank }, 0, atLimit)).toStrictEqual({
      follows: { do: "stop", reason: "truncated" },
      store: false,
      evidence: { truncations: 1, max: 2, stop: "max_tokens" },
    });
    expect(judged({}, { turn: turnOf(full, []) }, 0)).toMatchObject({
      follows: { do: "stop" },
      store: false,
    });
  });

  test("is not a typed output, however much of it there is", () => {
    const output = { output: { schema: {}, decodeRetries: 1 } };
    expect(judged({}, { turn: text }, 0, output)).toMatchObject({
      follows: {
        do: "stop",
        reason: "truncated",
        error: {
          kind: "structured_output",
          retryable: false,
          message: expect.stringContaining("settings.maxOutputTokens"),
        },
      },
    });
  });

  test("raises the limit only if the model's own is known and higher", () => {
    const raised = (change: object, run: object = {}): unknown =>
      (judged({}, { turn: blank, ...run }, 0, change) as { follows: { maxOutputTokens?: number } }).follows
        .maxOutputTokens;
    expect(raised(limits(1_999, 2_000))).toBe(2_000);
    for (const [asked, most] of [
      [2_000, 2_000],
      [undefined, 2_000],
      [1_000, undefined],
      [undefined, undefined],
    ] as const)
      expect(raised(limits(asked, most))).toBeUndefined();
    expect(raised({}, { maxOutputTokens: 2_000 })).toBeUndefined();
    expect(raised({}, { maxOutputTokens: 1_999 })).toBe(2_000);
    expect(raised({}, { model: 1 })).toBeUndefined();
    expect(raised({}, { model: 7 })).toBeUndefined();
  });

  test("with calls is requested again once with a higher limit; then the calls get results", () => {
    expect(judged({}, { turn: calls }, 0)).toStrictEqual({
      follows: { do: "ask_again", maxOutputTokens: 2_000 },
      evidence: { truncations: 1, max: 2, stop: "max_tokens", maxOutputTokens: 2_000 },
    });
    const answered = judgementOf(truncations(), { turn: calls }, 1);
    expect(answered).toStrictEqual({
      follows: { do: "act" },
      evidence: { truncations: 2, max: 2, stop: "max_tokens" },
      answerAll: { code: "truncated_args", text: expect.any(Function) },
    });
    expect(answered?.answerAll?.text(callOf("5.0"))).toBe(texts.truncatedCall("write"));
    expect(judged({}, { turn: calls }, 0, atLimit)).toMatchObject({ follows: { do: "act" } });
    expect(judged({}, { turn: turnOf(full, [], called) }, 0)).toMatchObject({ follows: { do: "act" } });
  });

  test("with calls again and again lands the run", () => {
    expect(judged({}, { turn: calls }, 2)).toMatchObject({
      follows: { do: "land", reason: "truncated" },
      answerAll: { code: "truncated_args" },
    });
    expect(judged({ max: 1 }, { turn: calls }, 1)).toMatchObject({
      follows: { do: "land" },
      evidence: { truncations: 2, max: 1 },
    });
  });

  test("may have its calls run as they are, or left out", () => {
    expect(judged({ onTruncated: "run_complete" }, { turn: calls }, 0)).toBeUndefined();
    const left = judgementOf(truncations({ onTruncated: "ignore_calls" }), { turn: calls }, 0);
    expect(left).toStrictEqual({
      follows: { do: "finish" },
      evidence: { truncations: 1, max: 2, stop: "max_tokens" },
      answerAll: { code: "not_executed", text: expect.any(Function) },
    });
    expect(left?.answerAll?.text(callOf("5.0"))).toBe(texts.notExecuted("write"));
    const silent = turnOf(cut, [words(" ")], called);
    expect(judged({ onTruncated: "ignore_calls" }, { turn: silent }, 0)).toMatchObject({
      follows: { do: "stop", reason: "truncated" },
    });
  });

  test("counts over the whole run", () => {
    const facts = [judgedBy("truncations"), judgedBy("act"), noted("truncations"), judgedBy("truncations")];
    expect(afterAll(truncations(), facts)).toBe(2);
    expect(afterAll(emptyAnswers(), [...facts, judgedBy("empty_answers")])).toBe(1);
  });
});

describe("calls that cannot be parsed", () => {
  const turn = turnOf(stopOf("malformed_call", { raw: "MALFORMED", detail: "no bracket" }));
  const bare = turnOf(stopOf("malformed_call"));
  let rule = malformedCalls();
  beforeEach(() => {
    rule = malformedCalls();
  });

  test("are requested again with the same request, then with a note, then no more", () => {
    const evidence = { error: "malformed_tool_call", max: 2, raw: "MALFORMED", detail: "no bracket" };
    expect(judgementOf(rule, { turn }, 0)).toStrictEqual({
      follows: { do: "ask_again" },
      evidence: { ...evidence, retries: 0 },
    });
    expect(judgementOf(rule, { turn }, 1)).toStrictEqual({
      follows: { do: "ask_again", note: texts.malformedCall("no bracket") },
      evidence: { ...evidence, retries: 1 },
    });
    expect(judgementOf(rule, { turn }, 2)).toStrictEqual({
      follows: {
        do: "stop",
        reason: "error",
        error: {
          kind: "malformed_tool_call",
          message: "the model's tool calls could not be read 3 times in a row: no bracket",
          retryable: false,
        },
      },
      store: false,
      evidence: { ...evidence, retries: 2 },
    });
    expect(judgementOf(malformedCalls(0), { turn: bare }, 0)).toStrictEqual({
      follows: {
        do: "stop",
        reason: "error",
        error: {
          kind: "malformed_tool_call",
          message: "the model's tool calls could not be read 1 times in a row",
          retryable: false,
        },
      },
      store: false,
      evidence: { error: "malformed_tool_call", retries: 0, max: 0 },
    });
  });

  test("are reported at once if the provider accepted their answer: they are where nothing parses them", () => {
    const leaked = turnOf(stopOf("malformed_call", { wire: "end_turn", detail: "it stands in the text" }));
    const note = texts.malformedCall("it stands in the text");
    expect(judgementOf(rule, { turn: leaked }, 0)).toMatchObject({ follows: { do: "ask_again", note } });
  });

  test("are missing if an answer announces calls and has neither calls nor text", () => {
    const announced = stopOf("end_turn", { wire: "tool_use" });
    const again = { follows: { do: "ask_again" } };
    expect(judgementOf(rule, { turn: turnOf(announced) })).toMatchObject(again);
    expect(judgementOf(rule, { turn: turnOf(announced, [words(" \n")]) })).toMatchObject(again);
    expect(judgementOf(rule, { turn: turnOf(announced, [words("so")]) })).toBeUndefined();
    expect(judgementOf(rule, { turn: turnOf(announced, [], called) })).toBeUndefined();
    expect(judgementOf(rule, { turn: turnOf(ended) })).toBeUndefined();
  });

  test("are counted in a row; a failed model call in between does not count", () => {
    const one = judgedBy("malformed_calls");
    expect(afterAll(rule, [one, noted("malformed_calls"), noted("other"), one])).toBe(2);
    expect(afterAll(rule, [one, judgedBy("by_content")])).toBe(0);
    expect(afterAll(rule, [])).toBe(0);
    const failed = stateOf({ failure: failureOf("network") });
    expect(afterAll(rule, [judgedBy("retry")], failed, 1)).toBe(1);
    expect(afterAll(rule, [one], failed, 1)).toBe(1);
    expect(afterOne(rule, 3, { ...one, seq: 1, at: 1, rand: 0 } as never, emptyState)).toBe(4);
  });
});

describe("an empty answer", () => {
  const silent = turnOf(ended, [{ type: "reasoning", text: "hm" }, words(" \n")]);

  test("is none with a file alone, as of a model that draws", () => {
    const drawn = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    expect(judgementOf(emptyAnswers(), { turn: turnOf(ended, [drawn]) })).toBeUndefined();
  });

  test("is requested again with a note, once by default, and then ends the run", () => {
    expect(judgementOf(emptyAnswers(), { turn: turnOf(ended, [words(" ")]) }, 0)).toStrictEqual({
      follows: { do: "ask_again", note: texts.emptyAnswer() },
      evidence: { error: "empty_response", nudges: 0, max: 1 },
    });
    expect(judgementOf(emptyAnswers(), { turn: silent }, 0)).toStrictEqual({
      follows: { do: "ask_again", note: texts.emptyAnswer(true) },
      evidence: { error: "empty_response", nudges: 0, max: 1 },
    });
    expect(judgementOf(emptyAnswers(), { turn: silent }, 1)).toStrictEqual({
      follows: { do: "stop", reason: "empty_response" },
      store: false,
      evidence: { error: "empty_response", nudges: 1, max: 1 },
    });
  });

  test("that was thought about is told apart: what was thought, or called in thoughts, does not count", () => {
    expect(texts.emptyAnswer(true)).toMatch(/thinking/);
    expect(texts.emptyAnswer(false)).not.toMatch(/thinking/);
    const own = turnOf(ended, [{ type: "native", kind: "searched", opaque: {} }]);
    expect(judgementOf(emptyAnswers(), { turn: own }, 0)).toMatchObject({
      follows: { note: texts.emptyAnswer(false) },
    });
    const hidden = turnOf(ended, [{ type: "reasoning", text: " \n" }]);
    expect(judgementOf(emptyAnswers(), { turn: hidden }, 0)).toMatchObject({
      follows: { note: texts.emptyAnswer(false) },
    });
  });
});

// What a rule may say, asked by hand.

import { RondoError } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { heard } from "../../src/rules/verdicts.ts";

describe("a rule that calls the model again", () => {
  const how = { until: 1, note: "n", model: 0, maxOutputTokens: 1, drop: "reasoning", reduce: "cut" };

  test("may do so in these ways", () => {
    for (const [name, value] of [["do", "ask_again"], ...Object.entries(how)] as const) {
      const said = { follows: { do: "ask_again", [name]: value }, evidence: {} };
      expect(heard("judge", said)).toBe(said);
      const without = {
        follows: { do: "ask_again", [name]: name === "do" ? value : undefined },
        evidence: {},
      };
      expect(heard("judge", without)).toBe(without);
    }
  });

  test("has failed if it names another way, or no time, no model, no number", () => {
    for (const odd of [
      { nudge: "so" },
      { note: 1 },
      { until: Number.NaN },
      { until: Number.POSITIVE_INFINITY },
      { until: new Date(0) },
      { model: "other" },
      { model: 0.5 },
      { maxOutputTokens: "100" },
      { drop: 1 },
      { reduce: "trim" },
      { toString: undefined },
    ])
      expect(() => heard("judge", { follows: { do: "ask_again", ...odd }, evidence: {} })).toThrow(TypeError);
  });
});

test("a rule that ends the run must give a listed reason", () => {
  const ending = (reason: string): object => ({ do: "stop", reason, evidence: {} });
  for (const said of [ending("max_steps"), { do: "nudge", text: "hurry", reason: "because", evidence: {} }])
    expect(heard("decide", said)).toBe(said);
  const words = /completed, .*error is needed for a reason, not "because"$/;
  expect(() => heard("decide", ending("because"))).toThrow(words);
  expect(() => heard("judge", { follows: ending("because"), evidence: {} })).toThrow(words);
});

describe("a rule that ends the run with more than a reason", () => {
  const stop = { do: "stop", reason: "error", evidence: {} };
  const error = { kind: "internal", message: "m", retryable: false };

  test("gives a text, and an error as data", () => {
    for (const more of [
      {},
      { text: "t" },
      { error },
      { error: { ...error, status: 500 } },
      { error: undefined },
    ])
      for (const [moment, said] of [
        ["decide", { ...stop, ...more }],
        ["judge", { follows: { ...stop, ...more }, evidence: {} }],
      ] as const)
        expect(heard(moment, said)).toBe(said);
    const finished = { follows: { do: "finish", text: "t" }, evidence: {} };
    expect(heard("judge", finished)).toBe(finished);
  });

  test("has failed if these could not be recorded", () => {
    for (const more of [
      { text: 1 },
      { error: "m" },
      { error: null },
      { error: new RondoError("internal", "m") },
      { error: { ...error, kind: "mine" } },
      { error: { ...error, message: 1 } },
      { error: { kind: "internal", message: "m" } },
    ]) {
      expect(() => heard("decide", { ...stop, ...more })).toThrow(/"stop" at most with an error/);
      expect(() => heard("judge", { follows: { ...stop, ...more }, evidence: {} })).toThrow(TypeError);
    }
    expect(() => heard("judge", { follows: { do: "finish", text: 1 }, evidence: {} })).toThrow(TypeError);
  });
});

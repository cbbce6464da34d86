// What a rule may say, asked by hand.

import { describe, expect, test } from "vitest";
import { heard } from "../../src/rules/said.ts";

describe("a rule that asks again", () => {
  const how = { until: 1, note: "n", model: 0, maxOutputTokens: 1, drop: "reasoning", reduce: "cut" };

  test("says how in any of these words", () => {
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

  test("has failed where it says so in another, or names no time, no model, no number", () => {
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

test("a rule that ends the run gives a reason that is on the list", () => {
  const ending = (reason: string): object => ({ do: "stop", reason, evidence: {} });
  for (const said of [ending("max_steps"), { do: "nudge", text: "hurry", reason: "because", evidence: {} }])
    expect(heard("decide", said)).toBe(said);
  const words = /completed, .*error is needed for a reason, not "because"$/;
  expect(() => heard("decide", ending("because"))).toThrow(words);
  expect(() => heard("judge", { follows: ending("because"), evidence: {} })).toThrow(words);
});

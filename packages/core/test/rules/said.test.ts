// What a rule may say, asked by hand.

import { describe, expect, test } from "vitest";
import { heard } from "../../src/rules/said.ts";

describe("a rule that asks again", () => {
  const how = { until: 1, note: "n", model: 0, maxOutputTokens: 1, drop: "reasoning", reduce: "cut" };

  test("says how in any of these words", () => {
    for (const [name, value] of [["do", "ask_again"], ...Object.entries(how)] as const) {
      const said = { follows: { do: "ask_again", [name]: value }, evidence: {} };
      expect(heard("judge", said)).toBe(said);
    }
  });

  test("has failed where it says so in another", () => {
    for (const odd of [{ nudge: "so" }, { note: 1 }])
      expect(() => heard("judge", { follows: { do: "ask_again", ...odd }, evidence: {} })).toThrow(TypeError);
  });
});

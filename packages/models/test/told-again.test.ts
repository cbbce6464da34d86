// Text that a server tells again: each delta all of it so far, or all of it once more behind true deltas (F085).

import type { ModelEvent } from "@rondo/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Answer } from "../src/answer.ts";

type Kind = "text" | "reasoning";

function told(pieces: readonly string[], kind: Kind = "text"): { kept: string; shown: string } {
  const events: ModelEvent[] = [];
  const answer = new Answer({ origin: { api: "a", provider: "p", model: "m" } }, (event) =>
    events.push(event),
  );
  for (const piece of pieces) answer[kind](0, piece);
  const [part] = answer.finish({ wire: "end_turn" }).content;
  const shown = events.map((event) => ("text" in event ? event.text : "")).join("");
  return { kept: part !== undefined && "text" in part ? part.text : "", shown };
}

const fox = ["The quick brown ", "fox jumps over ", "the lazy dog", "."];
const all = fox.join("");

describe("a text is told once", () => {
  it.each<[string, string[], string]>([
    ["whose deltas are each all of it so far", ["Hel", "Hello", "Hello wor", "Hello world"], "Hello world"],
    ["whose last such delta comes twice", ["Hel", "Hello", "Hello wor", "Hello wor"], "Hello wor"],
    ["that comes once more at its end", [...fox, all], all],
    ["that comes once more at its end, with more", [...fox, `${all} End.`], `${all} End.`],
    ["that comes once more and goes on", [...fox, all, " More", "."], `${all} More.`],
    ["that comes twice more", [...fox, all, all], all],
  ])("%s", (_, pieces, text) => {
    for (const kind of ["text", "reasoning"] as const)
      expect(told(pieces, kind)).toEqual({ kept: text, shown: text });
  });
});

describe("a text that repeats itself is left as it is", () => {
  it.each<[string, string[]]>([
    ["line ends", ["\n", "\n", "Here."]],
    ["a line end, and two more", ["\n", "\n\nHere", " it is."]],
    ["a word, and a word that begins so", ["ha", "haha", "!"]],
    ["two deltas alone that could be such", ["I", "I look"]],
    ["digits", ["1", "12", "123"]],
    ["two halves that are alike", ["x".repeat(100), "x".repeat(100)]],
    ["a short answer that is given twice", ["Yes", ".", " ", "Yes. "]],
    ["one sentence over and over", Array.from({ length: 9 }, () => "The same sentence over and over. ")],
  ])("%s", (_, pieces) => {
    expect(told(pieces)).toEqual({ kept: pieces.join(""), shown: pieces.join("") });
  });

  it("and what is kept is what is shown, whatever the deltas", () => {
    const texts = fc.array(fc.constantFrom("a", "ab", "abc", "abcabc", "b", "\n", "abcdefghijk", all), {
      maxLength: 9,
    });
    fc.assert(
      fc.property(texts, (pieces) => {
        const { kept, shown } = told(pieces);
        expect(shown).toBe(kept);
      }),
    );
  });

  it("and what was held back is shown before a call", () => {
    const events: ModelEvent[] = [];
    const answer = new Answer({ origin: { api: "a", provider: "p", model: "m" } }, (event) =>
      events.push(event),
    );
    answer.text(0, "I");
    answer.text(0, "I look");
    answer.call(1, { id: "1", name: "f" });
    answer.args(1, "{}");
    expect(events.map((event) => (event.type === "text_delta" ? event.text : event.type))).toEqual([
      "I",
      "progress",
      "I look",
      "tool_args_delta",
    ]);
  });
});

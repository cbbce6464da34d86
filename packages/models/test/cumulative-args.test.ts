// Arguments that come with every piece as far as they are, in place of what is new of them.

import { describe, expect, it } from "vitest";
import { textOfPieces } from "../src/answer/cumulative-args.ts";

describe("the full text of a call's arguments", () => {
  it.each([
    ["in pieces", ['{"a"', ":1", "}"], '{"a":1}'],
    ["all of them so far, each time", ["{", '{"a"', '{"a":1}'], '{"a":1}'],
    ["the same, and the last one twice", ['{"a"', '{"a":1}', '{"a":1}'], '{"a":1}'],
    ["in pieces, and whole once more", ['{"a"', ":1", "}", '{"a":1}'], '{"a":1}'],
    ["broken off, and whole once more", ['{"a"', ":", '{"a":1}'], '{"a":1}'],
    ["an object whose first member begins like it", ['{"a":', '{"a":1}', "}"], '{"a":{"a":1}}'],
    ["nothing", [], ""],
  ])("is found from the pieces: %s", (_title, pieces, text) => {
    expect(textOfPieces(pieces)).toBe(text);
  });

  it.each([
    ["two objects", ['{"a":1}', '{"a":2}']],
    ["braces too many", ["{", '{"a":1}', "}"]],
    ["an empty object behind a brace", ["{", "{}"]],
    ["what broke off in the middle of being told again", ["{", '{"a"', '{"a":1']],
    ["a list", ["[", "[1]"]],
  ])("is the joined pieces if neither reading gives an object: %s", (_title, pieces) => {
    expect(textOfPieces(pieces)).toBe(pieces.join(""));
  });
});

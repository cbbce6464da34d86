// How large a text is, and where it may be cut: never inside a character.

import { expect, test } from "vitest";
import {
  byteLength,
  charsOf,
  cutAfter,
  cutBefore,
  exceedsBytes,
  headOf,
  lineCount,
  prefixOfBytes,
  tailOf,
} from "../src/text/size.ts";

/** Each half of a pair at either end of its range, so that no other is taken for one. */
const pairs = ["\u{10000}", "\u{103ff}", "\u{10fc00}", "\u{10ffff}"];

test("a cut falls next to a pair, and next to CR LF, never inside, and anywhere else exactly", () => {
  for (const whole of [...pairs, "\r\n"]) {
    const text = `a${whole}b`;
    expect([1, 2, 3].map((at) => cutBefore(text, at))).toEqual([1, 1, 3]);
    expect([1, 2, 3].map((at) => cutAfter(text, at))).toEqual([1, 3, 3]);
  }
  for (const text of ["\n\r", "\r\r", "\n\n", "ab", "\udc00\ud800", "\ud7ff\udc00", "\ud800\ue000"]) {
    expect(cutBefore(text, 1)).toBe(1);
    expect(cutAfter(text, 1)).toBe(1);
  }
  expect([cutBefore("\r\n", 0), cutAfter("\r\n", 2)]).toEqual([0, 2]);
});

test("a head and a tail are one shorter if they would contain half a pair", () => {
  for (const pair of pairs) {
    const text = `a${pair}b`;
    expect([0, 1, 2, 3, 4, 9].map((length) => headOf(text, length))).toEqual([
      "",
      "a",
      "a",
      `a${pair}`,
      text,
      text,
    ]);
    expect([0, 1, 2, 3, 4, 9].map((length) => tailOf(text, length))).toEqual([
      "",
      "b",
      "b",
      `${pair}b`,
      text,
      text,
    ]);
  }
  expect([headOf("ab", -1), tailOf("ab", -1)]).toEqual(["", ""]);
});

test("a prefix has as many bytes as allowed, and cuts no character", () => {
  const text = "a\u00e9\u20ac\u{10000}z";
  const prefixes = Array.from({ length: 13 }, (_, bytes) => prefixOfBytes(text, bytes));
  expect(prefixes.map((prefix) => byteLength(prefix))).toEqual([0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11]);
  expect(prefixes.every((prefix) => text.startsWith(prefix) && prefix.isWellFormed())).toBe(true);
  expect(prefixOfBytes(text, -1)).toBe("");
});

test("bytes are those of UTF-8, and characters are code points", () => {
  const utf8 = new TextEncoder();
  for (const text of [
    "",
    "abc",
    "\u007f\u0080\u07ff\u0800\uffff",
    ...pairs,
    "\ud800",
    "x\udc00y",
    "\udfff\ud800",
  ]) {
    const bytes = utf8.encode(text).length;
    expect([text, byteLength(text)]).toEqual([text, bytes]);
    expect([bytes - 1, bytes, bytes + 1].map((most) => exceedsBytes(text, most))).toEqual([
      true,
      false,
      false,
    ]);
  }
  expect(charsOf(`a${pairs.join("")}\ud800`)).toBe(6);
  expect(["", "a", "a\n", "a\r\nb\n\n"].map(lineCount)).toEqual([1, 1, 2, 4]);
});

// Whether a schema contains itself, which some providers cannot answer by.

import { expect, test } from "vitest";
import { isRecursive } from "../src/output/recursive.ts";

const list = { type: "array", items: { $ref: "#" } };

test.each([
  ["a tree", { type: "object", properties: { children: list } }, true],
  ["a tree whose member is named like a keyword", { type: "object", properties: { default: list } }, true],
  ["a default that looks like a reference", { type: "object", default: { $ref: "#" } }, false],
  [
    "one definition used twice",
    { $defs: { a: { type: "string" } }, anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] },
    false,
  ],
])("%s", (_name, schema, is) => {
  expect(isRecursive(schema)).toBe(is);
});

// An error, as whoever meets it sees it: printed, as JSON, told anew.

import { inspect } from "node:util";
import { expect, test } from "vitest";
import { messageOf } from "../src/errors.ts";
import { errorWith, RondoError } from "../src/index.ts";
import { cutRaw } from "../src/model.ts";

test("a printed error lists its known members only", () => {
  const printed = inspect(new RondoError("auth", "the key is wrong", { status: 401 }));
  expect(printed).toMatch(/kind: 'auth'.*retryable: false.*status: 401/s);
  expect(printed).not.toContain("undefined");
  expect(
    inspect(errorWith(new RondoError("auth", "no", { status: 401 }), { status: undefined })),
  ).not.toContain("status");
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, "3" as never])("a wait of %s is unknown", (retryAfterMs) => {
  const error = new RondoError("rate_limit", "slow", { retryAfterMs });
  expect(error.retryAfterMs).toBeUndefined();
  expect(error.toJSON()).not.toHaveProperty("retryAfterMs");
});

test("a provider's message is cut between characters, never inside one", () => {
  expect(cutRaw("x😀😀", 2)).toBe("x…");
  expect(cutRaw("x😀😀", 3)).toBe("x😀…");
  expect(cutRaw("x😀😀", 5)).toBe("x😀😀");
});

test.each([
  [{ message: "row not found", code: "PGRST116" }, "row not found"],
  [{ code: 5, details: "no such row" }, '{"code":5,"details":"no such row"}'],
  [[{ code: 5 }], '[{"code":5}]'],
  [{ message: "" }, '{"message":""}'],
  [{ message: { text: "in parts" } }, '{"message":{"text":"in parts"}}'],
  [{ text: "🙂".repeat(600) }, `{"text":"${"🙂".repeat(495)}…`],
  [{ text: "x".repeat(2_000) }, `{"text":"${"x".repeat(991)}…`],
  [{}, "[object Object]"],
  [{ size: 1n }, "[object Object]"],
  [{ toString: () => "as it says itself" }, "as it says itself"],
  [[1, 2], "1,2"],
  [undefined, "undefined"],
])("a thrown value that is no error is shown by its message, or as JSON", (thrown, words) => {
  expect(messageOf(thrown)).toBe(words);
});

test.each([
  [
    new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("another")], ""),
    "AggregateError: connect ECONNREFUSED ::1:1",
  ],
  [new Error("", { cause: new TypeError("", { cause: new Error("deep down") }) }), "Error: deep down"],
  [new AggregateError([new Error("")], ""), "AggregateError"],
  [new RangeError(""), "RangeError"],
])("an error without a message is shown by its name and what caused it", (thrown, words) => {
  expect(messageOf(thrown)).toBe(words);
});

// An error, as whoever meets it sees it: printed, as JSON, told anew.

import { inspect } from "node:util";
import { expect, test } from "vitest";
import { errorWith, RondoError } from "../src/index.ts";

test("an error that is printed lists what is known of it, and nothing that is not", () => {
  const printed = inspect(new RondoError("auth", "the key is wrong", { status: 401 }));
  expect(printed).toMatch(/kind: 'auth'.*retryable: false.*status: 401/s);
  expect(printed).not.toContain("undefined");
  expect(
    inspect(errorWith(new RondoError("auth", "no", { status: 401 }), { status: undefined })),
  ).not.toContain("status");
});

test("a wait that is no number is unknown", () => {
  expect(new RondoError("rate_limit", "slow", { retryAfterMs: Number.NaN }).retryAfterMs).toBeUndefined();
});

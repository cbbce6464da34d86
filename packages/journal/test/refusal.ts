// What the tests of journals share: the error of what must be refused.

import { RondoError } from "@rondo/core";
import { expect } from "vitest";

export function refusal(attempt: () => unknown): RondoError {
  try {
    attempt();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RondoError);
    return thrown as RondoError;
  }
  throw new Error("it was not refused");
}

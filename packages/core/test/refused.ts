// What options that cannot be used are refused with.

import { RondoError } from "@rondo/core";
import { expect } from "vitest";

/** The words of the refusal; `it was taken` where there is none. */
export function wordsOf(act: () => unknown): string {
  try {
    act();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RondoError);
    expect(thrown).toMatchObject({ kind: "invalid_request", retryable: false });
    return (thrown as Error).message;
  }
  return "it was taken";
}

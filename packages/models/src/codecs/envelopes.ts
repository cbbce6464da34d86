// The room of envelopes: an answer that a gateway wrapped in an object of its own.

import type { JsonObject } from "@rondo/core";
import { objectIn } from "../json-values.ts";

/** Members in which an answer may be wrapped. */
export const envelopes: readonly string[] = ["response", "data", "result", "output"];

/** The answer, without what it may be wrapped in; if none is found, the object as it is. */
export function unwrapped(given: JsonObject, isAnswer: (one: JsonObject) => boolean): JsonObject {
  if (isAnswer(given)) return given;
  for (const name of envelopes) {
    const inner = objectIn(given[name]);
    if (inner !== undefined && isAnswer(inner)) return inner;
  }
  return given;
}

// The room of a call's arguments: what a provider gave, as an object, or why it is none.

import type { Json, JsonObject } from "@rondo/core";

/**
 * A call's arguments from what the provider gave: nothing is `{}`, also where it is spelled out (blanks, `null`, `""`), an
 * object is itself, everything else says what is wrong.
 */
export function parseArgs(given: Json | undefined): { args: JsonObject; argsError?: string } {
  if (given === undefined || isNothing(given)) return { args: {} };
  let value: Json = given;
  try {
    if (typeof value === "string") value = JSON.parse(value) as Json;
    // Some models encode twice: a string that holds the object. Only at the root, and only once.
    if (typeof value === "string" && value.trimStart().startsWith("{")) value = JSON.parse(value) as Json;
  } catch (thrown) {
    return { args: {}, argsError: `the arguments are not valid JSON: ${(thrown as Error).message}` };
  }
  if (isNothing(value)) return { args: {} };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { args: {}, argsError: "the arguments must be a JSON object" };
  return { args: value };
}

/** Arguments that say nothing. */
export const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

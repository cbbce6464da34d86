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
  const argsError = unkeepable(value);
  return argsError === undefined ? { args: value } : { args: {}, argsError };
}

/** What is copied, checked and written at every step is walked by recursion: far deeper no stack would hold it. */
const deepest = 512;

/**
 * Why arguments cannot be kept: JSON can write numbers that no double holds, and nest deeper than any stack.
 * They are walked level by level, so that their own depth costs nothing.
 */
function unkeepable(args: JsonObject): string | undefined {
  let level: Json[] = [args];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) return `the arguments are nested more than ${deepest} levels deep`;
    const inner: Json[] = [];
    for (const one of level)
      for (const item of Object.values(one as JsonObject))
        if (typeof item === "object" && item !== null) inner.push(item);
        else if (typeof item === "number" && !Number.isFinite(item))
          return "a number in the arguments is larger than any that can be kept";
    level = inner;
  }
  return undefined;
}

/** Arguments that say nothing. */
export const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

/** Whether arguments came: where a call has none, an empty object stands for them, or PHP's empty list. */
export const holds = (input: Json | undefined): input is Json =>
  typeof input === "object" && input !== null ? Object.keys(input).length > 0 : !isNothing(input);

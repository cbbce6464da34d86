// The room of a call's arguments: what a provider gave, as an object, or why it is none.

import type { Json, JsonObject } from "@rondo/core";
import { deepest, isTooDeep } from "@rondo/core/checks";

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
  if (isEndless(value))
    return { args: {}, argsError: "a number in the arguments is larger than any that can be kept" };
  if (isTooDeep(value))
    return { args: {}, argsError: `the arguments are nested more than ${deepest} levels deep` };
  return { args: value };
}

/** JSON can write numbers that no double holds, and that nothing could keep. */
function isEndless(value: Json): boolean {
  const left: Json[] = [value];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (typeof one === "number" && !Number.isFinite(one)) return true;
    if (typeof one === "object" && one !== null) for (const inner of Object.values(one)) left.push(inner);
  }
  return false;
}

/** Arguments that say nothing. */
export const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

/** Whether arguments came: where a call has none, an empty object stands for them, or PHP's empty list. */
export const holds = (input: Json | undefined): input is Json =>
  typeof input === "object" && input !== null ? Object.keys(input).length > 0 : !isNothing(input);

// The room of a call's arguments on their way back to a protocol that wants them as an object.

import type { ToolCallPart } from "@rondo/core";
import { jsonOf, objectIn, parseJson } from "../json-values.ts";

/**
 * A call's arguments as JSON text of an object. The model's own text where it says the same as `args`, since integers
 * beyond 2^53 keep their digits there alone (F093); `{}` where it never was an object.
 */
export function argsJson({ args, rawArgs, argsError }: ToolCallPart): string {
  if (argsError !== undefined) return "{}";
  const json = jsonOf(args);
  if (rawArgs === "" || rawArgs === json || /\\u[dD][89a-fA-F]/.test(rawArgs)) return json;
  const raw = objectIn(parseJson(rawArgs));
  return raw !== undefined && jsonOf(raw) === json ? rawArgs.toWellFormed() : json;
}

// The room of a call's arguments when they are sent back to a protocol that requires an object.

import type { ToolCallPart } from "@rondo/core";
import { jsonOf, objectIn, parseJson } from "../json-values.ts";

/**
 * A call's arguments as the JSON text of an object: the model's own text if it means the same as `args`, because only there
 * integers beyond 2^53 keep their digits (F093); `{}` if it was not an object.
 */
export function argsJson({ args, rawArgs, argsError }: ToolCallPart): string {
  if (argsError !== undefined) return "{}";
  const json = jsonOf(args);
  if (rawArgs === "" || rawArgs === json || /\\u[dD][89a-fA-F]/.test(rawArgs)) return json;
  const raw = objectIn(parseJson(rawArgs));
  return raw !== undefined && jsonOf(raw) === json ? rawArgs.toWellFormed() : json;
}

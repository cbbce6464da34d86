// The room of what goes back as text: blank texts, which providers refuse, and the arguments of calls.

import type { JsonObject } from "@rondo/core";
import { jsonOf, objectIn } from "../../json-values.ts";

/** True where a text is absent or shows nothing: providers refuse such blocks. */
export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === "";
}

/**
 * A call's arguments as JSON text of an object. The model's own text where it says the same as `args` (integers
 * beyond 2^53 keep their digits so), `{}` where it never was an object.
 */
export function argsJson(call: { args: JsonObject; rawArgs: string; argsError?: string }): string {
  if (call.argsError !== undefined) return "{}";
  const parsed = jsonOf(call.args);
  if (call.rawArgs.length === 0 || /\\u[dD][89a-fA-F]/.test(call.rawArgs)) return parsed;
  try {
    const raw = JSON.parse(call.rawArgs) as unknown;
    return objectIn(raw) !== undefined && jsonOf(raw) === parsed ? wellFormed(call.rawArgs) : parsed;
  } catch {
    return parsed;
  }
}

/** The text with each lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

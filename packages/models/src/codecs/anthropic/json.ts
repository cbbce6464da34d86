// The room of JSON text: values become bytes once, and strings in them are always well-formed UTF-16.
//
// A lone surrogate (a cut emoji, binary output) makes the whole body invalid for the provider, and with it every
// later request of the session. JSON.stringify writes such a code unit as an escape and pairs as themselves, so that
// mending the text mends keys and values alike.

import type { Json, JsonObject } from "@rondo/core";

/** JSON text that every strict parser accepts. `value` must not be undefined. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return text.replace(/(\\\\)|\\ud[89a-f][0-9a-f]{2}/g, (_all, escaped?: string) => escaped ?? "\\ufffd");
}

/** True where a text is absent or shows nothing: providers refuse such blocks. */
export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === "";
}

/** The value as an object, or undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

export function asString(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function asNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/**
 * A call's arguments as JSON text of an object. The model's own text where it says the same as `args` (integers
 * beyond 2^53 keep their digits so), `{}` where it never was an object.
 */
export function argsJson(call: { args: JsonObject; rawArgs: string; argsError?: string }): string {
  if (call.argsError !== undefined) return "{}";
  const parsed = toJson(call.args);
  if (call.rawArgs.length === 0 || /\\u[dD][89a-fA-F]/.test(call.rawArgs)) return parsed;
  try {
    const raw = JSON.parse(call.rawArgs) as unknown;
    return asObject(raw) !== undefined && toJson(raw) === parsed ? wellFormed(call.rawArgs) : parsed;
  } catch {
    return parsed;
  }
}

/** The text with each lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

// The room of exact arguments: JSON parsing that keeps the digits of long integers in a call's arguments (F093).
//
// A model may pass on an id of 19 digits; as a double it becomes a different id. Most protocols send arguments as text,
// which is never changed; this is for those that send them as JSON values. Everything else is parsed as plain numbers.

import { type Json, type JsonObject, parsedJson } from "@rondo/core";

interface ExactJson {
  parse(text: string, reviver: (key: string, value: Json, context: { source?: string }) => unknown): Json;
  rawJSON?(text: string): unknown;
  isRawJSON?(value: unknown): boolean;
}

const exact = JSON as unknown as ExactJson;
/** More digits than a double holds for certain. */
const longDigits = /\d{16}/;
/** Where a call's arguments are a JSON value. */
const places = /"(?:(?:arguments|args|input)"\s*:\s*\{|partialArgs"\s*:\s*\[)/;

/** Like JSON.parse, but every integer too large for a double is written back with its original digits. */
export function parseDigits(text: string): Json {
  return parsedJson(text, exact.rawJSON !== undefined && longDigits.test(text) ? withDigits : JSON.parse);
}

/** Like JSON.parse, but integers too large for a double keep their digits within a call's arguments, for `rawArgs`. */
export function parseExact(text: string): Json {
  if (!places.test(text)) return JSON.parse(text) as Json;
  return longDigits.test(text) ? asNumbers(parseDigits(text), isArguments) : parsedJson(text);
}

const withDigits = (text: string): Json =>
  exact.parse(text, (_key, one, { source }) =>
    typeof one === "number" && !Number.isSafeInteger(one) && source !== undefined && /^-?\d+$/.test(source)
      ? exact.rawJSON?.(source)
      : one,
  );

/**
 * Turns integers whose digits were kept into plain numbers, in place.
 * @param keeps which members stay exact. Default: none
 */
export function asNumbers(
  value: Json,
  keeps: (name: string, holder: JsonObject) => boolean = () => false,
): Json {
  if (typeof value !== "object" || value === null) return value;
  if (exact.isRawJSON?.(value) === true) return Number((value as { rawJSON: string }).rawJSON);
  const holder = value as JsonObject;
  for (const [name, inner] of Object.entries(holder)) {
    if (keeps(name, holder)) continue;
    const read = asNumbers(inner, keeps);
    // A value without such integers may be frozen: it is not assigned to.
    if (read !== inner) holder[name] = read;
  }
  return value;
}

const wholeNames: ReadonlySet<string> = new Set(["arguments", "args", "partialArgs"]);

function isArguments(name: string, { type = "tool_use" }: JsonObject): boolean {
  return wholeNames.has(name) || (name === "input" && type === "tool_use");
}

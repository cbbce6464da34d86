// The room of exact arguments: JSON in which the long integers of a call's arguments keep their digits (F093).
//
// A model may pass on an id of 19 digits. As a double it becomes another id. Most protocols send arguments as text, which
// is never touched; here are those that send them as a value. What is no call's is read as numbers, and kept as it came.

import type { Json, JsonObject } from "@rondo/core";

interface ExactJson {
  parse(text: string, reviver: (key: string, value: Json, context: { source?: string }) => unknown): Json;
  rawJSON?(text: string): unknown;
  isRawJSON?(value: unknown): boolean;
}

const exact = JSON as unknown as ExactJson;
/** Where a call's arguments stand as a value. */
const places = /"(?:(?:arguments|args|input)"\s*:\s*\{|partialArgs"\s*:\s*\[)/;

/** JSON.parse, except that every integer too large for a double keeps its digits when it is written again. */
export function parseDigits(text: string): Json {
  if (exact.rawJSON === undefined || !/\d{16}/.test(text)) return JSON.parse(text) as Json;
  return exact.parse(text, (_key, one, { source }) =>
    typeof one === "number" && !Number.isSafeInteger(one) && source !== undefined && /^-?\d+$/.test(source)
      ? exact.rawJSON?.(source)
      : one,
  );
}

/** JSON.parse, except that integers too large for a double keep their digits in a call's arguments, for `rawArgs`. */
export function parseExact(text: string): Json {
  if (exact.rawJSON === undefined || !places.test(text) || !/\d{16}/.test(text))
    return JSON.parse(text) as Json;
  return asNumbers(parseDigits(text), isArguments);
}

/**
 * The value in numbers, where digits were kept. It is changed in place.
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
    // What holds no digits may be frozen.
    if (read !== inner) holder[name] = read;
  }
  return value;
}

const wholeNames: ReadonlySet<string> = new Set(["arguments", "args", "partialArgs"]);

function isArguments(name: string, { type = "tool_use" }: JsonObject): boolean {
  return wholeNames.has(name) || (name === "input" && type === "tool_use");
}

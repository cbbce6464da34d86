// The room of exact numbers: JSON in which long integers keep their digits.
//
// A model may pass on an id of 19 digits. As a double it becomes another id.

import type { Json } from "@rondo/core";

interface ExactJson {
  parse(text: string, reviver: (key: string, value: Json, context: { source?: string }) => unknown): Json;
  rawJSON?(text: string): unknown;
}

/** JSON.parse, except that integers too large for a double keep their digits, for `rawArgs`. */
export function parseJson(text: string): Json {
  const exact = JSON as unknown as ExactJson;
  if (exact.rawJSON === undefined || !text.includes("functionCall") || !/\d{16}/.test(text))
    return JSON.parse(text) as Json;
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" &&
    !Number.isSafeInteger(value) &&
    source !== undefined &&
    /^-?\d+$/.test(source)
      ? exact.rawJSON?.(source)
      : value,
  );
}

/** Arguments as a value, or as text where a value would lose digits. */
export function exactArgs(args: Json): Json {
  const text = JSON.stringify(args);
  return /\d{16}/.test(text) ? text : args;
}

// The room of a call's arguments that are longer than OpenAI takes back.
//
// A model that degenerates writes hundreds of characters as the name of a member, or a million blanks. OpenAI looks at the
// arguments of all calls of the history, so it would refuse every later request. The call itself was answered as it was;
// only what is sent again is cut.

import type { Json, JsonObject } from "@rondo/core";
import { headOf } from "@rondo/core/checks";
import { jsonOf } from "../../json-values.ts";

/** The most characters of a name, and of all arguments. */
const longestName = 256;
const longest = 1_048_576;
/** What is left of each text in arguments that are too long. */
const kept = 10_000;

/** The text of a call's arguments, no longer than OpenAI takes it. */
export function withinLimits(text: string, args: JsonObject): string {
  if (text.length > longest) {
    // Without the blanks between its members it may be short enough.
    const plain = jsonOf(shortened(args, longest));
    if (plain.length <= longest) return plain;
    const less = jsonOf(shortened(args, kept));
    return less.length <= longest ? less : "{}";
  }
  return text.length > longestName && hasLongName(args) ? jsonOf(shortened(args, longest)) : text;
}

function hasLongName(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasLongName);
  return Object.entries(value).some(([name, inner]) => name.length > longestName || hasLongName(inner));
}

function shortened(value: Json, text: number): Json {
  if (typeof value === "string") return headOf(value, text);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => shortened(inner, text));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [headOf(name, longestName), shortened(inner, text)]),
  );
}

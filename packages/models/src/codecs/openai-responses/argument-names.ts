// The room of names in a call's arguments that are longer than OpenAI takes back.
//
// A model that degenerates writes hundreds of characters as the name of a member. OpenAI looks at the names in all calls of
// the history, so it would refuse every later request. The call itself was answered as it was; only what is sent again has
// the names cut.

import type { Json, JsonObject } from "@rondo/core";
import { jsonOf } from "../../json-values.ts";

/** The most characters of a name. */
const longest = 256;

/** The text of a call's arguments with no name longer than OpenAI takes. */
export function withShortNames(text: string, args: JsonObject): string {
  return text.length > longest && hasLongName(args) ? jsonOf(shortened(args)) : text;
}

function hasLongName(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasLongName);
  return Object.entries(value).some(([name, inner]) => name.length > longest || hasLongName(inner));
}

function shortened(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(shortened);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [cut(name), shortened(inner)]));
}

/** No half of a character is left at the end. */
const cut = (name: string): string =>
  name.length > longest ? name.slice(0, longest).replace(/[\ud800-\udbff]$/, "") : name;

// The room of unknown keys: members of a value that its schema does not name.
//
// A key is unknown only where the schema can be read to the end: an object that names its members and leaves the rest
// open in no other place (no patterns, no further schema for the rest, no branches that may name more).

import { objectOf } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";

/** `allow`: as the schema says. `strip`: they are left out before the check. `reject`: the call fails, naming them. */
export type UnknownKeys = "allow" | "strip" | "reject";

/** The value without its unknown members (the same value when there are none), and where they stood, e.g. `place.zip`. */
export function withoutUnknown(value: Json, schema: Json | undefined): { value: Json; unknown: string[] } {
  const unknown: string[] = [];
  return { value: kept(value, schema, "", unknown), unknown };
}

/** What the model reads of keys that were not expected. */
export function unknownText(unknown: readonly string[], schema: JsonObject): string {
  const names = Object.keys(objectOf(schema.properties));
  const list = (keys: readonly string[]): string => keys.map((key) => JSON.stringify(key)).join(", ");
  return `unknown ${unknown.length === 1 ? "key" : "keys"} ${list(unknown)}; known: ${names.length === 0 ? "none" : list(names)}`;
}

function kept(value: Json, schema: Json | undefined, path: string, unknown: string[]): Json {
  if (typeof value !== "object" || value === null) return value;
  const shape = objectOf(schema);
  if (Array.isArray(value)) {
    const items = value.map((item, at) => kept(item, shape.items, `${path}${at}.`, unknown));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const named = shape.properties === undefined ? undefined : objectOf(shape.properties);
  if (named === undefined) return value;
  const members = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    if (Object.hasOwn(named, key)) return [[key, kept(member, named[key], `${path}${key}.`, unknown)]];
    if (isOpen(shape)) return [[key, member]];
    unknown.push(`${path}${key}`);
    return [];
  });
  const same =
    members.length === Object.keys(value).length && members.every(([key, member]) => member === value[key]);
  return same ? value : Object.fromEntries(members);
}

const elsewhere = [
  "patternProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "$ref",
  "$dynamicRef",
  "dependentSchemas",
];

/** Whether members that are not named here may still be meant. */
function isOpen(shape: JsonObject): boolean {
  const rest = shape.additionalProperties;
  const takesMore = rest === true || (typeof rest === "object" && rest !== null);
  return takesMore || elsewhere.some((keyword) => shape[keyword] !== undefined);
}

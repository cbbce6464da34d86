// The room of unknown keys: members of a value that its schema does not name.
//
// A key is unknown only if the schema can be read completely: an object that names its members, without a schema for the
// others. Where a branch, a pattern or a reference next to them may name more, in the object or in what it contains, no key
// is unknown.

import { isObject, objectOf } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { itemSchema } from "./items.ts";

/** `allow`: as the schema says. `strip`: they are removed before the check. `reject`: the call fails with their names. */
export type UnknownKeys = "allow" | "strip" | "reject";

/** The value without its unknown members (the same value if there are none), and their paths, e.g. `place.zip`. */
export function withoutUnknown(value: Json, schema: Json | undefined): { value: Json; unknown: string[] } {
  const unknown: string[] = [];
  return { value: kept(value, schema, "", unknown), unknown };
}

/** The text about unexpected keys for the model. */
export function unknownText(unknown: readonly string[], schema: JsonObject): string {
  const names = Object.keys(objectOf(schema.properties));
  const list = (keys: readonly string[]): string => keys.map((key) => JSON.stringify(key)).join(", ");
  return `unknown ${unknown.length === 1 ? "key" : "keys"} ${list(unknown)}; known: ${names.length === 0 ? "none" : list(names)}`;
}

function kept(value: Json, schema: Json | undefined, path: string, unknown: string[]): Json {
  if (typeof value !== "object" || value === null) return value;
  const shape = objectOf(schema);
  if (saysMoreElsewhere(shape)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item, at) => kept(item, itemSchema(shape, at), `${path}${at}.`, unknown));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const named = shape.properties === undefined ? undefined : objectOf(shape.properties);
  if (named === undefined) return value;
  const members = Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    if (Object.hasOwn(named, key)) return [[key, kept(member, named[key], `${path}${key}.`, unknown)]];
    if (takesMore(shape)) return [[key, member]];
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
  "dependencies",
];

/** Whether a schema describes the same value in another place too, which may name more members. */
export const saysMoreElsewhere = (schema: JsonObject): boolean =>
  elsewhere.some((word) => schema[word] !== undefined);

/** Whether it accepts members that it does not name. */
export function takesMore({ additionalProperties, unevaluatedProperties }: JsonObject): boolean {
  const rest = additionalProperties ?? unevaluatedProperties;
  return rest === true || isObject(rest);
}

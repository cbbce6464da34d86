// The room of open objects: objects that are maps, with arbitrary keys.

import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { oncePer } from "../once-per.ts";

const inside: ReadonlySet<string> = new Set(["items", "prefixItems", "anyOf", "oneOf", "allOf"]);
const byName: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);

/** Whether the schema has objects with arbitrary keys: if they were closed, wanted members would be lost. */
export const hasOpenObjects: (schema: JsonObject) => boolean = oncePer<JsonObject, boolean>(isFree);

function isFree(node: Json): boolean {
  if (Array.isArray(node)) return node.some(isFree);
  if (!isObject(node)) return false;
  const { type, properties, patternProperties, additionalProperties: rest } = node;
  const typed = isObject(rest) && Object.keys(rest).length > 0;
  if (typed || patternProperties !== undefined) return true;
  if ([type].flat().includes("object") && !isObject(properties) && rest !== false) return true;
  return Object.entries(node).some(([word, value]) =>
    byName.has(word)
      ? isObject(value) && Object.values(value).some(isFree)
      : inside.has(word) && isFree(value),
  );
}

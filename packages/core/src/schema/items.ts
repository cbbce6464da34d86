// The room of lists in a schema: which schema each item of one has.

import type { Json, JsonObject } from "../message.ts";

/** The schema of the item at a place; undefined where nothing is said of it. Older drafts name the first ones as a list of items, and the rest beside it. */
export function itemSchema(schema: JsonObject, at: number): Json | undefined {
  const { items, prefixItems, additionalItems } = schema;
  const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
  return Array.isArray(first) && at < first.length ? first[at] : rest;
}

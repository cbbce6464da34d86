// The room of lists in a schema: which schema applies to each item.

import type { Json, JsonObject } from "../message.ts";

/**
 * The schema of the item at an index; undefined if there is none. Older drafts have a list of schemas for the first items,
 * and another keyword for the rest.
 */
export function itemSchema(schema: JsonObject, at: number): Json | undefined {
  const { items, prefixItems, additionalItems } = schema;
  const [first, rest] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items];
  return Array.isArray(first) && at < first.length ? first[at] : rest;
}

// The room of lists: what every provider requires of one, wherever it is in a schema.
//
// One list without `items` fails every request in which its tool is declared (OpenAI: "array schema missing items"), and so
// does a tuple in the form of older drafts: `items` that is a list is not a schema (OpenAI, xAI, Gemini, Anthropic).

import type { Json, JsonObject } from "@rondo/core";
import { listIn } from "../json-values.ts";
import { typesOf } from "./node.ts";
import { everywhere } from "./walk.ts";

/** The schema with items for each of its lists. The same object if nothing had to be added. */
export const withItems = (schema: JsonObject): JsonObject => everywhere(schema, listed) as JsonObject;

function listed(node: JsonObject): JsonObject {
  if (Array.isArray(node.items)) {
    const { items, additionalItems: rest, ...others } = node;
    return { ...others, prefixItems: items as Json[], items: rest ?? {} };
  }
  const isList = typesOf(node).includes("array") || listIn(node.prefixItems).length > 0;
  return isList && node.items === undefined ? { ...node, items: {} } : node;
}

// The room of lists: what every provider requires of one, wherever it is in a schema.
//
// One list without `items` fails every request in which its tool is declared (OpenAI: "array schema missing items"), and so
// does a tuple in the form of older drafts: `items` that is a list is not a schema (OpenAI, xAI, Gemini, Anthropic).

import type { Json, JsonObject } from "@rondo/core";
import { isObject, listIn } from "../json-values.ts";
import { definitions, holders, maps } from "./keywords.ts";
import { typesOf } from "./node.ts";

/** The schema with items for each of its lists. The same object if nothing had to be added. */
export function withItems(schema: JsonObject): JsonObject {
  return listed(schema) as JsonObject;
}

function listed(given: Json): Json {
  if (!isObject(given)) return given;
  let node = given;
  const put = (word: string, value: Json): void => {
    if (node[word] !== value) node = { ...node, [word]: value };
  };
  for (const [word, value] of Object.entries(given))
    if (word === "properties" || maps.has(word) || definitions.has(word)) put(word, ofMembers(value));
    else if (word === "items" || word === "additionalProperties" || holders.has(word))
      put(word, Array.isArray(value) ? ofList(value) : listed(value));
  if (Array.isArray(node.items)) {
    const { items, additionalItems: rest, ...others } = node;
    return { ...others, prefixItems: items as Json[], items: rest ?? {} };
  }
  const isList = typesOf(node).includes("array") || listIn(node.prefixItems).length > 0;
  return isList && node.items === undefined ? { ...node, items: {} } : node;
}

function ofList(list: Json[]): Json[] {
  const all = list.map(listed);
  return all.every((one, at) => one === list[at]) ? list : all;
}

function ofMembers(members: Json): Json {
  if (!isObject(members)) return members;
  const all = Object.entries(members).map(([name, one]): [string, Json] => [name, listed(one)]);
  return all.every(([name, one]) => one === members[name]) ? members : Object.fromEntries(all);
}

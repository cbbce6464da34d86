// The room of walking through a schema: every schema in it, whatever keyword holds it.
//
// Names of members are data, and so are listed values: what looks like a keyword there is none.

import type { Json, JsonObject } from "@rondo/core";
import { isObject } from "../json-values.ts";
import { definitions, holders, maps } from "./keywords.ts";

/** Changes every schema in a schema, those inside first. The same object if nothing changed. */
export function everywhere(given: Json, change: (node: JsonObject) => JsonObject): Json {
  if (!isObject(given)) return given;
  const inner = (one: Json): Json => everywhere(one, change);
  let node = given;
  for (const [word, value] of Object.entries(given)) {
    const changed =
      word === "properties" || maps.has(word) || definitions.has(word)
        ? ofMembers(value, inner)
        : word === "items" || word === "additionalProperties" || holders.has(word)
          ? ofList(value, inner)
          : value;
    if (changed !== value) node = { ...node, [word]: changed };
  }
  return change(node);
}

function ofList(value: Json, change: (one: Json) => Json): Json {
  if (!Array.isArray(value)) return change(value);
  const all = value.map(change);
  return all.every((one, at) => one === value[at]) ? value : all;
}

function ofMembers(members: Json, change: (one: Json) => Json): Json {
  if (!isObject(members)) return members;
  const all = Object.entries(members).map(([name, one]): [string, Json] => [name, change(one)]);
  return all.every(([name, one]) => one === members[name]) ? members : Object.fromEntries(all);
}

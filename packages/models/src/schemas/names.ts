// The room of names in a schema: `$id` and `$anchor`, and the references by them.
//
// A reference by a name, as TypeBox writes it, becomes one to the place that has the name: not every server looks for it,
// and neither does the code here. Then the names are not needed any more: they mean nothing to a model, some servers refuse
// them, and below a `$id` a reference to a place would mean another place.

import type { Json, JsonObject } from "@rondo/core";
import { isObject } from "../json-values.ts";
import { everywhere } from "./walk.ts";

/** The schema with references only to places, and without names. The same object if it had neither. */
export function byPlace(schema: JsonObject): JsonObject {
  // Most schemas have neither references nor names, and there may be a hundred of them in a first request.
  if (!JSON.stringify(schema).includes('"$')) return schema;
  let named: ReadonlyMap<string, string> | undefined;
  /** Of a name that no place has: as it is. */
  const placed = (ref: string): string => {
    if (ref === "#" || ref.startsWith("#/")) return ref;
    named ??= namesIn(schema, "#", new Map());
    const [name = "", inside = ""] = ref.split("#/");
    const place = named.get(name.replace(/(.)#$/, "$1"));
    return place === undefined ? ref : inside === "" ? place : `${place}/${inside}`;
  };
  return everywhere(schema, (given) => {
    const node = withoutNames(given);
    if (typeof node.$ref !== "string") return node;
    const $ref = placed(node.$ref);
    return $ref === node.$ref ? node : { ...node, $ref };
  }) as JsonObject;
}

const unsaid: readonly string[] = ["$schema", "$id", "$anchor"];

function withoutNames(node: JsonObject): JsonObject {
  if (!unsaid.some((word) => typeof node[word] === "string")) return node;
  return Object.fromEntries(
    Object.entries(node).filter(([word, value]) => !(unsaid.includes(word) && typeof value === "string")),
  );
}

/** The places of the names in a schema: `$id`, and `$anchor` behind a `#`. Of two equal ones the first counts. */
function namesIn(given: Json, place: string, found: Map<string, string>): Map<string, string> {
  if (typeof given !== "object" || given === null) return found;
  if (isObject(given))
    for (const [word, sign] of names) {
      const name = given[word];
      if (typeof name === "string" && !found.has(sign + name)) found.set(sign + name, place);
    }
  for (const [key, inner] of Object.entries(given))
    namesIn(inner, `${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, found);
  return found;
}

const names = [
  ["$id", ""],
  ["$anchor", "#"],
] as const;

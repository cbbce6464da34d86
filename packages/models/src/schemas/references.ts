// The room of references in a tool's schema: none may point nowhere.
//
// A server that resolves references refuses every request with a tool that has a dangling one, and schemas of MCP servers
// do (F143). So does a schema whose root had to change: what one of its references pointed to is then put in its place. A
// reference by a name, as TypeBox writes it, becomes one to the place that has the name: not every server looks for it. Then
// the names are not needed any more.

import type { Json, JsonObject } from "@rondo/core";
import { isObject } from "../json-values.ts";
import { definitions, holders, maps } from "./keywords.ts";
import { merge } from "./merge.ts";
import { pointed } from "./node.ts";
import type { Removed } from "./removed.ts";

/** Definitions that refer to each other many times would grow without end: any further one is left out. */
const maxInlined = 500;

/**
 * The schema without references that point nowhere, or only to each other. The same object if all are sound.
 * @param origin the schema as it was written
 */
export function withoutDangling(
  schema: JsonObject,
  origin: Json | undefined,
): { schema: JsonObject; removed: Removed[] } {
  // Most schemas have neither references nor names, and there may be a hundred of them in a first request.
  if (!JSON.stringify(schema).includes('"$')) return { schema, removed: [] };
  const walk = new References(schema, origin);
  return { schema: walk.node(schema, "", []) as JsonObject, removed: walk.removed };
}

class References {
  readonly removed: Removed[] = [];
  readonly #root: JsonObject;
  readonly #origin: Json | undefined;
  #left = maxInlined;
  /** Where the names are that the schema gives to places in itself. */
  #named: ReadonlyMap<string, string> | undefined;

  constructor(root: JsonObject, origin: Json | undefined) {
    this.#root = root;
    this.#origin = origin;
  }

  /** @param inlined the references that were replaced on the way to this node */
  node(given: Json, path: string, inlined: readonly string[]): Json {
    if (!isObject(given)) return given;
    let node = withoutNames(given);
    if (typeof given.$ref === "string") {
      const ref = this.#pointer(given.$ref);
      if (!this.#leads(ref)) return this.#replaced(given, given.$ref, path, inlined);
      if (ref !== given.$ref) node = { ...node, $ref: ref };
    }
    for (const [word, value] of Object.entries(node)) {
      const inner = this.#member(word, value, path, inlined);
      if (inner !== value) node = { ...node, [word]: inner };
    }
    return node;
  }

  #member(word: string, value: Json, path: string, inlined: readonly string[]): Json {
    if (word === "properties" || maps.has(word) || definitions.has(word)) {
      if (!isObject(value)) return value;
      const names =
        word === "properties" ? (name: string) => (path === "" ? name : `${path}.${name}`) : () => path;
      const all = Object.entries(value).map(([name, one]): [string, Json] => [
        name,
        this.node(one, names(name), inlined),
      ]);
      return all.every(([name, one]) => one === value[name]) ? value : Object.fromEntries(all);
    }
    if (word !== "items" && word !== "additionalProperties" && !holders.has(word)) return value;
    const at = word === "items" || word === "prefixItems" ? `${path}[]` : path;
    if (!Array.isArray(value)) return this.node(value, at, inlined);
    const all = value.map((one) => this.node(one, at, inlined));
    return all.every((one, index) => one === value[index]) ? value : all;
  }

  /** The node with what its reference pointed to before the root changed, or without a reference. */
  #replaced(given: JsonObject, ref: string, path: string, inlined: readonly string[]): Json {
    const { $ref: _, ...beside } = given;
    const found = inlined.includes(ref) || this.#left <= 0 ? undefined : pointed(this.#origin ?? {}, ref);
    this.#left -= 1;
    const merged = isObject(found) ? merge(beside, found) : undefined;
    if (merged === undefined || merged.clash)
      this.removed.push({ type: "$ref", fieldPath: path, value: ref });
    return this.node(merged?.node ?? beside, path, [...inlined, ref]);
  }

  /** A reference by a name as one by a place; any other as it is. */
  #pointer(ref: string): string {
    if (ref === "#" || ref.startsWith("#/")) return ref;
    this.#named ??= namesIn(this.#root, "#", new Map());
    const [name = "", inside = ""] = ref.split("#/");
    const place = this.#named.get(name.replace(/(.)#$/, "$1"));
    return place === undefined ? ref : inside === "" ? place : `${place}/${inside}`;
  }

  /** Whether a reference leads to a schema, and not only to other references. */
  #leads(ref: string): boolean {
    const followed = new Set<string>();
    for (let at = ref; !followed.has(at); ) {
      followed.add(at);
      const found = pointed(this.#root, at);
      if (found === undefined) return false;
      if (!isObject(found) || typeof found.$ref !== "string") return true;
      at = this.#pointer(found.$ref);
    }
    return false;
  }
}

/** Names mean nothing to a model, some servers refuse them, and below a `$id` a reference to a place would mean another place. */
function withoutNames(node: JsonObject): JsonObject {
  if (!unsaid.some((word) => typeof node[word] === "string")) return node;
  return Object.fromEntries(
    Object.entries(node).filter(([word, value]) => !(unsaid.includes(word) && typeof value === "string")),
  );
}

const unsaid: readonly string[] = ["$schema", "$id", "$anchor"];

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

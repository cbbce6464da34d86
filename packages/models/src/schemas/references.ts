// The room of references in a tool's schema: none may point nowhere.
//
// A server that resolves references refuses every request with a tool that has a dangling one, and schemas of MCP servers
// do (F143). So does a schema whose root had to change: what one of its references pointed to is then put in its place.

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
 * @param schema with references only to places
 * @param origin the schema before its root changed
 */
export function withoutDangling(
  schema: JsonObject,
  origin: Json | undefined,
): { schema: JsonObject; removed: Removed[] } {
  // Most schemas have no references, and there may be a hundred of them in a first request.
  if (!JSON.stringify(schema).includes('"$ref"')) return { schema, removed: [] };
  const walk = new References(schema, origin);
  return { schema: walk.node(schema, "", []) as JsonObject, removed: walk.removed };
}

class References {
  readonly removed: Removed[] = [];
  readonly #root: JsonObject;
  readonly #origin: Json | undefined;
  #left = maxInlined;

  constructor(root: JsonObject, origin: Json | undefined) {
    this.#root = root;
    this.#origin = origin;
  }

  /** @param inlined the references that were replaced on the way to this node */
  node(given: Json, path: string, inlined: readonly string[]): Json {
    if (!isObject(given)) return given;
    if (typeof given.$ref === "string" && !this.#leads(given.$ref))
      return this.#replaced(given, given.$ref, path, inlined);
    let node = given;
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

  /** Whether a reference leads to a schema, and not only to other references. */
  #leads(ref: string): boolean {
    const followed = new Set<string>();
    for (let at = ref; !followed.has(at); ) {
      followed.add(at);
      const found = pointed(this.#root, at);
      if (found === undefined) return false;
      if (!isObject(found) || typeof found.$ref !== "string") return true;
      at = found.$ref;
    }
    return false;
  }
}

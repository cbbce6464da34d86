// The room of a schema's root: a tool takes an object, and no provider accepts alternatives there.
//
// One tool with a union at its root fails every request in which it is declared (F136), and so does one without
// `properties` (F141). The union becomes one object that allows more; arguments are validated against the original anyway.

import type { Json, JsonObject } from "@rondo/core";
import { isObject, listIn } from "../json-values.ts";
import { merge, valuesOf } from "./merge.ts";
import { meta, objectOf, pointed, same, typesOf } from "./node.ts";
import type { Removed } from "./removed.ts";
import { typeOfValues } from "./types.ts";

/** Alternatives of alternatives multiply: those beyond this number are left out, and the object accepts any member. */
const maxBranches = 500;

interface Whole {
  root: JsonObject;
  left: number;
}

const unions = ["anyOf", "oneOf", "allOf"] as const;

/** An object schema with `properties` and without alternatives at its root. The same object if nothing had to change. */
export function objectRoot(given: Json | undefined): { schema: JsonObject; removed: Removed[] } {
  const schema = objectOf(given);
  const removed: Removed[] = [];
  const flat = flattened(schema, { root: schema, left: maxBranches }, removed, []);
  const lost = ["enum", "const", "not"].filter((word) => flat[word] !== undefined);
  if (lost.length === 0) return { schema: flat, removed };
  for (const word of lost) removed.push({ type: word, fieldPath: "", value: flat[word] as Json });
  return {
    schema: Object.fromEntries(Object.entries(flat).filter(([word]) => !lost.includes(word))),
    removed,
  };
}

function flattened(
  schema: JsonObject,
  whole: Whole,
  removed: Removed[],
  trail: readonly string[],
): JsonObject {
  const { $ref, ...beside } = schema;
  if (typeof $ref === "string") {
    const found = pointed(whole.root, $ref);
    const merged = isObject(found) && !trail.includes($ref) ? merge(beside, found) : undefined;
    if (merged === undefined || merged.clash) removed.push({ type: "$ref", fieldPath: "", value: $ref });
    return flattened(merged?.node ?? beside, whole, removed, [...trail, $ref]);
  }
  if (schema.type !== undefined && isOther(schema))
    removed.push({ type: "type", fieldPath: "", value: schema.type });
  if (!unions.some((word) => Array.isArray(schema[word])))
    return schema.type === "object" && isObject(schema.properties)
      ? schema
      : { ...schema, type: "object", properties: objectOf(schema.properties) };
  const { anyOf, oneOf, allOf, ...rest } = schema;
  let one: JsonObject = { ...rest, type: "object", properties: objectOf(rest.properties) };
  for (const [word, given] of [
    ["allOf", allOf],
    ["anyOf", anyOf],
    ["oneOf", oneOf],
  ] as const) {
    if (given === undefined) continue;
    const inner: Removed[] = [];
    const branches = listIn(given)
      .filter((branch) => isObject(branch) && !isOther(branch) && --whole.left >= 0)
      .map((branch) => flattened(branch as JsonObject, whole, inner, trail));
    if (word === "allOf") {
      let clash = inner.length > 0 || branches.length < listIn(given).length;
      for (const branch of branches) {
        const merged = merge(one, branch);
        one = merged.node;
        clash ||= merged.clash;
      }
      if (clash) removed.push({ type: word, fieldPath: "", value: given });
    } else {
      one = joined(one, branches);
      removed.push({ type: word, fieldPath: "", value: given });
    }
  }
  return one;
}

/** A branch that no object can satisfy. */
function isOther(branch: JsonObject): boolean {
  const types = typesOf(branch);
  return types.length > 0 && !types.includes("object");
}

/**
 * One object for alternatives: the members of all, within what the object itself says about them. Required are the members
 * that the object itself requires, or else those that all alternatives require.
 */
function joined(whole: JsonObject, branches: readonly JsonObject[]): JsonObject {
  const properties = new Map<string, Json>();
  for (const branch of branches)
    for (const [name, property] of Object.entries(objectOf(branch.properties))) {
      const known = properties.get(name);
      properties.set(name, known === undefined ? property : either(known, property));
    }
  for (const [name, own] of Object.entries(objectOf(whole.properties))) {
    // An alternative that does not name a member says nothing about it.
    const told = branches.every(({ properties }) => Object.hasOwn(objectOf(properties), name));
    properties.set(name, told ? both(own, properties.get(name)) : own);
  }
  const lists = branches.map((branch) => listIn(branch.required));
  const common = (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
  const { required: own, additionalProperties: free, ...rest } = whole;
  const required = listIn(own).length > 0 ? listIn(own) : common;
  // The object's own `additionalProperties` can stay: all that the alternatives name is in `properties` now.
  return {
    ...rest,
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    ...(free === undefined ? {} : { additionalProperties: free }),
  };
}

/** What applies to every value, combined with what the alternatives say, if that can be expressed in one schema. */
function both(own: Json, told: Json | undefined): Json {
  if (!isObject(own) || !isObject(told)) return own;
  const { node, clash } = merge(own, told);
  return clash ? own : node;
}

/** A schema for values of either. Lists of values are united. */
function either(a: Json, b: Json): Json {
  if (same(a, b)) return a;
  if (!isObject(a) || !isObject(b)) return {};
  // Schemas that differ only in annotations are the same; the first one's win.
  if (same(withoutWords(a), withoutWords(b))) return { ...meta(b), ...a };
  const [one, other] = [valuesOf(a), valuesOf(b)];
  if (one === undefined || other === undefined) return { anyOf: [...variantsOf(a), b] };
  const values = [...one, ...other.filter((value) => !one.some((known) => same(known, value)))];
  const type = typeOfValues([a, b], values);
  return { ...meta(b), ...meta(a), ...(type === undefined ? {} : { type }), enum: values };
}

function withoutWords(schema: JsonObject): JsonObject {
  const words = meta(schema);
  return Object.fromEntries(Object.entries(schema).filter(([word]) => !Object.hasOwn(words, word)));
}

const variantsOf = (schema: JsonObject): Json[] =>
  Object.keys(schema).length === 1 && Array.isArray(schema.anyOf) ? schema.anyOf : [schema];

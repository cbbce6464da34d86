// The room of merging two schemas, and of what the two cannot express together.
//
// A clash means that the merged schema is wider than the two: the caller must then record the original rule.

import type { Json, JsonObject } from "@rondo/core";
import { isObject, listIn } from "../json-values.ts";
import { annotations, literalOf, objectOf, same, typesOf } from "./node.ts";

export interface Merged {
  node: JsonObject;
  clash: boolean;
}

/** One schema for values that satisfy both. Of annotations the first one's win. */
export function merge(first: JsonObject, second: JsonObject): Merged {
  const members = new Map(Object.entries(first));
  // The first one's rules about its other members keep their meaning; the second one's are left out.
  const skipped = [...(reaches(first, second) ? named : []), ...(reaches(second, first) ? ruling : [])];
  let clash = skipped.length > 0;
  for (const [word, value] of Object.entries(second)) {
    if (skipped.includes(word)) continue;
    const own = members.get(word);
    if (own === undefined) members.set(word, value);
    else if (!same(own, value) && !annotations.has(word)) {
      const both = combined(word, own, value);
      if (both === undefined) clash = true;
      else members.set(word, both.value);
      if (both?.clash === true) clash = true;
    }
  }
  return { node: Object.fromEntries(members), clash };
}

/** Keywords that constrain members that the schema does not name, and those that name members. */
const ruling = [
  "additionalProperties",
  "unevaluatedProperties",
  "items",
  "unevaluatedItems",
  "additionalItems",
  "if",
  "contains",
];
const named = [
  "properties",
  "patternProperties",
  "prefixItems",
  "then",
  "else",
  "minContains",
  "maxContains",
];

/** Whether one schema constrains what the other names: together they would mean something else. */
function reaches(one: JsonObject, other: JsonObject): boolean {
  const has = (node: JsonObject, ...names: string[]): boolean =>
    names.some((name) => node[name] !== undefined && node[name] !== true);
  return (
    (has(one, "additionalProperties", "unevaluatedProperties") &&
      has(other, "properties", "patternProperties")) ||
    (has(one, "items", "unevaluatedItems", "additionalItems") && has(other, "prefixItems")) ||
    (has(one, "if") && has(other, "then", "else")) ||
    (has(one, "contains") && has(other, "minContains", "maxContains"))
  );
}

function combined(word: string, a: Json, b: Json): { value: Json; clash?: boolean } | undefined {
  if (typeof a === "number" && typeof b === "number") {
    if (/^(?:exclusiveM|m)inimum$|^min(?:Length|Items|Properties)$/.test(word))
      return { value: Math.max(a, b) };
    if (/^(?:exclusiveM|m)aximum$|^max(?:Length|Items|Properties)$/.test(word))
      return { value: Math.min(a, b) };
  }
  if (word === "required") return { value: [...new Set([...listIn(a), ...listIn(b)])] };
  if (word === "uniqueItems") return { value: true };
  if (word === "enum") {
    const common = listIn(a).filter((value) => listIn(b).some((one) => same(one, value)));
    return common.length === 0 ? undefined : { value: common };
  }
  if (word === "type") {
    const common = commonTypes(typesOf({ type: a }), typesOf({ type: b }));
    return common.length === 0 ? undefined : { value: common.length === 1 ? (common[0] as string) : common };
  }
  if (word === "properties" && isObject(a) && isObject(b)) {
    const members = new Map(Object.entries(a));
    let clash = false;
    for (const [name, schema] of Object.entries(b)) {
      const own = members.get(name);
      if (own === undefined || same(own, schema)) members.set(name, schema);
      else if (isObject(own) && isObject(schema)) {
        const inner = merge(own, schema);
        members.set(name, inner.node);
        if (inner.clash) clash = true;
      } else clash = true;
    }
    return { value: Object.fromEntries(members), clash };
  }
  return undefined;
}

function commonTypes(a: readonly string[], b: readonly string[]): string[] {
  const within = (type: string, types: readonly string[]): boolean =>
    types.includes(type) || (type === "integer" && types.includes("number"));
  return [...new Set([...a.filter((type) => within(type, b)), ...b.filter((type) => within(type, a))])];
}

/** Whether no value satisfies two of the alternatives, as far as that is obvious: by types, values, or a tag. */
export function areDisjoint(alternatives: readonly Json[]): boolean {
  return alternatives.every((a, at) => alternatives.slice(at + 1).every((b) => apart(a, b)));
}

function apart(a: Json, b: Json): boolean {
  if (!isObject(a) || !isObject(b)) return false;
  const [ta, tb] = [typesOf(a), typesOf(b)];
  if (ta.length > 0 && tb.length > 0 && commonTypes(ta, tb).length === 0) return true;
  const [va, vb] = [valuesOf(a), valuesOf(b)];
  if (va !== undefined && vb !== undefined) return !va.some((value) => vb.some((one) => same(one, value)));
  if (typesOf(a).join() !== "object" || typesOf(b).join() !== "object") return false;
  return listIn(a.required).some((name) => {
    if (typeof name !== "string" || !listIn(b.required).includes(name)) return false;
    const [pa, pb] = [objectOf(a.properties)[name], objectOf(b.properties)[name]];
    return (
      isObject(pa) &&
      isObject(pb) &&
      valuesOf(pa) !== undefined &&
      valuesOf(pb) !== undefined &&
      apart(pa, pb)
    );
  });
}

/** The values that a schema allows, if it lists them. */
export function valuesOf(schema: JsonObject): Json[] | undefined {
  const literal = literalOf(schema);
  if (literal !== undefined) return [literal];
  return Array.isArray(schema.enum) && schema.enum.length > 0 ? schema.enum : undefined;
}

// The room of reading a schema: what a node contains, and what a reference points to.
//
// Schemas come from strangers: every member may be anything. One of the wrong type counts as absent.

import type { Json, JsonObject } from "@rondo/core";
import { isObject, objectIn } from "../json-values.ts";

export const objectOf = (value: Json | undefined): JsonObject => objectIn(value) ?? {};

export function same(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The types that a node names; none if it leaves them open. */
export function typesOf(node: JsonObject): string[] {
  const given = Array.isArray(node.type) ? node.type : [node.type];
  return given.filter((type): type is string => typeof type === "string");
}

/** Whether a schema obviously allows only null. */
export function isNull(schema: Json): boolean {
  if (!isObject(schema)) return false;
  const { type, const: value = null, enum: values = [null], ...rest } = schema;
  const says = type !== undefined || schema.const !== undefined || schema.enum !== undefined;
  return (
    says &&
    (type === undefined || typesOf(schema).join() === "null") &&
    value === null &&
    same(values, [null]) &&
    Object.keys(rest).every((word) => annotations.has(word))
  );
}

/** The only value that a schema allows; undefined if it allows several. */
export function literalOf(schema: Json): Json | undefined {
  if (!isObject(schema)) return undefined;
  if (schema.const !== undefined) return schema.const;
  return Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined;
}

/** Keywords that describe a schema and constrain nothing. */
export const annotations: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$schema",
  "$id",
  "$comment",
  "$anchor",
  "$vocabulary",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "nullable",
  "propertyOrdering",
]);

/** The annotations that a node keeps when its rules are gone or move elsewhere. */
export function meta(
  node: JsonObject,
  words: readonly string[] = ["title", "description", "default"],
): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([word]) => words.includes(word)));
}

/** What a local reference points to. Undefined: it points out of the document, or nowhere. */
export function pointed(root: Json, ref: string): Json | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const step of ref.split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Array.isArray(at) ? at[Number(key)] : at[key];
  }
  return isObject(at) || typeof at === "boolean" ? at : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

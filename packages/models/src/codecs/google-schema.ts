// The room of Google's older schemas: JSON Schema cut down to the OpenAPI subset that `parameters` takes.
//
// Only for servers that lack `parametersJsonSchema`. The subset fails a whole request for one unknown keyword, so this
// keeps a list of keywords and drops the rest. It makes schemas wider, never narrower: the loop validates with the
// original. References are inlined; a recursive one becomes a permissive object. What an enum of numbers said goes
// into the description, for the subset knows enums of strings only.

import type { Json, JsonObject } from "@rondo/core";

const kept: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "nullable",
  "default",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "pattern",
  "required",
  "propertyOrdering",
]);

const maxDepth = 24;

/** References that fan out would grow without end: past so many nodes every further one is a permissive object. */
const maxNodes = 2000;

interface Whole {
  root: Json;
  nodesLeft: number;
}

/** The schema in Google's subset. The input is not changed. */
export function openApiSchema(schema: Json): JsonObject {
  return convert(schema, { root: schema, nodesLeft: maxNodes }, []);
}

function convert(given: Json, whole: Whole, trail: readonly string[]): JsonObject {
  if (!isObject(given)) return {};
  const schema = merged(given, whole, trail);
  if (schema === undefined || trail.length > maxDepth) return described({ type: "object" }, given);
  const { node, refs } = schema;
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(node)) if (kept.has(key)) out[key] = value;
  const types = typesOf(node);
  if (types.includes("null")) out.nullable = true;
  const real = types.filter((type) => type !== "null");
  delete out.type;
  if (real.length === 1) out.type = real[0]!;

  const inner = [...trail, ...refs];
  // Alternatives must stand alone. Beside members of its own they mostly say which of those go together: left out.
  const unions = isObject(node.properties) ? [] : [...listOf(node.anyOf), ...listOf(node.oneOf)];
  const variants = unions.filter((variant) => !isNull(variant));
  if (variants.length < unions.length) out.nullable = true;
  if (variants.length === 1) return { ...convert(variants[0]!, whole, inner), ...meta(out) };
  if (variants.length > 1) {
    const literals = variants.map(literalOf);
    if (literals.every((literal) => typeof literal === "string")) {
      const words = [...new Set(literals as string[])].filter((word) => word !== "");
      return { ...meta(out), type: "string", ...(words.length === 0 ? {} : { enum: words }) };
    }
    const anyOf = variants.map((variant) => convert(variant, whole, inner));
    return { ...meta(out), anyOf };
  }
  if (real.length > 1)
    return { ...meta(out), anyOf: real.map((type) => convert({ ...node, type }, whole, inner)) };

  members(node, out, whole, inner);
  literals(node, out);
  if (out.type === "string" && (node.format === "date-time" || node.format === "enum"))
    out.format = node.format;
  return out;
}

/** Members of objects and arrays. Property names are data, whatever they are called. */
function members(node: JsonObject, out: JsonObject, whole: Whole, trail: readonly string[]): void {
  const depth = [...trail, ""];
  if (isObject(node.properties)) {
    out.type ??= "object";
    const entries = Object.entries(node.properties).map(
      ([name, value]) => [name, convert(value, whole, depth)] as const,
    );
    if (entries.length > 0) out.properties = Object.fromEntries(entries);
    if (Array.isArray(out.required)) {
      const names = new Set(entries.map(([name]) => name));
      const required = out.required.filter((name) => typeof name === "string" && names.has(name));
      if (required.length > 0) out.required = required;
      else delete out.required;
    }
  } else delete out.required;
  if (out.type === "array" || node.items !== undefined) {
    out.type = "array";
    const items = Array.isArray(node.items) ? (node.items[0] ?? {}) : (node.items ?? {});
    out.items = convert(items, whole, depth);
    if (Object.keys(out.items).length === 0) out.items = { type: "string" };
  }
}

function literals(node: JsonObject, out: JsonObject): void {
  const values = node.const !== undefined ? [node.const] : listOf(node.enum);
  if (values.length === 0) return;
  const strings = values.filter((value) => typeof value === "string" && value !== "");
  if (values.includes(null)) out.nullable = true;
  if (strings.length > 0 && values.every((value) => typeof value === "string" || value === null)) {
    out.type = "string";
    out.enum = strings;
    return;
  }
  const rest = values.filter((value) => value !== null && value !== "");
  if (rest.length === 0) return;
  const types = new Set(rest.map((value) => typeof value));
  if (out.type === undefined && types.size === 1) out.type = typeof rest[0];
  const words = `One of: ${rest.map((value) => JSON.stringify(value)).join(", ")}`;
  out.description = out.description === undefined ? words : `${String(out.description)} ${words}`;
}

/** The schema with its reference inlined and its `allOf` folded in; undefined for a reference in a circle or to nowhere. */
function merged(
  schema: JsonObject,
  whole: Whole,
  trail: readonly string[],
): { node: JsonObject; refs: string[] } | undefined {
  if (--whole.nodesLeft < 0) return undefined;
  let node = schema;
  const refs: string[] = [];
  while (typeof node.$ref === "string") {
    const { $ref, ...beside } = node;
    if (trail.includes($ref) || refs.includes($ref)) return undefined;
    const found = resolve(whole.root, $ref);
    if (found === undefined) return undefined;
    refs.push($ref);
    node = { ...found, ...beside };
  }
  const { allOf, ...rest } = node;
  for (const part of listOf(allOf)) {
    if (!isObject(part)) continue;
    const inner = merged(part, whole, [...trail, ...refs]);
    if (inner === undefined) continue;
    refs.push(...inner.refs);
    const properties = { ...asObject(inner.node.properties), ...asObject(rest.properties) };
    const required = [...new Set([...listOf(rest.required), ...listOf(inner.node.required)])];
    Object.assign(rest, { ...inner.node, ...rest });
    if (Object.keys(properties).length > 0) rest.properties = properties;
    if (required.length > 0) rest.required = required;
  }
  return { node: rest, refs };
}

function resolve(root: Json, ref: string): JsonObject | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const step of ref.split("/").slice(1)) {
    const key = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Array.isArray(at) ? at[Number(key)] : at[key];
  }
  return isObject(at) ? at : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function typesOf(node: JsonObject): string[] {
  const given = Array.isArray(node.type) ? node.type : node.type === undefined ? [] : [node.type];
  return given.filter((type): type is string => typeof type === "string");
}

function isNull(schema: Json): boolean {
  return isObject(schema) && (schema.type === "null" || schema.const === null);
}

function literalOf(schema: Json): Json | undefined {
  if (!isObject(schema)) return undefined;
  if (schema.const !== undefined) return schema.const;
  return Array.isArray(schema.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined;
}

function described(schema: JsonObject, from: JsonObject): JsonObject {
  return typeof from.description === "string" ? { ...schema, description: from.description } : schema;
}

/** What may stand beside alternatives. */
function meta(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key of ["title", "description", "default", "nullable"])
    if (schema[key] !== undefined) out[key] = schema[key];
  return out;
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

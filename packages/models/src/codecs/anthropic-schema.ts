// The room of Anthropic's schemas: the least that makes a tool's schema acceptable to the Anthropic family.
//
// One tool with a union at the top of its schema fails every request it is declared in. The union is merged into one
// object, which allows more than the original; arguments are validated against the original anyway.

import type { Json, JsonObject } from "@rondo/core";
import { asObject } from "./anthropic-json.ts";

const unions = ["anyOf", "oneOf", "allOf"] as const;

/** The schema as an object schema without a union at its top. The same object when there was nothing to do. */
export function flatSchema(schema: JsonObject): JsonObject {
  const hasUnion = unions.some((word) => Array.isArray(schema[word]));
  if (!hasUnion)
    return schema.type === "object" && asObject(schema.properties) !== undefined
      ? schema
      : { ...schema, type: "object", properties: asObject(schema.properties) ?? {} };
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = schema;
  const properties: JsonObject = { ...asObject(schema.properties) };
  const required = new Set(requiredOf(schema));
  for (const word of unions) {
    const branches = (Array.isArray(schema[word]) ? schema[word] : [])
      .map((branch) => asObject(branch))
      .filter((branch) => branch !== undefined)
      .map((branch) => flatSchema(resolve(branch, schema)));
    for (const branch of branches)
      for (const [name, property] of Object.entries(asObject(branch.properties) ?? {}))
        properties[name] = Object.hasOwn(properties, name)
          ? either(properties[name] as Json, property)
          : property;
    // Of alternatives only what each of them demands is demanded of the merged object.
    const lists = branches.map((branch) => requiredOf(branch));
    const demanded =
      word === "allOf"
        ? lists.flat()
        : (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
    for (const name of demanded) required.add(name);
  }
  const merged: JsonObject = { ...rest, type: "object", properties };
  delete merged.required;
  if (required.size > 0) merged.required = [...required];
  return merged;
}

function either(a: Json, b: Json): Json {
  return JSON.stringify(a) === JSON.stringify(b) ? a : { anyOf: [a, b] };
}

function requiredOf(schema: JsonObject): string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
}

/** A branch that only points into the schema's own definitions, one step. */
function resolve(branch: JsonObject, root: JsonObject): JsonObject {
  const found =
    typeof branch.$ref === "string" ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec(branch.$ref) : null;
  const definitions = found?.[1] === undefined ? undefined : asObject(root[found[1]]);
  return asObject(definitions?.[found?.[2] ?? ""]) ?? branch;
}

/** An output schema as the provider takes it: every object closed. */
export function closedSchema(schema: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(schema))
    copy[key] = maps.has(key) ? mapOf(value) : schemas.has(key) ? closed(value) : value;
  const isObject = schema.type === "object" || (Array.isArray(schema.type) && schema.type.includes("object"));
  if (isObject && schema.additionalProperties !== false) copy.additionalProperties = false;
  return copy;
}

/** Keywords that hold schemas by name, and keywords that hold a schema or a list of them. */
const maps: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const schemas: ReadonlySet<string> = new Set(["items", "prefixItems", "anyOf", "oneOf", "allOf", "not"]);

function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  const schema = asObject(value);
  return schema === undefined ? value : closedSchema(schema);
}

function mapOf(value: Json): Json {
  const map = asObject(value);
  if (map === undefined) return value;
  return Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, closed(schema)]));
}

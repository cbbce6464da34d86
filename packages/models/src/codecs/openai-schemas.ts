// The room of JSON Schemas as the OpenAI protocols take them.
//
// A tool's schema must be an object schema with `properties` and without a union at its top: one bad tool fails every
// request (F136, F141). Strict is asked for only where the schema already satisfies its rules (F140); it is never
// bent to satisfy them, because the model would then be held to another contract than the tool.

import type { Json, JsonObject } from "@rondo/core";
import { listIn, objectIn } from "./openai-json.ts";

/** A tool's schema, made one that is accepted. */
export function toolSchema(given: Json | undefined): JsonObject {
  const schema = objectIn(given) ?? {};
  const unions = ["anyOf", "oneOf", "allOf"].filter((word) => Array.isArray(schema[word]));
  if (unions.length === 0 && schema.type === "object" && objectIn(schema.properties) !== undefined)
    return schema;
  const flat: JsonObject = { ...schema, type: "object" };
  // A map, because a property may be called `__proto__`.
  const properties = new Map(Object.entries(objectIn(schema.properties) ?? {}));
  for (const word of unions) {
    const branches = listIn(schema[word]).map((branch) => objectIn(branch) ?? {});
    delete flat[word];
    for (const branch of branches)
      for (const [name, property] of Object.entries(objectIn(branch.properties) ?? {})) {
        const known = properties.get(name);
        const same = known === undefined || JSON.stringify(known) === JSON.stringify(property);
        properties.set(name, same ? property : {});
      }
    const required = branches.map((branch) => listIn(branch.required));
    const common =
      word === "allOf"
        ? required.flat()
        : (required[0] ?? []).filter((name) => required.every((list) => list.includes(name)));
    const all = [...new Set([...listIn(flat.required), ...common])];
    if (all.length > 0) flat.required = all;
  }
  return { ...flat, properties: Object.fromEntries(properties) };
}

const strictTypes: ReadonlySet<string> = new Set([
  "string",
  "number",
  "boolean",
  "integer",
  "object",
  "array",
  "null",
]);

const strictWords: ReadonlySet<string> = new Set([
  "type",
  "description",
  "title",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "$ref",
  "$defs",
  "definitions",
  "pattern",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
]);

const strictFormats: ReadonlySet<string> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Whether strict mode would accept the schema as it stands. */
export function strictSafe(schema: JsonObject): boolean {
  return schema.type === "object" && schema.anyOf === undefined && strictNode(schema, 1);
}

function strictNode(given: Json | undefined, depth: number): boolean {
  const node = objectIn(given);
  if (node === undefined || depth > 10) return false;
  for (const word of Object.keys(node)) if (!strictWords.has(word)) return false;
  if (node.format !== undefined && !strictFormats.has(String(node.format))) return false;
  if (typeof node.$ref === "string") return node.$ref.startsWith("#");
  for (const word of ["$defs", "definitions"])
    if (!Object.values(objectIn(node[word]) ?? {}).every((child) => strictNode(child, depth + 1)))
      return false;
  if (Array.isArray(node.anyOf)) return node.anyOf.every((child) => strictNode(child, depth + 1));
  const types = Array.isArray(node.type) ? node.type : [node.type];
  if (!types.every((type) => typeof type === "string" && strictTypes.has(type)))
    return Array.isArray(node.enum) || node.const !== undefined;
  if (types.includes("array") && !strictNode(node.items, depth + 1)) return false;
  if (!types.includes("object")) return true;
  const properties = objectIn(node.properties);
  if (properties === undefined || node.additionalProperties !== false) return false;
  const names = Object.keys(properties);
  const required = listIn(node.required);
  return (
    names.every((name) => required.includes(name)) &&
    required.every((name) => typeof name === "string" && Object.hasOwn(properties, name)) &&
    Object.values(properties).every((child) => strictNode(child, depth + 1))
  );
}

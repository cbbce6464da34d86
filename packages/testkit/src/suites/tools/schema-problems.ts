// The room of the schema's form: what is wrong with a JSON Schema as a schema, whatever it is asked about.
//
// Interpreters pass over what they do not understand, and providers refuse it: a misspelt type is found here, not in
// production.

import type { Json } from "@rondo/core";
import { isObject } from "../../json.ts";
import { clipped } from "../../text.ts";

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Members that hold one schema, a list of them, or schemas by name. */
const one = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
const several = ["anyOf", "oneOf", "allOf", "prefixItems"];
const named = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/** Members that may know of properties as well. */
const elsewhere = ["patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref"];

const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

/** What is wrong with a schema, each with its place. Empty: nothing. */
export function schemaProblems(schema: Json, root: Json = schema, path: string = "#"): string[] {
  if (typeof schema === "boolean") return [];
  if (!isObject(schema)) return [`${path} is ${JSON.stringify(schema)}; needed is an object, true or false`];
  const found: string[] = [];
  const complain = (member: string, needed: string): void => {
    found.push(
      `${path}/${member} is ${clipped(String(JSON.stringify(schema[member])), 80)}; needed is ${needed}`,
    );
  };
  const { type, required, enum: values, pattern, $ref } = schema;
  const said = type === undefined ? [] : Array.isArray(type) ? type : [type];
  if (said.some((word) => !types.includes(word as string))) complain("type", `one of ${types.join(", ")}`);
  if (required !== undefined) {
    const known = schema.properties;
    if (!Array.isArray(required) || required.some((name) => typeof name !== "string"))
      complain("required", "a list of names");
    else if (typeof known === "object" && known !== null && !elsewhere.some((member) => member in schema))
      for (const name of required)
        if (!Object.hasOwn(known, name as string))
          found.push(`${path}/required names ${JSON.stringify(name)}, which is no property`);
  }
  if (values !== undefined && (!Array.isArray(values) || values.length === 0))
    complain("enum", "a list of at least one value");
  if (pattern !== undefined && !isPattern(pattern)) complain("pattern", "a regular expression");
  for (const member of numbers)
    if (schema[member] !== undefined && typeof schema[member] !== "number") complain(member, "a number");
  for (const member of counts)
    if (
      schema[member] !== undefined &&
      !(Number.isSafeInteger(schema[member]) && Number(schema[member]) >= 0)
    )
      complain(member, "a whole number of at least 0");
  if ($ref !== undefined && !resolves($ref, root))
    complain("$ref", "a place in this schema, like #/$defs/name");
  for (const member of one)
    if (schema[member] !== undefined)
      found.push(...schemaProblems(schema[member], root, `${path}/${member}`));
  for (const member of several) {
    const list = schema[member];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0) complain(member, "a list of schemas");
    else found.push(...list.flatMap((inner, at) => schemaProblems(inner, root, `${path}/${member}/${at}`)));
  }
  for (const member of named) {
    const map = schema[member];
    if (map === undefined) continue;
    if (!isObject(map)) complain(member, "schemas by name");
    else
      for (const [name, inner] of Object.entries(map))
        found.push(...schemaProblems(inner, root, `${path}/${member}/${name}`));
  }
  return found;
}

function isPattern(pattern: Json): boolean {
  try {
    return typeof pattern === "string" && new RegExp(pattern, "u") !== undefined;
  } catch {
    return false;
  }
}

function resolves(ref: Json, root: Json): boolean {
  if (typeof ref !== "string" || !ref.startsWith("#")) return false;
  const place = unescaped(ref.slice(1));
  // What is no path is a name that some schema in here has given itself.
  if (place !== "" && !place.startsWith("/"))
    return JSON.stringify(root).includes(`"$anchor":${JSON.stringify(place)}`);
  let at: Json | undefined = root;
  for (const step of place.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null ? (at as { [name: string]: Json })[name] : undefined;
  }
  return at !== undefined;
}

/** A place as it stands in an address: blanks and the like may be written as %20. */
function unescaped(place: string): string {
  try {
    return decodeURIComponent(place);
  } catch {
    return place;
  }
}

// The room of the schema's form: what is wrong with a JSON Schema as a schema, whatever it is asked about.
//
// Interpreters pass over what they do not understand, and providers refuse it: a misspelt type is found here, not in
// production.

import type { Json, JsonObject } from "@rondo/core";
import { isObject } from "../../json.ts";
import { clipped } from "../../text.ts";

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Members that hold one schema, a list of them, or schemas by name. */
const holdOne = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
const holdList = ["anyOf", "oneOf", "allOf", "prefixItems"];
const holdNamed = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/** Members that may know of properties as well. */
const elsewhere = ["patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref"];

const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

/** What is wrong with a schema, each with its place. Empty: nothing. */
export function schemaProblems(schema: Json, root: Json = schema, path: string = "#"): string[] {
  if (typeof schema === "boolean") return [];
  if (!isObject(schema)) return [`${path} is ${JSON.stringify(schema)}; needed is an object, true or false`];
  return [...ownProblems(schema, root, path), ...innerProblems(schema, root, path)];
}

const wrongMember = (schema: JsonObject, member: string, path: string, needed: string): string =>
  `${path}/${member} is ${clipped(String(JSON.stringify(schema[member])), 80)}; needed is ${needed}`;

function ownProblems(schema: JsonObject, root: Json, path: string): string[] {
  const found: string[] = [];
  const complain = (member: string, needed: string): void => {
    found.push(wrongMember(schema, member, path, needed));
  };
  const { type, enum: values, pattern, $ref } = schema;
  const typeWords = type === undefined ? [] : Array.isArray(type) ? type : [type];
  if (typeWords.some((word) => !types.includes(word as string)))
    complain("type", `one of ${types.join(", ")}`);
  found.push(...requiredProblems(schema, path));
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
  return found;
}

function requiredProblems(schema: JsonObject, path: string): string[] {
  const { required, properties } = schema;
  if (required === undefined) return [];
  if (!Array.isArray(required) || required.some((name) => typeof name !== "string"))
    return [wrongMember(schema, "required", path, "a list of names")];
  if (typeof properties !== "object" || properties === null) return [];
  if (elsewhere.some((member) => member in schema)) return [];
  return required
    .filter((name) => !Object.hasOwn(properties, name as string))
    .map((name) => `${path}/required names ${JSON.stringify(name)}, which is no property`);
}

/** The problems of the schemas inside. */
function innerProblems(schema: JsonObject, root: Json, path: string): string[] {
  const found: string[] = [];
  for (const member of holdOne)
    if (schema[member] !== undefined)
      found.push(...schemaProblems(schema[member], root, `${path}/${member}`));
  for (const member of holdList) {
    const list = schema[member];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0)
      found.push(wrongMember(schema, member, path, "a list of schemas"));
    else found.push(...list.flatMap((inner, at) => schemaProblems(inner, root, `${path}/${member}/${at}`)));
  }
  for (const member of holdNamed) {
    const map = schema[member];
    if (map === undefined) continue;
    if (!isObject(map)) found.push(wrongMember(schema, member, path, "schemas by name"));
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

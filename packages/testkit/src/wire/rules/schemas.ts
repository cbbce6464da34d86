// The room of what each provider's schemas may say: a schema in, what its provider would refuse out.
//
// Written from what the providers refuse, not from what our adapter does: the adapter is tested against it.

import type { JsonObject } from "@rondo/core";
import { isObject, listIn, membersIn } from "../../json.ts";
import { breaches, type Say, type Violation } from "./violation.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

function unknown(schema: JsonObject, known: ReadonlySet<string>, at: string, say: Say): void {
  for (const word of Object.keys(schema))
    if (!known.has(word))
      say(at, `Invalid JSON payload received. Unknown name "${word}" at '${at}': Cannot find field.`);
}

const openapiWords = words(
  "type format title description nullable default enum items minItems maxItems properties required minProperties maxProperties minLength maxLength minimum maximum pattern example anyOf propertyOrdering",
);
const structuredWords = words(
  "type format title description nullable enum items minItems maxItems properties required minimum maximum anyOf propertyOrdering",
);

/** Google's `parameters`: a subset of OpenAPI's schemas. */
export const checkGoogleOpenapi = (schema: unknown, at: string, say: Say): void =>
  googleNode(schema, at, say, openapiWords, words("enum date-time"));

/** The same of `responseSchema`, which knows more formats. */
export const checkGoogleResponse = (schema: unknown, at: string, say: Say): void =>
  googleNode(schema, at, say, openapiWords, words("enum date-time date time"));

/** What Google documents for structured output. */
export const checkGoogleStructured = (schema: unknown, at: string, say: Say): void =>
  googleNode(schema, at, say, structuredWords, words("enum date-time date time"));

function googleNode(
  schema: unknown,
  at: string,
  say: Say,
  known: ReadonlySet<string>,
  formats: ReadonlySet<string>,
): void {
  if (!isObject(schema)) {
    say(at, "Invalid value");
    return;
  }
  unknown(schema, known, at, say);
  if (Array.isArray(schema.type)) say(`${at}.type`, "Proto field is not repeating, cannot start list.");
  if (schema.enum !== undefined) {
    if (schema.type !== "string") say(`${at}.enum`, "only allowed for STRING type");
    for (const [i, value] of listIn(schema.enum).entries()) {
      if (typeof value !== "string")
        say(`${at}.enum[${i}]`, `Invalid value at '${at}.enum[${i}]' (TYPE_STRING)`);
      else if (value === "") say(`${at}.enum[${i}]`, "cannot be empty");
    }
  }
  if (schema.format !== undefined && schema.type === "string" && !formats.has(String(schema.format)))
    say(`${at}.format`, "only 'enum' and 'date-time' are supported for STRING type");
  if (schema.type === "array" && schema.items === undefined) say(`${at}.items`, "missing field.");
  if (schema.type === "object" && isObject(schema.properties) && Object.keys(schema.properties).length === 0)
    say(`${at}.properties`, "should be non-empty for OBJECT type");
  const properties = membersIn(schema.properties);
  for (const name of listIn(schema.required))
    if (!Object.hasOwn(properties, String(name)))
      say(`${at}.required`, `property is not defined: ${String(name)}`);
  const inner = (one: unknown, path: string): void => googleNode(one, path, say, known, formats);
  for (const [name, one] of Object.entries(properties)) inner(one, `${at}.properties[${name}]`);
  if (schema.items !== undefined) inner(schema.items, `${at}.items`);
  for (const [i, one] of listIn(schema.anyOf).entries()) inner(one, `${at}.any_of[${i}]`);
}

const googleStrictRefused = words(
  "const patternProperties additionalProperties $schema $id $ref $defs definitions examples minLength maxLength minimum maximum multipleOf pattern format minItems maxItems uniqueItems minProperties maxProperties",
);

/** Google's strict servers for tools: shape and enums alone. Names of members are not keywords. */
export function checkGoogleStrict(schema: unknown, at: string, say: Say): void {
  walk(schema, at, (node, path) => {
    for (const word of Object.keys(node))
      if (googleStrictRefused.has(word)) say(`${path}.${word}`, `unsupported keyword ${word}`);
    if (Array.isArray(node.type) && (node.type.includes("null") || node.type.length < 2))
      say(`${path}.type`, "null in a list of types");
    for (const word of ["anyOf", "oneOf"])
      if (Array.isArray(node[word]) && node.type !== undefined) say(`${path}.type`, `a type beside ${word}`);
  });
}

const xaiRefused = words("minLength maxLength minItems maxItems minContains maxContains");

/** xAI: everything but lengths and counts. */
export function checkXai(schema: unknown, at: string, say: Say): void {
  walk(schema, at, (node, path) => {
    for (const word of Object.keys(node))
      if (xaiRefused.has(word)) say(`${path}.${word}`, `unsupported keyword ${word}`);
  });
}

const strictWords = words(
  "type description title enum const properties required additionalProperties items anyOf $ref $defs definitions pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
);
const strictFormats = words("date-time time date duration email hostname ipv4 ipv6 uuid");

const looksAround = (pattern: unknown): boolean => typeof pattern === "string" && /\(\?<?[=!]/.test(pattern);

/** OpenAI's strict mode. */
export function checkOpenaiStrict(schema: unknown, at: string, say: Say): void {
  walk(schema, at, (node, path) => {
    for (const word of Object.keys(node))
      if (!strictWords.has(word)) say(path, `'${word}' is not permitted.`);
    if (node.format !== undefined && !strictFormats.has(String(node.format)))
      say(path, `'${String(node.format)}' is not a supported format.`);
    if (looksAround(node.pattern)) say(path, "regex lookaround is not supported.");
    const beside = Object.keys(node).filter((word) => word !== "$ref");
    if (node.$ref !== undefined && beside.length > 0)
      say(path, `$ref cannot have keywords {${beside.map((word) => `'${word}'`).join(", ")}}.`);
    if (!["type", "enum", "const", "anyOf", "$ref"].some((word) => node[word] !== undefined))
      say(path, "schema must have a 'type' key.");
    const types = Array.isArray(node.type) ? node.type : [node.type];
    if (types.includes("array") && node.items === undefined) say(path, "array schema missing items.");
    if (!types.includes("object") && node.properties === undefined) return;
    const properties = membersIn(node.properties);
    const required = listIn(node.required);
    if (node.additionalProperties !== false)
      say(path, "In context=(), 'additionalProperties' is required to be supplied and to be false.");
    const rule =
      "In context=(), 'required' is required to be supplied and to be an array including every key in properties.";
    for (const key of Object.keys(properties))
      if (!required.includes(key)) say(path, `${rule} Missing '${key}'.`);
    for (const key of required)
      if (typeof key !== "string" || !Object.hasOwn(properties, key))
        say(path, `${rule} Extra required key '${String(key)}' supplied.`);
  });
}

const anthropicWords = words(
  "type description title default enum const properties required additionalProperties items anyOf allOf $ref $defs definitions pattern format minItems",
);

const anthropicFormats = words("date-time time date duration email hostname uri ipv4 ipv6 uuid");

/** Anthropic's structured output and strict tools. */
export function checkAnthropicStructured(schema: unknown, at: string, say: Say): void {
  walk(schema, at, (node, path) => {
    for (const word of Object.keys(node))
      if (!anthropicWords.has(word))
        say(path, `For '${String(node.type)}' type, property '${word}' is not supported`);
    if (node.format !== undefined && !anthropicFormats.has(String(node.format)))
      say(path, `For 'string' type, format '${String(node.format)}' is not supported`);
    if (looksAround(node.pattern) || /\\b/i.test(String(node.pattern ?? "")))
      say(path, "Lookaround and word boundaries are not supported in 'pattern'");
    if (node.minItems !== undefined && node.minItems !== 0 && node.minItems !== 1)
      say(path, "For 'array' type, 'minItems' values other than 0 or 1 are not supported");
    const types = Array.isArray(node.type) ? node.type : [node.type];
    if (types.includes("object") && node.additionalProperties !== false)
      say(path, "For 'object' type, 'additionalProperties' must be explicitly set to false");
  });
}

/** What every provider demands of a tool's schema. */
export function checkToolTop(schema: unknown, at: string, say: Say): void {
  if (!isObject(schema) || schema.type !== "object") {
    say(
      at,
      `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(isObject(schema) ? schema.type : null)}"'.`,
    );
    return;
  }
  if (!isObject(schema.properties)) say(at, "In context=(), object schema missing properties.");
  for (const word of ["anyOf", "oneOf", "allOf", "enum", "not"])
    if (schema[word] !== undefined)
      say(
        at,
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
      );
  checkLists(schema, at, say);
  walk(schema, at, (node, path) => {
    const isList = node.type === "array" || listIn(node.type).includes("array");
    if (isList && node.items === undefined) say(path, `In context=(${path}), array schema missing items.`);
  });
}

/** Tuples as older drafts wrote them, which nobody takes. */
export function checkLists(schema: unknown, at: string, say: Say): void {
  walk(schema, at, (node, path) => {
    if (Array.isArray(node.items))
      say(path, `${JSON.stringify(node.items)} is not of type 'object', 'boolean'.`);
  });
}

const single = words(
  "items additionalProperties additionalItems not if then else contains propertyNames unevaluatedProperties unevaluatedItems",
);
const lists = words("items anyOf oneOf allOf prefixItems");
const maps = words("properties patternProperties $defs definitions dependentSchemas");

/** Every schema in a schema. Names of members are data. */
function walk(schema: unknown, at: string, visit: (node: JsonObject, path: string) => void): void {
  if (!isObject(schema)) return;
  visit(schema, at);
  for (const [word, value] of Object.entries(schema)) {
    if (maps.has(word) && isObject(value))
      for (const [name, one] of Object.entries(value)) walk(one, `${at}.${word}.${name}`, visit);
    else if (lists.has(word) && Array.isArray(value))
      for (const [i, one] of value.entries()) walk(one, `${at}.${word}[${i}]`, visit);
    else if (single.has(word)) walk(value, `${at}.${word}`, visit);
  }
}

const checkers: { readonly [mode: string]: (schema: unknown, at: string, say: Say) => void } = {
  tool: checkToolTop,
  anthropic: checkAnthropicStructured,
  "openai-strict": checkOpenaiStrict,
  "google-openapi": checkGoogleOpenapi,
  "google-structured": checkGoogleStructured,
  "google-strict": checkGoogleStrict,
  xai: checkXai,
};

/** What the provider behind an adapter's mode would refuse of a schema. */
export function checkSchema(schema: unknown, mode: string): Violation[] {
  const check = checkers[mode];
  if (check === undefined) throw new Error(`no rules are known for schemas of mode ${mode}`);
  const { found, say } = breaches();
  check(schema, "schema", say);
  return found;
}

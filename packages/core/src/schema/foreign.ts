// The room of foreign schemas, e.g. from a server: keeps their patterns from blocking our thread.
//
// A pattern may take JavaScript's engine practically forever, and nothing in the same thread can stop it. So the patterns of
// such a schema run in an engine with linear time (RE2), which is loaded when the first value is checked. Two things are not
// checked here, only by the schema's author: what RE2 does not support (lookahead, lookbehind, backreferences), and which
// members a pattern names. So our schema allows more. The model still reads all of it.

import { format as formats } from "@cfworker/json-schema";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { listOfSchemas, oneSchema, schemasByName } from "./keywords.ts";

const mark = Symbol.for("rondo.foreign-schema");

/**
 * A JSON Schema that somebody else wrote, for `inputSchema` of a tool: its patterns are matched in linear time (RE2), and
 * those that RE2 does not support are left to the schema's author. `mcpTools` of `@rondo/tools` uses it.
 */
export function foreignSchema<S extends object>(schema: S): S {
  return Object.defineProperty({ ...schema }, mark, { value: true });
}

export const isForeign = (schema: object): boolean => mark in schema;

/** A longer pattern is not checked here, and a longer text counts as matching: the time is proportional to one length times the other. */
const longestPattern = 1_000;
const longestText = 5_000;

/** The interpreter looks up a format by its name. So each pattern becomes a format, with a name that no schema has by accident. */
const prefix = "rondo-pattern:";
/** How many patterns are remembered at once. One that was forgotten is not checked. */
const mostKnown = 10_000;
const known: string[] = [];

/** Whether a word occurs anywhere in a schema. */
const says = (schema: Json, word: string): boolean =>
  Array.isArray(schema)
    ? schema.some((one) => says(one, word))
    : isObject(schema) && (word in schema || Object.values(schema).some((one) => says(one, word)));

/** Whether a pattern may be in a schema. */
export const hasPatterns = (schema: Json): boolean =>
  says(schema, "pattern") || says(schema, "patternProperties");

/** The schema to check values with, without patterns that JavaScript would run. */
export async function linear(schema: JsonObject): Promise<JsonObject> {
  const { RE2JS } = await import("re2js");
  let lost = false;
  const formatOf = (source: string): string | undefined => {
    const name = prefix + source;
    if (Object.hasOwn(formats, name)) return name;
    try {
      if (source.length > longestPattern) throw new RangeError();
      const expression = RE2JS.compile(withAllSpaces(RE2JS.translateRegExp(source)));
      const matches = (text: string): boolean => text.length > longestText || expression.matcher(text).find();
      formats[name] = matches;
    } catch {
      lost = true;
      return undefined;
    }
    if (known.push(name) > mostKnown) delete formats[known.shift() ?? ""];
    return name;
  };
  const whole = replaced(schema, { formatOf, isLoose: false });
  const isLoose = lost || says(schema, "patternProperties");
  return (isLoose ? replaced(schema, { formatOf, isLoose }) : whole) as JsonObject;
}

/** RE2's `\s` matches only ASCII spaces: without this it would refuse texts that JavaScript accepts. */
function withAllSpaces(source: string): string {
  const spaces = "\\s\\v\\p{Z}\\x{feff}";
  let inClass = false;
  return source.replace(/\\(.)|[[\]]/gs, (found, escaped?: string) => {
    if (escaped === undefined) inClass = found === "[";
    if (escaped === "s") return inClass ? spaces : `[${spaces}]`;
    return escaped === "S" && !inClass ? `[^${spaces}]` : found;
  });
}

/** The pattern behind a format in an error text; undefined for any other format. */
export const patternIn = (error: string): string | undefined => {
  const at = error.indexOf(`"${prefix}`);
  return at < 0 ? undefined : error.slice(at + 1 + prefix.length, error.lastIndexOf('"'));
};

/** The same schema without anything that selects names or texts by patterns, for finding out where values are. */
export const withoutPatterns = (schema: JsonObject): JsonObject =>
  replaced(schema, { formatOf: () => undefined, isLoose: true }) as JsonObject;

interface Replacing {
  /** The format for a pattern; undefined if the pattern is not checked. */
  formatOf(source: string): string | undefined;
  /** Something is not checked, so what would be refused because of it must not be checked either. */
  isLoose: boolean;
}

function replaced(given: Json, how: Replacing): Json {
  if (!isObject(given)) return given;
  const { pattern, patternProperties, ...rest } = how.isLoose ? loosened(given) : given;
  // It is unknown which members these patterns would name, so no member is refused for being unnamed.
  if (patternProperties !== undefined) delete rest.additionalProperties;
  const node = Object.fromEntries(
    Object.entries(rest).map(([word, value]) => [word, replacedIn(word, value, how)]),
  ) as JsonObject;
  const format = typeof pattern === "string" ? how.formatOf(pattern) : undefined;
  if (format === undefined) return node;
  return node.format === undefined ? { ...node, format } : withAlso(node, { format });
}

/** Without keywords that make a schema allow less when a part of it allows more. */
function loosened(given: JsonObject): JsonObject {
  const { not: _not, if: _if, contains: _contains, oneOf, ...node } = given;
  for (const word of ["then", "else", "minContains", "maxContains"]) delete node[word];
  for (const word of ["unevaluatedProperties", "unevaluatedItems"]) delete node[word];
  return oneOf === undefined ? node : withAlso(node, { anyOf: oneOf });
}

const withAlso = (node: JsonObject, schema: JsonObject): JsonObject => ({
  ...node,
  allOf: [...(Array.isArray(node.allOf) ? node.allOf : []), schema],
});

function replacedIn(word: string, value: Json, how: Replacing): Json {
  if (schemasByName.has(word) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, how)]));
  if (!oneSchema.has(word) && !listOfSchemas.has(word)) return value;
  return Array.isArray(value) ? value.map((one) => replaced(one, how)) : replaced(value, how);
}

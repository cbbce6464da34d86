// The room of schemas that somebody else wrote, a server for one: what in them would take our thread for as long as it likes.
//
// A pattern may take the engine of JavaScript longer than the universe lasts, and nothing in the same thread can stop it. So
// those of such a schema run in an engine whose time is linear (RE2), which is loaded when the first value is checked. What
// that engine does not have (looking ahead or behind, references back), and which members a pattern names, is not checked here,
// but by whoever wrote the schema: so the schema allows more. The model is told of all of it.

import { format as formats } from "@cfworker/json-schema";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { listOfSchemas, oneSchema, schemasByName } from "./keywords.ts";

const mark = Symbol.for("rondo.foreign-schema");

/**
 * A JSON Schema that somebody else wrote, for `inputSchema` of a tool: its patterns are matched in linear time (RE2), and those it does not
 * know are left to whoever wrote them. `mcpTools` of `@rondo/tools` uses it.
 */
export function foreignSchema<S extends object>(schema: S): S {
  return Object.defineProperty({ ...schema }, mark, { value: true });
}

export const isForeign = (schema: object): boolean => mark in schema;

/** A longer pattern is not checked here, and a longer text counts as one that matches: time is linear in one times the other. */
const longestPattern = 1_000;
const longestText = 5_000;

/** The interpreter asks for a format by its name: each pattern is one, under a name that no schema has by accident. */
const prefix = "rondo-pattern:";
/** So many patterns are known at once. One that was forgotten is not checked. */
const mostKnown = 10_000;
const known: string[] = [];

/** Whether a word is anywhere in a schema. */
const says = (schema: Json, word: string): boolean =>
  Array.isArray(schema)
    ? schema.some((one) => says(one, word))
    : isObject(schema) && (word in schema || Object.values(schema).some((one) => says(one, word)));

/** Whether a pattern may be in a schema. */
export const hasPatterns = (schema: Json): boolean =>
  says(schema, "pattern") || says(schema, "patternProperties");

/** The schema to check values by, without a pattern that JavaScript would run. */
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

/** RE2's `\s` is but the spaces of ASCII: with it alone a text would be refused that JavaScript takes. */
function withAllSpaces(source: string): string {
  const spaces = "\\s\\v\\p{Z}\\x{feff}";
  let inClass = false;
  return source.replace(/\\(.)|[[\]]/gs, (found, escaped?: string) => {
    if (escaped === undefined) inClass = found === "[";
    if (escaped === "s") return inClass ? spaces : `[${spaces}]`;
    return escaped === "S" && !inClass ? `[^${spaces}]` : found;
  });
}

/** What an error says of a format that stands for a pattern; undefined of any other. */
export const patternIn = (error: string): string | undefined => {
  const at = error.indexOf(`"${prefix}`);
  return at < 0 ? undefined : error.slice(at + 1 + prefix.length, error.lastIndexOf('"'));
};

/** The same schema with nothing in it that tells names or texts by patterns, for who only looks where values stand. */
export const withoutPatterns = (schema: JsonObject): JsonObject =>
  replaced(schema, { formatOf: () => undefined, isLoose: true }) as JsonObject;

interface Replacing {
  /** The format that stands for a pattern; undefined where it is not checked. */
  formatOf(source: string): string | undefined;
  /** Something is not checked: what would be refused for that is not looked at either. */
  isLoose: boolean;
}

function replaced(given: Json, how: Replacing): Json {
  if (!isObject(given)) return given;
  const { pattern, patternProperties, ...rest } = how.isLoose ? loosened(given) : given;
  // Which members these would name is not known, so none is refused for having no name.
  if (patternProperties !== undefined) delete rest.additionalProperties;
  const node = Object.fromEntries(
    Object.entries(rest).map(([word, value]) => [word, replacedIn(word, value, how)]),
  ) as JsonObject;
  const format = typeof pattern === "string" ? how.formatOf(pattern) : undefined;
  if (format === undefined) return node;
  return node.format === undefined ? { ...node, format } : withAlso(node, { format });
}

/** Without the words by which a schema that allows more allows less. */
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

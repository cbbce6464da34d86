// The room of the strategy's arguments: whether a call may run with the arguments that the model wrote, and the error text
// if not.
//
// Everything fails closed. If arguments cannot be read, are unknown, missing, or not among the options, the model is told so
// and the tool is not called. The tool's own schema is checked after this, never instead of it.

import { messageOf } from "../../errors.ts";
import { isObject, objectOf, ownMember } from "../../json/object.ts";
import { parsedJson } from "../../json/parse.ts";
import type { Json, JsonObject } from "../../message.ts";
import { saysMoreElsewhere, takesMore } from "../../schema/unknown-keys.ts";
import { charsOf } from "../../text/size.ts";
import type { ArgsCheck, Tool } from "../../tool.ts";

/** The outcome of parsing. `error` is the text after `tool arguments parse error: `. */
export type ParsedArguments = { ok: true; args: JsonObject } | { ok: false; error: string };

/** Reads a call's arguments as the model wrote them. An empty text means no arguments; blanks alone are not JSON. */
export function parseToolArguments(raw: unknown): ParsedArguments {
  if (typeof raw !== "string") return { ok: false, error: "tool arguments must be a JSON object string" };
  if (raw === "") return { ok: true, args: {} };
  let value: Json;
  try {
    value = parsedJson(raw);
  } catch {
    return { ok: false, error: "tool arguments must be valid JSON object" };
  }
  return isObject(value)
    ? { ok: true, args: value }
    : { ok: false, error: "tool arguments must be a JSON object" };
}

export interface ArgumentRules {
  /**
   * Check unknown keys, missing parameters, numbers and booleans in strings, and tools without a schema. Without it only
   * options are checked.
   */
  strict: boolean;
  /** With `strict`: whether a tool without a schema may be called with arguments, within limits. */
  allowSchemaless: boolean;
  /** Parameters that a tool gets in addition to the call's arguments, which override them. */
  runtime: JsonObject;
}

const limits = { keys: 16, keyCharacters: 64, valueCharacters: 2_048 };

/**
 * The tool's check, after the strategy's own. `args` are the arguments that the model wrote, coerced. `value` is what
 * `execute` gets, with the runtime parameters in it: those may be secrets, and must not get into a journal.
 */
export function checkedArguments(tool: Tool, rules: ArgumentRules): Tool["check"] {
  const properties = objectOf(tool.definition.inputSchema.properties);
  const declared = new Set(Object.keys(properties));
  const hidden = withoutKeys(rules.runtime, (key) => declared.has(key));
  const whole = (check: ArgsCheck, args: JsonObject): ArgsCheck => {
    if (!check.ok) return check;
    const written = withoutKeys(check.args, (key) => !Object.hasOwn(args, key));
    return { ok: true, args: written, value: withHidden(check.value, hidden) };
  };
  return (given, defaults) => {
    try {
      const args = checkStrategy(tool, properties, given, rules);
      const merged = { ...withoutKeys(rules.runtime, (key) => !declared.has(key)), ...args };
      const check = tool.check(merged, defaults);
      return check instanceof Promise ? check.then((one) => whole(one, args)) : whole(check, args);
    } catch (thrown) {
      return { ok: false, error: messageOf(thrown) };
    }
  };
}

/** @throws Error saying what does not fit */
function checkStrategy(
  tool: Tool,
  properties: JsonObject,
  given: JsonObject,
  rules: ArgumentRules,
): JsonObject {
  const keys = Object.keys(given);
  const schema = tool.definition.inputSchema;
  if (rules.strict && keys.length > 0 && saysNothing(schema)) {
    if (!rules.allowSchemaless) throw new Error(`schema is required for tool '${tool.name}'`);
    checkLimits(given);
    return given;
  }
  if (rules.strict) {
    const isClosed = !saysMoreElsewhere(schema) && !takesMore(schema);
    const unknown = keys.filter((key) => isClosed && !Object.hasOwn(properties, key));
    if (unknown.length > 0) throw new Error(`unknown parameters ${listed(unknown)}`);
    const { required } = schema;
    for (const key of Array.isArray(required) ? required.map(String) : []) {
      const value = ownMember({ ...rules.runtime, ...given }, key);
      const nullable = typesOf(properties[key]).includes("null");
      if (value === undefined || (value === null && !nullable))
        throw new Error(`missing required parameter '${key}'`);
    }
  }
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      Object.hasOwn(properties, key)
        ? withOptions(key, value, objectOf(properties[key]), rules.strict)
        : value,
    ]),
  );
}

/** Whether a schema is as good as none: it names no members, and does not restrict others. */
function saysNothing(schema: JsonObject): boolean {
  const { properties, additionalProperties, unevaluatedProperties } = schema;
  if (saysMoreElsewhere(schema) || Object.keys(objectOf(properties)).length > 0) return false;
  return Object.keys(objectOf(additionalProperties ?? unevaluatedProperties)).length === 0;
}

/** A value as its type and its options require it. */
function withOptions(key: string, value: Json, schema: JsonObject, strict: boolean): Json {
  const typed = strict ? coerced(key, value, schema) : value;
  if (!Array.isArray(schema.enum)) return typed;
  const options = schema.enum;
  if (options.includes(typed)) return typed;
  const asText = typeof typed === "boolean" ? String(typed) : typed;
  if (options.includes(asText)) return asText;
  throw new Error(`parameter '${key}' value '${shown(asText)}' not in options ${listed(options)}`);
}

function coerced(key: string, value: Json, schema: JsonObject): Json {
  const { type } = schema;
  if (type === "integer") {
    const number = typeof value === "string" ? numberIn(value, /^[+-]?\d+$/) : value;
    if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  } else if (type === "number") {
    const number =
      typeof value === "string" ? numberIn(value, /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
  } else if (type === "boolean") {
    if (typeof value === "boolean") return value;
    const word = typeof value === "string" ? value.trim().toLowerCase() : "";
    if (word === "true" || word === "false") return word === "true";
  } else return value;
  throw new Error(`parameter '${key}' requires ${type}`);
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const trimmed = text.trim();
  return pattern.test(trimmed) ? Number(trimmed) : undefined;
}

function checkLimits(args: JsonObject): void {
  const keys = Object.keys(args);
  if (keys.length > limits.keys) throw new Error(`too many parameters: ${keys.length}, max ${limits.keys}`);
  for (const key of keys) {
    const length = charsOf(key);
    if (length > limits.keyCharacters)
      throw new Error(`parameter name too long: ${length} characters, max ${limits.keyCharacters}`);
    const size = charsOf(JSON.stringify(args[key]));
    if (size > limits.valueCharacters)
      throw new Error(`parameter '${key}' too long: ${size} characters, max ${limits.valueCharacters}`);
  }
}

function typesOf(schema: Json | undefined): Json[] {
  const { type } = objectOf(schema);
  return Array.isArray(type) ? type : [type ?? null];
}

/** A list in the form the model reads: `['a', 'b', 3]`. */
function listed(items: readonly Json[]): string {
  return `[${items.map((item) => (typeof item === "string" ? `'${item}'` : shown(item))).join(", ")}]`;
}

const shown = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function withoutKeys(value: JsonObject, drop: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !drop(key)));
}

function withHidden(value: unknown, hidden: JsonObject): unknown {
  if (Object.keys(hidden).length === 0 || typeof value !== "object" || value === null) return value;
  return { ...hidden, ...value };
}

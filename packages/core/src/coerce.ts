// The room of coercion: what a model meant when it wrote the right value in the wrong type.
//
// Only where the schema asks for another type than the value has, and only losslessly. What it cannot mend it
// returns as it was, by identity: the validator's own message is then the one the model reads.

import type { Json, JsonObject } from "./message.ts";

/** The value with its types mended as the schema asks; the same value when there was nothing to mend. */
export function coerce(value: Json, schema: Json | undefined): Json {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return value;
  const wanted = typesOf(schema);
  const mended = wanted.length === 0 || wanted.includes(typeOf(value)) ? value : mend(value, wanted);
  if (Array.isArray(mended)) return coerceItems(mended, schema.items);
  if (typeof mended === "object" && mended !== null) return coerceProperties(mended, schema);
  return mended;
}

function typesOf(schema: JsonObject): string[] {
  const { type } = schema;
  const types =
    typeof type === "string"
      ? [type]
      : Array.isArray(type)
        ? type.filter((one) => typeof one === "string")
        : [];
  return types.includes("number") ? [...types, "integer"] : types;
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function mend(value: Json, wanted: readonly string[]): Json {
  if (typeof value === "string") return mendText(value.trim(), value, wanted);
  if (wanted.includes("string") && (typeof value === "number" || typeof value === "boolean"))
    return String(value);
  return value;
}

function mendText(text: string, original: string, wanted: readonly string[]): Json {
  if (wanted.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (wanted.includes("null") && text === "null") return null;
  if (wanted.includes("integer") && /^-?(0|[1-9]\d*)$/.test(text)) {
    const number = Number(text);
    if (Number.isSafeInteger(number)) return number;
  }
  if (wanted.includes("number") && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) {
    const number = Number(text);
    if (Number.isFinite(number)) return number;
  }
  if (
    (wanted.includes("object") && text.startsWith("{")) ||
    (wanted.includes("array") && text.startsWith("["))
  ) {
    try {
      const parsed = JSON.parse(text) as Json;
      return wanted.includes(typeOf(parsed)) ? parsed : original;
    } catch {
      return original;
    }
  }
  return original;
}

function coerceItems(items: Json[], schema: Json | undefined): Json[] {
  const mended = items.map((item) => coerce(item, schema));
  return mended.some((item, at) => item !== items[at]) ? mended : items;
}

function coerceProperties(value: JsonObject, schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return value;
  const demanded = Array.isArray(required) ? required : [];
  const mended = new Map(Object.entries(value));
  let changed = false;
  for (const [key, member] of Object.entries(properties)) {
    const before = mended.get(key);
    if (before === undefined) continue;
    // Null for a member that may be absent and may not be null: absent is what it means (strict modes demand every key).
    const after =
      before === null && !demanded.includes(key) && !takesNull(member) ? undefined : coerce(before, member);
    if (after === before) continue;
    changed = true;
    if (after === undefined) mended.delete(key);
    else mended.set(key, after);
  }
  return changed ? Object.fromEntries(mended) : value;
}

/** Whether null is a value of the schema, as far as it says so itself. */
function takesNull(schema: Json): boolean {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema === true;
  if (schema.const !== undefined) return schema.const === null;
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  const types = typesOf(schema);
  if (types.length > 0) return types.includes("null");
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return branches.some(takesNull);
  return schema.$ref === undefined;
}

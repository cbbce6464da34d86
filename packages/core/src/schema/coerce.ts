// The room of coercion: what a model meant when it wrote the right value in the wrong type.
//
// Only where the schema asks for another type than the value has, and only losslessly. What it cannot mend it
// returns as it was, by identity: the validator's own message is then the one the model reads. Whatever is mended is
// checked again, so a guess among alternatives can be wrong without harm.

import { jsonIn } from "../json/in-text.ts";
import { isObject, objectOf, ownMember } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { itemSchema } from "./items.ts";
import { pointed } from "./pointer.ts";

/** The value with its types mended as the schema asks; the same value when there was nothing to mend. */
export function coerce(value: Json, schema: Json | undefined): Json {
  return mendedBy(value, schema, { root: schema ?? true, trail: [] });
}

/** Where references lead, and the schemas of this same value that were looked into on the way. */
interface Place {
  root: Json;
  trail: readonly JsonObject[];
}

function mendedBy(value: Json, schema: Json | undefined, place: Place): Json {
  if (!isObject(schema) || place.trail.includes(schema)) return value;
  const here: Place = { root: place.root, trail: [...place.trail, schema] };
  let mended = value;
  for (const part of [referred(schema, place.root), ...listOf(schema.allOf)])
    mended = mendedBy(mended, part, here);
  mended = ofValues(ofType(mended, typesOf(schema)), schema);
  const branches = branchesOf(schema);
  if (branches.length > 0) mended = byBranch(mended, branches, here);
  const inner: Place = { root: place.root, trail: [] };
  if (Array.isArray(mended)) return items(mended, schema, inner);
  return isObject(mended) ? members(mended, schema, inner) : mended;
}

// ---- alternatives --------------------------------------------------------------------------------------------------

/** By the alternative that is meant: one of the value's type whose tag and required members it has; else the first that can mend it. */
function byBranch(value: Json, branches: readonly Json[], here: Place): Json {
  const type = typeOf(value);
  const fitting = branches.filter((branch) => {
    const types = typesIn(branch, here);
    return types.length === 0 || types.includes(type);
  });
  const tried =
    fitting.length === 0
      ? branches
      : isObject(value)
        ? fitting.filter((branch) => isMeant(value, branch, here))
        : fitting;
  // A text that an alternative takes as it is stays a text; it may be a listed one in quotes.
  if (fitting.length > 0 && typeof value !== "object" && fitting.every((one) => !listsValues(one, here)))
    return value;
  for (const branch of tried) {
    const mended = mendedBy(value, branch, here);
    if (mended !== value) return mended;
  }
  return value;
}

function isMeant(value: JsonObject, branch: Json, { root, trail }: Place): boolean {
  const shape = settled(branch, root, trail);
  const has = listOf(shape.required).every((name) => Object.hasOwn(value, String(name)));
  return (
    has &&
    Object.entries(objectOf(shape.properties)).every(([name, member]) => {
      const single = isObject(member) ? (member.const ?? (member.enum as Json | undefined)) : undefined;
      const own = ownMember(value, name);
      return single === undefined || own === undefined || own === null || [single].flat().includes(own);
    })
  );
}

/** What a branch that is but a reference leads to. */
function settled(branch: Json, root: Json, trail: readonly JsonObject[]): JsonObject {
  if (!isObject(branch)) return {};
  const found = trail.includes(branch) ? undefined : referred(branch, root);
  return isObject(found) ? { ...settled(found, root, [...trail, branch]), ...branch } : branch;
}

function typesIn(branch: Json, { root, trail }: Place): string[] {
  const shape = settled(branch, root, trail);
  const types = typesOf(shape);
  if (types.length > 0) return types;
  const values = shape.const === undefined ? shape.enum : [shape.const];
  return Array.isArray(values) ? [...new Set(values.map(typeOf))] : [];
}

const listsValues = (branch: Json, { root, trail }: Place): boolean => {
  const shape = settled(branch, root, trail);
  return shape.const !== undefined || shape.enum !== undefined;
};

const branchesOf = (schema: JsonObject): Json[] => listOf(schema.anyOf ?? schema.oneOf);

const referred = (schema: JsonObject, root: Json): Json | undefined =>
  typeof schema.$ref === "string" ? pointed(root, schema.$ref) : undefined;

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

// ---- types ---------------------------------------------------------------------------------------------------------

function typesOf({ type }: JsonObject): string[] {
  const types = [type].flat().filter((one) => typeof one === "string");
  return types.includes("number") ? [...types, "integer"] : types;
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function ofType(value: Json, wanted: readonly string[]): Json {
  if (wanted.length === 0 || wanted.includes(typeOf(value))) return value;
  if (typeof value === "string") return ofText(value.trim(), value, wanted);
  if (wanted.includes("string") && (typeof value === "boolean" || isExact(value))) return String(value);
  return value;
}

/** A number that is what was written. An integer that no double holds has lost its digits: made a text, it would be another one. */
const isExact = (value: Json): boolean =>
  typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** A listed value: a word that came with its quotes, or one of another type, where only the list says which. */
function ofValues(value: Json, schema: JsonObject): Json {
  const values = schema.const === undefined ? listOf(schema.enum) : [schema.const];
  if (typeof value === "object" || values.length === 0 || values.includes(value)) return value;
  const types = values.filter((one) => typeof one !== "object" && typeof one !== typeof value).map(typeOf);
  const isQuoted = typeof value === "string" && value.trim().startsWith('"');
  const bare = isQuoted
    ? jsonIn(value)?.value
    : ofType(typeof value === "string" ? value.trim() : value, types);
  return bare !== undefined && values.includes(bare) ? bare : value;
}

function ofText(text: string, original: string, wanted: readonly string[]): Json {
  // Python's words among them: models write those, too.
  if (wanted.includes("boolean") && /^(?:[Tt]rue|[Ff]alse)$/.test(text)) return text.endsWith("rue");
  if (wanted.includes("null") && isNullWord(text)) return null;
  if (wanted.includes("integer") && /^-?(0|[1-9]\d*)(\.0+)?$/.test(text)) {
    const number = Number(text);
    if (Number.isSafeInteger(number)) return number;
  }
  if (wanted.includes("number") && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) {
    const number = Number(text);
    if (Number.isFinite(number) && (isExact(number) || /e/i.test(text))) return number;
  }
  const parsed =
    (wanted.includes("object") && text.startsWith("{")) || (wanted.includes("array") && text.startsWith("["))
      ? jsonIn(text)?.value
      : undefined;
  return parsed ?? original;
}

const isNullWord = (value: Json): boolean => typeof value === "string" && /^\s*(?:null|None)\s*$/.test(value);

// ---- what is inside ------------------------------------------------------------------------------------------------

function items(list: Json[], schema: JsonObject, inner: Place): Json[] {
  const mended = list.map((item, at) => mendedBy(item, itemSchema(schema, at), inner));
  return mended.some((item, at) => item !== list[at]) ? mended : list;
}

function members(value: JsonObject, schema: JsonObject, inner: Place): JsonObject {
  const named = objectOf(schema.properties);
  const patterns = Object.entries(objectOf(schema.patternProperties));
  const demanded = listOf(schema.required);
  let changed = false;
  const mended = Object.entries(value).flatMap(([key, before]): [string, Json][] => {
    const own = ownMember(named, key);
    // Null for a member that may be absent and may not be null: absent is what it means (strict modes demand every key),
    // and so does the word for it where the member is no text (parsers that make text of what they read).
    const isNull = before === null || isNullWord(before);
    if (
      isNull &&
      own !== undefined &&
      !demanded.includes(key) &&
      !takes(before, own, inner) &&
      !takes(null, own, inner)
    ) {
      changed = true;
      return [];
    }
    const by = own ?? patterns.find(([pattern]) => matches(pattern, key))?.[1] ?? schema.additionalProperties;
    const after = mendedBy(before, by, inner);
    changed ||= after !== before;
    return [[key, after]];
  });
  return changed ? Object.fromEntries(mended) : value;
}

function matches(pattern: string, key: string): boolean {
  try {
    return new RegExp(pattern, "u").test(key);
  } catch {
    return false;
  }
}

/** Whether a listed value is the given one. Of texts it counts what they say: "None" for "none" is a slip, and not the word for null. */
const isSaying = (listed: Json, given: Json): boolean =>
  typeof listed === "string" && typeof given === "string"
    ? listed.toLowerCase() === given.trim().toLowerCase()
    : listed === given;

/** Whether the value is one of the schema's, as far as its type and listed values say so. */
function takes(value: Json, schema: Json, { root, trail }: Place): boolean {
  if (!isObject(schema)) return schema === true;
  if (trail.includes(schema)) return true;
  if (schema.const !== undefined) return isSaying(schema.const, value);
  if (Array.isArray(schema.enum)) return schema.enum.some((listed) => isSaying(listed, value));
  const types = typesOf(schema);
  if (types.length > 0) return types.includes(typeOf(value));
  const here: Place = { root, trail: [...trail, schema] };
  const branches = branchesOf(schema);
  if (branches.length > 0) return branches.some((branch) => takes(value, branch, here));
  if (schema.$ref === undefined) return listOf(schema.allOf).every((part) => takes(value, part, here));
  const found = referred(schema, root);
  return found !== undefined && takes(value, found, here);
}

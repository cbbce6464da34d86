// The room of coercion: what a model meant when it wrote the right value in the wrong type.
//
// It applies only where the schema asks for another type than the value has, and only if nothing is lost. A value that it
// cannot coerce is returned as it was, by identity: then the model reads the validator's own message. Every coerced value is
// checked again, so a wrong guess among alternatives does no harm.

import { jsonIn } from "../json/in-text.ts";
import { isObject, objectOf, ownMember } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { itemSchema } from "./items.ts";
import { pointed } from "./pointer.ts";

/** The value with its types coerced as the schema asks; the same value if there was nothing to coerce. */
export function coerce(value: Json, schema: Json | undefined): Json {
  return mendedBy(value, schema, { root: schema ?? true, trail: [] });
}

/** Where references lead, and the schemas already followed for this same value. */
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

/**
 * Coerces by the alternative that is meant: one of the value's type whose tag and required members it has, else the first
 * one that can coerce it.
 */
function byBranch(value: Json, branches: readonly Json[], here: Place): Json {
  const type = typeOf(value);
  const fitting = branches.filter((branch) => {
    const types = typesIn(branch, here);
    return types.length === 0 || types.includes(type);
  });
  const isPlain = fitting.length > 0 && typeof value !== "object";
  // A string that an alternative accepts as it is stays a string; but it may be a listed value in quotes.
  if (isPlain && fitting.every((one) => !listsValues(one, here))) return value;
  // Where alternatives only list other values (`number | "NaN"`), another one may be meant.
  const isElse =
    isPlain &&
    fitting.every(
      (one) => listsValues(one, here) && !takes(value, settled(one, here.root, here.trail), here),
    );
  const tried =
    fitting.length === 0
      ? branches
      : isObject(value)
        ? fitting.filter((branch) => isMeant(value, branch, here))
        : isElse
          ? [...fitting, ...branches.filter((one) => !fitting.includes(one))]
          : fitting;
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

/** The schema to which a branch leads that is only a reference. */
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

/**
 * Whether a number is exactly what was written. An integer that no double can hold has lost digits: as a string it would
 * be another value.
 */
const isExact = (value: Json): boolean =>
  typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** A listed value: a word that was written with quotes, or a value of another type, if only the list gives the type. */
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
  // Python's words too: models write those.
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
    // A null for a member that may be absent and may not be null means absent (strict modes demand every key). So does the
    // word for null, if the member is no string (some parsers make strings of everything).
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
    // Of alternatives a model is shown one object with the members of all, and it writes null for those of the others.
    const isStrange = own === undefined && schema.additionalProperties === false;
    if (before === null && isStrange && !patterns.some(([pattern]) => matches(pattern, key))) {
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

/** Whether a listed value is the given one. Strings are compared loosely: "None" for "none" is a slip, and not the word for null. */
const isSaying = (listed: Json, given: Json): boolean =>
  typeof listed === "string" && typeof given === "string"
    ? listed.toLowerCase() === given.trim().toLowerCase()
    : listed === given;

/** Whether the schema accepts the value, as far as its type and its listed values say. */
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

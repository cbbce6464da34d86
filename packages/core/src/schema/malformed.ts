// The room of malformed schemas from elsewhere: a keyword with a meaningless value, a reference to nothing, or only to
// itself.
//
// One such tool would make the provider refuse every request that declares it, and its calls would fail whatever their
// arguments are (F141, F143). Invalid parts are left out, so that the schema allows more; its valid parts apply.

import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../message.ts";
import { listOfSchemas, oneSchema, schemasByName, typeWords } from "./keywords.ts";
import { pointed } from "./pointer.ts";

const isText = (value: Json): boolean => typeof value === "string";
const isNumber = (value: Json): boolean => typeof value === "number";
const isCount = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;
const isFlag = (value: Json): boolean => typeof value === "boolean";
/** What the value of a keyword must look like. A null, for example, makes the whole schema invalid for a strict reader. */
const shapes: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ..."title description format contentEncoding contentMediaType $comment $ref"
    .split(" ")
    .map((word) => [word, isText] as const),
  ..."minimum maximum exclusiveMinimum exclusiveMaximum".split(" ").map((word) => [word, isNumber] as const),
  ..."minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains"
    .split(" ")
    .map((word) => [word, isCount] as const),
  ..."uniqueItems deprecated readOnly writeOnly nullable".split(" ").map((word) => [word, isFlag] as const),
  ["examples", (value: Json) => Array.isArray(value)],
  // Without values it would refuse every value, and OpenAI and Google refuse it.
  ["enum", (value: Json) => Array.isArray(value) && value.length > 0],
  ["multipleOf", (value: Json) => typeof value === "number" && value > 0],
  ["pattern", (value: Json) => typeof value === "string" && isPattern(value)],
]);
const references: readonly string[] = ["$ref"];
const names: readonly string[] = ["$id", "$anchor", "$dynamicAnchor"];
/** Keywords whose schemas apply to the same value: a circle of these alone would never end. */
const inPlace: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "not", "if", "then", "else"]);

/** The schema without its invalid parts; the same object if it has none. */
export function wellFormedSchema(schema: JsonObject): JsonObject {
  const lost = new Set<JsonObject>();
  // A schema that names places in itself may refer to them by name: only the validator can resolve these.
  if (says(schema, references) && !Object.values(schema).some((inner) => says(inner, names)))
    if (typeof schema.$anchor !== "string" && typeof schema.$dynamicAnchor !== "string")
      findLost(schema, lost);
  return sound(schema, (node) => lost.has(node)) as JsonObject;
}

/** What `wellFormedSchema` left out, each with its place in the schema and the value there, e.g. `#/properties/city/type ("text")`. */
export function leftOut(given: Json, kept: Json | undefined, place: string = "#"): string[] {
  if (given === kept) return [];
  if (Array.isArray(given) && Array.isArray(kept) && given.length === kept.length)
    return given.flatMap((one, at) => leftOut(one, kept[at], `${place}/${at}`));
  if (typeof given === "string" && given.toLowerCase() === kept) return [];
  if (!isObject(given) || !isObject(kept)) return [`${place} (${JSON.stringify(given)?.slice(0, 80)})`];
  // A bound that is only written in another way is not lost.
  return Object.entries(withBounds(given)).flatMap(([word, value]) =>
    leftOut(value, kept[word], `${place}/${word}`),
  );
}

// ---- keywords ------------------------------------------------------------------------------------------------------

type IsLost = (node: JsonObject) => boolean;

function sound(given: Json, isLost: IsLost): Json {
  if (!isObject(given)) return typeof given === "boolean" ? given : {};
  const bounded = withBounds(given);
  let changed = bounded !== given;
  const kept: [string, Json][] = [];
  for (const [word, value] of Object.entries(bounded)) {
    const mended = word === "$ref" && isLost(given) ? undefined : soundWord(word, value, isLost);
    changed ||= mended !== value;
    if (mended !== undefined) kept.push([word, mended]);
  }
  return changed ? Object.fromEntries(kept) : given;
}

function soundWord(word: string, value: Json, isLost: IsLost): Json | undefined {
  if (oneSchema.has(word)) {
    if (Array.isArray(value)) return mapped(value, (one) => sound(one, isLost));
    return isObject(value) || typeof value === "boolean" ? sound(value, isLost) : undefined;
  }
  if (listOfSchemas.has(word))
    return Array.isArray(value) && value.length > 0 ? mapped(value, (one) => sound(one, isLost)) : undefined;
  if (schemasByName.has(word))
    return isObject(value) ? mappedMembers(value, (one) => sound(one, isLost)) : undefined;
  switch (word) {
    case "type": {
      if (!Array.isArray(value)) return typeIn(value);
      const types = [...new Set(value.flatMap((one) => typeIn(one) ?? []))];
      if (types.length === 0) return undefined;
      return types.length === value.length && types.every((one, at) => one === value[at]) ? value : types;
    }
    case "required": {
      if (!Array.isArray(value)) return undefined;
      const names = [...new Set(value.filter((one) => typeof one === "string"))];
      return names.length === value.length ? value : names;
    }
    default:
      return shapes.get(word)?.(value) === false ? undefined : value;
  }
}

/** A type, also in capitals, as Google's SDKs write it. */
function typeIn(value: Json): string | undefined {
  const word = typeof value === "string" ? value.toLowerCase() : undefined;
  return word !== undefined && typeWords.has(word) ? word : undefined;
}

const bounds = { exclusiveMinimum: "minimum", exclusiveMaximum: "maximum" };

/** In draft 4 a bound is exclusive if there is a `true` next to it. Read as a number that `true` becomes 1, and providers refuse it. */
function withBounds(given: JsonObject): JsonObject {
  let node = given;
  for (const [word, bound] of Object.entries(bounds)) {
    if (typeof node[word] !== "boolean") continue;
    const { [word]: exclusive, [bound]: value, ...rest } = node;
    const told = typeof value === "number" ? { [exclusive === true ? word : bound]: value } : {};
    node = { ...rest, ...told };
  }
  return node;
}

function mapped(list: readonly Json[], change: (one: Json) => Json): Json[] {
  const all = list.map(change);
  return all.every((one, at) => one === list[at]) ? (list as Json[]) : all;
}

function mappedMembers(object: JsonObject, change: (one: Json) => Json): JsonObject {
  const all = Object.entries(object).map(([name, one]): [string, Json] => [name, change(one)]);
  return all.every(([name, one]) => one === object[name]) ? object : Object.fromEntries(all);
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
}

// ---- references ----------------------------------------------------------------------------------------------------

/** Finds references to nothing, and those that close a circle in which no value grows smaller. */
function findLost(root: JsonObject, lost: Set<JsonObject>): void {
  const done = new Set<JsonObject>();
  const walk = (node: Json): void => {
    if (Array.isArray(node)) for (const one of node) walk(one);
    else if (isObject(node)) {
      findCircle(root, node, new Set(), done, lost);
      for (const inner of Object.values(node)) walk(inner);
    }
  };
  walk(root);
}

function findCircle(
  root: JsonObject,
  node: JsonObject,
  trail: Set<JsonObject>,
  done: Set<JsonObject>,
  lost: Set<JsonObject>,
): void {
  if (done.has(node)) return;
  trail.add(node);
  const { $ref } = node;
  if (typeof $ref === "string") {
    const target = pointed(root, withinRoot(root, $ref));
    if (target === undefined || (isObject(target) && trail.has(target))) lost.add(node);
    else if (isObject(target)) findCircle(root, target, trail, done, lost);
  }
  for (const word of inPlace)
    for (const inner of [node[word] ?? []].flat())
      if (isObject(inner)) findCircle(root, inner, trail, done, lost);
  trail.delete(node);
  done.add(node);
}

/** A reference that begins with the whole schema's own name, without it. */
function withinRoot({ $id }: JsonObject, ref: string): string {
  if (typeof $id !== "string" || !ref.startsWith($id)) return ref;
  const place = ref.slice($id.length);
  return place === "" ? "#" : place;
}

/** Whether one of the keywords occurs anywhere in a schema, with a string. */
function says(node: Json, words: readonly string[]): boolean {
  if (Array.isArray(node)) return node.some((one) => says(one, words));
  if (!isObject(node)) return false;
  return (
    words.some((word) => typeof node[word] === "string") ||
    Object.values(node).some((one) => says(one, words))
  );
}

// ---- nullable ------------------------------------------------------------------------------------------------------

/** The schema by which values are checked: with OpenAPI's `nullable` it also accepts null. The same object if nothing differs. */
export function toCheckBy(schema: JsonObject): JsonObject {
  return checking(schema) as JsonObject;
}

function checking(given: Json): Json {
  if (!isObject(given)) return given;
  let node = given;
  for (const [word, value] of Object.entries(given)) {
    // This is no format of JSON Schema, and the interpreter's expression for it takes years for a host of fifty letters.
    if (word === "format" && value === "url") {
      const { format: _unknown, ...rest } = node;
      node = rest;
      continue;
    }
    const inner = checkingIn(word, value);
    if (inner !== value) node = { ...node, [word]: inner };
  }
  return node.nullable === true ? orNull(node) : node;
}

function checkingIn(word: string, value: Json): Json {
  if (schemasByName.has(word)) return isObject(value) ? mappedMembers(value, checking) : value;
  if (!oneSchema.has(word) && !listOfSchemas.has(word)) return value;
  return Array.isArray(value) ? mapped(value, checking) : checking(value);
}

/** Changes it in place if possible: references may lead through it. */
function orNull(node: JsonObject): JsonObject {
  if (node.allOf !== undefined || node.$ref !== undefined) return { anyOf: [node, { type: "null" }] };
  const { const: single, ...rest } = node;
  const values = single === undefined ? node.enum : [single];
  const word = node.anyOf === undefined ? "oneOf" : "anyOf";
  const branches = node[word];
  return {
    ...rest,
    ...(node.type === undefined ? {} : { type: [node.type, "null"].flat() }),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
    ...(Array.isArray(branches) ? { [word]: [...branches, { type: "null" }] } : {}),
  };
}

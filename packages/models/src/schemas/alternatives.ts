// The room of alternatives: converts `anyOf` and `oneOf` for dialects that restrict them.
//
// Nulls among them become a keyword of the whole schema, single values become one enum, a lone alternative replaces the
// union; keywords beside them are copied into each, or lost.

import type { Json, JsonObject } from "@rondo/core";
import { isObject, listIn } from "../json-values.ts";
import type { Dialect } from "./dialects.ts";
import { definitions, valueWords } from "./keywords.ts";
import type { Losses } from "./losses.ts";
import { areDisjoint, merge, valuesOf } from "./merge.ts";
import { annotations, isNull, literalOf, objectOf, pointed, typesOf } from "./node.ts";
import { isTypeOf, typeOfValues } from "./types.ts";

/** The references that were followed on the way here, and an empty name for each level of depth. */
export type Trail = readonly string[];

/** The conversion that this is a part of. */
export interface Walk {
  readonly root: Json;
  readonly dialect: Dialect;
  readonly losses: Losses;
  node(given: Json, path: string, trail: Trail): Json;
  /** Converts a node that no longer has a reference or alternatives of its own. */
  plain(node: JsonObject, path: string, trail: Trail): Json;
  /** A node's annotations, as far as the dialect accepts them. */
  meta(node: JsonObject): JsonObject;
  definitions(node: JsonObject, trail: Trail): JsonObject;
  nulled(out: JsonObject, nullable: boolean): JsonObject;
}

/** Alternatives, and what is known of them. */
interface Told {
  word: "anyOf" | "oneOf";
  all: Json[];
  /** Without nulls, if the dialect has another keyword for them. */
  variants: Json[];
  /** The keywords beside them. */
  rest: JsonObject;
  hadNull: boolean;
  /** The union accepts null. */
  nullable: boolean;
  /** A value may satisfy several of them, but must satisfy exactly one. */
  exclusive: boolean;
}

/** Converts `anyOf` and `oneOf` if the dialect restricts them; undefined: they are converted like any other keyword. */
export function alternativesOf(walk: Walk, node: JsonObject, path: string, trail: Trail): Json | undefined {
  const { dialect, losses } = walk;
  const word = (["anyOf", "oneOf"] as const).find((one) => Array.isArray(node[one]));
  if (word === undefined || dialect.beside === "stays") return undefined;
  const { [word]: given, ...rest } = node;
  const all = listIn(given).map((variant) => followed(walk, variant, trail));
  const variants = dialect.nulls === undefined ? all : all.filter((variant) => !isNull(variant));
  const hadNull = variants.length < all.length;
  const nullable = hadNull && leavesNull(rest);
  if (variants.length === 0) {
    losses.lose(word, path, all);
    return walk.nulled(objectOf(walk.node(rest, path, trail)), nullable);
  }
  const exclusive = word === "oneOf" && !areDisjoint(all);
  const told: Told = { word, all, variants, rest, hadNull, nullable, exclusive };
  const collapsed = dialect.collapses ? collapsedOf(walk, told, path, trail) : undefined;
  if (collapsed !== undefined) return collapsed;
  return dialect.beside === "untyped"
    ? untypedOf(walk, told, path, trail)
    : spreadOf(walk, told, path, trail);
}

/** Single values as one enum, a lone alternative as itself; undefined in any other case. */
function collapsedOf(walk: Walk, told: Told, path: string, trail: Trail): Json | undefined {
  const { dialect, losses } = walk;
  const { word, all, variants, rest, hadNull, nullable, exclusive } = told;
  const literals = literalsOf(dialect, variants);
  if (literals !== undefined) {
    const plain = variants.every((one) => Object.keys(objectOf(one)).every((key) => valueWords.has(key)));
    if (exclusive || !plain) losses.lose(word, path, all);
    return walk.nulled(enumOf(walk, literals, variants, rest, path), nullable);
  }
  if (variants.length > 1 || (!hadNull && dialect.open)) return undefined;
  const lone = merge({ ...rest }, objectOf(variants[0]));
  if (lone.clash || exclusive || !isObject(variants[0])) losses.lose(word, path, all);
  return walk.nulled(objectOf(walk.node(lone.node, path, trail)), nullable);
}

/** Beside alternatives everything stays except the type. */
function untypedOf(walk: Walk, told: Told, path: string, trail: Trail): Json {
  const { dialect, losses } = walk;
  const { word, all, variants, rest, exclusive } = told;
  const converted = losses.within(word, all, path, () => variants.map((one) => walk.node(one, path, trail)));
  // Some became single values only by the conversion.
  const literals = literalsOf(dialect, converted);
  if (literals !== undefined) {
    if (exclusive) losses.lose(word, path, all);
    return enumOf(walk, literals, converted, rest, path);
  }
  if (rest.type !== undefined) losses.lose("type", path, rest.type);
  const { type: _, ...others } = rest;
  return { ...objectOf(walk.plain(others, path, trail)), [word]: converted };
}

/**
 * Copies the keywords beside alternatives into each. If the alternatives have members of their own, they usually only say
 * which of the members go together.
 */
function spreadOf(walk: Walk, told: Told, path: string, trail: Trail): Json {
  const { losses } = walk;
  const { word, all, variants, rest, nullable, exclusive } = told;
  if (rest.properties !== undefined) {
    losses.lose(word, path, all);
    return walk.node(rest, path, trail);
  }
  if (exclusive) losses.lose(word, path, all);
  const ruling = Object.keys(rest).filter((key) => !annotations.has(key) && !definitions.has(key));
  const beside = Object.fromEntries(ruling.map((key) => [key, rest[key] as Json]));
  const converted = losses.within(word, all, path, () =>
    variants.map((variant) => {
      if (!isObject(variant) || ruling.length === 0) return walk.node(variant, path, trail);
      const spread = merge(variant, beside);
      if (spread.clash) {
        losses.lose("allOf", path, [beside]);
        losses.lose(word, path, all);
      }
      return walk.node(spread.node, path, trail);
    }),
  );
  if (ruling.length > 0 && losses.hasAt(word, path)) losses.lose("allOf", path, [beside]);
  return walk.nulled({ ...walk.meta(rest), ...walk.definitions(rest, trail), anyOf: converted }, nullable);
}

/** One enum in place of alternatives. Of the keywords beside them only annotations stay. */
function enumOf(
  walk: Walk,
  literals: Json[],
  variants: readonly Json[],
  rest: JsonObject,
  path: string,
): JsonObject {
  for (const [key, value] of Object.entries(rest))
    if (key !== "type" || !isTypeOf(literals, value)) walk.losses.lose(key, path, value, rest);
  return { ...walk.meta(rest), type: typeOfValues(variants, literals) as string, enum: literals };
}

/** An alternative that is only a reference to a single value or to null is replaced by it. */
function followed(walk: Walk, variant: Json, trail: Trail): Json {
  if (walk.dialect.references !== "inline") return variant;
  const refs = new Set(trail);
  let node: Json = variant;
  while (isObject(node) && typeof node.$ref === "string" && !refs.has(node.$ref)) {
    const { $ref, ...beside } = node;
    refs.add($ref);
    node = merge(beside, objectOf(pointed(walk.root, $ref))).node;
  }
  const plain = Object.keys(objectOf(node)).every((key) => valueWords.has(key));
  return isNull(node) || (plain && literalOf(node) !== undefined) ? node : variant;
}

/** The values of alternatives that are a single value each, all of one type. */
function literalsOf(dialect: Dialect, variants: readonly Json[]): Json[] | undefined {
  const values = variants.map(literalOf);
  const type = typeof values[0];
  const kinds = dialect.enums === "strings" ? ["string"] : ["string", "number", "boolean"];
  if (!kinds.includes(type) || values.some((value) => typeof value !== type)) return undefined;
  const found = [...new Set(values as Json[])];
  if (dialect.enums === "any") return found;
  const told = found.filter((value) => value !== "");
  return told.length === 0 ? undefined : told;
}

/** Whether the keywords beside alternatives accept null. */
function leavesNull(beside: JsonObject): boolean {
  const types = typesOf(beside);
  return (
    (types.length === 0 || types.includes("null")) &&
    (valuesOf(beside)?.includes(null) ?? true) &&
    !["anyOf", "oneOf", "allOf", "not", "if", "$ref"].some((word) => beside[word] !== undefined)
  );
}

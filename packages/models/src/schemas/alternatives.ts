// The room of alternatives: `anyOf` and `oneOf` where a dialect wants them otherwise than they stand.
//
// Nulls among them become a word of the whole, single values one enum, a lone one is what it is; what stands beside them
// goes into each, or is lost.

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

/** The walk that this is a part of. */
export interface Walk {
  readonly root: Json;
  readonly dialect: Dialect;
  readonly losses: Losses;
  node(given: Json, path: string, trail: Trail): Json;
  /** A node that has no reference and no alternatives of its own any more. */
  plain(node: JsonObject, path: string, trail: Trail): Json;
  /** What a node says of itself, as far as the dialect takes it. */
  meta(node: JsonObject): JsonObject;
  definitions(node: JsonObject, trail: Trail): JsonObject;
  nulled(out: JsonObject, nullable: boolean): JsonObject;
}

/** Alternatives, and what is known of them. */
interface Told {
  word: "anyOf" | "oneOf";
  all: Json[];
  /** Without nulls, where the dialect has another word for those. */
  variants: Json[];
  /** What stands beside them. */
  rest: JsonObject;
  hadNull: boolean;
  /** The whole takes null. */
  nullable: boolean;
  /** A value may satisfy several of them, and is to satisfy one. */
  exclusive: boolean;
}

/** `anyOf` and `oneOf` where the dialect wants them otherwise; undefined: as any other keyword. */
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

/** Single values as one enum, a lone alternative as itself; undefined where they are neither. */
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

/** Beside alternatives everything stays but the type. */
function untypedOf(walk: Walk, told: Told, path: string, trail: Trail): Json {
  const { dialect, losses } = walk;
  const { word, all, variants, rest, exclusive } = told;
  const converted = losses.within(word, all, path, () => variants.map((one) => walk.node(one, path, trail)));
  // Some are single values only now.
  const literals = literalsOf(dialect, converted);
  if (literals !== undefined) {
    if (exclusive) losses.lose(word, path, all);
    return enumOf(walk, literals, converted, rest, path);
  }
  if (rest.type !== undefined) losses.lose("type", path, rest.type);
  const { type: _, ...others } = rest;
  return { ...objectOf(walk.plain(others, path, trail)), [word]: converted };
}

/** What stands beside alternatives goes into each. Beside members of their own, they mostly say which of those go together. */
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

/** One enum in place of alternatives. Of what stands beside them only words stay. */
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

/** An alternative that refers to nothing but one value, or to null, is that. */
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

/** The values of alternatives that are nothing but one value each, of one type. */
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

/** Whether what stands beside alternatives lets null through. */
function leavesNull(beside: JsonObject): boolean {
  const types = typesOf(beside);
  return (
    (types.length === 0 || types.includes("null")) &&
    (valuesOf(beside)?.includes(null) ?? true) &&
    !["anyOf", "oneOf", "allOf", "not", "if", "$ref"].some((word) => beside[word] !== undefined)
  );
}

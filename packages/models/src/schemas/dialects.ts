// The room of dialects: what each provider's schemas can express, as a readable table.
//
// A dialect only says what is allowed. One piece of code converts schemas for all of them.

import type { Json } from "@rondo/core";
import { isPlain, isRegular } from "./expressions.ts";

/**
 * `tool`: the minimum that every provider requires of a tool's schema. `openai`: without patterns of which no grammar can be
 * made, for OpenAI and servers that know its strict mode. `anthropic`: structured output and strict tools.
 * `openai-strict`: strict tools and structured output. `google-openapi`: the OpenAPI subset of `parameters` and
 * `responseSchema`. `google-structured`: structured output, with ranges. `google-strict`: shape and enums, no ranges.
 * `xai`: everything but lengths and counts. `plain`: shapes and enums of texts, in the fewest words, for a server that refused
 * more; `plain-typed`: with one type in every place.
 */
export type SchemaMode =
  | "tool"
  | "openai"
  | "anthropic"
  | "openai-strict"
  | "google-openapi"
  | "google-structured"
  | "google-strict"
  | "xai"
  | "plain"
  | "plain-typed";

export interface Dialect {
  /** Whether a keyword that stands alone (without schemas in it, or partners) may stay. */
  allows(word: string, value: Json): boolean;
  /** Whether a keyword that contains schemas may stay; `properties`, `items` and alternatives are handled separately. */
  nests(word: string): boolean;
  /** Everything that is not forbidden stays; otherwise only what is allowed. */
  open: boolean;
  /** Rules that are dropped without being recorded. */
  silent: readonly string[];
  references: "keep" | "inline";
  /** Nothing may be next to a reference that stays: a description of it is put around it. */
  referencesAlone: boolean;
  /** The replacement for a schema inside itself, when references are inlined. */
  recursion: { type: "object" } | Record<string, never>;
  /** Alternatives that may stay. A `oneOf` that may not becomes an `anyOf`; an `allOf` is merged into its node. */
  unions: readonly ("anyOf" | "oneOf" | "allOf")[];
  /** Null is removed from types and alternatives, and becomes `nullable` or is dropped. Absent: it stays where it is. */
  nulls?: "nullable" | "dropped";
  /** Alternatives that are single values become one enum, a lone alternative replaces the union. */
  collapses: boolean;
  /** Keywords beside alternatives: copied into each, or left where they are, with or without the type. */
  beside: "stays" | "spread" | "untyped";
  /** Several types stay a list; otherwise they become alternatives. */
  typeLists: boolean;
  /** `const` may stay; otherwise it becomes an enum of one. */
  constants: boolean;
  enums: "any" | "strings";
  /** Objects accept only named members. */
  closed: boolean;
  /** Every member is required; those that were optional may be null. */
  allRequired: boolean;
  /** Every node has a type (`single`: exactly one), or arrays have items. */
  typed: "always" | "single" | "arrays" | "as_given";
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const permissive: Dialect = {
  allows: () => true,
  nests: () => true,
  open: true,
  silent: [],
  references: "keep",
  referencesAlone: false,
  recursion: {},
  unions: ["anyOf", "oneOf", "allOf"],
  collapses: false,
  beside: "stays",
  typeLists: true,
  constants: true,
  enums: "any",
  closed: false,
  allRequired: false,
  typed: "as_given",
};

const openapiWords = words(
  "title description nullable default minItems maxItems minProperties maxProperties minLength maxLength minimum maximum pattern propertyOrdering",
);
const structuredWords = words("description nullable minItems maxItems minimum maximum");
const structuredFormats = words("date-time date time");
const strictWords = words("title description");
const anthropicWords = words("title description default");
const anthropicFormats = words("date-time time date duration email hostname uri ipv4 ipv6 uuid");
const googleStrictLost = words(
  "$schema $id examples minLength maxLength minimum maximum multipleOf pattern format minItems maxItems uniqueItems minProperties maxProperties",
);
const googleStrictNests = words("patternProperties additionalProperties prefixItems $defs definitions");
const xaiLost = words("minLength maxLength minItems maxItems minContains maxContains");

const google: Dialect = {
  ...permissive,
  nests: () => false,
  open: false,
  references: "inline",
  recursion: { type: "object" },
  unions: ["anyOf"],
  nulls: "nullable",
  collapses: true,
  beside: "spread",
  typeLists: false,
  constants: false,
  enums: "strings",
  typed: "arrays",
};

const plain: Dialect = { ...google, allows: (word) => strictWords.has(word), nulls: "dropped" };

const exact: Pick<Dialect, "nests" | "open" | "unions" | "beside" | "closed"> = {
  nests: (word) => word === "$defs" || word === "definitions",
  open: false,
  unions: ["anyOf"],
  beside: "spread",
  closed: true,
};

export const dialects: { readonly [mode in Exclude<SchemaMode, "tool">]: Dialect } = {
  openai: { ...permissive, allows: (word, value) => word !== "pattern" || isRegular(value) },
  xai: { ...permissive, allows: (word) => !xaiLost.has(word) },
  plain,
  "plain-typed": { ...plain, typed: "single" },
  anthropic: {
    ...permissive,
    ...exact,
    allows: (word, value) =>
      anthropicWords.has(word) ||
      (word === "minItems" && (value === 0 || value === 1)) ||
      (word === "pattern" && isPlain(value)) ||
      (word === "format" && anthropicFormats.has(String(value))),
  },
  "openai-strict": {
    ...permissive,
    ...exact,
    allows: (word) => strictWords.has(word),
    referencesAlone: true,
    allRequired: true,
    typed: "always",
  },
  "google-openapi": {
    ...google,
    allows: (word, value) =>
      openapiWords.has(word) || (word === "format" && (value === "date-time" || value === "enum")),
  },
  "google-structured": {
    ...google,
    allows: (word, value) =>
      structuredWords.has(word) || (word === "format" && structuredFormats.has(String(value))),
    silent: ["additionalProperties"],
  },
  "google-strict": {
    ...permissive,
    allows: (word) => !googleStrictLost.has(word),
    nests: (word) => !googleStrictNests.has(word),
    references: "inline",
    nulls: "dropped",
    collapses: true,
    beside: "untyped",
    constants: false,
  },
};

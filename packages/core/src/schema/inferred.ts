// The room of types from JSON Schemas: the type of a value that fits a schema, as far as the schema is a literal.
//
// Types only. They never promise more than is checked. A keyword that is not followed (`$ref`, `allOf`, `not`), or whose
// value is no literal (`required` read from a file), is ignored, and the type is the wider one.

import type { Json, JsonObject } from "../message.ts";

/** The arguments that fit a JSON Schema; any `JsonObject` if it names no members, or is known only at run time. */
export type ArgumentsOf<S> = S extends { readonly properties: infer P } ? MembersOf<P, S> : MapOf<S>;

/** The value that fits a JSON Schema; `Json` where its type is not followed. */
export type ValueOf<S> = S extends { readonly nullable: true } ? WithoutNull<S> | null : WithoutNull<S>;

type WithoutNull<S> = S extends { readonly const: infer Value }
  ? Literal<Value>
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Literal<Value>
    : S extends { readonly type: readonly (infer Word)[] }
      ? OfType<Word, S>
      : S extends { readonly type: infer Word }
        ? OfType<Word, S>
        : S extends { readonly anyOf: readonly (infer One)[] }
          ? OneOf<One>
          : S extends { readonly oneOf: readonly (infer One)[] }
            ? OneOf<One>
            : Json;

/** Distributes over a union, so that each member gets its own type. */
type OneOf<S> = S extends unknown ? ValueOf<S> : never;

type OfType<Word, S> = Word extends keyof Plain
  ? Plain[Word]
  : Word extends "array"
    ? S extends { readonly items: infer Item }
      ? ItemsOf<Item, S>
      : Json[]
    : Word extends "object"
      ? ArgumentsOf<S>
      : Json;

interface Plain {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

/** Items with `prefixItems`, or with a list of schemas as in older drafts, have different types. */
type ItemsOf<Item, S> = S extends { readonly prefixItems: unknown }
  ? Json[]
  : Item extends readonly unknown[]
    ? Json[]
    : ValueOf<Item>[];

type MembersOf<P, S> = string extends keyof P
  ? JsonObject
  : [keyof P] extends [never]
    ? JsonObject
    : Flat<
        { -readonly [K in Extract<keyof P, RequiredOf<S>>]: ValueOf<P[K]> } & {
          -readonly [K in Exclude<keyof P, RequiredOf<S>>]?: ValueOf<P[K]>;
        }
      > &
        Others<S>;

/** An object that is a map: all of its members have one type. */
type MapOf<S> = S extends { readonly patternProperties: unknown }
  ? JsonObject
  : S extends { readonly additionalProperties: infer One extends object }
    ? { [name: string]: ValueOf<One> }
    : MarkOf<S>;

/** The type that a library attaches to its schemas under its own symbol, if they show nothing else: pi-schema does this. */
type MarkOf<S> = [Extract<keyof S, symbol>] extends [never]
  ? JsonObject
  : Exclude<S[Extract<keyof S, symbol>], undefined> extends infer Mark extends object
    ? Mark
    : JsonObject;

/** Names that are no literals count for none: each member may be missing. */
type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] }
  ? string extends Name
    ? never
    : Name
  : never;

/** The type of members that a schema does not name. If it says nothing of them they are accepted, and nobody reads them. */
type Others<S> = S extends
  | { readonly additionalProperties: true | { readonly [word: string]: unknown } }
  | { readonly patternProperties: object }
  ? { [name: string]: Json | undefined }
  : unknown;

/** A literal as it is, without `readonly`. What is no literal can be any JSON. */
type Literal<Value> = Value extends string | number | boolean | null ? Value : Json;

type Flat<T> = { [K in keyof T]: T[K] };

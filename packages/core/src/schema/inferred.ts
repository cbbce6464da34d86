// The room of types out of JSON Schemas: what a value that fits a schema is, as far as the schema is written where its type is seen.
//
// Types only. Never more than is checked: where a word is not followed (`$ref`, `allOf`, `not`), or its value is not a literal
// (`required` read from a file), what it would have said is left out of the type, and the type is the wider one.

import type { Json, JsonObject } from "../message.ts";

/** The arguments that fit a JSON Schema; any `JsonObject` where it names no members, or is known only when it runs. */
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

/** One by one, so that each says its own type. */
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

/** What stands in front of the items, or a list of items as older drafts have it, is of another type. */
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

/** An object that is a map: all of its members are of one type. */
type MapOf<S> = S extends { readonly patternProperties: unknown }
  ? JsonObject
  : S extends { readonly additionalProperties: infer One extends object }
    ? { [name: string]: ValueOf<One> }
    : MarkOf<S>;

/** The type that a library marks its schemas with, under a symbol of its own, where that is all they show: pi-schema does. */
type MarkOf<S> = [Extract<keyof S, symbol>] extends [never]
  ? JsonObject
  : Exclude<S[Extract<keyof S, symbol>], undefined> extends infer Mark extends object
    ? Mark
    : JsonObject;

/** Names that are no literals hold for none: each member may be missing. */
type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] }
  ? string extends Name
    ? never
    : Name
  : never;

/** What a schema says of members that it does not name. One that says nothing lets them pass, and nobody reads them. */
type Others<S> = S extends
  | { readonly additionalProperties: true | { readonly [word: string]: unknown } }
  | { readonly patternProperties: object }
  ? { [name: string]: Json | undefined }
  : unknown;

/** A literal as it stands, without the marks of one that cannot be changed. What is no literal says nothing. */
type Literal<Value> = Value extends string | number | boolean | null ? Value : Json;

type Flat<T> = { [K in keyof T]: T[K] };

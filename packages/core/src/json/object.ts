// The room of objects: what is one, where anything may stand.

import type { Json, JsonObject } from "../message.ts";

/** Whether a value is an object, and no list. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is Readonly<Record<string, unknown>>;
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value where it is an object, else one of no members. */
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** The member that an object itself has; what every object is born with (`constructor`) is none. */
export function ownMember<Value>(
  object: { readonly [name: string]: Value } | undefined,
  name: string,
): Value | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** What an object is: `Map`, `Readable`; `Object` where it is of no class. */
export function classOf(value: object): string {
  const named = Object.prototype.toString.call(value).slice(8, -1);
  if (named !== "Object") return named;
  // Node's streams say nothing of themselves.
  const made: unknown = value.constructor;
  return typeof made === "function" && made.name !== "" ? made.name : named;
}

/** What came where something else was wanted, in a word. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

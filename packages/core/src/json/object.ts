// The room of objects: tells them from other values.

import type { Json, JsonObject } from "../message.ts";

/** Whether a value is an object, and not a list. */
export function isObject(value: Json | undefined): value is JsonObject;
export function isObject(value: unknown): value is Readonly<Record<string, unknown>>;
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** An object's own member; inherited ones such as `constructor` do not count. */
export function ownMember<Value>(
  object: { readonly [name: string]: Value } | undefined,
  name: string,
): Value | undefined {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets an own member. A key that a model wrote is data, also `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** The class of an object: `Map`, `Readable`; `Object` if it has none. */
export function classOf(value: object): string {
  const named = Object.prototype.toString.call(value).slice(8, -1);
  if (named !== "Object") return named;
  // Node's streams do not set their `Symbol.toStringTag`.
  const made: unknown = value.constructor;
  return typeof made === "function" && made.name !== "" ? made.name : named;
}

/** The kind of a value that was not expected, in a word. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

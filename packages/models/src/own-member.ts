// The room of members whose names come from a model, a server or a schema.

import type { Json, JsonObject } from "@rondo/core";

/** The object's own member of that name; never its prototype's. */
export const ownMember = <V>(object: { readonly [name: string]: V }, name: string): V | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Defines the member instead of assigning it: `__proto__` is a name like any other. */
export function putMember(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

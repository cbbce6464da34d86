// The room of members under names that a model, a server or a schema gives.

import type { Json, JsonObject } from "@rondo/core";

/** What an object itself has under a name; never what its prototype has. */
export const ownMember = <V>(object: { readonly [name: string]: V }, name: string): V | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Defines, never assigns: `__proto__` is a name like any other. */
export function putMember(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

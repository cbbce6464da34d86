// The room of members under names that a model or a schema gives.

import type { Json, JsonObject } from "@rondo/core";

/** Defines, never assigns: `__proto__` is a name like any other. */
export function putMember(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

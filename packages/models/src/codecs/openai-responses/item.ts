// The room of one output item while it is assembled.

import type { Json, JsonObject } from "@rondo/core";

export interface Item {
  key: string;
  /** The keys of its parts by their indexes, made once: every delta needs one. */
  parts: Map<number, string>;
  type: string;
  /** It was announced by an event, rather than begun by a delta. */
  added: boolean;
  done: boolean;
  callId: string | undefined;
  /** The ids it had: they may change. */
  ids: Set<string>;
  /** Its final content, once it has ended. */
  said: string | undefined;
  /** The final texts of its parts, by their indexes; and those from before it began again. */
  texts: Map<number, string>;
  before: ReadonlyMap<number, string>;
  /** The number of annotations emitted so far, by content part. */
  cited: Map<number, number>;
  /** The reasoning part last written to. */
  reasoning: string | undefined;
  /** Arguments that are not empty have come. */
  hasArgs: boolean;
  /** An event reported that it, or its arguments, are whole. */
  ended: boolean;
}

/** An item of which only the place is known. */
export const newItem = (index: number, type: string): Item => ({
  key: `item ${index}`,
  parts: new Map(),
  type,
  added: false,
  done: false,
  callId: undefined,
  ids: new Set(),
  said: undefined,
  texts: new Map(),
  before: new Map(),
  cited: new Map(),
  reasoning: undefined,
  hasArgs: false,
  ended: false,
});

export function partKey(item: Item, position: number): string {
  let key = item.parts.get(position);
  if (key === undefined) {
    key = `${item.key} part ${position}`;
    item.parts.set(position, key);
  }
  return key;
}

/** What a call must contain when it is sent back to its origin. */
export function callOpaque(given: JsonObject, more: JsonObject): JsonObject {
  const opaque: JsonObject = { ...more };
  for (const member of ["id", "namespace", "caller"]) {
    const value = given[member];
    if (value !== undefined && value !== null) opaque[member] = value;
  }
  return opaque;
}

/** Whether there are no arguments, or an empty object. */
export const isEmptyArgs = (args: Json | undefined): boolean =>
  /^\s*(?:\{\s*\})?\s*$/.test(typeof args === "string" ? args : args ? JSON.stringify(args) : "");

// The room of one output item, as it is put together from what is told of it.

import type { Json, JsonObject } from "@rondo/core";

export interface Item {
  key: string;
  /** The keys of its parts by their places, which may be any number, made once: they are asked for with every delta. */
  parts: Map<number, string>;
  type: string;
  /** It was announced, and did not begin with a delta. */
  added: boolean;
  done: boolean;
  callId: string | undefined;
  /** Ids it was seen under: they may change. */
  ids: Set<string>;
  /** What it said as a whole, once it had ended. */
  said: string | undefined;
  /** The final texts of its parts, by their places; and those from before it began once more. */
  texts: Map<number, string>;
  before: ReadonlyMap<number, string>;
  /** Annotations told so far, by content part. */
  cited: Map<number, number>;
  /** The reasoning part last written to. */
  reasoning: string | undefined;
  /** Arguments came in pieces. */
  pieces: boolean;
  /** An event said that it is whole, or its arguments. */
  ended: boolean;
}

/** An item of which nothing is known but its place. */
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
  pieces: false,
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

/** What a call must bring along when it is sent back to where it came from. */
export function callOpaque(given: JsonObject, more: JsonObject): JsonObject {
  const opaque: JsonObject = { ...more };
  for (const member of ["id", "namespace", "caller"]) {
    const value = given[member];
    if (value !== undefined && value !== null) opaque[member] = value;
  }
  return opaque;
}

/** Whether arguments are none, or an object without members. */
export const isEmptyArgs = (args: Json | undefined): boolean =>
  /^\s*(?:\{\s*\})?\s*$/.test(typeof args === "string" ? args : args ? JSON.stringify(args) : "");

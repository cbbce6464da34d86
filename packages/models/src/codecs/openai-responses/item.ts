// The room of one output item while it is assembled.

import type { Json, JsonObject } from "@rondo/core";
import { textIn } from "../../json-values.ts";

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
  /** The free text for a custom tool, as far as it came in deltas. */
  input: string;
  /** The arguments that it began with; they count if no others come. */
  firstArgs: Json | undefined;
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
  input: "",
  firstArgs: undefined,
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
export const callOpaque = (given: JsonObject, more: JsonObject): JsonObject =>
  membersIn(given, ["id", "namespace", "caller"], more);

/** These members of an item, where it has them, and more. */
export function membersIn(given: JsonObject, members: readonly string[], more: JsonObject): JsonObject {
  const opaque: JsonObject = { ...more };
  for (const member of members) {
    const value = given[member];
    if (value !== undefined && value !== null) opaque[member] = value;
  }
  return opaque;
}

/** Whether an event is of another item than the last one at its place, although it has none of that one's ids. */
export function isAnother(
  item: Item,
  id: string | undefined,
  given: JsonObject | undefined,
  isNew: boolean,
): boolean {
  // Ids change from event to event (F079): by themselves they say nothing about an item that has not ended.
  if (item.done) return id !== undefined;
  if (given === undefined) return false;
  const isNamed = Boolean(textIn(given.call_id));
  return (
    textIn(given.type) !== item.type ||
    (isNamed && item.callId !== undefined) ||
    (isNew && item.added && !isNamed)
  );
}

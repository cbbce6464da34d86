// The room of JSON in a text: what a text holds, when it is JSON.

import type { Json } from "./message.ts";

/** The value that a text is JSON of; undefined when it is none. In an object, for `null` is a value. */
export function jsonIn(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}

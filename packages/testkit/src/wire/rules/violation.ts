// The room of breaches: what a request breaks of its provider's rules, and how the rules tell of it.

import { isObject } from "../../json.ts";

/** A rule of its provider that a request body breaks. */
export interface Violation {
  /** What the server says. */
  message: string;
  /** Where in the body, e.g. `messages[2].tool_calls[0].id`. */
  path: string;
}

/** Tells of a breach: where it is, and in which words. */
export type Say = (path: string, message: string) => void;

/** What is found, and who tells of it. */
export function breaches(): { found: Violation[]; say: Say } {
  const found: Violation[] = [];
  return { found, say: (path, message) => void found.push({ path, message }) };
}

/** Where a member, or an item, of the value at `path` is. */
type Below = (path: string, name: string | number) => string;

const dotted: Below = (path, name) => (path === "" ? `${name}` : `${path}.${name}`);

/** With the places of items in brackets: `messages[2].content`. */
export const indexed: Below = (path, name) =>
  typeof name === "number" ? `${path}[${name}]` : dotted(path, name);

/** Every text without half a character, names and whatever their depth. */
export function checkWellFormed(value: unknown, path: string, say: Say, below: Below = dotted): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) say(path, "The request body is not valid JSON: no low surrogate in string");
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) checkWellFormed(item, below(path, at), say, below);
  } else if (isObject(value))
    for (const [name, member] of Object.entries(value)) {
      checkWellFormed(name, path, say, below);
      checkWellFormed(member, below(path, name), say, below);
    }
}

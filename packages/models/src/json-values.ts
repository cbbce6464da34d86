// The room of reading and writing JSON, for all protocols.
//
// Reading: servers send strings where objects belong, and null anywhere, so every member is read by type, and one of the
// wrong type counts as absent. Writing: text with a lone surrogate makes the whole request invalid for every provider
// (F094), so everything is written with `jsonOf`.

import { type Json, type JsonObject, parsedJson } from "@rondo/core";

export function objectIn(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** The same as a type guard, for values of JSON. */
export const isObject = (value: Json | undefined): value is JsonObject => objectIn(value) !== undefined;

export function listIn(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** The texts in a list. */
export const textsIn = (value: Json | undefined): string[] =>
  listIn(value).filter((one): one is string => typeof one === "string");

export function textIn(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * A text, also if a server read it as JSON: a number or a truth value is the token that it was made of. For what a model
 * wrote: text, reasoning, pieces of arguments.
 */
export function writtenIn(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/**
 * Whether a value says nothing: empty, or of nothing but empty members. Servers that write every member of a shape leave
 * those so that are not meant.
 */
export function isHollow(value: unknown): boolean {
  if (typeof value !== "object" || value === null)
    return value === undefined || value === null || value === "";
  return Object.values(value).every(isHollow);
}

/** An object without the members that say nothing; the same one if all say something. */
export function solid<T extends JsonObject>(value: T): T {
  for (const key in value)
    if (isHollow(value[key]))
      return Object.fromEntries(Object.entries(value).filter(([, one]) => !isHollow(one))) as T;
  return value;
}

export function numberIn(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A count, also if it came as a string; negative numbers do not count. */
export function countIn(value: Json | undefined): number | undefined {
  const count = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isFinite(count) && count >= 0 ? count : undefined;
}

/** The value of a frame that may be anything. Undefined if it is not JSON. @param json what parses it */
export function parsedFrame(json: { parse(text: string): Json }, data: string): Json | undefined {
  try {
    const value = json.parse(data);
    // A proxy may have quoted it once more.
    return typeof value === "string" ? (parseJson(value) ?? value) : value;
  } catch {
    return /^\s*[{[]/.test(data) ? parseJson(asJson(data)) : undefined;
  }
}

/** An unclosed string matches up to the end: searching its end again from every quote in it would take quadratic time (F243). */
const strings: RegExp = /"(?:[^"\\]+|\\[\s\S])*"?|-?\b(?:NaN|Infinity)\b/g;

/** An escape as JSON knows it; or a backslash before anything else, or a control character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unescaped: RegExp = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|[\\\u0000-\u001f]/g;

/**
 * The text as valid JSON: Python's NaN and Infinity become null, and what must be escaped in strings is. Anthropic itself has
 * sent control characters as they are.
 */
const asJson = (text: string): string =>
  text.replace(strings, (one) =>
    one.startsWith('"')
      ? one.replace(unescaped, (found) => (found.length > 1 ? found : JSON.stringify(found).slice(1, -1)))
      : "null",
  );

/** Parses a text that may be anything. Undefined if it is not JSON. */
export function parseJson(text: string, parse: (text: string) => unknown = parsedJson): Json | undefined {
  try {
    return parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Finds the end of an object whose text may come in pieces; each character is looked at once. */
export class ObjectScan {
  #depth = 0;
  #inString = false;

  /** Whether the closing bracket is still to come. */
  get isOpen(): boolean {
    return this.#depth > 0;
  }

  /** Scans the next piece, from an offset in it. Returns the offset after the object's end; -1 if the object continues. */
  endIn(text: string, from = 0): number {
    for (let at = from; at < text.length; at++) {
      const one = text[at];
      if (this.#inString) {
        if (one === "\\") at += 1;
        else if (one === '"') this.#inString = false;
      } else if (one === '"') this.#inString = true;
      else if (one === "{") this.#depth += 1;
      else if (one === "}" && --this.#depth === 0) return at + 1;
    }
    return -1;
  }
}

/** The offset after the end of the object that begins at `from`; -1 if it is not closed. */
export const objectEnd = (text: string, from: number): number => new ObjectScan().endIn(text, from);

// Matches one escape at a time: in `\\u`, the escaped backslash is not the start of a `\u`.
const escapes: RegExp =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|[\s\S])/g;

/** JSON text with every escaped lone surrogate replaced by the replacement character. */
export function wellFormedJson(json: string): string {
  if (!/\\u[dD]/.test(json)) return json;
  return json.replace(escapes, (one) => (one.length === 6 && /^\\u[dD]/.test(one) ? "\\ufffd" : one));
}

/** A value as JSON text that every provider can read. `value` must not be undefined. */
export function jsonOf(value: unknown): string {
  // JSON.stringify writes a lone surrogate as an escape and a pair unescaped: only escapes need to be checked.
  const text = JSON.stringify(value);
  return text.includes("\\ud") ? wellFormedJson(text) : text;
}

/** A short stable digest of a text, as letters and digits. Not for security. */
export function digest(text: string, length: number): string {
  // Two FNV-1a sums with different starts give 64 bits; longer digests continue the sums.
  let out = "";
  for (let round = 0; out.length < length; round++) {
    let a = 0x811c9dc5 ^ Math.imul(round, 0x9e3779b1);
    let b = 0xcbf29ce4 ^ Math.imul(round + 1, 0x85ebca6b);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ code, 0x01000197) ^ (b >>> 15);
    }
    out += letters(a) + letters(b);
  }
  return out.slice(0, length);
}

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

function letters(sum: number): string {
  let rest = sum >>> 0;
  let out = "";
  for (let i = 0; i < 5; i++) {
    out += alphabet[rest % 62];
    rest = Math.floor(rest / 62);
  }
  return out;
}

// The room of names on the wire: tool names and ids in the form that the provider accepts.
//
// A tool name is escaped so that the decoder can undo it without a table; only names that had to be cut need one. An id
// only has to stay unique and to be the same for a call and its result, in every request.

import { isSignedId } from "../openai/names.ts";

/** Names that had to be cut, by their cut form: the rest cannot be recovered otherwise. */
const cut = new Map<string, string>();

/** What is escaped in a name, including anything that would read like an escape. */
const refused: RegExp = /_x(?=[0-9A-F]{2,6}(?:_|[^a-zA-Z0-9_-]))|[^a-zA-Z0-9_-]/gu;
const refusedHyphens: RegExp = /_x(?=[0-9A-F]{2,6}(?:_|[^a-zA-Z0-9_]))|[^a-zA-Z0-9_]/gu;

/**
 * A tool name as the wire allows it (`[a-zA-Z0-9_-]`). Undone by `nameFromWire`.
 * @param hyphens whether they are allowed
 */
export function nameToWire(name: string, longest: number, hyphens: boolean = true): string {
  const escaped = name.replace(hyphens ? refused : refusedHyphens, (found) =>
    found === "_x"
      ? "_x5F_x"
      : `_x${found.codePointAt(0)?.toString(16).toUpperCase().padStart(2, "0") ?? "00"}_`,
  );
  if (escaped === "") return "unnamed_tool";
  if (escaped.length <= longest) return escaped;
  const wire = `${escaped.slice(0, longest - 29)}_${hash(name)}`;
  cut.set(wire, name);
  return wire;
}

/** The tool's own name, from the name that the model wrote. */
export function nameFromWire(name: string): string {
  const whole = cut.get(name);
  if (whole !== undefined) return whole;
  return name.replace(/_x([0-9A-F]{2,6})_/g, (all, hex: string) => {
    const point = Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : all;
  });
}

/** What `idToWire` produces: an id that already looks like this is mapped again. */
const mappedId = /_h[0-9a-f]{28}$/;

/**
 * A call id as the wire allows it. An id that fits stays as it is; otherwise the allowed characters are kept and a hash is
 * added, so that different ids stay different.
 * @param fits matches a whole id that is allowed
 * @param refused matches, globally, one character that is not
 */
export function idToWire(id: string, fits: RegExp, refused: RegExp): string {
  if (fits.test(id) && !mappedId.test(id)) return id;
  return `${id.replace(refused, "_").slice(0, 34)}_h${hash(id)}`;
}

/** Anthropic's form of ids. Their length is not documented: the strictest host takes 64. */
export const anthropicId = (id: string): string => idToWire(id, /^[a-zA-Z0-9_-]{1,64}$/, /[^a-zA-Z0-9_-]/g);

/** The same for a server that may have put a thought signature into the id (F106). */
export const signedAnthropicId = (id: string): string => (isSignedId(id) ? id : anthropicId(id));

/** Bedrock's form of ids. */
export const bedrockId = (id: string): string => idToWire(id, /^[a-zA-Z0-9_.:-]{1,64}$/, /[^a-zA-Z0-9_.:-]/g);

/** A hash of 28 hexadecimal digits. Not for security. */
export function hash(text: string): string {
  return half(text, 0x9e3779b9) + half(text, 0x51ed270b);
}

function half(text: string, seed: number): string {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16).padStart(14, "0");
}

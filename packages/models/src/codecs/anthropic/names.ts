// The room of wire names: what a provider's patterns make of ids and tool names.
//
// A tool name is escaped so that it can be read back without any table: the decoder undoes it. Only what had to be cut
// needs one. An id only has to stay unique and to be the same on both sides of its pair, whatever request it stands in.

import { isSignedId } from "../openai/names.ts";

/** Names that had to be cut, by what they were cut to: the rest of them stands nowhere else. */
const cut = new Map<string, string>();

/** What is escaped in a name. What would read as an escape is escaped itself. */
const refused: RegExp = /_x(?=[0-9A-F]{2,6}(?:_|[^a-zA-Z0-9_-]))|[^a-zA-Z0-9_-]/gu;
const refusedHyphens: RegExp = /_x(?=[0-9A-F]{2,6}(?:_|[^a-zA-Z0-9_]))|[^a-zA-Z0-9_]/gu;

/**
 * A tool name as the wire allows it (`[a-zA-Z0-9_-]`). Undone by `nameFromWire`.
 * @param hyphens whether they may stay
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

/** The tool's own name from the name the model wrote. */
export function nameFromWire(name: string): string {
  const whole = cut.get(name);
  if (whole !== undefined) return whole;
  return name.replace(/_x([0-9A-F]{2,6})_/g, (all, hex: string) => {
    const point = Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : all;
  });
}

/** What `idToWire` makes: an id that looks so is mapped again. */
const mappedId = /_h[0-9a-f]{28}$/;

/**
 * A call id as the wire allows it. An id that fits stays itself; another keeps what fits of it and gets a hash, so
 * that different ids stay different.
 * @param fits matches a whole id that is allowed
 * @param refused matches, globally, one character that is not
 */
export function idToWire(id: string, fits: RegExp, refused: RegExp): string {
  if (fits.test(id) && !mappedId.test(id)) return id;
  return `${id.replace(refused, "_").slice(0, 34)}_h${hash(id)}`;
}

/** Anthropic's form of ids. Their length is not documented: 64 is what the family's strictest host takes. */
export const anthropicId = (id: string): string => idToWire(id, /^[a-zA-Z0-9_-]{1,64}$/, /[^a-zA-Z0-9_-]/g);

/** The same at a server that may have put a thought signature into it (F106). */
export const signedAnthropicId = (id: string): string => (isSignedId(id) ? id : anthropicId(id));

/** Bedrock's form of ids. */
export const bedrockId = (id: string): string => idToWire(id, /^[a-zA-Z0-9_.:-]{1,64}$/, /[^a-zA-Z0-9_.:-]/g);

/** 28 hexadecimal digits of a text. No defence against an enemy, only against chance. */
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

// The room of mutation: generates values from nothing, and mutates valid ones.

import type { Json, JsonObject } from "@rondo/core";
import type { Chance } from "../chance.ts";

const morsels = [
  "",
  "a",
  "ä",
  "🙂",
  "\ud83d",
  "\udc00",
  "\u0000",
  "\ufeff",
  "\u2028",
  "\r",
  "\n",
  "\r\n\r\n",
  '"',
  "\\",
  "\\u12",
  "{",
  "}",
  "[",
  "]",
  "[]",
  "{}",
  ":",
  ",",
  "null",
  "true",
  "-",
  "1e999",
  "-0",
  "__proto__",
  "constructor",
  "toString",
  "data:",
  "event: x\n",
  "[DONE]",
  "<",
  "<think>",
  "</think>",
  "<tool_call>",
  "</tool_call>",
  "<|im_end|>",
  "</s>",
  "```",
];

/** A text that tends to break parsers; `own` are fragments of the target's own grammar. */
export function anyText(chance: Chance, own: readonly string[] = [], most = 24): string {
  return chance
    .many(chance.few(most), () => chance.pick(own.length > 0 && chance.is(0.7) ? own : morsels))
    .join("");
}

/** Boundary values: list indexes, whole numbers of some length, exponents. */
const numbers = [
  ...[0, 1, -1, -0, 0.5, 7, 255, 65_536, 99_999],
  ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, -(2 ** 53)],
  ...[1e21, -1e308, 1e-320],
];
const keys = [
  "a",
  "b",
  "type",
  "id",
  "name",
  "index",
  "text",
  "content",
  "__proto__",
  "constructor",
  "length",
  "",
];

/** A generated value. */
export function anyJson(chance: Chance, depth = 3): Json {
  switch (chance.below(depth > 0 ? 8 : 5)) {
    case 0:
      return null;
    case 1:
      return chance.is(0.5);
    case 2:
      return chance.pick(numbers);
    case 3:
    case 4:
      return anyText(chance, [], 6);
    case 5:
      return chance.many(chance.below(4), () => anyJson(chance, depth - 1));
    default:
      return objectOf(chance.many(chance.below(4), () => [chance.pick(keys), anyJson(chance, depth - 1)]));
  }
}

/** An object of entries, where `__proto__` is a key like any other. */
export const objectOf = (entries: readonly (readonly [string, Json])[]): JsonObject =>
  Object.fromEntries(entries);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value with one place changed. */
export function mutateJson(chance: Chance, value: Json): Json {
  const inside = chance.is(0.85);
  if (inside && Array.isArray(value) && value.length > 0) {
    const at = chance.below(value.length);
    const list = [...value];
    const way = chance.below(8);
    if (way > 1) list[at] = mutateJson(chance, value[at] as Json);
    else if (way === 1) list.splice(at, 1);
    else list.splice(at, 0, chance.is(0.5) ? (value[at] as Json) : anyJson(chance, 2));
    return list;
  }
  if (inside && isObject(value)) {
    const entries = Object.entries(value) as [string, Json][];
    if (entries.length > 0) {
      const at = chance.below(entries.length);
      const [name, held] = entries[at] as [string, Json];
      const way = chance.below(12);
      if (way > 2) entries[at] = [name, mutateJson(chance, held)];
      else if (way === 2) entries.splice(at, 1);
      else if (way === 1) entries[at] = [chance.pick(keys), held];
      else entries.push([chance.pick(keys), chance.is(0.5) ? held : anyJson(chance, 2)]);
      return objectOf(entries);
    }
  }
  if (typeof value === "string" && chance.is(0.7)) return mutateText(chance, value);
  if (typeof value === "number" && chance.is(0.6)) return chance.pick(numbers);
  return anyJson(chance, 2);
}

/** A text changed in a few places: cut, doubled, swapped, flipped. */
export function mutateText(chance: Chance, text: string, own: readonly string[] = []): string {
  let now = text;
  for (let left = 1 + chance.few(4); left > 0; left -= 1) {
    const at = chance.below(now.length + 1);
    const length = chance.few(Math.max(2, Math.min(now.length - at, 64)));
    switch (chance.below(6)) {
      case 0:
        now = now.slice(0, at) + now.slice(at + length);
        break;
      case 1:
        now = now.slice(0, at) + now.slice(at, at + length) + now.slice(at);
        break;
      case 2:
        now = now.slice(0, at) + anyText(chance, own, 4) + now.slice(at);
        break;
      case 3:
        now = now.slice(0, at) + String.fromCharCode(chance.below(256)) + now.slice(at + 1);
        break;
      case 4: {
        const to = chance.below(now.length + 1);
        now = now.slice(0, at) + now.slice(to, to + length) + now.slice(at + length);
        break;
      }
      default:
        if (chance.is(0.2)) now = now.slice(0, at);
    }
  }
  return now;
}

/** A list with elements dropped, doubled or swapped. */
export function mutateList<T>(chance: Chance, list: readonly T[]): T[] {
  const now = [...list];
  for (let left = chance.few(4); left > 0 && now.length > 0; left -= 1) {
    const at = chance.below(now.length);
    const to = chance.below(now.length);
    const held = now[at] as T;
    const way = chance.below(3);
    if (way === 0) now.splice(at, 1);
    else if (way === 1) now.splice(to, 0, held);
    else {
      now[at] = now[to] as T;
      now[to] = held;
    }
  }
  return now;
}

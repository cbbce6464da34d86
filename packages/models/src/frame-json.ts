// The room of frames that look alike: JSON that differs from the last only in one text and a few counters.
//
// A streamed answer is thousands of frames of one shape. Once a shape was seen, a frame that fits it letter for letter,
// but for the text and the counters, need not be parsed: the last value is told what changed. What does not fit is
// parsed as ever, so the result is always what JSON.parse would give. The value is used again: read it, do not keep it.

import type { Json, JsonObject } from "@rondo/core";

/** Where the piece of text that a frame brings stands in it. Nothing else in a frame may be kept by whoever reads it. */
export type TextPath = readonly (string | number)[];

/** Members that count on from frame to frame, in the protocols there are. */
const counters: ReadonlySet<string> = new Set([
  "sequence_number",
  "created",
  "promptTokenCount",
  "candidatesTokenCount",
  "totalTokenCount",
  "thoughtsTokenCount",
]);

/** Members that are filled with noise, against those who measure lengths on the wire. */
const noise: ReadonlySet<string> = new Set(["obfuscation"]);

/** How often a stream may show another shape before nothing more is learnt from it. */
const mostShapes = 8;

/** Frames that are parsed before a shape is learnt: learning one costs as much as parsing some dozens, and most answers are short. */
const parsedFirst = 48;

interface Hole {
  holder: JsonObject;
  key: string;
  counts: boolean;
}

interface Shape {
  pattern: RegExp;
  holes: Hole[];
  value: Json;
}

/** Parses the frames of one stream. */
export class FrameJson {
  readonly #paths: readonly TextPath[];
  readonly #parse: (text: string) => Json;
  readonly #parsedFirst: number;
  #shape: Shape | undefined;
  #learnt = 0;
  #misses = 0;

  /**
   * @param paths places where a piece of text may stand
   * @param parse what is done with a frame of a new shape; it may throw
   * @param first how many frames are parsed before a shape is learnt
   */
  constructor(
    paths: readonly TextPath[],
    parse: (text: string) => Json = JSON.parse as (text: string) => Json,
    first: number = parsedFirst,
  ) {
    this.#paths = paths;
    this.#parse = parse;
    this.#parsedFirst = first;
  }

  /** The value of a frame, good until the next one. */
  parse(data: string): Json {
    const shape = this.#shape;
    const found = shape?.pattern.exec(data);
    if (shape !== undefined && found) {
      this.#misses = 0;
      shape.holes.forEach(({ holder, key, counts }, at) => {
        const text = found[at + 1] as string;
        holder[key] = counts ? Number(text) : text;
      });
      return shape.value;
    }
    const value = this.#parse(data);
    this.#misses += 1;
    // A frame out of the row (an escape, another event) is no reason to learn anew; several are.
    const patience = shape === undefined ? this.#parsedFirst : 2;
    if (this.#learnt < mostShapes && this.#misses > patience) this.#learn(data, value);
    return value;
  }

  #learn(data: string, value: Json): void {
    const found = shapeOf(data, value, this.#paths);
    if (found === undefined) return;
    this.#learnt += 1;
    this.#misses = 0;
    this.#shape = found;
  }
}

/** The shape of a frame, when its text can be found in it beyond doubt. */
function shapeOf(data: string, value: Json, paths: readonly TextPath[]): Shape | undefined {
  const text = paths.map((path) => memberAt(value, path)).find((found) => found !== undefined);
  if (text === undefined) return undefined;
  const holes: (Hole & { at: number; length: number })[] = [];
  for (const { holder, key } of members(value)) {
    const held = holder[key];
    const isText = holder === text.holder && key === text.key;
    const isNoise = typeof held === "string" && noise.has(key);
    const counts = typeof held === "number" && counters.has(key);
    if (!isText && !isNoise && !counts) continue;
    const written = counts ? String(held) : `"${held as string}"`;
    const place = placeOf(data, key, written);
    // A text that is written with escapes, or that stands twice, cannot be told apart for sure.
    if (place === undefined) return undefined;
    const inside = counts ? 0 : 1;
    holes.push({ holder, key, counts, at: place + inside, length: written.length - 2 * inside });
  }
  holes.sort((one, other) => one.at - other.at);
  let pattern = "^";
  let from = 0;
  for (const { at, length, counts } of holes) {
    pattern +=
      literal(data.slice(from, at)) + (counts ? "(0|[1-9][0-9]{0,14})" : '([^"\\\\\\u0000-\\u001f]*)');
    from = at + length;
  }
  return { pattern: new RegExp(`${pattern}${literal(data.slice(from))}$`), holes, value };
}

/** Where a member's value is written; undefined when that is not beyond doubt. */
function placeOf(data: string, key: string, written: string): number | undefined {
  const name = `"${key}":`;
  const at = data.indexOf(name);
  if (at < 0 || data.includes(name, at + 1)) return undefined;
  let place = at + name.length;
  while (data[place] === " ") place += 1;
  if (!data.startsWith(written, place)) return undefined;
  return /^[\s,}\]]/.test(data.slice(place + written.length)) ? place : undefined;
}

/** The member a path leads to, when it is a text that is not empty. */
function memberAt(value: Json, path: TextPath): { holder: JsonObject; key: string } | undefined {
  let holder: Json | undefined = value;
  for (const step of path.slice(0, -1)) {
    if (typeof holder !== "object" || holder === null) return undefined;
    holder = (holder as { [step: string | number]: Json | undefined })[step];
  }
  const key = path.at(-1);
  if (typeof holder !== "object" || holder === null || Array.isArray(holder) || typeof key !== "string")
    return undefined;
  const held = holder[key];
  return typeof held === "string" && held !== "" ? { holder, key } : undefined;
}

/** Every member of every object in a value, in the order they are written. */
function* members(value: Json): Generator<{ holder: JsonObject; key: string }> {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) yield* members(item);
    return;
  }
  for (const key of Object.keys(value)) {
    yield { holder: value, key };
    yield* members(value[key] as Json);
  }
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

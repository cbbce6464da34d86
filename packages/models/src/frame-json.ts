// The room of frames that look alike: JSON that differs from the last only in one text and a few counters.
//
// A streamed answer is thousands of frames of one shape. Once a shape was seen, a frame that fits it letter for letter,
// but for the text and the counters, need not be parsed: the last value is told what changed. Mostly the text is all that
// changes: then what stands before and behind it is compared, which costs next to nothing and is learnt from one frame.
// Where counters run, a pattern is made of the frame. What does not fit is parsed as ever, so the result is always what
// JSON.parse would give. An answer of a few frames is parsed, and no more. The value is used again: read it, do not keep it.
//
// Who knows that the last frame did nothing but add its text may ask for its `frameTemplate`, and do the same with the text of
// each frame that is like it. Who cuts frames out of a stream then need not even cut that one.

import type { Json, JsonObject } from "@rondo/core";
import { literal } from "./patterns.ts";

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

/** Frames that are parsed before a pattern is made, which costs as much as parsing some dozens: most answers are short. Edges wait for a quarter as many. */
const parsedFirst = 48;

/** Frames in a row that did not fit between the edges of the one before, after which edges are no longer looked for. */
const mostMisfits = 8;

interface Hole {
  holder: JsonObject;
  key: string;
  counts: boolean;
}

/** A frame in which only the text changes: what stands before it and behind it. */
interface Edges {
  before: string;
  after: string;
  holder: JsonObject;
  key: string;
  value: Json;
}

interface Shape {
  pattern: RegExp;
  holes: Hole[];
  value: Json;
}

/** What a frame comes to that differs from the last one in its text alone. Good until a frame comes that does not. */
export class FrameTemplate {
  /** What stands before the text, and behind it. */
  readonly before: string;
  readonly after: string;
  readonly #then: (text: string) => void;

  constructor(before: string, after: string, then: (text: string) => void) {
    this.before = before;
    this.after = after;
    this.#then = then;
  }

  /** Takes a whole frame. False, and nothing was done, for one that is not alike. */
  takes(data: string): boolean {
    const written = writtenBetween(this, data);
    return written !== undefined && this.take(written);
  }

  /** Takes what is written in the text's place. False, and nothing was done, for what is more than one text. */
  take(written: string): boolean {
    const text = textWritten(written);
    if (text === undefined) return false;
    this.#then(text);
    return true;
  }
}

/** Parses the frames of one stream. */
export class FrameJson {
  readonly #paths: readonly TextPath[];
  readonly #parse: (text: string) => Json;
  readonly #parsedFirst: number;
  #edges: Edges | undefined;
  /** Whether the edges are those of the last frame. */
  #same = false;
  #shape: Shape | undefined;
  #learnt = 0;
  #misses = 0;
  /** Frames of the beginning that are still to be parsed. */
  #beginning: number;

  /**
   * @param paths places where a piece of text may stand
   * @param parse what is done with a frame of a new shape; it may throw
   * @param first how many frames are parsed before a pattern is made of one; a quarter as many before edges are looked for
   */
  constructor(
    paths: readonly TextPath[],
    parse: (text: string) => Json = JSON.parse as (text: string) => Json,
    first: number = parsedFirst,
  ) {
    this.#paths = paths;
    this.#parse = parse;
    this.#parsedFirst = first;
    this.#beginning = first >> 2;
  }

  /** Whether it is known of the last frame what stands around its text: only then is there a likeness to it. */
  get isEdged(): boolean {
    return this.#same && this.#edges !== undefined;
  }

  /** How a frame is taken that differs from the last one in its text alone: `then` is told the text. Undefined where that cannot be told. */
  frameTemplate(then: (text: string) => void): FrameTemplate | undefined {
    return this.#same && this.#edges !== undefined
      ? new FrameTemplate(this.#edges.before, this.#edges.after, then)
      : undefined;
  }

  /** The value of a frame, good until the next one. */
  parse(data: string): Json {
    if (this.#beginning > 0) {
      this.#beginning -= 1;
      return this.#parse(data);
    }
    const text = this.#betweenEdges(data);
    if (text !== undefined && this.#edges !== undefined) {
      const { holder, key, value } = this.#edges;
      this.#same = true;
      this.#misses = 0;
      holder[key] = text;
      return value;
    }
    this.#same = false;
    const known = this.#byPattern(data);
    if (known !== undefined) {
      this.#misses = 0;
      return known;
    }
    const value = this.#parse(data);
    this.#misses += 1;
    const edges = this.#misses <= mostMisfits ? edgesOf(data, value, this.#paths) : undefined;
    if (edges !== undefined) {
      this.#same = true;
      this.#edges = edges;
    }
    // A frame out of the row (an escape, another event) is no reason to learn anew; several are.
    const patience = this.#shape === undefined ? this.#parsedFirst : 2;
    if (this.#learnt < mostShapes && this.#misses > patience) this.#learn(data, value);
    return value;
  }

  #betweenEdges(data: string): string | undefined {
    const written = this.#edges && writtenBetween(this.#edges, data);
    return written === undefined ? undefined : textWritten(written);
  }

  #byPattern(data: string): Json | undefined {
    const shape = this.#shape;
    const found = shape?.pattern.exec(data);
    if (shape === undefined || !found) return undefined;
    // The value's counters change here, and the edges of the frame that it was made of hold those it had.
    if (this.#edges?.value === shape.value) this.#edges = undefined;
    shape.holes.forEach(({ holder, key, counts }, at) => {
      const text = found[at + 1] as string;
      holder[key] = counts ? Number(text) : text;
    });
    return shape.value;
  }

  #learn(data: string, value: Json): void {
    const found = shapeOf(data, value, this.#paths);
    if (found === undefined) return;
    this.#learnt += 1;
    this.#misses = 0;
    this.#shape = found;
  }
}

/** What is written where the text stands; undefined where something else stands around it. */
function writtenBetween(
  { before, after }: Pick<Edges, "before" | "after">,
  data: string,
): string | undefined {
  if (data.length < before.length + after.length || !data.startsWith(before) || !data.endsWith(after))
    return undefined;
  return data.slice(before.length, data.length - after.length);
}

/** What a text in JSON cannot hold as it is, and a little more. */
const special = /["\\\p{Cc}]/u;

/** What is written between two quotes, when it is one text and no more than that. */
function textWritten(written: string): string | undefined {
  if (!special.test(written)) return written;
  try {
    // One that begins with a quote is a text or no JSON: what it says is what it says inside its frame.
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return undefined;
  }
}

/** What stands around a frame's text, when that can be found in it beyond doubt. */
function edgesOf(data: string, value: Json, paths: readonly TextPath[]): Edges | undefined {
  const text = textIn(value, paths);
  if (text === undefined) return undefined;
  const { holder, key } = text;
  const place = placeOf(data, key, `"${holder[key] as string}"`);
  if (place === undefined) return undefined;
  const from = place + 1;
  const before = data.slice(0, from);
  return { before, after: data.slice(from + (holder[key] as string).length), holder, key, value };
}

/** The member that holds a frame's text. */
function textIn(value: Json, paths: readonly TextPath[]): { holder: JsonObject; key: string } | undefined {
  for (const path of paths) {
    const found = memberAt(value, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The shape of a frame, when its text can be found in it beyond doubt. */
function shapeOf(data: string, value: Json, paths: readonly TextPath[]): Shape | undefined {
  const text = textIn(value, paths);
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
  return /[\s,}\]]/.test(data.charAt(place + written.length)) ? place : undefined;
}

/** The member a path leads to, when it is a text that is not empty. */
function memberAt(value: Json, path: TextPath): { holder: JsonObject; key: string } | undefined {
  let holder: Json | undefined = value;
  const last = path.length - 1;
  for (let at = 0; at < last; at += 1) {
    if (typeof holder !== "object" || holder === null) return undefined;
    holder = (holder as { [step: string | number]: Json | undefined })[path[at] as string | number];
  }
  const key = path[last];
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

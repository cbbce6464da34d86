// The room of frames that look alike: JSON that differs from the frame before only in one text and a few counters.
//
// A streamed answer is thousands of such frames. Where only the text differs, the bytes before and after it (the edges) are
// compared, which costs next to nothing; where counters run too, a pattern is made of the frame. A frame that fits is not
// parsed: the last value is updated. Any other frame is parsed, so the result is always what JSON.parse would give. The
// first frames are always parsed: most answers are short. The value is reused: read it, do not keep it.
//
// A decoder whose last frame only added text can offer its `frameTemplate`: the stream reader then hands over the texts of
// frames like it without even cutting those out of the stream.

import type { Json, JsonObject } from "@rondo/core";
import { literal } from "./patterns.ts";

/** The path to the text that a frame brings. The reader of a frame must not keep anything else of it. */
export type TextPath = readonly (string | number)[];

/** Members of the known protocols that count up from frame to frame. */
const counters: ReadonlySet<string> = new Set([
  "sequence_number",
  "created",
  "promptTokenCount",
  "candidatesTokenCount",
  "totalTokenCount",
  "thoughtsTokenCount",
]);

/** Members filled with random noise, against attackers who measure lengths on the wire. */
const noise: ReadonlySet<string> = new Set(["obfuscation"]);

/** How many patterns a stream may need before no more are made. */
const mostShapes = 8;

/**
 * Frames parsed before a pattern is made: making one costs as much as parsing some dozens. A quarter as many before edges
 * are compared.
 */
const parsedFirst = 48;

/** After so many frames in a row that did not fit the edges, edges are no longer looked for. */
const mostMisfits = 8;

interface Hole {
  holder: JsonObject;
  key: string;
  counts: boolean;
}

/** The text before and after the only part of a frame that changes. */
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

/** Recognises a frame that differs from the last one only in its text. Valid until a frame comes that does not. */
export class FrameTemplate {
  /** The frame's JSON before its text, and after it. */
  readonly before: string;
  readonly after: string;
  readonly #then: (text: string) => void;

  constructor(before: string, after: string, then: (text: string) => void) {
    this.before = before;
    this.after = after;
    this.#then = then;
  }

  /** Takes a whole frame. Returns false, and does nothing, if it differs in more than its text. */
  takes(data: string): boolean {
    const written = writtenBetween(this, data);
    return written !== undefined && this.take(written);
  }

  /** Takes the JSON in the text's place. Returns false, and does nothing, if that is more than one string. */
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
  /** Initial frames still to be parsed. */
  #beginning: number;

  /**
   * @param paths where in a frame its text may be
   * @param parse parses a frame of a new shape; it may throw
   * @param first how many frames are parsed before a pattern is made; a quarter as many before edges are compared
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

  /** Whether the edges of the last frame are known: only then can others be recognised by them. */
  get isEdged(): boolean {
    return this.#same && this.#edges !== undefined;
  }

  /**
   * A template of the last frame: `then` gets the text of each frame that it recognises. Undefined if the edges are not
   * known.
   */
  frameTemplate(then: (text: string) => void): FrameTemplate | undefined {
    return this.#same && this.#edges !== undefined
      ? new FrameTemplate(this.#edges.before, this.#edges.after, then)
      : undefined;
  }

  /** The frame's value, valid until the next one. */
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
    // A single unusual frame (an escape, another event) does not call for a new pattern; several do.
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
    // Setting the counters makes the edges of this value's frame outdated: they contain the old ones.
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

/** The JSON between these edges; undefined if the frame has other ones. */
function writtenBetween(
  { before, after }: Pick<Edges, "before" | "after">,
  data: string,
): string | undefined {
  if (data.length < before.length + after.length || !data.startsWith(before) || !data.endsWith(after))
    return undefined;
  return data.slice(before.length, data.length - after.length);
}

/** Characters that must be escaped in a JSON string, and a few more. */
const special = /["\\\p{Cc}]/u;

/** The string written between two quotes; undefined if it is not exactly one string. */
function textWritten(written: string): string | undefined {
  if (!special.test(written)) return written;
  try {
    // It may contain an escaped quote; an unescaped one makes this invalid JSON.
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return undefined;
  }
}

/** The edges around a frame's text; undefined if the text's place is ambiguous. */
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

/** The pattern of a frame; undefined if the place of its text or counters is ambiguous. */
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
    // Written with escapes, or occurring twice: its place is ambiguous.
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

/** The offset of a member's value in the JSON; undefined if it is ambiguous. */
function placeOf(data: string, key: string, written: string): number | undefined {
  const name = `"${key}":`;
  const at = data.indexOf(name);
  if (at < 0 || data.includes(name, at + 1)) return undefined;
  let place = at + name.length;
  while (data[place] === " ") place += 1;
  if (!data.startsWith(written, place)) return undefined;
  return /[\s,}\]]/.test(data.charAt(place + written.length)) ? place : undefined;
}

/** The member at the path, if it is a non-empty string. */
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

/** Every member of every object in a value, in the order in which they are written. */
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

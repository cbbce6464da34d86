// The room of server-sent events: bytes in any chunking become frames.
//
// The WHATWG algorithm, more lenient where real servers need it:
//
// - A payload that itself starts with a colon is a comment that a gateway wrapped; an event with an empty payload is ignored.
// - JSON may start with the name of its field once more (`data: data: {…}`): what follows that is the payload.
// - A last event without its blank line counts if its payload is whole: WHATWG drops it, and with it the finish signal of
//   small servers. So does an event whose payload is whole and is followed by another payload without a blank line.
// - A bare JSON object between events, over any number of lines, is an event. Google breaks off an answer in this way,
//   and WHATWG drops the error.
// - An object in a field `error` is an event of that name: older versions of llama.cpp report errors so. An event named `error`
//   counts even without a payload.
// - An object may be written over several lines of which only the first is a field.
//
// Most events of an answer differ from the one before only in one text. The reader of the frames may know where that text is
// (`FrameTemplate`): such an event is taken directly from the bytes, and never becomes a frame. The cost of thousands of deltas
// is decided here (see `bench/RESULTS.md`).

import { RondoError } from "@rondo/core";
import type { Decoder, Frame } from "../codec.ts";
import type { FrameTemplate } from "../frame-json.ts";
import { ObjectScan } from "../json-values.ts";
import { Utf8Stream } from "./utf8.ts";

/** How many characters an event may have; with more the stream counts as broken. */
const maxEventChars = 64 * 1024 * 1024;

/** The longest bare object, in characters: bare objects are errors, and those are short. */
const maxBareChars = 64 * 1024;

const colon = 58;
const space = 32;
const lineFeed = 10;
const letterD = 100;

/** The beginning of a plain event: its name, if it has one, and then its payload, which is JSON in one line. */
const plainHead = /(?:event: ?([^\n]*)\n)?data: ?(?=[{[])/y;

/** A repeated field name before something that can only be a payload. */
const doubled = /^data: ?(?=[{[])/;
const longestDoubled = 7;

export class SseDecoder {
  readonly #onFrame: (frame: Frame) => void;
  readonly #reader: Pick<Decoder, "frameTemplate">;
  readonly #limit: number;
  readonly #utf8 = new Utf8Stream();
  /** The last chunk ended in a carriage return, which ended a line: if a line feed follows, it belongs to it. */
  #afterReturn = false;
  /** Pieces of the present line; joined once, so that the cost of a long line is linear. */
  #open: string[] = [];
  #openChars = 0;
  /** The name and the payload of the present event, from the lines since the last blank one. */
  #event: string | undefined;
  #data: string | undefined;
  /** The scan of a payload that is an object over several lines, once a line of it came without the name of its field. */
  #object: ObjectScan | undefined;
  /** An event name that came after a payload: it is that event's name, or the next one's. */
  #later: string | undefined;
  /** Lines since the last blank one that are not fields, of which the first opens a JSON object. */
  #bare: string | undefined;
  /** How the last event began, up to its payload, if it was a plain one: mostly the following ones begin in the same way. */
  #head = "";
  /** The last template, and how an event begins and ends that is alike. */
  #known: FrameTemplate | undefined;
  #start: string | undefined;
  #tail = "";

  /** @param reader has a way to take an event that is like the last frame, or none */
  constructor(
    onFrame: (frame: Frame) => void,
    reader: Pick<Decoder, "frameTemplate"> = {},
    limit: number = maxEventChars,
  ) {
    this.#onFrame = onFrame;
    this.#reader = reader;
    this.#limit = limit;
  }

  /**
   * Takes bytes; calls `onFrame` for each event they complete.
   * @throws RondoError `protocol` if one event is longer than the limit; and whatever `onFrame` throws
   */
  push(chunk: Uint8Array): void {
    this.#take(this.#utf8.decode(chunk));
    if (this.#openChars + (this.#data?.length ?? 0) > this.#limit)
      throw new RondoError(
        "protocol",
        `an event of the stream is longer than ${this.#limit} characters: this is no server-sent event stream`,
      );
  }

  /** Ends the stream. Returns true if it was cut inside an event, which is then dropped. */
  end(): boolean {
    this.#take(this.#utf8.end());
    const last = this.#open.join("");
    // A line that is not a field is ignored, but as the last one it may be the beginning of a field.
    const cutInField = last !== "" && !this.#isBare(last) && !/^(data|event|id|retry)?(:|$)/.test(last);
    if (last !== "") this.#line(last);
    const cutInBare = this.#bare !== undefined;
    this.#open = [];
    const whole = this.#data === undefined || !isPayload(this.#data) || isWhole(this.#data);
    if (whole) this.#dispatch();
    return cutInField || cutInBare || !whole;
  }

  #take(chunk: string): void {
    let text = chunk;
    if (this.#afterReturn || text.includes("\r")) text = this.#withoutReturns(text);
    if (!text.includes("\n")) {
      if (text !== "") this.#open.push(text);
      this.#openChars += text.length;
      return;
    }
    if (this.#openChars > 0) {
      text = (this.#open.length === 1 ? this.#open[0] : this.#open.join("")) + text;
      this.#open.length = 0;
    }
    let from = 0;
    for (;;) {
      const isBetween = this.#data === undefined && this.#event === undefined && this.#bare === undefined;
      if (isBetween) {
        const { frameTemplate } = this.#reader;
        if (frameTemplate !== undefined) from = this.#alike(frameTemplate, text, from);
        const next = this.#framed(text, from);
        if (next !== undefined) {
          from = next;
          continue;
        }
      }
      const end = text.indexOf("\n", from);
      if (end === -1) break;
      this.#line(text.slice(from, end));
      from = end + 1;
    }
    this.#openChars = text.length - from;
    if (this.#openChars > 0) this.#open.push(text.slice(from));
  }

  /** Takes the events that differ from the last one only in their text. Returns where the first other one begins. */
  #alike(frameTemplate: FrameTemplate, text: string, from: number): number {
    if (frameTemplate !== this.#known || this.#start === undefined) {
      this.#known = frameTemplate;
      // One that was not plain may have its payload in several lines.
      this.#start = this.#head === "" ? undefined : this.#head + frameTemplate.before;
      this.#tail = `${frameTemplate.after}\n\n`;
    }
    const start = this.#start;
    if (start === undefined) return from;
    const tail = this.#tail;
    let at = from;
    // Slices, where `startsWith` would do: compiled, that is so much code that it costs more than it saves.
    while (text.slice(at, at + start.length) === start) {
      const textAt = at + start.length;
      const end = text.indexOf("\n", textAt) + 2;
      const last = end - tail.length;
      if (last < textAt || text.slice(last, end) !== tail) break;
      if (!frameTemplate.take(text.slice(textAt, last))) break;
      at = end;
    }
    return at;
  }

  /** Makes a frame of a plain event. Returns where the next one begins. */
  #framed(text: string, from: number): number | undefined {
    plainHead.lastIndex = from;
    const begun = plainHead.exec(text);
    if (begun === null) return undefined;
    const start = plainHead.lastIndex;
    const end = text.indexOf("\n", start);
    if (end === -1 || text.charCodeAt(end + 1) !== lineFeed) return undefined;
    this.#head = begun[0];
    this.#onFrame({ event: begun[1] || undefined, data: text.slice(start, end) });
    return end + 2;
  }

  /** Lines may end in a carriage return, a line feed or both; a chunk may end between the two. */
  #withoutReturns(text: string): string {
    if (text === "") return text;
    const plain = this.#afterReturn && text.charCodeAt(0) === lineFeed ? text.slice(1) : text;
    this.#afterReturn = plain.endsWith("\r");
    return plain.replace(/\r\n?/g, "\n");
  }

  #line(line: string): void {
    if (line === "") {
      this.#dispatch();
      return;
    }
    if (this.#isBare(line)) {
      this.#bareLine(line);
      return;
    }
    if (this.#goesOn(line)) {
      this.#extend(line);
      return;
    }
    const nameEnd = line.indexOf(":");
    const after = line.charCodeAt(nameEnd + 1) === space ? nameEnd + 2 : nameEnd + 1;
    const start = line.startsWith("data:") ? behindDoubled(line, after) : after;
    const [name, value] = nameEnd === -1 ? [line, ""] : [line.slice(0, nameEnd), line.slice(start)];
    this.#bare = undefined;
    if (name === "data") {
      if (this.#data !== undefined && endsBefore(this.#data, value)) this.#dispatch(this.#later);
      this.#extend(value);
    } else if (name === "event") {
      if (this.#data === undefined) this.#event = value;
      else this.#later = value;
    } else if (name === "error" && value.startsWith("{") && isWhole(value))
      this.#onFrame({ event: "error", data: value });
  }

  /** Whether a line belongs to a bare object, or opens one. */
  #isBare(line: string): boolean {
    if (this.#bare !== undefined) return !/^(?:data|event):/.test(line);
    return this.#data === undefined && /^\s*\{/.test(line);
  }

  /** Whether a line continues an object that a proxy wrote over several lines, with a field name only before the first. */
  #goesOn(line: string): boolean {
    const data = this.#data;
    if (data === undefined || !member.test(line)) return false;
    if (this.#object === undefined && /^\s*\{/.test(data)) {
      this.#object = new ObjectScan();
      this.#object.endIn(data);
    }
    return this.#object?.isOpen === true;
  }

  /** Adds a line to the payload. */
  #extend(line: string): void {
    this.#data = this.#data === undefined ? line : `${this.#data}\n${line}`;
    if (this.#object?.isOpen === true) this.#object.endIn(line);
  }

  #bareLine(line: string): void {
    const text = this.#bare === undefined ? line : `${this.#bare}\n${line}`;
    this.#bare = text.length > maxBareChars ? undefined : text;
    // The last line of an object in several lines is its closing bracket.
    if ((text === line || line.trimEnd() === "}") && isWhole(text)) {
      this.#bare = undefined;
      this.#onFrame({ event: undefined, data: text });
    }
  }

  /** @param next the name of the event that began without a blank line before it */
  #dispatch(next?: string): void {
    this.#bare = undefined;
    const data = this.#data;
    const event = (next === undefined ? (this.#later ?? this.#event) : this.#event) || undefined;
    this.#data = undefined;
    this.#object = undefined;
    this.#event = next;
    this.#later = undefined;
    this.#head = "";
    if (data !== undefined && isPayload(data)) this.#onFrame({ event, data });
    else if (event === "error" && !data) this.#onFrame({ event, data: "" });
  }
}

/** Whether a payload is over without a blank line: it is whole, and what follows begins another payload. */
const endsBefore = (data: string, next: string): boolean =>
  /^\s*[{[]/.test(next) && /[}\]]\s*$/.test(data) && isWhole(data);

/** Where the payload begins in a line that has its field name twice. */
function behindDoubled(line: string, start: number): number {
  const said = line.charCodeAt(start) === letterD && doubled.exec(line.slice(start, start + longestDoubled));
  return said ? start + said[0].length : start;
}

/** A line of a pretty-printed object: indented, or its last. */
const member: RegExp = /^(?:\s+\S|[}\]],?\s*$)/;

const isPayload = (data: string): boolean => data !== "" && data.charCodeAt(0) !== colon;

/** Whether a payload without its blank line is whole: JSON that parses, or a sentinel. */
function isWhole(data: string): boolean {
  if (data === "[DONE]") return true;
  if (!/^\s*[{[]/.test(data)) return false;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

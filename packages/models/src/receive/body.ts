// The room of a body's form: events, lines, or one value.
//
// Its first character is more reliable than its content type. A body that begins as JSON is one value, unless its first
// line is a whole object and something follows: then it is one object per line, which the event framing also reads.

import { RondoError } from "@rondo/core";
import type { Codec } from "../codec.ts";
import { objectIn, parseJson } from "../json-values.ts";
import { Utf8Stream } from "../transport/utf8.ts";

/** Turns bytes into frames; all framings have this interface. */
export interface Framer {
  push(chunk: Uint8Array): void;
  /** Ends the stream. True if it was cut inside a frame. */
  end(): boolean;
}

/** Whether a stream that should be AWS frames is text. AWS frames begin with their length, whose first byte is 0. */
export const beginsText = (first: number): boolean => /[a-z:{]/i.test(String.fromCharCode(first));

/** A stream of AWS frames, or of text if a gateway converted them to events or lines: the first byte decides. */
export class BinaryOrText implements Framer {
  readonly #binary: Framer;
  readonly #text: Framer;
  #chosen: Framer | undefined;

  constructor(binary: Framer, text: Framer) {
    this.#binary = binary;
    this.#text = text;
  }

  push(chunk: Uint8Array): void {
    const [first] = chunk;
    if (first === undefined) return;
    this.#chosen ??= beginsText(first) ? this.#text : this.#binary;
    this.#chosen.push(chunk);
  }

  end(): boolean {
    return (this.#chosen ?? this.#binary).end();
  }
}

/** A body, whose form is known once its first character arrived. */
export class Body {
  /** Set as long as it seems to be one value. */
  whole: WholeBody | undefined;
  #isKnown = false;
  readonly #framer: Framer;
  readonly #framing: Codec["framing"];
  readonly #isStream: boolean;
  #blank: Uint8Array[] = [];

  /** @param isStream a stream was requested: lines of JSON begin like a whole answer, and only this distinguishes them */
  constructor(framer: Framer, framing: Codec["framing"], isStream: boolean) {
    this.#framer = framer;
    this.#framing = framing;
    this.#isStream = isStream;
  }

  /** Takes the next piece. Returns the bytes to frame now: none while only white space has come, or what seems to be one value. */
  take(chunk: Uint8Array): readonly Uint8Array[] {
    if (!this.#isKnown && !this.#recognise(chunk)) return [];
    if (this.whole === undefined) return [chunk];
    const lines = this.whole.push(chunk);
    if (lines.length > 0) this.whole = undefined;
    return lines;
  }

  /** False as long as only white space has arrived, which is kept. */
  #recognise(chunk: Uint8Array): boolean {
    const first = firstCharacter(chunk);
    if (first === undefined) {
      this.#blank.push(chunk);
      return false;
    }
    const begins = first === brace || first === bracket || first === quote;
    const json = begins && !(this.#framing === "ndjson" && this.#isStream);
    if (json || first === angle) this.whole = new WholeBody(this.#framing !== "ndjson");
    this.#isKnown = true;
    for (const held of this.#blank) (this.whole ?? this.#framer).push(held);
    this.#blank = [];
    return true;
  }
}

export class WholeBody {
  readonly #utf8 = new Utf8Stream();
  readonly #pieces: string[] = [];
  #length = 0;
  /** All bytes so far, as long as they may be lines. */
  #raw: Uint8Array[] | undefined;
  /** The first line was a whole object. */
  #hasLine = false;

  constructor(mayBeLines: boolean) {
    if (mayBeLines) this.#raw = [];
  }

  /** Returns all bytes so far once the body is known to be lines; otherwise nothing. */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    const piece = this.#utf8.decode(chunk);
    this.#length += piece.length;
    if (this.#length > maxWholeChars)
      throw new RondoError(
        "protocol",
        `an answer of more than ${maxWholeChars} characters came: this is no answer`,
      );
    this.#pieces.push(piece);
    if (this.#raw === undefined) return [];
    this.#raw.push(chunk);
    return this.#isLines(piece) ? this.#raw : [];
  }

  #isLines(piece: string): boolean {
    if (this.#hasLine) return piece.trim() !== "";
    if (!piece.includes("\n")) return false;
    const text = this.#pieces.join("").trimStart();
    const end = text.indexOf("\n");
    if (end === -1) return false;
    this.#hasLine = objectIn(parseJson(text.slice(0, end))) !== undefined;
    if (!this.#hasLine) this.#raw = undefined;
    return this.#hasLine && text.slice(end).trim() !== "";
  }

  /** The text so far, without a character that was cut at its end. */
  text(): string {
    return this.#pieces.join("");
  }
}

const maxWholeChars = 256 * 1024 * 1024;
const brace = 0x7b;
const bracket = 0x5b;
/** A proxy may have quoted the whole body. */
const quote = 0x22;
const angle = 0x3c;

/** The first byte that is neither white space nor part of a byte order mark. */
function firstCharacter(chunk: Uint8Array): number | undefined {
  for (const byte of chunk) {
    const blank =
      byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0xef || byte === 0xbb || byte === 0xbf;
    if (!blank) return byte;
  }
  return undefined;
}

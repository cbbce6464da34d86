// The room of lines: counts all lines of a text that comes in pieces, and keeps a range of them within limits.

import { counted } from "../reasons.ts";
import { isOtherEncoding } from "../text/shown-text.ts";
import { clip, clipBytes, visible } from "../text/text-file.ts";
import { utf8Mark } from "../text/text-form.ts";

export interface LineBounds {
  /** Bytes of UTF-8 kept in total. */
  maxBytes: number;
  /** Characters kept per line. */
  maxLineLength: number;
}

/** Counts lines and keeps those of a range, within limits. */
export class Lines {
  readonly #from: number;
  readonly #limit: number;
  readonly #maxLineLength: number;
  /** The current line so far, at most what may be shown of it. */
  #line: Buffer[] = [];
  #kept = 0;
  #length = 0;
  #last = 0;
  #room: number;
  readonly texts: string[] = [];
  /** Lines ended so far; at the end, all lines. */
  total = 0;
  crlf = 0;
  /** Lines of the range of which only the beginning is kept, counted from 1. */
  readonly clipped: number[] = [];
  invalid = 0;
  /** Invalid lines with hardly any valid character beyond ASCII: they have another encoding, and are not damaged. */
  otherEncoding = 0;
  odd = 0;
  /** The range was cut because the text grew too large. */
  full = false;
  endsWithNewline = true;

  constructor(from: number, limit: number, bounds: LineBounds) {
    this.#from = from;
    this.#limit = limit;
    this.#maxLineLength = bounds.maxLineLength;
    this.#room = bounds.maxBytes;
  }

  push(bytes: Buffer): void {
    let from = 0;
    for (;;) {
      const newline = bytes.indexOf(10, from);
      const end = newline < 0 ? bytes.length : newline;
      if (end > from) this.#take(bytes.subarray(from, end));
      if (newline < 0) return;
      this.#end();
      from = newline + 1;
    }
  }

  end(): void {
    if (this.#length === 0 || this.#isOnlyMark) return;
    this.endsWithNewline = false;
    this.#end();
  }

  get #wanted(): boolean {
    return !this.full && this.total + 1 >= this.#from && this.texts.length < this.#limit;
  }

  /** A byte order mark alone is no line. */
  get #isOnlyMark(): boolean {
    return this.total === 0 && this.#length === 3 && Buffer.concat(this.#line).equals(utf8Mark);
  }

  #take(bytes: Buffer): void {
    this.#length += bytes.length;
    this.#last = bytes.at(-1)!;
    if (!this.#wanted) return;
    const room = this.#maxLineLength * 4 + 8 - this.#kept;
    if (room <= 0) return;
    // The read buffer is reused: what is kept must be copied.
    const part = Buffer.from(bytes.subarray(0, room));
    this.#line.push(part);
    this.#kept += part.length;
  }

  #end(): void {
    const carriage = this.#length > 0 && this.#last === 13 && this.endsWithNewline;
    if (carriage) this.crlf++;
    if (this.#wanted) this.#keep(carriage);
    this.total++;
    this.#line = [];
    this.#kept = 0;
    this.#length = 0;
    this.#last = 0;
  }

  #keep(carriage: boolean): void {
    let bytes = Buffer.concat(this.#line);
    const whole = bytes.length === this.#length;
    if (whole && carriage) bytes = bytes.subarray(0, -1);
    if (this.total === 0 && bytes.subarray(0, 3).equals(utf8Mark)) bytes = bytes.subarray(3);
    const decoded = bytes.toString("utf8");
    let text = visible(decoded);
    let clipped = false;
    if (text !== decoded) this.odd++;
    // The first line is clipped to the total limit; a later line that does not fit ends the range.
    const most = this.texts.length === 0 ? this.#room : Number.POSITIVE_INFINITY;
    const fits = clipBytes(clip(text, this.#maxLineLength), most);
    if (!whole || fits.length < text.length) {
      text = fits;
      clipped = true;
      const rest = Math.max(0, this.#length - Buffer.byteLength(text));
      text += ` [... ${counted(rest, "more byte")} in this line]`;
    } else if (decoded.includes("\ufffd") && !bytes.includes("\ufffd")) {
      this.invalid++;
      if (isOtherEncoding(bytes)) this.otherEncoding++;
    }
    const size = Buffer.byteLength(text) + 1;
    if (size > this.#room && this.texts.length > 0) {
      this.full = true;
      return;
    }
    this.#room -= size;
    this.texts.push(text);
    if (clipped) this.clipped.push(this.total + 1);
  }
}

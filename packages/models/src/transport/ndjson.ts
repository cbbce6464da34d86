// The room of newline-delimited JSON: bytes in any chunking become frames, one per line.
//
// A proxy may turn it into server-sent events: of those only the payload lines count. The last line may lack its line end:
// it counts if it is whole JSON. A line that was cut is dropped.

import { RondoError } from "@rondo/core";
import type { Frame } from "../codec.ts";
import { Utf8Stream } from "./utf8.ts";

/** The longest line, in characters; with more the stream counts as broken. */
const maxLineChars = 64 * 1024 * 1024;

export class NdjsonDecoder {
  readonly #utf8 = new Utf8Stream();
  readonly #onFrame: (frame: Frame) => void;
  readonly #limit: number;
  /** Pieces of the present line; joined once, so that the cost of a long line is linear. */
  #open: string[] = [];
  #openChars = 0;
  /** The lines of an object that is written over several, and their characters. */
  #lines: string[] = [];
  #linesChars = 0;

  constructor(onFrame: (frame: Frame) => void, limit: number = maxLineChars) {
    this.#onFrame = onFrame;
    this.#limit = limit;
  }

  /**
   * Takes bytes; calls `onFrame` for each line they complete.
   * @throws RondoError `protocol` when a line, or an object over several lines, exceeds the limit; and whatever `onFrame`
   * throws
   */
  push(chunk: Uint8Array): void {
    const text = this.#utf8.decode(chunk);
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      this.#open.push(text.slice(from, at));
      from = at + 1;
      const line = this.#whole(this.#take());
      if (line !== "") this.#onFrame({ event: undefined, data: line });
    }
    const rest = from === 0 ? text : text.slice(from);
    this.#openChars += rest.length;
    this.#mustFit("a line", this.#openChars);
    if (rest !== "") this.#open.push(rest);
  }

  /** Ends the stream. True if it was cut inside a line, which is then dropped. */
  end(): boolean {
    this.#open.push(this.#utf8.end());
    const line = this.#whole(this.#take()) || this.#lines.join("\n");
    if (line === "") return false;
    try {
      JSON.parse(line);
    } catch {
      return true;
    }
    this.#onFrame({ event: undefined, data: line });
    return false;
  }

  /** The payload that a line is, or completes: an object may be written over several lines. */
  #whole(line: string): string {
    if (this.#lines.length === 0 && line !== "{") return payloadOf(line.trim());
    this.#lines.push(line);
    this.#linesChars += line.length + 1;
    this.#mustFit("an object", this.#linesChars);
    if (line !== "}") return "";
    const text = this.#lines.join("\n");
    this.#lines = [];
    this.#linesChars = 0;
    return text;
  }

  #mustFit(what: string, chars: number): void {
    if (chars > this.#limit)
      throw new RondoError(
        "protocol",
        `${what} of the stream is longer than ${this.#limit} characters: this is no stream of JSON lines`,
      );
  }

  #take(): string {
    const line = this.#open.join("").trimEnd();
    this.#open = [];
    this.#openChars = 0;
    return line;
  }
}

/** The payload of a line, which may be a line of an event stream. */
const payloadOf = (line: string): string =>
  /^(?:(?:event|id|retry):|:|data: ?(?:\[DONE\])?$)/.test(line) ? "" : line.replace(/^data: ?/, "");

// The room of newline-delimited JSON: bytes in any chunking become frames, one a line.
//
// A proxy may make server-sent events of them: what is no payload there is none here. A server may leave out the last line's
// end: a last line that is whole JSON counts. A line that is cut inside is no frame.

import { RondoError } from "@rondo/core";
import type { Frame } from "../codec.ts";
import { Utf8Stream } from "./utf8.ts";

/** Characters that may wait for the end of their line before the stream counts as broken. */
const maxLineChars = 64 * 1024 * 1024;

export class NdjsonDecoder {
  readonly #utf8 = new Utf8Stream();
  readonly #onFrame: (frame: Frame) => void;
  readonly #limit: number;
  /** Pieces of the line that is not over yet; joined once, so that a long line costs no more than its length. */
  #open: string[] = [];
  #openChars = 0;
  /** Lines of an object that is written over several, and their characters. */
  #lines: string[] = [];
  #linesChars = 0;

  constructor(onFrame: (frame: Frame) => void, limit: number = maxLineChars) {
    this.#onFrame = onFrame;
    this.#limit = limit;
  }

  /**
   * Takes bytes; calls `onFrame` for each line they complete.
   * @throws RondoError `protocol` when one line, or an object in several, grows over the limit; and whatever `onFrame` throws
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

  /** The stream is over. True when it was cut inside a line: what had come of that one is dropped. */
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

  /** The payload that a line is, or ends: an object may be written over several, from one bracket to the other. */
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

/** What a line says, where it may be one of an event stream. */
const payloadOf = (line: string): string =>
  /^(?:(?:event|id|retry):|:|data: ?(?:\[DONE\])?$)/.test(line) ? "" : line.replace(/^data: ?/, "");

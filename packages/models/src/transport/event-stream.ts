// The room of AWS event streams: binary messages with headers and checksums become frames.
//
// A message is: total length, length of the headers, checksum of these two (each 4 bytes, big-endian), headers, payload,
// checksum of all before it. Both checksums are verified: a flipped bit must not become a tool call. Loaded only for
// protocols that use it.

import { RondoError } from "@rondo/core";
import crc32 from "crc-32";
import type { Frame } from "../codec.ts";

const preludeBytes = 12;
const checksumBytes = 4;
/** AWS allows 24 MB; a longer message is not an event stream. */
const maxMessageBytes = 64 * 1024 * 1024;

export class EventStreamDecoder {
  readonly #onFrame: (frame: Frame) => void;
  readonly #utf8 = new TextDecoder();
  #chunks: Uint8Array[] = [];
  #held = 0;
  /** Bytes needed before anything can be read: the prelude first, then the whole message. */
  #needed = preludeBytes;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /**
   * Takes bytes; calls `onFrame` for each message they complete.
   * @throws RondoError `stream_error` when a checksum or a length is wrong; and whatever `onFrame` throws
   */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return;
    let bytes = this.#chunks.length === 1 ? chunk : joined(this.#chunks, this.#held);
    for (;;) {
      const length = bytes.length < preludeBytes ? undefined : messageLength(bytes);
      this.#needed = length ?? preludeBytes;
      if (length === undefined || bytes.length < length) break;
      const message = bytes.subarray(0, length);
      bytes = bytes.subarray(length);
      this.#chunks = bytes.length === 0 ? [] : [bytes];
      this.#held = bytes.length;
      this.#onFrame(this.#frame(message));
    }
    this.#chunks = bytes.length === 0 ? [] : [bytes];
    this.#held = bytes.length;
  }

  /** Ends the stream. True if it was cut inside a message. */
  end(): boolean {
    return this.#held > 0;
  }

  #frame(message: Uint8Array): Frame {
    const view = viewOf(message);
    const end = message.length - checksumBytes;
    check(crc32.buf(message.subarray(0, end)), view.getInt32(end), "a message");
    const headersEnd = preludeBytes + view.getUint32(4);
    if (headersEnd > end) throw broken("a message's headers are longer than the message");
    const headers = this.#headers(message.subarray(preludeBytes, headersEnd));
    const data = this.#utf8.decode(message.subarray(headersEnd, end));
    switch (headers.get(":message-type")) {
      case "exception":
        return { event: headers.get(":exception-type"), data, exception: true };
      case "error":
        return {
          event: headers.get(":error-code"),
          data: data === "" ? JSON.stringify({ message: headers.get(":error-message") ?? "" }) : data,
          exception: true,
        };
      default:
        return { event: headers.get(":event-type"), data };
    }
  }

  /** The headers whose values are strings; others are skipped. */
  #headers(bytes: Uint8Array): Map<string, string> {
    const headers = new Map<string, string>();
    const view = viewOf(bytes);
    let at = 0;
    try {
      while (at < bytes.length) {
        const nameEnd = at + 1 + view.getUint8(at);
        const name = this.#utf8.decode(bytes.subarray(at + 1, nameEnd));
        const type = view.getUint8(nameEnd);
        at = nameEnd + 1;
        const fixed = fixedSizes[type];
        if (fixed !== undefined) at += fixed;
        else if (type === 6 || type === 7) {
          const length = view.getUint16(at);
          if (type === 7) headers.set(name, this.#utf8.decode(bytes.subarray(at + 2, at + 2 + length)));
          at += 2 + length;
        } else throw broken(`a header has the unknown type ${type}`);
      }
    } catch (thrown) {
      throw thrown instanceof RondoError ? thrown : broken("a header ends outside its message");
    }
    return headers;
  }
}

/** Bytes of a header's value, by type: true, false, byte, short, int, long; then timestamp and uuid. */
const fixedSizes: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

function messageLength(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  check(crc32.buf(bytes.subarray(0, 8)), view.getInt32(8), "a prelude");
  const length = view.getUint32(0);
  if (length < preludeBytes + checksumBytes || length > maxMessageBytes)
    throw broken(`a message of ${length} bytes is announced`);
  return length;
}

function check(computed: number, stated: number, what: string): void {
  if (computed !== stated) throw broken(`the checksum of ${what} is wrong`);
}

function broken(what: string): RondoError {
  return new RondoError("stream_error", `the AWS event stream is broken: ${what}`);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

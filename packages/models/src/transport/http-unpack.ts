// The room of compressed bodies, on Node: decompresses what was sent compressed.
//
// Nobody here asks for compression, but gateways send it all the same. Some decompress a body and leave the header in
// place, others compress one without a header; so for gzip the first byte decides: neither text nor our frames begin like
// it. Other compressions have no such byte, and their header may be wrong too: there the first few bytes show whether the
// body is text.

import type * as Http from "node:http";
import type { Transform } from "node:stream";
import type * as Zlib from "node:zlib";
import { RondoError } from "@rondo/core";

const gzipped = 0x1f;

/** The reader of a body. */
export interface BodyReader {
  /** The first bytes have arrived, compressed or not. */
  began(): void;
  /** Chunks arrive as they come, also out of a decompressor. */
  take(chunk: Uint8Array): void;
  ended(): void;
  failed(thrown: unknown): void;
}

/** Reads a body to its end. */
export function readBody(message: Http.IncomingMessage, { began, take, ended, failed }: BodyReader): void {
  const encoding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  const needed = byFirst.has(encoding) ? 1 : headBytes;
  let head: Uint8Array | undefined = new Uint8Array(0);
  let unpacker: Transform | undefined;
  let refused = false;
  const write = (chunk: Uint8Array): void => {
    if (unpacker === undefined) take(chunk);
    else if (!unpacker.write(chunk)) {
      message.pause();
      unpacker.once("drain", () => message.resume());
    }
  };
  const begin = (first: Uint8Array): void => {
    head = undefined;
    try {
      unpacker = unpackerOf(encoding, first)?.on("data", take).on("end", ended).on("error", failed);
      write(first);
    } catch (thrown) {
      refused = true;
      failed(thrown);
    }
  };
  message.on("data", (chunk: Uint8Array) => {
    if (refused) return;
    if (head === undefined) write(chunk);
    else {
      if (head.length === 0) began();
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      if (head.length >= needed) begin(head);
    }
  });
  message.on("end", () => {
    if (head !== undefined && head.length > 0) begin(head);
    if (refused) return;
    if (unpacker === undefined) ended();
    else unpacker.end();
  });
}

/** Encodings for which the first byte decides. */
const byFirst: ReadonlySet<string> = new Set(["", "identity", "gzip", "x-gzip"]);

/** Bytes needed to distinguish text from compressed data. */
const headBytes = 6;
/** JSON, frames of events, a web page. */
const text: RegExp = /^\s*(?:[{[]\s*(?:["{[\]}\d-]|$)|data:|event:|id:|retry:|: ?[\w-]|<[!a-z?])/i;

/** @throws RondoError `protocol` if the encoding is unknown */
function unpackerOf(encoding: string, head: Uint8Array): Transform | undefined {
  const first = head[0] ?? 0;
  if (first !== gzipped) {
    if (byFirst.has(encoding) || text.test(Buffer.from(head).toString("latin1"))) return undefined;
    if (encoding !== "br" && encoding !== "deflate")
      throw new RondoError("protocol", `the answer came in the unknown content encoding "${encoding}"`);
  }
  const zlib: typeof Zlib = process.getBuiltinModule("node:zlib");
  // A truncated stream is detected by its protocol, which knows more than the decompressor.
  const lenient = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (encoding === "br")
    return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (first === gzipped) return zlib.createGunzip(lenient);
  // Many servers send raw deflate, without zlib's two header bytes.
  return (first & 0x0f) === 8 ? zlib.createInflate(lenient) : zlib.createInflateRaw(lenient);
}

// The room of compressed bodies, on Node: what came over the wire becomes what was sent.
//
// Nobody here asks for compression, and gateways do it all the same. Some unpack a body and leave its header standing, others
// pack one and say nothing; the first byte knows better than the header: no text and no frame of ours begins as gzip does. Other
// ways of packing have no such byte, and what their header names may not be packed at all: there the first few bytes tell
// whether the body is text.

import type * as Http from "node:http";
import type { Transform } from "node:stream";
import type * as Zlib from "node:zlib";
import { RondoError } from "@rondo/core";

const gzipped = 0x1f;

/** Who reads a body. */
export interface BodyReader {
  /** The first of it has come, packed or not. */
  began(): void;
  /** Pieces come as they arrive, also out of a decompressor. */
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

/** Encodings where the first byte tells enough. */
const byFirst: ReadonlySet<string> = new Set(["", "identity", "gzip", "x-gzip"]);

/** Bytes that tell a text from what is packed. */
const headBytes = 6;
/** JSON, frames of events, a web page. */
const text: RegExp = /^\s*(?:[{[]\s*(?:["{[\]}\d-]|$)|data:|event:|id:|retry:|: ?[\w-]|<[!a-z?])/i;

/** @throws RondoError `protocol` for what is packed in a way that is not known */
function unpackerOf(encoding: string, head: Uint8Array): Transform | undefined {
  const first = head[0] ?? 0;
  if (first !== gzipped) {
    if (byFirst.has(encoding) || text.test(Buffer.from(head).toString("latin1"))) return undefined;
    if (encoding !== "br" && encoding !== "deflate")
      throw new RondoError("protocol", `the answer came in the unknown content encoding "${encoding}"`);
  }
  const zlib: typeof Zlib = process.getBuiltinModule("node:zlib");
  // A stream that was cut is found out by its protocol, which knows more than the decompressor.
  const lenient = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (encoding === "br")
    return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (first === gzipped) return zlib.createGunzip(lenient);
  // Half of the world leaves out the two bytes that it should begin with.
  return (first & 0x0f) === 8 ? zlib.createInflate(lenient) : zlib.createInflateRaw(lenient);
}

// The room of compressed bodies, on Node: what came over the wire becomes what was sent.
//
// Nobody here asks for compression, and gateways do it all the same. Some unpack a body and leave its header standing, others
// pack one and say nothing; the first byte knows better than the header. No text and no frame of ours begins with it.

import type * as Http from "node:http";
import type { Transform } from "node:stream";
import type * as Zlib from "node:zlib";
import { RondoError } from "@rondo/core";

const gzipped = 0x1f;

/** Reads a body to its end. Pieces come as they arrive, also out of a decompressor. */
export function readBody(
  message: Http.IncomingMessage,
  take: (chunk: Uint8Array) => void,
  ended: () => void,
  failed: (thrown: unknown) => void,
): void {
  const encoding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (!known.has(encoding)) {
    queueMicrotask(() =>
      failed(new RondoError("protocol", `the answer came in the unknown content encoding "${encoding}"`)),
    );
    return;
  }
  let begun = false;
  let unpacker: Transform | undefined;
  message.on("data", (chunk: Uint8Array) => {
    if (!begun) {
      begun = true;
      unpacker = unpackerOf(encoding, chunk[0] ?? 0);
      unpacker?.on("data", take).on("end", ended).on("error", failed);
    }
    if (unpacker === undefined) take(chunk);
    else if (!unpacker.write(chunk)) {
      message.pause();
      unpacker.once("drain", () => message.resume());
    }
  });
  message.on("end", () => {
    if (unpacker === undefined) ended();
    else unpacker.end();
  });
}

const known: ReadonlySet<string> = new Set(["", "identity", "gzip", "x-gzip", "deflate", "br"]);

function unpackerOf(encoding: string, first: number): Transform | undefined {
  if (first !== gzipped && encoding !== "br" && encoding !== "deflate") return undefined;
  const zlib: typeof Zlib = process.getBuiltinModule("node:zlib");
  // A stream that was cut is found out by its protocol, which knows more than the decompressor.
  const lenient = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (encoding === "br")
    return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (first === gzipped) return zlib.createGunzip(lenient);
  // Half of the world leaves out the two bytes that it should begin with.
  return (first & 0x0f) === 8 ? zlib.createInflate(lenient) : zlib.createInflateRaw(lenient);
}

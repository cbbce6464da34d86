// The room of scratch memory: where a long body becomes bytes.
//
// A conversation's body grows with every step. Allocating fresh memory for each costs more than filling it: the system must
// provide its pages, and they are in no cache when the socket reads them. So the memory of a sent body is reused for the
// next one.

import type { Buffer as NodeBuffer } from "node:buffer";
import type { HttpRequest } from "./http.ts";

/** Below this, Node's own pool of small buffers is good enough. */
const worthwhileBytes = 16 * 1024;
/** What is kept at most: buffers, and bytes of one. */
const mostKept = 4;
const mostBytes = 4 * 1024 * 1024;

const kept: NodeBuffer[] = [];

export interface BodyBytes {
  pieces: readonly Uint8Array[];
  /** Of all of them together. */
  length: number;
  /** Call it once all of it has left the process, not before. */
  sent?: () => void;
}

/** A request's body as bytes. Only on Node. */
export function bytesOf({ body, parts }: Pick<HttpRequest, "body" | "parts">): BodyBytes | undefined {
  if (parts !== undefined) {
    const pieces = [Buffer.from(parts.before), parts.kept, Buffer.from(parts.after)];
    return { pieces, length: pieces.reduce((sum, piece) => sum + piece.length, 0) };
  }
  if (body === undefined) return undefined;
  if (body.length < worthwhileBytes) {
    const bytes = Buffer.from(body);
    return { pieces: [bytes], length: bytes.length };
  }
  const length = Buffer.byteLength(body);
  const at = kept.findIndex((one) => one.length >= length);
  // The next body is usually this one and a little more.
  const memory =
    at === -1 ? Buffer.allocUnsafeSlow(length + (length >> 1)) : (kept.splice(at, 1)[0] as NodeBuffer);
  memory.write(body, 0, "utf8");
  const sent = (): void => {
    if (memory.length > mostBytes) return;
    if (kept.length === mostKept) kept.shift();
    kept.push(memory);
  };
  return { pieces: [memory.subarray(0, length)], length, sent };
}

// The room of text in files: tells text from binary, and makes text safe to show.
//
// Every read is limited, and none blocks: pipes and devices are refused before they are opened.

import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { Refusal } from "../reasons.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Reads a small text file; no symlink is followed. Throws when it is not a regular file or larger than `maxBytes`. */
export async function readWhole(path: string, maxBytes: number): Promise<string> {
  if (!(await lstat(path)).isFile()) throw new Refusal("not a plain file");
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > maxBytes) throw new Refusal("not a plain file, or too large");
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Reads an open file from its beginning, up to `count` bytes. Loops, because one read may return fewer. */
export async function readAtMost(handle: FileHandle, count: number): Promise<Buffer> {
  const bytes = Buffer.alloc(count);
  let length = 0;
  while (length < count) {
    const { bytesRead } = await handle.read(bytes, length, count - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

/** How many of its first bytes decide what a file is. */
export const headLength = 8192;

const signatures: [kind: string, bytes: number[], at?: number][] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x57, 0x45, 0x42, 0x50], 8],
  ["PDF document", [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["ZIP archive", [0x50, 0x4b, 0x03, 0x04]],
  ["gzip data", [0x1f, 0x8b]],
  ["zstd data", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz data", [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ["bzip2 data", [0x42, 0x5a, 0x68]],
  ["ELF program or library", [0x7f, 0x45, 0x4c, 0x46]],
  ["WebAssembly", [0x00, 0x61, 0x73, 0x6d]],
  ["SQLite database", [...Buffer.from("SQLite format 3\0")]],
  ["tar archive", [...Buffer.from("ustar")], 257],
  ["UTF-16 text", [0xff, 0xfe]],
  ["UTF-16 text", [0xfe, 0xff]],
];

/** The kind of binary content, by its first bytes; `undefined` for text in (or close to) UTF-8, and for an empty file. */
export function binaryKind(bytes: Uint8Array): string | undefined {
  const head = bytes.subarray(0, headLength);
  for (const [kind, signature, at = 0] of signatures) {
    if (!signature.every((byte, index) => head[at + index] === byte)) continue;
    // A signature of two or three bytes proves little: text may begin with them.
    if (signature.length > 3 || !looksLikeText(head)) return kind;
  }
  return looksLikeText(head) ? undefined : "binary data";
}

/** No NUL, and few control characters. */
export function looksLikeText(head: Uint8Array): boolean {
  let odd = 0;
  for (const byte of head) {
    if (byte === 0) return false;
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 27 && byte !== 12) odd++;
  }
  return odd * 10 <= head.length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Text with control characters made visible (ESC as "␛"), so that no terminal obeys them. Tabs and newlines stay. */
export function visible(text: string): string {
  return text.replace(controls, (char) => {
    const code = char.charCodeAt(0);
    return code < 32 ? String.fromCharCode(0x2400 + code) : code === 127 ? "\u2421" : "\ufffd";
  });
}

/** At most `max` UTF-16 units from `start`, never half a surrogate pair. */
export function clip(text: string, max: number, start = 0): string {
  let from = start;
  if (isLow(text, from)) from++;
  let end = Math.min(text.length, from + max);
  if (isLow(text, end)) end--;
  return text.slice(from, end);
}

/** As much of a text as fits into `max` bytes of UTF-8. */
export function clipBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text;
  return text.slice(
    0,
    new TextEncoder().encodeInto(text, new Uint8Array(Math.min(max, text.length * 3))).read,
  );
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff;
}

/** Lines in a content: its newlines, plus one if it does not end with a newline. */
export function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 10) lines++;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines;
}

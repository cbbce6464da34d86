// The room of read_file: lines of a text file, a picture, or what a file is when it is neither.
//
// A file is read once from end to end in pieces, whatever its size: the lines asked for are kept, the rest is only
// counted and hashed, so that a later write can tell whether the file is still what the model saw.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type ContentPart, type Tool, type ToolResult, tool, toolResult } from "@rondo/core";
import { checkGiven, count, from0, membersOf } from "@rondo/core/checks";
import { type FileToolOptions, fileToolChecks, fileToolSet } from "../options.ts";
import { keyOf, meant } from "../paths/given-path.ts";
import type { Place } from "../paths/root.ts";
import { counted, shown, sized } from "../reasons.ts";
import { answering } from "../refusal.ts";
import { type ContentId, contentIdOf, fileEntry } from "../seen.ts";
import { binaryKind, clip, firstBytes, visible } from "../text/text-file.ts";
import { utf16Of } from "../text/text-form.ts";
import { pictureFault } from "./picture.ts";

export interface ReadFileOptions extends FileToolOptions {
  /** Lines given when no limit is asked for. Default: 2,000. */
  maxLines?: number;
  /** Text given at most, in bytes of UTF-8. Default: 49,152. */
  maxBytes?: number;
  /** A line is clipped after so many characters. Default: 2,000. */
  maxLineLength?: number;
  /** Larger files are not counted to their end. Default: 256 MiB. */
  maxScanBytes?: number;
  /** PNG, JPEG, GIF and WebP up to this size are given as files; 0: never. Default: 3.75 MiB, in base64 5 MiB: Anthropic's limit. */
  maxImageBytes?: number;
}

interface Args {
  path: string;
  offset?: number;
  limit?: number;
}

const optionChecks = membersOf<ReadFileOptions>(
  {
    ...fileToolChecks,
    maxLines: count,
    maxBytes: count,
    maxLineLength: count,
    maxScanBytes: from0,
    maxImageBytes: from0,
  },
  ["root"],
);

/** The tool `read_file`. */
export function readFile(options: ReadFileOptions): Tool {
  checkGiven(optionChecks, options, "readFile");
  const { root, seen } = fileToolSet(options.root);
  const maxImageBytes = options.maxImageBytes ?? 3.75 * 1024 * 1024;
  return tool({
    name: "read_file",
    description:
      "Reads a text file, whole or a range of its lines, and says how many lines and bytes it has. " +
      "Pictures (PNG, JPEG, GIF, WebP) are given as pictures; of other binary files kind and size are told.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, relative to the root." },
        offset: {
          type: "integer",
          minimum: 1,
          description: "The first line to give, counted from 1. Default: 1.",
        },
        limit: { type: "integer", minimum: 1, description: "How many lines to give at most." },
      },
      required: ["path"],
    },
    effect: "read",
    permission: options.permission ?? "allow",
    keys: (args) => [keyOf(root, String(args.path))],
    execute: (given, context) => {
      const { path, offset = 1, limit } = given as unknown as Args;
      return answering(context, path, async () => {
        const place = meant(root, path);
        const handle = await root.open(place, "file");
        try {
          const { size } = await handle.stat();
          const head = size === 0 ? Buffer.alloc(0) : await firstBytes(handle);
          const utf16 = utf16Of(head);
          const kind = size === 0 || utf16 !== undefined ? undefined : binaryKind(head);
          if (kind !== undefined) {
            const { result, content } = await binary(handle, place, kind, size, maxImageBytes);
            if (content !== undefined) seen.set(place.real, content);
            return noted(result, place, content);
          }
          const lines = new Lines(offset, limit ?? options.maxLines ?? 2000, {
            maxBytes: options.maxBytes ?? 49_152,
            maxLineLength: options.maxLineLength ?? 2000,
          });
          const maxScanBytes = options.maxScanBytes ?? 256 * 1024 * 1024;
          const scan = await scanned(handle, lines, maxScanBytes, utf16, context.signal);
          if (scan.content !== undefined && (lines.texts.length > 0 || scan.bytes === 0))
            seen.saw(
              place.real,
              scan.content,
              { from: offset, to: offset + lines.texts.length - 1 },
              lines.total,
            );
          return noted(shownLines(lines, scan, offset, place), place, scan.content);
        } finally {
          await handle.close();
        }
      });
    },
  });
}

/** The result with its entry for the ledger; one that says that nothing was read has none. */
function noted(result: ToolResult, place: Place, content: ContentId | undefined): ToolResult {
  if (result.isError) return result;
  return toolResult(result.content, { ledger: [fileEntry("file_read", place.shown, content)] });
}

async function binary(
  handle: FileHandle,
  place: Place,
  kind: string,
  size: number,
  maxImageBytes: number,
): Promise<{ result: ToolResult; content: ContentId | undefined }> {
  const told = `${shown(place.shown)}: ${kind}, ${sized(size)}`;
  if (!kind.startsWith("image/") || size > maxImageBytes) {
    const why = kind.startsWith("image/")
      ? `larger than ${sized(maxImageBytes)}, not shown`
      : "not shown as text";
    return { result: toolResult(`[${told}; ${why}]`), content: await hashOf(handle, size) };
  }
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  const data = bytes.subarray(0, bytesRead);
  const fault = pictureFault(data, kind);
  if (fault !== undefined)
    return { result: toolResult(`[${told}; ${fault}, not shown]`), content: contentIdOf(data) };
  const parts: ContentPart[] = [
    { type: "text", text: `[${told}]` },
    { type: "file", mediaType: kind, data: data.toString("base64"), name: place.shown.split("/").at(-1)! },
  ];
  return { result: toolResult(parts), content: contentIdOf(data) };
}

/** The id of what is not shown, unless it is too large to be written over anyway. */
async function hashOf(handle: FileHandle, size: number): Promise<ContentId | undefined> {
  if (size > 64 * 1024 * 1024) return undefined;
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  return contentIdOf(bytes.subarray(0, bytesRead));
}

interface Scan {
  utf16: boolean;
  /** Bytes read. */
  bytes: number;
  /** False: the file is longer than was read. */
  whole: boolean;
  /** Of a file read whole. Longer ones are also too large to be written over. */
  content: ContentId | undefined;
}

/** Reads a file in pieces into `lines`. Binary content after the head is shown as it comes: replaced and counted. */
async function scanned(
  handle: FileHandle,
  lines: Lines,
  maxBytes: number,
  encoding: "utf-16le" | "utf-16be" | undefined,
  signal: AbortSignal,
): Promise<Scan> {
  const utf16 = encoding !== undefined;
  const decoder = utf16 ? new TextDecoder(encoding) : undefined;
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(256 * 1024);
  let at = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    if (bytesRead === 0) break;
    const bytes = piece.subarray(0, bytesRead);
    hash.update(bytes);
    lines.push(decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true })));
    at += bytesRead;
    if (at >= maxBytes) {
      lines.end();
      return { utf16, bytes: (await handle.stat()).size, whole: false, content: undefined };
    }
  }
  if (decoder !== undefined) lines.push(Buffer.from(decoder.decode()));
  lines.end();
  return { utf16, bytes: at, whole: true, content: hash.digest("base64") };
}

/** Counts lines and keeps those of a range, within bounds. */
class Lines {
  readonly #from: number;
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly #maxLineLength: number;
  /** Bytes of the line that is being read, at most what may be shown of it. */
  #line: Buffer[] = [];
  #kept = 0;
  #length = 0;
  #last = 0;
  #room: number;
  readonly texts: string[] = [];
  /** Lines ended so far, and at the end all of them. */
  total = 0;
  crlf = 0;
  clipped = 0;
  invalid = 0;
  odd = 0;
  /** The range was cut because the text grew too large. */
  full = false;
  endsWithNewline = true;

  constructor(from: number, limit: number, bounds: { maxBytes: number; maxLineLength: number }) {
    this.#from = from;
    this.#limit = limit;
    this.#maxBytes = bounds.maxBytes;
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
    if (this.#length === 0) return;
    this.endsWithNewline = false;
    this.#end();
  }

  get #wanted(): boolean {
    return !this.full && this.total + 1 >= this.#from && this.texts.length < this.#limit;
  }

  #take(bytes: Buffer): void {
    this.#length += bytes.length;
    this.#last = bytes.at(-1)!;
    if (!this.#wanted) return;
    const room = this.#maxLineLength * 4 + 8 - this.#kept;
    if (room <= 0) return;
    // The piece is reused for the next read: what is kept is copied.
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
    if (this.total === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
      bytes = bytes.subarray(3);
    const decoded = bytes.toString("utf8");
    let text = visible(decoded);
    if (text !== decoded) this.odd++;
    if (!whole || text.length > this.#maxLineLength) {
      text = clip(text, this.#maxLineLength);
      this.clipped++;
      const rest = Math.max(0, this.#length - Buffer.byteLength(text));
      text += ` [... ${counted(rest, "more byte")} in this line]`;
    } else if (decoded.includes("\ufffd") && !bytes.includes("\ufffd")) this.invalid++;
    const size = Buffer.byteLength(text) + 1;
    if (size > this.#room && this.texts.length > 0) {
      this.full = true;
      return;
    }
    this.#room -= size;
    this.texts.push(text.length > this.#maxBytes ? clip(text, this.#maxBytes) : text);
  }
}

function shownLines(lines: Lines, scan: Scan, offset: number, place: Place): ToolResult {
  const name = shown(place.shown);
  const { texts, total } = lines;
  const least = scan.whole ? "" : "at least ";
  const size = `${least}${counted(total, "line")}, ${counted(scan.bytes, "byte")}`;
  if (scan.bytes === 0) return toolResult(`[${name} is empty: 0 lines, 0 bytes]`);
  if (texts.length === 0)
    return toolResult(`Error: Line ${offset} is past the end of ${name} (${size})`, { isError: true });
  const last = offset + texts.length - 1;
  const notes: string[] = [];
  if (offset === 1 && last === total && scan.whole) notes.push(`${size}, the whole file`);
  else notes.push(`lines ${offset} to ${last} of ${size}`);
  if (last < total || !scan.whole) notes.push(`it goes on at offset ${last + 1}`);
  else if (!lines.endsWithNewline) notes.push("no newline at the end");
  if (scan.utf16) notes.push("UTF-16");
  if (lines.crlf > 0)
    notes.push(
      lines.crlf >= total - 1 ? "lines end with CRLF" : `${counted(lines.crlf, "line")} of all end with CRLF`,
    );
  if (lines.clipped > 0) notes.push(`${counted(lines.clipped, "long line")} clipped`);
  if (lines.invalid > 0) notes.push(`${counted(lines.invalid, "line")} with invalid UTF-8, shown as \ufffd`);
  if (lines.odd > 0) notes.push(`${counted(lines.odd, "line")} with control characters, shown as symbols`);
  const ended = last < total || lines.endsWithNewline;
  // Two parts, so that a reader of the parts has the text as it is, without the note.
  return toolResult([
    { type: "text", text: texts.join("\n") + (ended ? "\n" : "") },
    { type: "text", text: `${ended ? "" : "\n"}[${notes.join("; ")}]` },
  ]);
}

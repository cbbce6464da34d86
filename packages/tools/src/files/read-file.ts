// The room of read_file: lines of a text file, an image, or a description of a file that is neither.
//
// A file of any size is read once from beginning to end, in pieces: the requested lines are kept, the rest is only
// counted and hashed, so that a later write can tell whether the file is still what the model saw.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type ContentPart, type Tool, type ToolResult, tool, toolResult } from "@rondo/core";
import { checkGiven, count, from0, membersOf } from "@rondo/core/checks";
import { answering } from "../answering.ts";
import { type FileToolOptions, type FileToolSet, fileToolChecks, fileToolSet } from "../options.ts";
import { keyOf, meant } from "../paths/given-path.ts";
import type { Place } from "../paths/root.ts";
import { counted, shown, sized } from "../reasons.ts";
import { type ContentId, contentIdOf, fileEntry } from "../stale-writes.ts";
import { binaryKind, headLength, readAtMost } from "../text/text-file.ts";
import { utf16Of } from "../text/text-form.ts";
import { imageFault } from "./image.ts";
import { type LineBounds, Lines } from "./lines.ts";

export interface ReadFileOptions extends FileToolOptions {
  /** Lines returned when the call sets no limit. Default: 2,000. */
  maxLines?: number;
  /** Maximum text returned, in bytes of UTF-8. Default: 49,152. */
  maxBytes?: number;
  /** Lines are clipped after this many characters. Default: 2,000. */
  maxLineLength?: number;
  /** Larger files are not read to the end. Default: 256 MiB. */
  maxScanBytes?: number;
  /** PNG, JPEG, GIF and WebP up to this many bytes are returned as images; 0: never. Default: 3.75 MiB (5 MiB in base64, Anthropic's limit). */
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
  const set = fileToolSet(options.root);
  const bounds: Bounds = {
    maxLines: options.maxLines ?? 2000,
    maxBytes: options.maxBytes ?? 49_152,
    maxLineLength: options.maxLineLength ?? 2000,
    maxScanBytes: options.maxScanBytes ?? 256 * 1024 * 1024,
    maxImageBytes: options.maxImageBytes ?? 3.75 * 1024 * 1024,
  };
  return tool({
    name: "read_file",
    description:
      "Reads a text file, whole or a range of its lines, and says how many lines and bytes it has. " +
      "Images (PNG, JPEG, GIF, WebP) are returned as images; other binary files are described by type and size.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, relative to the root." },
        offset: {
          type: "integer",
          minimum: 1,
          description: "The first line to return, counted from 1. Default: 1.",
        },
        limit: { type: "integer", minimum: 1, description: "Maximum number of lines." },
      },
      required: ["path"],
    },
    effect: "read",
    permission: options.permission ?? "allow",
    keys: (args) => [keyOf(set.root, args.path)],
    execute: (args, context) => answering(context, args.path, () => read(set, args, bounds, context.signal)),
  });
}

type Bounds = LineBounds & Required<Pick<ReadFileOptions, "maxLines" | "maxScanBytes" | "maxImageBytes">>;

async function read(
  { root, seen }: FileToolSet,
  { path, offset = 1, limit }: Args,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<ToolResult> {
  const place = meant(root, path);
  const handle = await root.open(place, "file");
  try {
    const { size } = await handle.stat();
    const head = await readAtMost(handle, Math.min(size, headLength));
    const utf16 = utf16Of(head);
    const kind = utf16 === undefined ? binaryKind(head) : undefined;
    if (kind !== undefined) {
      const { result, content } = await binary(handle, place, kind, size, bounds.maxImageBytes);
      if (content !== undefined) seen.set(place.real, content);
      return noted(result, place, content);
    }
    const lines = new Lines(offset, limit ?? bounds.maxLines, bounds);
    const scan = await scanned(handle, lines, bounds.maxScanBytes, utf16, signal);
    if (scan.content !== undefined && (lines.texts.length > 0 || lines.total === 0)) {
      const shown = { from: offset, to: offset + lines.texts.length - 1, inPart: lines.clipped };
      seen.saw(place.real, scan.content, shown, lines.total);
    }
    return noted(shownLines(lines, scan, offset, place, bounds.maxScanBytes), place, scan.content);
  } finally {
    await handle.close();
  }
}

/** Adds the ledger entry to a result; there is none when nothing was read. */
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
  const data = await readAtMost(handle, size);
  const fault = imageFault(data, kind);
  if (fault !== undefined)
    return { result: toolResult(`[${told}; ${fault}, not shown]`), content: contentIdOf(data) };
  const parts: ContentPart[] = [
    { type: "text", text: `[${told}]` },
    { type: "file", mediaType: kind, data: data.toString("base64"), name: place.shown.split("/").at(-1)! },
  ];
  return { result: toolResult(parts), content: contentIdOf(data) };
}

/** The content id of a file that is not shown, unless it is too large to be overwritten anyway. */
async function hashOf(handle: FileHandle, size: number): Promise<ContentId | undefined> {
  if (size > 64 * 1024 * 1024) return undefined;
  return contentIdOf(await readAtMost(handle, size));
}

interface Scan {
  utf16: boolean;
  /** Bytes read. */
  bytes: number;
  /** False: the file is longer than what was read. */
  whole: boolean;
  /** Only for a file that was read whole. Longer ones are too large to be overwritten anyway. */
  content: ContentId | undefined;
}

/** Reads a file in pieces into `lines`. Binary content after the head is passed on: it is replaced and counted. */
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
      // It may end inside of a line, and of a last one a part would pass for the whole. A file of one line has no other.
      if (lines.total === 0) lines.end();
      return { utf16, bytes: (await handle.stat()).size, whole: false, content: undefined };
    }
  }
  if (decoder !== undefined) lines.push(Buffer.from(decoder.decode()));
  lines.end();
  return { utf16, bytes: at, whole: true, content: hash.digest("base64") };
}

const convertible = "a command such as iconv converts it";

function shownLines(
  lines: Lines,
  scan: Scan,
  offset: number,
  place: Place,
  maxScanBytes: number,
): ToolResult {
  const name = shown(place.shown);
  const { texts, total } = lines;
  const least = scan.whole ? "" : "at least ";
  const large = `the file is larger than ${sized(maxScanBytes)}`;
  const size = `${least}${counted(total, "line")}, ${counted(scan.bytes, "byte")}`;
  // A file with only a byte order mark is empty too.
  if (total === 0) return toolResult(`[${name} is empty: ${size}]`);
  if (texts.length === 0) {
    const why = scan.whole
      ? `is past the end of ${name} (${size})`
      : `of ${name} is not read: ${large}, and reading ends with line ${total} (of ${size})`;
    return toolResult(`Error: Line ${offset} ${why}`, { isError: true });
  }
  const last = offset + texts.length - 1;
  const notes: string[] = [];
  if (offset === 1 && last === total && scan.whole) notes.push(`${size}, the whole file`);
  else notes.push(`lines ${offset} to ${last} of ${size}`);
  if (last < total) notes.push(`it goes on at offset ${last + 1}`);
  else if (!scan.whole) notes.push(`what follows is not read: ${large}`);
  else if (!lines.endsWithNewline) notes.push("no newline at the end");
  if (scan.utf16) notes.push("UTF-16");
  const ends = total - (lines.endsWithNewline ? 0 : 1);
  if (lines.crlf > 0)
    notes.push(
      lines.crlf === ends ? "lines end with CRLF" : `${counted(lines.crlf, "line")} of all end with CRLF`,
    );
  if (lines.clipped.length > 0) notes.push(`${counted(lines.clipped.length, "long line")} clipped`);
  if (lines.invalid > 0) {
    const other =
      lines.otherEncoding * 2 > lines.invalid ? `: the file has another encoding (${convertible})` : "";
    notes.push(`${counted(lines.invalid, "line")} with invalid UTF-8, shown as \ufffd${other}`);
  }
  if (lines.odd > 0) notes.push(`${counted(lines.odd, "line")} with control characters, shown as symbols`);
  const ended = last < total || lines.endsWithNewline;
  // Two parts, so that code that reads the parts gets the text without the note.
  return toolResult([
    { type: "text", text: texts.join("\n") + (ended ? "\n" : "") },
    { type: "text", text: `${ended ? "" : "\n"}[${notes.join("; ")}]` },
  ]);
}

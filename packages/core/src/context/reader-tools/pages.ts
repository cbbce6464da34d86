// The room of pages: shows a kept text to a model in pieces: some numbered lines, or a part of one line.
//
// Pure: it makes the model's text from the kept text and the request. Every page has a size limit, and says how to continue.

import { graphemeCount, graphemes } from "../../text/graphemes.ts";
import { byteLength, prefixOfBytes } from "../../text/size.ts";

/** The most bytes (UTF-8) of one page or one search. */
export const pageBytes: number = 64 * 1024;

/** A kept text: its ref, and the name of the tool that reads it, for the hints. */
export interface Kept {
  text: string;
  ref: string;
  readTool: string;
}

export interface PageAsk {
  /** How many lines to skip at the start. Default: 0. */
  offset?: number;
  /** The most lines. Default: all. */
  limit?: number;
  /** How many graphemes of a line are shown. Default: 1,000. */
  maxLineLength?: number;
}

/** The lines of a text, with LF or CRLF line ends. */
export const linesOf = (text: string): string[] => text.split(/\r?\n/);

/** A line with its number, counted from 1. */
export const numbered = (line: string, index: number): string => `${String(index + 1).padStart(5)}  ${line}`;

/** Some lines of a text, at most 64 KiB. */
export function readLines(kept: Kept, ask: PageAsk = {}): string {
  const lines = linesOf(kept.text);
  const { offset = 0, limit = lines.length, maxLineLength = 1_000 } = ask;
  if (offset >= lines.length) return "Offset exceeds output length.";
  const shown: string[] = [];
  const clipped: number[] = [];
  const end = Math.min(lines.length, offset + limit);
  let bytes = 0;
  let full = false;
  for (let index = offset; index < end && !full; index += 1) {
    const line = lines[index] ?? "";
    const short = clip(line, maxLineLength);
    let row = numbered(short, index);
    const size = byteLength(row) + (shown.length > 0 ? 1 : 0);
    full = bytes + size > pageBytes;
    if (full && shown.length > 0) break;
    if (full) row = `${prefixOfBytes(row, pageBytes - 3)}...`;
    if (full || short !== line) clipped.push(index + 1);
    shown.push(row);
    bytes += size;
  }
  const last = offset + shown.length;
  const parts = [shown.join("\n")];
  const beyond = `Use offset to read beyond line ${last}.`;
  if (full) parts.push(`[output truncated at ${pageBytes} bytes] ${beyond}`);
  else if (last < lines.length) parts.push(`Output has more lines. ${beyond}`);
  if (clipped.length > 0) {
    parts.push(`[truncated lines: ${clipped.length > 3 ? "many" : clipped.join(", ")}]`);
    parts.push(`For full long-line content, use ${lineCall(kept, clipped[0] as number, 0, defaultChars)}.`);
  }
  return parts.join("\n\n");
}

export interface LineAsk {
  /** Counted from 1. */
  line: number;
  /** How many graphemes to skip at the start. Default: 0. */
  offset?: number;
  /** The most graphemes. Default: 10,000; at most 100,000. */
  limit?: number;
}

const defaultChars = 10_000;
const mostChars = 100_000;

/** A part of one line. */
export function readLine(kept: Kept, ask: LineAsk): string {
  const lines = linesOf(kept.text);
  const line = lines[ask.line - 1];
  if (line === undefined) return `Line number out of range: ${ask.line} (total ${lines.length})`;
  const offset = Math.max(0, ask.offset ?? 0);
  const limit = Math.max(1, Math.min(Math.trunc(ask.limit ?? defaultChars), mostChars));
  const length = graphemeCount(line);
  if (offset > length) return `char_offset out of range: ${offset} (line length ${length})`;
  const part = graphemes(line, offset, limit);
  const end = Math.min(length, offset + limit);
  const head = [
    `ref_id=${kept.ref}`,
    `line_number=${ask.line}`,
    `line_length=${length}`,
    `char_range=${offset}..${Math.max(end, offset) - 1}`,
    part,
  ].join("\n");
  if (end >= length) return head;
  return `${head}\n\nUse char_offset=${end} to continue.\n${lineCall(kept, ask.line, end, limit)}`;
}

/** The call that reads a part of a line, as text. */
export function lineCall(
  { ref, readTool }: Kept,
  line: number,
  offset: number,
  limit: number = defaultChars,
): string {
  return `${readTool}(${JSON.stringify({ ref_id: ref, line_number: line, char_offset: offset, char_limit: limit })})`;
}

function clip(line: string, max: number): string {
  // A text never has more graphemes than code units.
  if (line.length <= max) return line;
  const start = graphemes(line, 0, max);
  return start.length < line.length ? `${start}...` : line;
}

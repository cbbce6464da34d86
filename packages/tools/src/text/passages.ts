// The room of passages: finds a text in a file, and replaces it.
//
// A model never sees how a line ends. So a newline in a passage matches whatever ending the line has, even in a file
// with both; the replacement takes over the endings of the passage, and nothing else is touched.

import { occurrences } from "./occurrences.ts";

/** A range of bytes in a file. */
export interface Stretch {
  from: number;
  to: number;
}

/** The search stops at this many: more would fill the memory. */
export const maxStretches = 1_000_000;

const LF = 10;
const CR = 13;

/**
 * Where a passage occurs.
 * @param apart only ranges that do not overlap, as they can all be replaced
 */
export function stretchesOf(file: Buffer, passage: Buffer, apart: boolean): Stretch[] {
  if (passage.includes(CR) || !file.includes("\r\n"))
    return placesOf(file, passage, apart).map((from) => ({ from, to: from + passage.length }));
  const { text, cuts } = plainLines(file);
  const original = (at: number): number => at + countBelow(cuts, at);
  return placesOf(text, passage, apart).map((from) => ({
    from: original(from),
    to: original(from + passage.length),
  }));
}

const placesOf = (file: Buffer, passage: Buffer, apart: boolean): number[] =>
  occurrences(file, passage, apart, maxStretches);

/** A file with LF only, and the offsets where a CR was dropped. */
function plainLines(file: Buffer): { text: Buffer; cuts: number[] } {
  const text = Buffer.allocUnsafe(file.length);
  const cuts: number[] = [];
  let length = 0;
  let from = 0;
  for (let at = file.indexOf("\r\n"); at >= 0; at = file.indexOf("\r\n", at + 2)) {
    length += file.copy(text, length, from, at);
    cuts.push(length);
    from = at + 1;
  }
  length += file.copy(text, length, from);
  return { text: text.subarray(0, length), cuts };
}

/** A text with LF only. */
export const withoutReturns = (text: Buffer): Buffer => plainLines(text).text;

/** How many of the ascending numbers are below a bound. */
function countBelow(numbers: readonly number[], bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The minimum size of the file after the replacement, in bytes: a line end may take one byte more. */
export function leastSize(file: Buffer, stretches: readonly Stretch[], instead: Buffer): number {
  const out = stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  return file.length - out + stretches.length * instead.length;
}

/** The file with these ranges, which do not overlap, replaced. */
export function replaced(file: Buffer, stretches: readonly Stretch[], instead: Buffer): Buffer {
  const fits = instead.includes(CR) || !instead.includes(LF) || !file.includes("\r\n");
  const pieces: Buffer[] = [];
  let from = 0;
  for (const stretch of stretches) {
    pieces.push(file.subarray(from, stretch.from), fits ? instead : inItsLines(file, stretch, instead));
    from = stretch.to;
  }
  pieces.push(file.subarray(from));
  return Buffer.concat(pieces);
}

/** Each line gets the ending of the line it replaces; further lines get the last one's, or that of the lines around. */
function inItsLines(file: Buffer, { from, to }: Stretch, instead: Buffer): Buffer {
  const ends: boolean[] = [];
  for (let at = file.indexOf(LF, from); at >= 0 && at < to; at = file.indexOf(LF, at + 1))
    ends.push(file[at - 1] === CR);
  const pieces: Buffer[] = [];
  let start = 0;
  let last = ends.at(-1) ?? endsWithReturn(file, to);
  for (let at = instead.indexOf(LF); at >= 0; at = instead.indexOf(LF, at + 1)) {
    const withReturn = ends.shift() ?? last;
    pieces.push(instead.subarray(start, at), Buffer.from(withReturn ? "\r\n" : "\n"));
    last = withReturn;
    start = at + 1;
  }
  pieces.push(instead.subarray(start));
  return Buffer.concat(pieces);
}

/** Whether the line at `at` ends in CRLF; for a last line without an ending, whether the one before it does. */
function endsWithReturn(file: Buffer, at: number): boolean {
  const next = file.indexOf(LF, at);
  const end = next >= 0 ? next : file.lastIndexOf(LF);
  return end > 0 && file[end - 1] === CR;
}

/** The 1-based lines in which ranges begin; the ranges must be in order. */
export function lineNumbers(file: Buffer, found: readonly Stretch[]): number[] {
  const lines: number[] = [];
  let line = 1;
  let newline = file.indexOf(LF);
  for (const { from: at } of found) {
    while (newline >= 0 && newline < at) {
      line++;
      newline = file.indexOf(LF, newline + 1);
    }
    lines.push(line);
  }
  return lines;
}

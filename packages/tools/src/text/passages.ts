// The room of passages: where a text stands in a file, and what takes its place.
//
// A model never sees how a line ends. So a plain newline of a passage stands for the line's own end, whichever it is, also
// in a file that has both; what takes the passage's place ends its lines as the passage did, and nothing else is touched.

import { occurrences } from "./occurrences.ts";

/** A stretch of a file, in bytes. */
export interface Stretch {
  from: number;
  to: number;
}

/** More are not looked for: they would fill the memory. */
export const maxStretches = 1_000_000;

const LF = 10;
const CR = 13;

/**
 * Where a passage stands.
 * @param apart only stretches that do not overlap, as they can all be replaced
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

/** A file with plain newlines, and where in it a carriage return was left out before one. */
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

/** A text with plain newlines. */
export const withoutReturns = (text: Buffer): Buffer => plainLines(text).text;

/** How many of ascending numbers are below a bound. */
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

/** How many bytes the file has at least with something else in these stretches: lines may end with a byte more. */
export function leastSize(file: Buffer, stretches: readonly Stretch[], instead: Buffer): number {
  const out = stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  return file.length - out + stretches.length * instead.length;
}

/** The file with something else in these stretches, which do not overlap. */
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

/** Each line ends as the line in its place did, those behind as the last one did, or as the lines around it do. */
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

/** Whether the line that goes on at `at` ends with a carriage return, or the one before it where that one has no end. */
function endsWithReturn(file: Buffer, at: number): boolean {
  const next = file.indexOf(LF, at);
  const end = next >= 0 ? next : file.lastIndexOf(LF);
  return end > 0 && file[end - 1] === CR;
}

/** The 1-based lines that stretches begin in, which are in their order. */
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

// The room of pieces: what a value of the state holds, and what the keys alone tell of a session.
//
// A piece is a group of records as lines, behind a line of JSON about it. Chunks have a key by their first record, pieces of the
// tail a key by their slot, which is used again: those that are in a chunk already are stale.

import type { LogRecord } from "@rondo/core";

/** The state of an object, as far as records need it. */
export interface KeyValues {
  /** The values of these keys, at once. */
  get(keys: readonly string[]): Promise<(string | null)[]>;
  keys(): Promise<string[]>;
  set(key: string, value: string): void;
}

/** What stands in the first line of a piece. */
interface Head {
  from: number;
  count: number;
  /** Somebody drives the session. */
  driven?: true;
}

export interface Piece extends Head {
  lines: string;
}

export interface TailPiece extends Piece {
  slot: number;
}

/** What the keys tell. */
export interface Layout {
  /** The first record of each chunk, in order. */
  readonly starts: readonly number[];
  /** The keys of the tail. */
  readonly slots: readonly string[];
}

export const layoutOf = (keys: readonly string[]): Layout => ({
  starts: keys
    .filter((key) => key.startsWith("c"))
    .map((key) => Number(key.slice(1)))
    .sort((a, b) => a - b),
  slots: keys.filter((key) => /^t\d+$/.test(key)).sort(),
});

/** The pieces of the tail that are in no chunk, in order. A stale one says nothing of who drives either. @param texts the values of the slots */
export function freshTail(
  slots: readonly string[],
  texts: readonly (string | null)[],
  lastChunk: Piece | undefined,
): TailPiece[] {
  const end = endOf(lastChunk);
  return slots
    .map((key, at): TailPiece => ({ ...pieceOf(texts[at] ?? null), slot: Number(key.slice(1)) }))
    .filter((piece) => piece.from >= end)
    .sort((a, b) => a.from - b.from || a.count - b.count);
}

/** The number of the record behind a piece. */
export const endOf = (piece: Piece | undefined): number =>
  piece === undefined ? 0 : piece.from + piece.count;

/** @param value of a key that was listed a moment ago */
export function pieceOf(value: string | null): Piece {
  const text = value ?? "";
  const end = text.indexOf("\n");
  const head = JSON.parse(end < 0 ? text : text.slice(0, end)) as Head;
  return { ...head, lines: end < 0 ? "" : text.slice(end + 1) };
}

export const written = ({ from, count, driven, lines }: Piece): string =>
  `${JSON.stringify({ from, count, ...(driven ? { driven } : {}) })}\n${lines}`;

export const chunkKey = (from: number): string => `c${String(from).padStart(12, "0")}`;

/** A record as its line. Whatever is in it, the line has no line break. */
export const lineOf = (record: LogRecord): string => JSON.stringify(record);

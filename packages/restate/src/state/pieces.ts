// The room of pieces: what a value of the state contains, and what the keys alone tell of a session.
//
// A piece is a group of records as lines, after a head line of JSON. A chunk's key is its first record's seq; a tail
// piece's key is its slot, which is reused: slots whose records are already in a chunk are stale.

import type { LogRecord } from "@rondo/core";

/** An object's state, as far as records need it. */
export interface KeyValues {
  /** The values of these keys, read together. */
  get(keys: readonly string[]): Promise<(string | null)[]>;
  keys(): Promise<string[]>;
  set(key: string, value: string): void;
}

/** The first line of a piece. */
interface Head {
  from: number;
  count: number;
  /** The session is being driven. */
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
  /** First seq of each chunk, in order. */
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

/** The tail pieces that are in no chunk, in order. A stale piece must not tell who drives either. @param texts the values of the slots */
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

/** The seq that follows a piece. */
export const endOf = (piece: Piece | undefined): number =>
  piece === undefined ? 0 : piece.from + piece.count;

/** @param value of a key that was just listed */
export function pieceOf(value: string | null): Piece {
  const text = value ?? "";
  const end = text.indexOf("\n");
  const head = JSON.parse(end < 0 ? text : text.slice(0, end)) as Head;
  return { ...head, lines: end < 0 ? "" : text.slice(end + 1) };
}

export const written = ({ from, count, driven, lines }: Piece): string =>
  `${JSON.stringify({ from, count, ...(driven ? { driven } : {}) })}\n${lines}`;

export const chunkKey = (from: number): string => `c${String(from).padStart(12, "0")}`;

/** A record as a line of JSON, which never contains a line break. */
export const lineOf = (record: LogRecord): string => JSON.stringify(record);

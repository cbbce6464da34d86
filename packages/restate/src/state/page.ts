// The room of the page: a session's records from a seq on, as many as fit into one answer.
//
// Only the pieces needed are read, a few at a time: a session may be larger than a worker's memory. Reads of several keys
// are not a snapshot: during writes an old piece may come with a newer one, with a gap between, and a deleted one is
// missing. Then everything is read again.

import { chunkKey, endOf, freshTail, type KeyValues, layoutOf, type Piece, pieceOf } from "./pieces.ts";

/** Chunks read first; judging by their size, as many more as should fill the page. */
const firstChunks = 4;
const mostChunks = 256;

/** Records as lines. */
export interface Lines {
  /** The session's record count. */
  seq: number;
  lines: string[];
  /** Seq of the first record that did not fit; absent when all did. */
  next?: number;
  /** The session is being driven. */
  driven: boolean;
}

/**
 * @param from values below 0 count as 0
 * @param most limit in characters; at least one record is returned. Default: no limit
 */
export async function readLines(
  kv: KeyValues,
  keys: readonly string[],
  from: number,
  most: number = Number.POSITIVE_INFINITY,
): Promise<Lines> {
  const first = Math.max(0, from);
  let read = await piecesFrom(kv, keys, first, most);
  while (read === undefined) read = await piecesFrom(kv, await kv.keys(), first, most);
  const { pieces, seq, driven } = read;
  const lines: string[] = [];
  let size = 0;
  for (const line of pieces.flatMap((piece) => linesFrom(piece, first))) {
    size += line.length;
    if (lines.length > 0 && size > most) break;
    lines.push(line);
  }
  const next = first + lines.length;
  return { seq, lines, ...(next < seq ? { next } : {}), driven };
}

/** The lines of a piece from a seq on. */
function linesFrom(piece: Piece, first: number): string[] {
  if (piece.count === 0 || endOf(piece) <= first) return [];
  const own = piece.lines.split("\n");
  return piece.from >= first ? own : own.slice(first - piece.from);
}

/** Pieces that contain a page from a seq on, and the head of the last piece of all. Undefined when a gap was read. */
async function piecesFrom(
  kv: KeyValues,
  keys: readonly string[],
  first: number,
  most: number,
): Promise<{ pieces: Piece[]; seq: number; driven: boolean } | undefined> {
  const { starts, slots } = layoutOf(keys);
  const needed = starts.filter((_, at) => (starts[at + 1] ?? Number.POSITIVE_INFINITY) > first);
  // The last piece tells the record count and whether the session is driven: it is read with each page.
  const last = needed.pop();
  const end = [...(last === undefined ? [] : [chunkKey(last)]), ...slots];
  let batch = needed.splice(0, firstChunks);
  const texts = await kv.get([...batch.map(chunkKey), ...end]);
  // It was deleted after its keys were read.
  if (texts.includes(null)) return undefined;
  const pieces = texts.slice(0, batch.length).map(pieceOf);
  const atEnd = texts.slice(batch.length);
  const lastChunk = last === undefined ? [] : atEnd.slice(0, 1).map(pieceOf);
  const tail = freshTail(slots, atEnd.slice(lastChunk.length), lastChunk[0]);
  const ending = [...lastChunk, ...tail];
  while (needed.length > 0) {
    const size = pieces.reduce((sum, { lines }) => sum + lines.length, 0);
    // Records before the page in the first piece do not count against its size.
    const room = most - size + (pieces[0]?.lines.length ?? 0);
    if (room <= 0) break;
    const likely = Math.ceil(room / Math.max(1, size / pieces.length));
    batch = needed.splice(0, Math.min(likely, mostChunks));
    const more = await kv.get(batch.map(chunkKey));
    if (more.includes(null)) return undefined;
    pieces.push(...more.map(pieceOf));
  }
  const next = needed[0];
  const wanted = next === undefined ? [...pieces, ...ending] : pieces;
  if (!isWhole(wanted, first)) return undefined;
  // Pieces between those read and the last one were not read: their keys alone show that they exist.
  if (next !== undefined && !(endOf(pieces.at(-1)) === next && isWhole(ending, last ?? 0))) return undefined;
  const newest = ending.at(-1);
  return { pieces: wanted, seq: endOf(newest), driven: newest?.driven === true };
}

/** Whether the pieces are contiguous, and the first begins at or before the first wanted record. */
const isWhole = (pieces: readonly Piece[], first: number): boolean =>
  pieces.every((piece, at) => (at === 0 ? piece.from <= first : piece.from === endOf(pieces[at - 1])));

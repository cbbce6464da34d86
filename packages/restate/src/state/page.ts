// The room of the page: a session's records from one on, as many as go into an answer.
//
// Only the pieces that hold them are looked at, some at a time: a session may be larger than what a worker has room for. It
// may be written to meanwhile, and keys are not read at one instant: a piece of before may stand beside one of after, with
// a gap between them, and one that was deleted has pieces no more. Then all is read again.

import { chunkKey, endOf, freshTail, type KeyValues, layoutOf, type Piece, pieceOf } from "./pieces.ts";

/** Chunks that are looked at first. Behind them as many as fill the page, if they are like those. */
const firstChunks = 4;
const mostChunks = 256;

/** Records as lines. */
export interface Lines {
  /** How many records there are in all. */
  seq: number;
  lines: string[];
  /** The first record that found no place; absent where all of them did. */
  next?: number;
  /** Somebody drives the session. */
  driven: boolean;
}

/**
 * @param from below 0 is 0
 * @param most characters: what goes beyond them is left for the next page, but for the first record. Default: all there are
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

/** The lines of a piece from a record on. */
function linesFrom(piece: Piece, first: number): string[] {
  if (piece.count === 0 || endOf(piece) <= first) return [];
  const own = piece.lines.split("\n");
  return piece.from >= first ? own : own.slice(first - piece.from);
}

/** Pieces that hold a page from a record on, and what the last one of all says. Undefined where a gap was read. */
async function piecesFrom(
  kv: KeyValues,
  keys: readonly string[],
  first: number,
  most: number,
): Promise<{ pieces: Piece[]; seq: number; driven: boolean } | undefined> {
  const { starts, slots } = layoutOf(keys);
  const needed = starts.filter((_, at) => (starts[at + 1] ?? Number.POSITIVE_INFINITY) > first);
  // How many records there are, and who drives, stands at the end: it is read with each page.
  const last = needed.pop();
  const end = [...(last === undefined ? [] : [chunkKey(last)]), ...slots];
  let batch = needed.splice(0, firstChunks);
  const texts = await kv.get([...batch.map(chunkKey), ...end]);
  // It was deleted since its keys were read.
  if (texts.includes(null)) return undefined;
  const pieces = texts.slice(0, batch.length).map(pieceOf);
  const atEnd = texts.slice(batch.length);
  const lastChunk = last === undefined ? [] : atEnd.slice(0, 1).map(pieceOf);
  const tail = freshTail(slots, atEnd.slice(lastChunk.length), lastChunk[0]);
  const ending = [...lastChunk, ...tail];
  while (needed.length > 0) {
    const size = pieces.reduce((sum, { lines }) => sum + lines.length, 0);
    // What the first piece holds of before the page fills none of it.
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
  // Between what was read and the end may be more; that they are there is known by their keys.
  if (next !== undefined && !(endOf(pieces.at(-1)) === next && isWhole(ending, last ?? 0))) return undefined;
  const newest = ending.at(-1);
  return { pieces: wanted, seq: endOf(newest), driven: newest?.driven === true };
}

/** Whether each piece begins where the one before it ends, and the first not after the first that is wanted. */
const isWhole = (pieces: readonly Piece[], first: number): boolean =>
  pieces.every((piece, at) => (at === 0 ? piece.from <= first : piece.from === endOf(pieces[at - 1])));

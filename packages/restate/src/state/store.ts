// The room of the store: a session's records in its object's key-value state.
//
// What is appended goes to a few small keys, the tail, one after the other; when they are full, they go into a chunk
// together and are used again. So an append writes what is new, a record is written about three times in all, and a session
// has few keys however often it was appended to. Keys of the tail that are in a chunk already are stale, and known by
// their first record's number. Values are text: a line of JSON about the piece, then a line a record.

import type { LogRecord } from "@rondo/core";

/** The state of an object, as far as records need it. */
export interface KeyValues {
  /** The values of these keys, at once. */
  get(keys: readonly string[]): Promise<(string | null)[]>;
  keys(): Promise<string[]>;
  set(key: string, value: string): void;
}

const tailSlots = 8;
/** A chunk that is smaller, in characters, is written again with what comes next. */
const smallChunk = 8 * 1024;

/** A group from here on, in characters, is a chunk by itself. */
const wholeSize = 16 * 1024;

const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, { length }) => sum + length, 0);

/** What stands in the first line of a piece. */
interface Head {
  from: number;
  count: number;
  /** Somebody drives the session. */
  driven?: true;
}

interface Piece extends Head {
  lines: string;
}

interface TailPiece extends Piece {
  slot: number;
}

export class RecordStore {
  readonly #kv: KeyValues;
  #tail: TailPiece[] = [];
  #slot = 0;
  #chunk: Piece | undefined;
  #seq = 0;

  private constructor(kv: KeyValues) {
    this.#kv = kv;
  }

  /** Reads all there is. @returns the store, and the records as lines */
  static async load(
    kv: KeyValues,
    keys: readonly string[],
  ): Promise<{ store: RecordStore; lines: string[] }> {
    const store = new RecordStore(kv);
    const { chunks, tail } = await piecesOf(kv, keys, 0);
    store.#tail = tail;
    store.#slot = (tail.at(-1)?.slot ?? -1) + 1;
    store.#chunk = chunks.at(-1);
    const all = [...chunks, ...tail];
    const last = all.at(-1);
    store.#seq = last === undefined ? 0 : last.from + last.count;
    return { store, lines: all.map(({ lines }) => lines).filter((lines) => lines !== "") };
  }

  get seq(): number {
    return this.#seq;
  }

  /** Whether the last piece says that somebody drives. */
  get driven(): boolean {
    return (this.#tail.at(-1) ?? this.#chunk)?.driven === true;
  }

  /** Appends records as lines, which were numbered before. Without any it only says whether somebody drives. */
  append(lines: readonly string[], driven: boolean): void {
    if (this.#slot >= tailSlots) this.#merge();
    if (sizeOf(lines) >= wholeSize) {
      this.#appendChunk(lines, driven);
      return;
    }
    const piece: TailPiece = {
      slot: this.#slot,
      from: this.#seq,
      count: lines.length,
      ...(driven ? { driven: true } : {}),
      lines: lines.join("\n"),
    };
    this.#kv.set(`t${this.#slot}`, written(piece));
    this.#tail.push(piece);
    this.#slot += 1;
    this.#seq += lines.length;
  }

  /** A large group is a chunk by itself, with what was in the tail: it is written once. */
  #appendChunk(lines: readonly string[], driven: boolean): void {
    const pieces = this.#tail.filter(({ count }) => count > 0);
    const chunk: Piece = {
      from: pieces[0]?.from ?? this.#seq,
      count: pieces.reduce((sum, { count }) => sum + count, lines.length),
      ...(driven ? { driven: true } : {}),
      lines: [...pieces.map((piece) => piece.lines), ...lines].join("\n"),
    };
    this.#kv.set(chunkKey(chunk.from), written(chunk));
    this.#chunk = chunk;
    this.#tail = [];
    this.#slot = 0;
    this.#seq += lines.length;
  }

  #merge(): void {
    const pieces = this.#tail.filter(({ count }) => count > 0);
    const last = this.#chunk;
    this.#tail = [];
    this.#slot = 0;
    const first = pieces[0];
    if (first === undefined) return;
    const grows = last !== undefined && last.lines.length < smallChunk;
    const all = grows ? [last, ...pieces] : pieces;
    const chunk: Piece = {
      from: grows ? last.from : first.from,
      count: all.reduce((sum, { count }) => sum + count, 0),
      lines: all.map(({ lines }) => lines).join("\n"),
    };
    this.#kv.set(chunkKey(chunk.from), written(chunk));
    this.#chunk = chunk;
  }
}

/**
 * Records from one on, as lines, for a reader: only the pieces that hold them are looked at. The session may be written
 * to meanwhile: keys are not read at one instant, so that a piece of before may stand beside one of after, with a gap
 * between them. Then all is read again.
 */
export async function readLines(
  kv: KeyValues,
  keys: readonly string[],
  from: number,
): Promise<{ seq: number; lines: string[]; driven: boolean }> {
  let all = await allPieces(kv, keys, from);
  while (!isWhole(all, from)) all = await allPieces(kv, await kv.keys(), from);
  const last = all.at(-1);
  const lines = all.flatMap((piece) => {
    if (piece.count === 0 || piece.from + piece.count <= from) return [];
    const own = piece.lines.split("\n");
    return piece.from >= from ? own : own.slice(from - piece.from);
  });
  return {
    seq: last === undefined ? 0 : last.from + last.count,
    lines,
    driven: last?.driven === true,
  };
}

const allPieces = async (kv: KeyValues, keys: readonly string[], from: number): Promise<Piece[]> => {
  const { chunks, tail } = await piecesOf(kv, keys, from);
  return [...chunks, ...tail];
};

/** Whether each piece begins where the one before it ends, and the first not after the first that is wanted. */
const isWhole = (pieces: readonly Piece[], from: number): boolean =>
  pieces.every((piece, at) => {
    const before = pieces[at - 1];
    return before === undefined ? piece.from <= Math.max(0, from) : piece.from === before.from + before.count;
  });

/** The pieces that may hold records from one on, in order; the last there is among them. */
async function piecesOf(
  kv: KeyValues,
  keys: readonly string[],
  from: number,
): Promise<{ chunks: Piece[]; tail: TailPiece[] }> {
  const starts = keys
    .filter((key) => key.startsWith("c"))
    .map((key) => Number(key.slice(1)))
    .sort((a, b) => a - b);
  const needed = starts.filter((_, at) => (starts[at + 1] ?? Number.POSITIVE_INFINITY) > from);
  const slots = keys.filter((key) => /^t\d+$/.test(key)).sort();
  const texts = await kv.get([...needed.map(chunkKey), ...slots]);
  const pieces = texts.map((text) => pieceOf(text ?? ""));
  const chunks = pieces.slice(0, needed.length);
  const tail = pieces
    .slice(needed.length)
    .map((piece, at): TailPiece => ({ ...piece, slot: Number(slots[at]?.slice(1)) }));
  const last = chunks.at(-1);
  const end = last === undefined ? 0 : last.from + last.count;
  // What is in a chunk is stale, and so is whatever said before it who drives.
  const fresh = tail
    .filter((piece) => piece.from >= end)
    .sort((a, b) => a.from - b.from || a.count - b.count);
  return { chunks, tail: fresh };
}

function pieceOf(text: string): Piece {
  const end = text.indexOf("\n");
  const head = JSON.parse(end < 0 ? text : text.slice(0, end)) as Head;
  return { ...head, lines: end < 0 ? "" : text.slice(end + 1) };
}

const written = ({ from, count, driven, lines }: Piece): string =>
  `${JSON.stringify({ from, count, ...(driven ? { driven } : {}) })}\n${lines}`;

const chunkKey = (from: number): string => `c${String(from).padStart(12, "0")}`;

/** A record as its line. Whatever is in it, the line has no line break. */
export const lineOf = (record: LogRecord): string => JSON.stringify(record);

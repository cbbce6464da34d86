// The room of the store: a session's records in its object's key-value state.
//
// What is appended goes to a few small keys, the tail, one after the other; when they are full, they go into a chunk
// together and are used again. So an append writes what is new, a record is written about three times in all, and a session
// has few keys however often it was appended to. Who appends need not know the rest: only the last chunk and the tail are
// read. Keys of the tail that are in a chunk already are stale, and known by their first record's number. Values are text:
// a line of JSON about the piece, then a line a record.

import {
  chunkKey,
  endOf,
  freshTail,
  type KeyValues,
  layoutOf,
  type Piece,
  pieceOf,
  type TailPiece,
  written,
} from "./pieces.ts";

const tailSlots = 8;
/** A chunk that is smaller, in characters, is written again with what comes next. */
const smallChunk = 8 * 1024;

/** A group from here on, in characters, is a chunk by itself. */
const wholeSize = 16 * 1024;

const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, { length }) => sum + length, 0);

export class RecordStore {
  readonly #kv: KeyValues;
  #tail: TailPiece[];
  #slot: number;
  #chunk: Piece | undefined;
  #seq: number;

  private constructor(kv: KeyValues, chunk: Piece | undefined, tail: TailPiece[]) {
    this.#kv = kv;
    this.#tail = tail;
    this.#slot = (tail.at(-1)?.slot ?? -1) + 1;
    this.#chunk = chunk;
    this.#seq = endOf(tail.at(-1) ?? chunk);
  }

  /** Reads all there is. @returns the store, and the records as lines */
  static async load(
    kv: KeyValues,
    keys: readonly string[],
  ): Promise<{ store: RecordStore; lines: string[] }> {
    const { starts, slots } = layoutOf(keys);
    const { chunks, tail } = await piecesOf(kv, starts, slots);
    const lines = [...chunks, ...tail].map((piece) => piece.lines).filter((text) => text !== "");
    return { store: new RecordStore(kv, chunks.at(-1), tail), lines };
  }

  /** Reads the end alone: an append to a long session costs what one to a short one does. */
  static async open(kv: KeyValues, keys: readonly string[]): Promise<RecordStore> {
    const { starts, slots } = layoutOf(keys);
    const { chunks, tail } = await piecesOf(kv, starts.slice(-1), slots);
    return new RecordStore(kv, chunks.at(-1), tail);
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

async function piecesOf(
  kv: KeyValues,
  starts: readonly number[],
  slots: readonly string[],
): Promise<{ chunks: Piece[]; tail: TailPiece[] }> {
  const texts = await kv.get([...starts.map(chunkKey), ...slots]);
  const chunks = texts.slice(0, starts.length).map(pieceOf);
  return { chunks, tail: freshTail(slots, texts.slice(starts.length), chunks.at(-1)) };
}

// The room of the store: a session's records in its object's key-value state.
//
// Appends go to a few small keys in turn, the tail; when it is full, its records move into one chunk, and its keys are
// reused. So an append writes only what is new, each record is written about three times in total, and a session has few
// keys however many appends it had. An append reads only the last chunk and the tail. Tail keys whose records are in a
// chunk are stale, which their first seq shows. Values are text: a head line of JSON, then one line per record.

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
/** A last chunk smaller than this many characters is rewritten together with what follows. */
const smallChunk = 8 * 1024;

/** A group of at least this many characters is a chunk of its own. */
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

  /** Reads everything. @returns the store, and the records as lines */
  static async load(
    kv: KeyValues,
    keys: readonly string[],
  ): Promise<{ store: RecordStore; lines: string[] }> {
    const { starts, slots } = layoutOf(keys);
    const { chunks, tail } = await piecesOf(kv, starts, slots);
    const lines = [...chunks, ...tail].map((piece) => piece.lines).filter((text) => text !== "");
    return { store: new RecordStore(kv, chunks.at(-1), tail), lines };
  }

  /** Reads only the end: an append costs the same however long the session is. */
  static async open(kv: KeyValues, keys: readonly string[]): Promise<RecordStore> {
    const { starts, slots } = layoutOf(keys);
    const { chunks, tail } = await piecesOf(kv, starts.slice(-1), slots);
    return new RecordStore(kv, chunks.at(-1), tail);
  }

  get seq(): number {
    return this.#seq;
  }

  /** Whether the last piece says that the session is being driven. */
  get driven(): boolean {
    return (this.#tail.at(-1) ?? this.#chunk)?.driven === true;
  }

  /** Appends records as lines, already numbered. Without lines it only stores whether the session is driven. */
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

  /** A large group becomes a chunk at once, together with the tail, so that it is written only once. */
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

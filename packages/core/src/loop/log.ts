// The room of append-only collections: lists, sets and counts that all versions of the state share.
//
// Each version knows its own length and never looks past it. So appending costs O(1), however long the list is, and older
// versions do not change. Appending to a version that is not the newest copies first.

import { oncePer } from "../once-per.ts";

/** Prefix sums of a backing list, by measure: index n has the sum of the first n items. Shared like the items. */
const sumsOf = oncePer((_items: readonly unknown[]) =>
  oncePer((_measure: (item: never) => number): number[] => [0]),
);

/** An append-only list. `push` gives the next version; this one stays as it is. */
export class Log<T> implements Iterable<T> {
  readonly length: number;
  readonly #items: T[];

  private constructor(items: T[], length: number) {
    this.#items = items;
    this.length = length;
  }

  static of<T>(items: readonly T[] = []): Log<T> {
    return new Log([...items], items.length);
  }

  at(index: number): T | undefined {
    const position = index < 0 ? this.length + index : index;
    return position < this.length ? this.#items[position] : undefined;
  }

  push(...added: readonly T[]): Log<T> {
    if (added.length === 0) return this;
    const items = this.#items.length === this.length ? this.#items : this.#items.slice(0, this.length);
    items.push(...added);
    return new Log(items, items.length);
  }

  /** True if the other list is known to be a prefix of this one, without comparing every item. */
  extends(other: { readonly length: number }): boolean {
    return #items in other && this.#items === (other as Log<T>).#items && this.length >= other.length;
  }

  slice(from: number = 0, to: number = this.length): T[] {
    return this.#items.slice(Math.min(from, this.length), Math.min(to, this.length));
  }

  /**
   * The sum of a measure over the items from `from` up to `to`. Each item is measured once, for all versions: calling it
   * again costs only what is new. `measure` must be the same function each time, and pure.
   */
  sum(measure: (item: T) => number, from: number = 0, to: number = this.length): number {
    const start = Math.max(0, Math.min(from, this.length));
    const end = Math.max(start, Math.min(to, this.length));
    const known = sumsOf(this.#items)(measure);
    for (let at = known.length - 1; at < end; at += 1)
      known.push((known[at] as number) + measure(this.#items[at] as T));
    return (known[end] as number) - (known[start] as number);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let at = 0; at < this.length; at += 1) yield this.#items[at] as T;
  }
}

/** An append-only set of texts, with the same sharing. */
export class Names {
  readonly size: number;
  readonly #places: Map<string, number>;

  private constructor(places: Map<string, number>, size: number) {
    this.#places = places;
    this.size = size;
  }

  static empty(): Names {
    return new Names(new Map(), 0);
  }

  has(name: string): boolean {
    const place = this.#places.get(name);
    return place !== undefined && place < this.size;
  }

  add(name: string): Names {
    if (this.has(name)) return this;
    const places =
      this.#places.size === this.size
        ? this.#places
        : new Map([...this.#places].filter(([, place]) => place < this.size));
    places.set(name, this.size);
    return new Names(places, this.size + 1);
  }

  /** All items, in the order in which they were added. */
  toJSON(): string[] {
    return [...this.#places.keys()].slice(0, this.size);
  }
}

/** An append-only multiset of texts, with the same sharing: how often each was added. */
export class Tally {
  readonly #added: Additions;
  readonly #size: number;

  private constructor(added: Additions, size: number) {
    this.#added = added;
    this.#size = size;
  }

  static empty(): Tally {
    return new Tally({ places: new Map(), size: 0 }, 0);
  }

  /** How often a text was added. */
  of(text: string): number {
    // In the newest version the count is at the end; only an older one searches further.
    return (this.#added.places.get(text)?.findLastIndex((place) => place < this.#size) ?? -1) + 1;
  }

  add(text: string): Tally {
    const added = this.#added.size === this.#size ? this.#added : this.#copy();
    const places = added.places.get(text);
    if (places === undefined) added.places.set(text, [this.#size]);
    else places.push(this.#size);
    added.size += 1;
    return new Tally(added, added.size);
  }

  /** Each text with how often it was added. */
  toJSON(): [text: string, times: number][] {
    return [...this.#copy().places].map(([text, places]) => [text, places.length]);
  }

  #copy(): Additions {
    const places = new Map<string, number[]>();
    for (const [text, all] of this.#added.places) {
      const own = all.filter((place) => place < this.#size);
      if (own.length > 0) places.set(text, own);
    }
    return { places, size: this.#size };
  }
}

/** The backing of several versions: the positions at which each text was added, and how many there are in all. */
interface Additions {
  readonly places: Map<string, number[]>;
  size: number;
}

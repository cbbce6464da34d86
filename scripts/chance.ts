// The room of chance: seeded random choices, the same on any machine (mulberry32).

/** Numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random choices. */
export class Chance {
  /** A number in [0, 1). */
  readonly next: () => number;

  /** @param words identify the sequence: a seed, a target, a number */
  constructor(...words: readonly (string | number)[]) {
    let hash = 0x811c9dc5;
    for (const char of words.join("\u0000")) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
    this.next = seeded(hash);
  }

  /** A whole number from 0 up to, but not including, a limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Mostly small numbers, rarely large ones. */
  few(most: number): number {
    return Math.floor(most ** this.next());
  }

  is(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("there is nothing to pick from");
    return list[this.below(list.length)] as T;
  }

  many<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}

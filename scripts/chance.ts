// The room of chance: the same seed gives the same choices, on any machine (mulberry32).

/** Numbers from 0 up to 1. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Choices. */
export class Chance {
  /** From 0 up to 1. */
  readonly next: () => number;

  /** @param words whatever names the choices: a seed, a target, a number */
  constructor(...words: readonly (string | number)[]) {
    let hash = 0x811c9dc5;
    for (const char of words.join("\u0000")) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
    this.next = seeded(hash);
  }

  /** A whole number from 0 up to a limit, which is not reached. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Small numbers mostly, large ones seldom. */
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

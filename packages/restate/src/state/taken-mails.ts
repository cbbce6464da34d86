// The room of taken mails: lets a session take each mail once.
//
// A mail reaches both the driver and the session itself, so it may come twice and out of order.

import type { TakenData } from "../wire.ts";

export class Taken {
  #upTo: number;
  readonly #beyond: Set<number>;
  #changed = false;

  constructor({ upTo, beyond }: TakenData = { upTo: 0, beyond: [] }) {
    this.#upTo = upTo;
    this.#beyond = new Set(beyond);
  }

  has(n: number): boolean {
    return n <= this.#upTo || this.#beyond.has(n);
  }

  /** Takes a mail. @returns false when it was taken before */
  take(n: number): boolean {
    if (this.has(n)) return false;
    this.#beyond.add(n);
    while (this.#beyond.delete(this.#upTo + 1)) this.#upTo += 1;
    this.#changed = true;
    return true;
  }

  get data(): TakenData {
    return { upTo: this.#upTo, beyond: [...this.#beyond] };
  }

  /** What to store, if anything was taken since. */
  news(): TakenData | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    return this.data;
  }
}

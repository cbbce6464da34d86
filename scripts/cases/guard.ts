// The room of the guard: real time, against what never comes to rest.
//
// Only standing still is held against a play. How long it takes with much to do depends on the machine, and on what else
// that is at work on.

import { Unsupported } from "./format.ts";

/** Milliseconds without a sign of life. */
const longestSilence = 60_000;
/** Milliseconds, with however many of them: what asks for ever would never be silent. */
const longest = 600_000;

export class Guard {
  readonly #from = performance.now();
  readonly #timer: ReturnType<typeof setTimeout>;
  /** Rejects when the play stands still. */
  readonly stuck: Promise<never>;

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.stuck = promise;
    this.#timer = setTimeout(() => {
      const seconds = Math.round((performance.now() - this.#from) / 1_000);
      reject(new Unsupported(`it did not come to rest within ${seconds} s of real time`));
    }, longestSilence);
  }

  /** The play has got further. */
  sign(): void {
    if (performance.now() - this.#from < longest - longestSilence) this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

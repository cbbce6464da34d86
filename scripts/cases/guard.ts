// The room of the guard: a real-time limit for plays that never settle.
//
// Only a standstill counts. How long a play with much to do takes depends on the machine, and on what else the
// machine is doing.

import { Unsupported } from "./format.ts";

/** Maximum time without a sign of life, in milliseconds. */
const longestSilence = 60_000;
/** Maximum time in any case, in milliseconds: an endless loop of requests would never be silent. */
const longest = 600_000;

export class Guard {
  readonly #from = performance.now();
  readonly #timer: ReturnType<typeof setTimeout>;
  /** Rejects when the play is stuck. */
  readonly stuck: Promise<never>;

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.stuck = promise;
    this.#timer = setTimeout(() => {
      const seconds = Math.round((performance.now() - this.#from) / 1_000);
      reject(new Unsupported(`it did not come to rest within ${seconds} s of real time`));
    }, longestSilence);
  }

  /** Notes progress of the play. */
  sign(): void {
    if (performance.now() - this.#from < longest - longestSilence) this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

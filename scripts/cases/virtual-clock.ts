// The room of virtual time: a clock that stands still while anything works, and jumps to the next timer when nothing does.
//
// So a back-off of 30 s costs nothing, a limit of 500 ms means "without waiting for anything longer", and no measurement
// depends on the machine. Real time only guards against what never comes to rest.

import type { Clock } from "@rondo/core";

interface Timer {
  due: number;
  then: () => void;
}

export class VirtualClock implements Clock {
  #time: number;
  readonly #timers = new Set<Timer>();
  readonly #busy: () => boolean;
  #pump: ReturnType<typeof setTimeout> | undefined;
  #quiet = 0;

  /** @param busy whether something is under way that will come to rest by itself */
  constructor(start: number, busy: () => boolean) {
    this.#time = start;
    this.#busy = busy;
  }

  now = (): number => this.#time;

  random = (): number => 0.5;

  after = (ms: number, then: () => void): (() => void) => {
    const timer = { due: this.#time + ms, then };
    this.#timers.add(timer);
    this.#pump ??= setTimeout(this.#beat, 1);
    return () => this.#timers.delete(timer);
  };

  /** A wait in this clock's time. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Timers nobody has cancelled. */
  get waiting(): number {
    return this.#timers.size;
  }

  stop(): void {
    clearTimeout(this.#pump);
    this.#timers.clear();
  }

  #beat = (): void => {
    this.#pump = undefined;
    if (this.#timers.size === 0) return;
    this.#quiet = this.#busy() ? 0 : this.#quiet + 1;
    // A few quiet beats in a row: what was just set free has had its turns of the event loop.
    if (this.#quiet > 3) {
      this.#quiet = 0;
      let first: Timer | undefined;
      for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer;
      if (first !== undefined) {
        this.#timers.delete(first);
        this.#time = Math.max(this.#time, first.due);
        first.then();
      }
    }
    if (this.#timers.size > 0) this.#pump ??= setTimeout(this.#beat, 1);
  };
}

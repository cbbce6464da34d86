// The room of virtual time: a clock that stands still while anything works, and then jumps to the next timer.
//
// So a back-off of 30 s costs nothing, a limit of 500 ms means "without waiting for anything longer", and no measurement
// depends on the machine. Real time is used only to detect plays that never settle, and while a real process runs:
// an action due in the middle of it would otherwise never come.

import type { Clock } from "@rondo/core";

interface Timer {
  due: number;
  then: () => void;
  /** Belongs to the play itself: its server, tools or actions. */
  staged: boolean;
}

export class VirtualClock implements Clock {
  #time: number;
  readonly #timers = new Set<Timer>();
  readonly #busy: () => boolean;
  readonly #atWork: () => boolean;
  /** When real time was last read while a process was running. */
  #seen: number | undefined;
  #pump: ReturnType<typeof setTimeout> | undefined;
  #quiet = 0;

  /**
   * @param busy whether something is in progress that will settle by itself
   * @param atWork whether that is a process, which takes real time
   */
  constructor(start: number, busy: () => boolean, atWork: () => boolean = () => false) {
    this.#time = start;
    this.#busy = busy;
    this.#atWork = atWork;
  }

  now = (): number => Math.floor(this.#time);

  random = (): number => 0.5;

  after = (ms: number, then: () => void): (() => void) => this.#start(ms, then, false);

  #start(ms: number, then: () => void, staged: boolean): () => void {
    const timer = { due: this.#time + ms, then, staged };
    this.#timers.add(timer);
    this.#pump ??= setTimeout(this.#beat, 1);
    return () => this.#timers.delete(timer);
  }

  /** A wait of the play itself, in virtual time. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#start(ms, resolve, true));
  }

  /** Number of Rondo's active timers. */
  get waiting(): number {
    return [...this.#timers].filter((timer) => !timer.staged).length;
  }

  stop(): void {
    clearTimeout(this.#pump);
    this.#timers.clear();
  }

  #beat = (): void => {
    this.#pump = undefined;
    if (this.#timers.size === 0) return;
    this.#quiet = this.#busy() ? 0 : this.#quiet + 1;
    this.#passes();
    // Several quiet ticks in a row, so that whatever was just released gets its turns of the event loop.
    if (this.#quiet > 3) {
      this.#quiet = 0;
      const first = this.#first();
      if (first !== undefined) this.#fire(first);
    }
    if (this.#timers.size > 0) this.#pump ??= setTimeout(this.#beat, 1);
  };

  /** Lets time pass as it does for the real process. */
  #passes(): void {
    const now = this.#atWork() ? performance.now() : undefined;
    if (now !== undefined && this.#seen !== undefined) this.#time += now - this.#seen;
    this.#seen = now;
    const first = this.#first();
    if (now !== undefined && first !== undefined && first.due <= this.#time) this.#fire(first);
  }

  #first(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer;
    return first;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#time = Math.max(this.#time, timer.due);
    timer.then();
  }
}

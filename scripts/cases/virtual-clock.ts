// The room of virtual time: a clock that stands still while anything works, and jumps to the next timer when nothing does.
//
// So a back-off of 30 s costs nothing, a limit of 500 ms means "without waiting for anything longer", and no measurement
// depends on the machine. Real time only guards against what never comes to rest, and passes here too while a real process
// is at work: what is to happen in the midst of it would never come.

import type { Clock } from "@rondo/core";

interface Timer {
  due: number;
  then: () => void;
  /** Of the play itself: its server, its tools, its actions. */
  staged: boolean;
}

export class VirtualClock implements Clock {
  #time: number;
  readonly #timers = new Set<Timer>();
  readonly #busy: () => boolean;
  readonly #atWork: () => boolean;
  /** When real time was last looked at while a process was at work. */
  #seen: number | undefined;
  #pump: ReturnType<typeof setTimeout> | undefined;
  #quiet = 0;

  /**
   * @param busy whether something is under way that will come to rest by itself
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

  /** A wait of the play's own in this clock's time. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#start(ms, resolve, true));
  }

  /** Timers of Rondo's that nobody has cancelled. */
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
    // A few quiet beats in a row: what was just set free has had its turns of the event loop.
    if (this.#quiet > 3) {
      this.#quiet = 0;
      const first = this.#first();
      if (first !== undefined) this.#fire(first);
    }
    if (this.#timers.size > 0) this.#pump ??= setTimeout(this.#beat, 1);
  };

  /** Time as it passes for a process. */
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

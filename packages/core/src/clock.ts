// The room of time and randomness: the only source of both.
//
// The loop itself has neither; its driver puts them into records, and waits with them. A program may pass its own clock:
// tests in which retries take no time, a simulation, an engine with durable timers.

import { type Check, callable, needed, wrong } from "./checks.ts";

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Calls `then` once, after `ms` milliseconds (0 to {@link longestWait}). Returns a function that cancels it. */
  after(ms: number, then: () => void): () => void;
}

/** The longest wait that a clock accepts, in milliseconds. For a longer wait, check the time afterwards and wait again. */
export const longestWait: number = 2 ** 31 - 1;

/**
 * The host's own clock, looked up at each call: a test runner's fake timers replace both functions, and waits would never
 * end otherwise.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

const time = needed("a number from now(), of milliseconds since 1970,", Number.isFinite);
const chance = needed("a number from 0 to below 1 from random()", Number.isFinite);
const callingOff = needed(
  "a function from after() that calls the wait off",
  (value) => callable(value) === undefined,
);

/** Checks a clock that the user gave. Its times are stored in records, and a wait that cannot be cancelled would delay a run for ever. */
export class CheckedClock implements Clock {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return looked(time, this.#clock.now());
  }

  random(): number {
    return looked(chance, this.#clock.random());
  }

  after(ms: number, then: () => void): () => void {
    let refused = true;
    const stop = this.#clock.after(ms, () => {
      if (!refused) then();
    });
    looked(callingOff, stop);
    refused = false;
    return stop;
  }
}

/** @throws RondoError `invalid_request` saying what the clock returned, and what it must return */
function looked<Value>(check: Check, given: Value): Value {
  const fault = check(given);
  if (fault !== undefined) throw wrong("clock", fault.says);
  return given;
}

/**
 * The time of one driver: it begins at the time of the last record, and never goes back. If a clock was set back, or
 * another machine's clock is behind, a timeout, a retry or the grace of an abort would otherwise wait until the clock has
 * caught up.
 */
export class SteadyClock implements Clock {
  readonly host: Clock;
  readonly #known: () => number;
  #ahead = 0;
  #latest = Number.NEGATIVE_INFINITY;

  /** @param known the time of the last record */
  constructor(host: Clock, known: () => number) {
    this.host = host;
    this.#known = known;
  }

  now(): number {
    const least = Math.max(this.#latest, this.#known());
    const now = this.host.now() + this.#ahead;
    if (now < least) this.#ahead += least - now;
    this.#latest = Math.max(now, least);
    return this.#latest;
  }

  random(): number {
    return this.host.random();
  }

  after(ms: number, then: () => void): () => void {
    return this.host.after(ms, then);
  }

  /** No wait depends on it now: it returns to the host's time, as far as that has caught up. */
  settle(): void {
    this.#ahead = 0;
    this.#latest = Number.NEGATIVE_INFINITY;
  }
}

/** The host's clock below a driver's: cheaper to read, but it may go back. */
export const hostOf = (clock: Clock): Clock => (clock instanceof SteadyClock ? clock.host : clock);

/** A random number as so many letters and digits. */
export const chanceIn = (clock: Pick<Clock, "random">, letters: number): string =>
  Math.floor(clock.random() * 36 ** letters)
    .toString(36)
    .padStart(letters, "0");

// The room of time and randomness: the only source of both.
//
// The loop itself has neither; its driver stamps records with them and waits by them. A program may bring its own clock:
// tests whose retries take no time, a simulation, an engine with durable timers.

import { type Check, callable, needed, wrong } from "./checks.ts";

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Calls `then` once, `ms` milliseconds from now (0 to {@link longestWait}). Returns how to prevent that. */
  after(ms: number, then: () => void): () => void;
}

/** The longest a clock can be asked to wait at once, in milliseconds. Who waits for longer looks at the time and asks again. */
export const longestWait: number = 2 ** 31 - 1;

/** The host's own clock, looked up at each call: fake timers of a test runner set both, or waits would never end. */
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

/** A clock that a host brings. What it tells stands in records, and a wait that cannot be called off would hold a run up for ever. */
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

/** @throws RondoError `invalid_request` saying what the clock gave in place of what it is to give */
function looked<Value>(check: Check, given: Value): Value {
  const fault = check(given);
  if (fault !== undefined) throw wrong("clock", fault.says);
  return given;
}

/**
 * The time of one driver: it begins where the records end, and never goes back. A clock that was set back, or another
 * machine's that is behind, would keep a time-out, a retry or the grace of an abort waiting until it has caught up.
 */
export class SteadyClock implements Clock {
  readonly host: Clock;
  readonly #known: () => number;
  #ahead = 0;
  #latest = Number.NEGATIVE_INFINITY;

  /** @param known the time of what has happened already */
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

  /** Nothing waits by it now: it keeps the host's time again, as far as that has caught up. */
  settle(): void {
    this.#ahead = 0;
    this.#latest = Number.NEGATIVE_INFINITY;
  }
}

/** The host's own time below a driver's: it costs less to ask, and may go back. */
export const hostOf = (clock: Clock): Clock => (clock instanceof SteadyClock ? clock.host : clock);

/** Chance as so many letters and digits. */
export const chanceIn = (clock: Pick<Clock, "random">, letters: number): string =>
  Math.floor(clock.random() * 36 ** letters)
    .toString(36)
    .padStart(letters, "0");

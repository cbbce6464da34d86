// The room of time and chance: the only source of both.
//
// The loop itself knows neither; its driver stamps records with them and waits by them. A host may bring its own: tests
// whose back-offs take no time, a simulation, an engine with durable timers.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Calls `then` once, `ms` milliseconds from now (0 to 2^31 - 1). Returns how to prevent that. */
  after(ms: number, then: () => void): () => void;
}

/** The host's own clock. */
export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

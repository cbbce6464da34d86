// The room of gates: what is under way waits until the program lets it go on, and time passes a few turns later.

import type { Clock } from "@rondo/core";

/** Turns of the event loop: everything that could happen by itself has happened. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Model calls, tools and groups of records, each waiting until it is let through. */
export class Gates {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is let through; rejects when the signal fires. */
  pass(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (end: () => void): (() => void) => {
      const go = (): void => {
        const at = this.#waiting.indexOf(through);
        if (at !== -1) this.#waiting.splice(at, 1);
        end();
      };
      return go;
    };
    const through = leave(resolve);
    this.#waiting.push(through);
    signal?.addEventListener(
      "abort",
      leave(() => reject(signal.reason as Error)),
    );
    return promise;
  }

  /** Lets one through; none if none waits. */
  open(nth: number): void {
    this.#waiting[nth % this.#waiting.length]?.();
  }

  openAll(): void {
    for (const through of [...this.#waiting]) through();
  }
}

interface Timer {
  due: number;
  then: () => void;
}

/** Waits of seconds end in their order, a few turns of the event loop apart; longer ones (limits of time) never end. */
export function hastyClock(): Clock {
  let time = Date.now();
  let chance = 0;
  const timers = new Set<Timer>();
  let isTicking = false;
  const tick = async (): Promise<void> => {
    isTicking = true;
    for (;;) {
      await turns(4);
      const [first, ...others] = timers;
      if (first === undefined) break;
      const next = others.reduce((one, other) => (other.due < one.due ? other : one), first);
      timers.delete(next);
      time = Math.max(time, next.due);
      next.then();
    }
    isTicking = false;
  };
  return {
    now: () => time,
    // No two alike: ids of messages are made of it.
    random: () => {
      chance = (chance + 0.618_033_988_75) % 1;
      return chance;
    },
    after(ms, then) {
      const timer = { due: time + ms, then };
      if (ms < 10_000) timers.add(timer);
      if (!isTicking && timers.size > 0) void tick();
      return () => void timers.delete(timer);
    },
  };
}

// The room of the workers that are followed: where they are, what is shown to them, and who hears that they refuse.

export interface LiveWorkers {
  addresses: readonly string[];
  /** What is shown to them; undefined: nothing. */
  token: string | undefined;
  /** A worker tells nothing. @param why what it said */
  refused(worker: string, why: string): void;
}

/** The same refusal is told once, however many sessions are followed. */
export function liveWorkers(
  workers: string | readonly string[] = [],
  token: string | undefined,
  warn: (message: string) => void = () => {},
): LiveWorkers {
  const told = new Set<string>();
  return {
    addresses: typeof workers === "string" ? [workers] : workers,
    token,
    refused(worker, why) {
      if (told.has(worker)) return;
      told.add(worker);
      warn(`${worker} tells no live events, so that follow tells records alone: ${why}`);
    },
  };
}

// The room of live workers: their addresses, the token for them, and who is told that they refuse.

export interface LiveWorkers {
  addresses: readonly string[];
  /** Sent to them; undefined: none. */
  token: string | undefined;
  /** A worker refuses. @param why its answer */
  refused(worker: string, why: string): void;
}

/** The same refusal is reported once, however many sessions are followed. */
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

// The room of signals: Ctrl-C, and those who end processes.
//
// The first asks the run to end: it closes what is open, and the journal is whole. Who cannot wait for that asks again,
// and the process is gone at once; the journal is whole then too, for it holds only what was finished.

import { exitCodes } from "./exit-codes.ts";

export interface Signals {
  /** Fires at the first signal, with its name as the reason. */
  readonly fired: AbortSignal;
  /** A Ctrl-C that somebody else read from the terminal. */
  interrupt(): void;
  dispose(): void;
}

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A terminal tells its whole process group of Ctrl-C, and npm passes it on once more: within this time two are one. */
const sameMs = 300;

export function listenForSignals(): Signals {
  const controller = new AbortController();
  let firstAt = 0;
  const hear = (name: string): void => {
    if (!controller.signal.aborted) {
      firstAt = performance.now();
      controller.abort(name);
    } else if (performance.now() - firstAt >= sameMs) process.exit(exitCodes.aborted);
  };
  for (const name of names) process.on(name, hear);
  return {
    fired: controller.signal,
    interrupt: () => hear("SIGINT"),
    dispose: () => {
      for (const name of names) process.off(name, hear);
    },
  };
}

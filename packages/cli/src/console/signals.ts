// The room of signals: Ctrl-C, and those who end processes.
//
// Ctrl-C, and a terminal that goes away, ask the run to end: it closes what is open. SIGTERM comes from those who want
// the machine, not from somebody who is done with the run: it is left at a safe point, to be gone on with. Who cannot
// wait asks again, and the process is gone at once; the journal is whole then too, for it holds only what was finished.

import { exitCodes } from "../exit-codes.ts";

export interface Signals {
  /** Fires at the first signal, with its name as the reason. */
  readonly fired: AbortSignal;
  /** The process is to leave, and the run to stay open. */
  readonly leaving: boolean;
  /** A Ctrl-C that somebody else read from the terminal. */
  interrupt(): void;
  dispose(): void;
}

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A terminal tells its whole process group of Ctrl-C, and npm passes it on once more: within this time two are one. */
export const sameMs = 300;

/** Two that come at the same moment may be heard in either order: so long is waited to see whether a person asked. */
const togetherMs = 20;

/**
 * The first signal fires; at a later one the process is gone.
 * @param isKept whether there is a run to come back to: what is kept nowhere ends at any signal
 */
export function listenForSignals(isKept = true): Signals {
  const controller = new AbortController();
  let firstAt = 0;
  let first = "";
  let leaving = false;
  const hear = (name: string): void => {
    if (firstAt === 0) {
      firstAt = performance.now();
      first = name;
      setTimeout(() => {
        leaving = isKept && first === "SIGTERM";
        controller.abort(first);
      }, togetherMs);
    } else if (!controller.signal.aborted) {
      if (first === "SIGTERM") first = name;
    } else if (performance.now() - firstAt >= sameMs)
      process.exit(leaving ? exitCodes.left : exitCodes.aborted);
  };
  for (const name of names) process.on(name, hear);
  return {
    fired: controller.signal,
    get leaving() {
      return leaving;
    },
    interrupt: () => hear("SIGINT"),
    dispose: () => {
      for (const name of names) process.off(name, hear);
    },
  };
}

// The room of signals: Ctrl-C, SIGTERM and SIGHUP.
//
// Ctrl-C, or a terminal that goes away, aborts the run: it ends in order. SIGTERM means that the machine is needed, not
// that the run is unwanted: it stops at a safe point, and can be resumed. A second signal ends the process
// at once; the journal is intact even then, as it holds only what was completed.

import { exitCodes } from "../exit-codes.ts";

export interface Signals {
  /** Fires at the first signal, with its name as the reason. */
  readonly fired: AbortSignal;
  /** The process is to exit, and the run to stay open. */
  readonly leaving: boolean;
  /** Reports a Ctrl-C that was read from the terminal elsewhere. */
  interrupt(): void;
  dispose(): void;
}

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A terminal sends Ctrl-C to the whole process group, and npm passes it on again: within this time two count as one. */
export const sameMs = 300;

/** Two signals at the same moment may arrive in either order: wait this long to see whether a person pressed Ctrl-C. */
const togetherMs = 20;

/**
 * The first signal fires; a later one ends the process.
 * @param isKept whether the run can be resumed: a run that is not kept is aborted by any signal
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

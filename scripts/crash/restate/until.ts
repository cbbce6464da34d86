// The room of patience: retries what fails while a node or a worker is dead.

import { setTimeout as pause } from "node:timers/promises";

/** How long nothing may respond before a run counts as lost, in milliseconds. */
export const patienceMs = 90_000;

/** Repeats a check until it holds; an error counts as not yet. @returns whether it held in time */
export async function until(holds: () => Promise<boolean>, withinMs: number = patienceMs): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      if (await holds()) return true;
    } catch {
      // A node or worker was just killed.
    }
    if (performance.now() > deadline) return false;
    await pause(50);
  }
}

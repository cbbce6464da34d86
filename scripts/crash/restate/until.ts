// The room of patience: things that fail while a node or a worker is dead, and are asked again.

import { setTimeout as pause } from "node:timers/promises";

/** How long nobody may answer before a run counts as lost, in milliseconds. */
export const patienceMs = 90_000;

/** Asks until it holds. What throws does not hold yet. @returns whether it held in time */
export async function until(holds: () => Promise<boolean>, withinMs: number = patienceMs): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      if (await holds()) return true;
    } catch {
      // Somebody was just killed.
    }
    if (performance.now() > deadline) return false;
    await pause(50);
  }
}

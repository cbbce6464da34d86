// The room of the world: what really happened, independent of the journals.
//
// For agents that are never killed it is in memory; for the others in a file that outlives their processes. A line is
// written at once, and survives a SIGKILL.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface World {
  /** A tool has its effect, under the call's key. @param done what the tool says about it */
  effect(key: string, done: string): void;
  happened(key: string): boolean;
}

/** How often each key happened. */
export type Effects = ReadonlyMap<string, number>;

export class WorldInMemory implements World {
  readonly effects = new Map<string, number>();

  effect(key: string): void {
    this.effects.set(key, (this.effects.get(key) ?? 0) + 1);
  }

  happened(key: string): boolean {
    return this.effects.has(key);
  }
}

const fileIn = (folder: string): string => join(folder, "effects");

export class WorldInFile implements World {
  readonly #file: string;
  readonly #known: Set<string>;

  constructor(folder: string) {
    this.#file = fileIn(folder);
    this.#known = new Set(effectsIn(folder).keys());
  }

  effect(key: string): void {
    appendFileSync(this.#file, `${key}\n`);
    this.#known.add(key);
  }

  happened(key: string): boolean {
    return this.#known.has(key);
  }
}

export function effectsIn(folder: string): Map<string, number> {
  const counts = new Map<string, number>();
  const file = fileIn(folder);
  if (!existsSync(file)) return counts;
  for (const key of readFileSync(file, "utf8").split("\n").filter(Boolean))
    counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

// The room of the long-lived process's journals: a new one now and then, so that none grows with the process.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Journal, memoryJournal } from "@rondo/core";
import { openJournal } from "../crash/place.ts";
import type { Plan } from "./plan.ts";

/** Number of agents that share a durable journal before a new one is opened. */
const agentsAJournal = 100;

/** Journals on disk, each for some agents; deleted when the last of them has ended. */
export class Journals {
  readonly #folder: string;
  #number = 0;
  readonly #open = new Map<
    "sqlite" | "jsonl",
    { journal: Journal; taken: number; users: number; folder: string }
  >();

  constructor(folder: string) {
    this.#folder = folder;
  }

  take(kind: Plan["journal"]): { journal: Journal; release(): void } {
    if (kind === "memory") return { journal: memoryJournal(), release: () => {} };
    let one = this.#open.get(kind);
    if (one === undefined || one.taken >= agentsAJournal) {
      const folder = join(this.#folder, `${kind}-${this.#number++}`);
      mkdirSync(folder);
      one = { journal: openJournal(kind, folder), taken: 0, users: 0, folder };
      this.#open.set(kind, one);
    }
    const held = one;
    held.taken += 1;
    held.users += 1;
    return {
      journal: held.journal,
      release: () => {
        held.users -= 1;
        if (held.users > 0 || held.taken < agentsAJournal) return;
        void held.journal.close?.();
        rmSync(held.folder, { recursive: true, force: true });
      },
    };
  }
}

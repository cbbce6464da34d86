// The room of the steady process's journals: a new one now and again, so that none grows with the process.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Journal, memoryJournal } from "@rondo/core";
import { openJournal } from "../crash/place.ts";
import type { Plan } from "./plan.ts";

/** So many agents share a durable journal before it is closed and another is begun. */
const agentsAJournal = 100;

/** Journals on the disk, each for some agents; it is gone when the last of them is over. */
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

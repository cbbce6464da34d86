// The room of the words between the campaign and its workers: orders on the way in, lines over a socket on the way out.
//
// Written synchronously, as in `crash`: what a worker has said was said, whatever becomes of it in the next instant.

import { writeSync } from "node:fs";
import type { Mistake } from "./mistakes.ts";
import type { Addresses } from "./scene.ts";
import type { Came } from "./verdict.ts";

/** What every worker is told. */
export interface Common {
  seed: number;
  addresses: Addresses;
  mistake?: Mistake;
  /** Tell every record of whoever is judged. */
  shows?: true;
}

/** Hundreds of agents in one process that lives to the end; `only`: one of them. */
interface Steady {
  be: "steady";
  together: number;
  ms: number;
  rowMs: number;
  only?: string;
}

/** One life of the agents of an era: they are gone on with, and it may be killed. */
interface Mortal {
  be: "mortal";
  era: number;
  names: readonly string[];
  life: number;
}

/** Looks at what an era left behind. */
interface Judge {
  be: "judge";
  era: number;
  names: readonly string[];
}

/** What one worker is told to be, in a folder of its own. */
export type OwnOrders = { folder: string } & (Steady | Mortal | Judge);

export type Orders = Common & OwnOrders;

/** What became of one agent. */
export interface Judged {
  name: string;
  came: Came;
  /** Milliseconds from its start to its end; absent where it had many lives. */
  ms?: number;
}

/** One row of the heap: megabytes after a forced collection, with nobody at work. */
export interface HeapRow {
  /** Milliseconds since the start. */
  at: number;
  ended: number;
  heapMb: number;
  rssMb: number;
}

export type Word =
  | { say: "up" }
  /** The journal acknowledged these records. */
  | { say: "stored"; session: string; from: number; digests: string[] }
  /** The agent is over, and nobody of its name asks any more. */
  | { say: "over"; name: string }
  | { say: "resumed"; sessions: number }
  | { say: "judged"; judged: Judged }
  | { say: "shown"; session: string; record: string }
  | { say: "heap"; row: HeapRow }
  /** Nobody waited for a promise that was rejected, or an error nobody caught. */
  | { say: "unhandled"; words: string }
  | { say: "end" };

/** The descriptor of the socket, in a worker. */
const line = 3;

export function tell(word: Word): void {
  const bytes = Buffer.from(`${JSON.stringify(word)}\n`);
  try {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(line, bytes, sent);
  } catch {
    // Whoever gave the orders is gone: nobody is left to work for.
    process.exit(3);
  }
}

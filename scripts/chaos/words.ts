// The room of the messages between campaign and workers: orders as an argument, reports as lines over a socket.
//
// Written synchronously, as in `crash`: what a worker has said was sent, whatever happens to it in the next instant.

import { writeSync } from "node:fs";
import type { Mistake } from "./mistakes.ts";
import type { Addresses } from "./scene.ts";
import type { Came } from "./verdict.ts";

/** Orders common to all workers. */
export interface Common {
  seed: number;
  addresses: Addresses;
  mistake?: Mistake;
  /** Report every record of the agents that are judged. */
  shows?: true;
}

/** Hundreds of agents in one process that runs to the end; `only`: one of them. */
interface Steady {
  be: "steady";
  together: number;
  ms: number;
  rowMs: number;
  only?: string;
}

/** One life of an era's agents: they are continued, and it may be killed. */
interface Mortal {
  be: "mortal";
  era: number;
  names: readonly string[];
  life: number;
}

/** Judges what an era left behind. */
interface Judge {
  be: "judge";
  era: number;
  names: readonly string[];
}

/** The orders of one worker, with a folder of its own. */
export type OwnOrders = { folder: string } & (Steady | Mortal | Judge);

export type Orders = Common & OwnOrders;

/** The judgement of one agent. */
export interface Judged {
  name: string;
  came: Came;
  /** Milliseconds from its start to its end; absent if it had several lives. */
  ms?: number;
}

/** One row of the heap: megabytes after a forced collection, without active agents. */
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
  /** The agent has ended, and its model will not be called any more. */
  | { say: "over"; name: string }
  | { say: "resumed"; sessions: number }
  | { say: "judged"; judged: Judged }
  | { say: "shown"; session: string; record: string }
  | { say: "heap"; row: HeapRow }
  /** An unhandled rejection, or an uncaught error. */
  | { say: "unhandled"; words: string }
  | { say: "end" };

/** The descriptor of the socket, in a worker. */
const line = 3;

export function tell(word: Word): void {
  const bytes = Buffer.from(`${JSON.stringify(word)}\n`);
  try {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(line, bytes, sent);
  } catch {
    // The campaign's process is gone.
    process.exit(3);
  }
}

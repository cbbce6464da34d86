// The room of the wire between a life and the campaign: lines over one socket, in both directions.
//
// A life reports what it is about to do, or has done, before it continues; if ordered, it waits there for permission.
// Reads and writes are synchronous: nothing else happens in the process between the report and the action.

import { readSync, writeSync } from "node:fs";
import type { Mistake } from "./mistakes.ts";
import type { JournalKind } from "./place.ts";

/** The orders of a life. */
export interface LifeOrders {
  journal: JournalKind;
  /** The folder of the run, with journal and effects. */
  folder: string;
  /** Wait at each boundary. */
  waits: boolean;
  /** A mistake to make on purpose. */
  mistake?: Mistake;
}

/** A report of a life. */
export type Word =
  /** Everything is loaded; the session is opened next. */
  | { say: "up" }
  /** The session is open; how long opening took. */
  | { say: "open"; ms: number }
  /** A boundary: right before or after a durable action. */
  | { say: "at"; place: string }
  /** The journal acknowledged these records: their first sequence number, and the digest of each. */
  | { say: "stored"; session: string; from: number; digests: string[] }
  /** The journal acknowledged a text that was kept beside it. */
  | { say: "kept"; session: string; ref: string; digest: string }
  /** The run has ended. */
  | { say: "end" };

/** The descriptor of the socket, in a life. */
const line = 3;

export function tell(word: Word): void {
  const bytes = Buffer.from(`${JSON.stringify(word)}\n`);
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(line, bytes, sent);
}

/** Waits for permission to continue; if the campaign is gone, there is nothing left to do. */
export function awaitWord(): void {
  const byte = Buffer.alloc(1);
  if (readSync(line, byte, 0, 1, null) === 0) process.exit(3);
}

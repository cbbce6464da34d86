// The room of the wire between a life and whoever may end it: lines over one socket, read by both at once.
//
// A life says what it is about to do, or has done, before it goes on; where it is told to, it waits there for a word.
// Written and read synchronously: nothing else happens in that process between the word and the deed.

import { readSync, writeSync } from "node:fs";
import type { Mistake } from "./mistakes.ts";
import type { JournalKind } from "./place.ts";

/** What a life is told to be. */
export interface LifeOrders {
  journal: JournalKind;
  /** The folder of the run: journal, effects and all. */
  folder: string;
  /** Wait at each boundary. */
  waits: boolean;
  /** A mistake that Rondo does not make. */
  mistake?: Mistake;
}

/** What a life says. */
export type Word =
  /** Everything is loaded; the session is opened next. */
  | { say: "up" }
  /** The session is open, and took so long to open. */
  | { say: "open"; ms: number }
  /** A boundary: the next thing that happens is something that lasts, or the last thing was. */
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

/** Waits for the word to go on. Nobody there any more: nothing is left to do. */
export function awaitWord(): void {
  const byte = Buffer.alloc(1);
  if (readSync(line, byte, 0, 1, null) === 0) process.exit(3);
}

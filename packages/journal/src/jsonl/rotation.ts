// The room of rotation: how a session's file is closed and the next one begun, so that no crash is in between.
//
// 1. The next file is written under a name that is no session's, and lasts. 2. The old one is sealed: from here on it
// has happened. 3. The next file gets its name. A crash before the seal leaves a file that nobody reads and the next
// rotation overwrites; one in the seal, a torn tail of what is still the newest file; one behind it, a seal and the
// file under its first name, which the next writer gives its own. Only who holds the folder's lock does any of this.

import { existsSync, fsyncSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { appendDurably, syncFolder, withFile } from "./files.ts";
import { headerLine, sealLine } from "./lines.ts";
import { pendingSuffix } from "./names.ts";
import type { Segment } from "./segment.ts";

/**
 * Seals a segment, whose file is open, and begins the next one.
 * @param next the path of the next one
 */
export function rotate(session: string, file: number, segment: Segment, next: string): void {
  const number = segment.number + 1;
  const pending = next + pendingSuffix;
  const seal = sealLine(segment.length, number);
  try {
    withFile(pending, "w", (fresh) => {
      const head = headerLine(session, number, segment.length);
      for (let written = 0; written < head.length; ) written += writeSync(fresh, head, written);
      fsyncSync(fresh);
    });
    syncFolder(dirname(next));
  } catch (thrown) {
    rmSync(pending, { force: true });
    throw thrown;
  }
  // Where this fails the seal may still stand, so what it names must stay.
  appendDurably(file, seal, segment.size);
  segment.sealedBy(seal.length);
  finishRotation(next);
}

/** Gives a segment its name, once the one before it is sealed. */
export function finishRotation(next: string): void {
  if (!existsSync(next)) renameSync(next + pendingSuffix, next);
  syncFolder(dirname(next));
}

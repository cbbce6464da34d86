// The room of rotation: seals a session's file and begins the next one so that a crash at any point does no harm.
//
// 1. The next file is written under a temporary name, and synced. 2. The old file is sealed: this is the commit point.
// 3. The next file is renamed to its name. A crash before 2 leaves a file that nobody reads and the next rotation
// overwrites; during 2, a torn tail of what is still the newest file; after 2, a seal and the file under its
// temporary name, which the next writer renames. Only called under the folder's lock.

import { existsSync, fsyncSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { appendDurably, syncFolder, withFile } from "./files.ts";
import { headerLine, sealLine } from "./lines.ts";
import { pendingSuffix } from "./names.ts";
import type { Segment } from "./segment.ts";

/**
 * Seals an open segment, and begins the next one.
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
  // If this fails the seal may still be in the file, so the file it points to must stay.
  appendDurably(file, seal, segment.size);
  segment.sealedBy(seal.length);
  finishRotation(next);
}

/** Renames a segment to its name, once the one before it is sealed. */
export function finishRotation(next: string): void {
  if (!existsSync(next)) renameSync(next + pendingSuffix, next);
  syncFolder(dirname(next));
}

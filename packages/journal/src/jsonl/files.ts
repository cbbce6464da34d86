// The room of plain file calls: whole writes, and names that last.

import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { isMissing } from "../system-says.ts";

/** Opens, acts, closes. */
export function withFile<T>(path: string, flags: string, act: (file: number) => T): T {
  const file = openSync(path, flags, 0o600);
  try {
    return act(file);
  } finally {
    closeSync(file);
  }
}

/** As {@link withFile}, and undefined where there is no such file. */
export function withKnownFile<T>(path: string, flags: "r" | "r+", act: (file: number) => T): T | undefined {
  try {
    return withFile(path, flags, act);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

/**
 * Appends bytes at the end of what counts, durable when it returns. When it fails, what was written of them is cut off
 * again; where even that fails, a torn tail stays, or the whole group, which nobody was told is stored.
 * @param size where the file ends
 */
export function appendDurably(file: number, bytes: Uint8Array, size: number): void {
  try {
    let written = 0;
    while (written < bytes.length)
      written += writeSync(file, bytes, written, bytes.length - written, size + written);
    fdatasyncSync(file);
  } catch (thrown) {
    try {
      cutDurably(file, size);
    } catch {
      // What went wrong first is what the caller must hear.
    }
    throw thrown;
  }
}

export function cutDurably(file: number, size: number): void {
  ftruncateSync(file, size);
  fdatasyncSync(file);
}

/** Makes the names in a folder last. Some systems cannot, and keep names safe by themselves. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  withFile(folder, "r", fsyncSync);
}

/**
 * Replaces a small file: whoever reads it finds the old one or the new one. Not made to outlive a power failure. Only who
 * holds the folder's lock does it, so one name serves all: what a process left that was killed here is written over.
 */
export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.tmp`;
  try {
    writeFileSync(fresh, text);
    renameSync(fresh, path);
  } catch (thrown) {
    rmSync(fresh, { force: true });
    throw thrown;
  }
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

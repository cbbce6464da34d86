// The room of plain file calls: complete writes, and durable names.

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

/** Like {@link withFile}, but undefined when there is no such file. */
export function withKnownFile<T>(path: string, flags: "r" | "r+", act: (file: number) => T): T | undefined {
  try {
    return withFile(path, flags, act);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

/**
 * Appends bytes after the last whole line; durable when it returns. On failure, the bytes already written are cut off
 * again. If even that fails, a torn tail stays, or the whole group, which was never acknowledged.
 * @param size where the last whole line ends
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
      // The caller must get the first error.
    }
    throw thrown;
  }
}

export function cutDurably(file: number, size: number): void {
  ftruncateSync(file, size);
  fdatasyncSync(file);
}

/** Makes the names in a folder durable. Some systems cannot open folders; those do not need it. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  withFile(folder, "r", fsyncSync);
}

/**
 * Replaces a small file: readers find the old content or the new. Not durable across a power failure. Only called under
 * the folder's lock, so one temporary name is enough: the leftover of a killed process is overwritten.
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

// The room of plain file calls: whole writes, names that last, and what the system says when it cannot.

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
import { dirname, join } from "node:path";
import { messageOf, RondoError } from "@rondo/core";
import { whyNotOpened } from "../place.ts";

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
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
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
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

const reading: ReadonlySet<string> = new Set(["read", "list", "check"]);

const safe = "Everything stored before is safe, nothing of this group was stored";

/** What the system threw, in words that name the file. */
export function fileError(path: string, doing: string, thrown: unknown): RondoError {
  if (thrown instanceof RondoError) return thrown;
  const { code, errcode } = thrown as { code?: string; errcode?: number };
  const says = `cannot ${doing} the journal ${path}`;
  const because = messageOf(thrown);
  const storage = (words: string, retryable = false): RondoError =>
    new RondoError("storage", `${says}: ${words}`, { cause: thrown, retryable });
  const lock = typeof errcode === "number" ? errcode & 0xff : 0;
  if (lock === 5)
    return storage(
      `another process kept its folder locked (${because}); try again, or set busyTimeoutMs higher`,
      true,
    );
  const folder = dirname(path);
  if (lock === 8 || lock === 14) {
    const why = whyNotOpened(folder);
    return storage(
      why === undefined
        ? `its lock cannot be had (${because}); the folder ${folder} must be writable`
        : `its lock cannot be had (${why})`,
    );
  }
  if (lock === 11 || lock === 26)
    return storage(
      `${join(folder, "lock")} is not the lock of a journal (${because}); if no other program needs it, remove it, else use another folder`,
    );
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return storage(`the disk is full (${because}). ${safe}; free some space`);
    case "EFBIG":
    case "EIO":
      return storage(`the disk failed (${because}). ${safe}; look at the disk and its limits`);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return storage(
        `${because}; the folder ${folder} and its files must be ${reading.has(doing) ? "readable" : "writable"}`,
      );
    default:
      return code === undefined
        ? new RondoError("internal", `${says}: ${because}`, { cause: thrown })
        : storage(because);
  }
}

// The room of the atomic write: a file's new content replaces the old one completely, or not at all.
//
// Under the lock of the real path: read the file, compare it with what the model saw, write a temporary file, rename it.
// A reader sees the old content or the new one, never a mixture; a crash leaves at worst a file named `.rondo-….tmp`.
// A file that cannot be replaced, though it may be written, is the exception: a mount point, or one in a folder of somebody else's.

import { randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { access, type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { FileToolSet } from "../options.ts";
import { meant } from "../paths/given-path.ts";
import type { Folder, Place } from "../paths/root.ts";
import { codeOf, Refusal, shown, sized } from "../reasons.ts";
import { contentIdOf, locked } from "../stale-writes.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** The file before a change. */
export interface Before {
  bytes: Buffer;
  mode: number;
  uid: number;
  gid: number;
  /** How many names it has: hard links. */
  names: number;
  /** Identity, size and time: checked again just before the replacement. */
  version: string;
}

export interface Change {
  /** The new content; `undefined`: leave the file as it is. */
  bytes: Buffer | undefined;
  /** The number of changed lines, when the new content is the old one with a part changed. */
  partOf?: number;
}

export interface ChangeBounds {
  maxBytes: number;
  /** Whether files in `.git` may be changed. */
  writeGit: boolean;
}

/**
 * Changes one file. `decide` gets the current content (`undefined`: no file) and returns the new one; it may refuse.
 * @returns how many parent folders were created, where the file is, and whether it had other names, which keep the old content
 */
export async function change(
  set: FileToolSet,
  path: string,
  bounds: ChangeBounds,
  signal: AbortSignal,
  decide: (before: Before | undefined, place: Place) => Change,
): Promise<{ made: number; place: Place; hadOtherNames: boolean }> {
  const wanted = meant(set.root, path);
  return locked(wanted.real, async () => {
    signal.throwIfAborted();
    // Resolved under the lock: while this call waited, the one before it may have created the file.
    const place = meant(set.root, path);
    if (place.real !== wanted.real) throw new Refusal(`${shown(path)} was moved while it was being changed`);
    if (!bounds.writeGit && place.shown.split("/").some((part) => part.toLowerCase() === ".git"))
      throw new Refusal(`${shown(place.shown)} belongs to git's own data, which file tools do not change`);
    if (place.shown === ".") throw new Refusal("Path is not a file: . (it is the root)");
    // A path with a trailing slash means a folder: a file there would be in the way of everything meant to go into it.
    if (!place.exists && /[\\/]\s*$/.test(path))
      throw new Refusal(
        `Path is not a file: ${shown(path)} (it names a folder; folders are made with the files in them)`,
      );
    const before = place.exists ? await beforeOf(set, place, bounds.maxBytes) : undefined;
    const { bytes, partOf } = decide(before, place);
    if (bytes === undefined) return { made: 0, place, hadOtherNames: false };
    mustNotExceed(bounds.maxBytes, bytes.length);
    const folder = await set.root.parent(place);
    try {
      signal.throwIfAborted();
      await replace(folder, basename(place.real), bytes, before);
    } finally {
      await folder.close();
    }
    if (partOf === undefined || before === undefined) set.seen.set(place.real, contentIdOf(bytes));
    else set.seen.changed(place.real, contentIdOf(bytes), contentIdOf(before.bytes), partOf);
    return { made: folder.made, place, hadOtherNames: (before?.names ?? 1) > 1 };
  });
}

/** @throws Refusal when a content is larger than may be written */
export function mustNotExceed(maxBytes: number, bytes: number): void {
  if (bytes > maxBytes)
    throw new Refusal(
      `the new content would be ${sized(bytes)}, more than ${sized(maxBytes)}; nothing was written`,
    );
}

async function beforeOf(set: FileToolSet, place: Place, maxBytes: number): Promise<Before> {
  const handle = await set.root.open(place, "file");
  try {
    const { size, mode, uid, gid, nlink: names } = await handle.stat();
    const version = versionOf(await handle.stat({ bigint: true }));
    // Renaming asks for permission on the folder only, and would replace even a read-only file.
    await access(place.real, constants.W_OK);
    if (size > maxBytes)
      throw new Refusal(
        `${shown(place.shown)} is ${sized(size)}; files over ${sized(maxBytes)} are not changed`,
      );
    return { bytes: await handle.readFile(), mode, uid, gid, names, version };
  } finally {
    await handle.close();
  }
}

async function replace(
  folder: Folder,
  name: string,
  bytes: Buffer,
  before: Before | undefined,
): Promise<void> {
  const target = join(folder.path, name);
  const beside = join(folder.path, `.rondo-${randomBytes(9).toString("base64url")}.tmp`);
  // Private until it has the mode and owner of the file it replaces.
  const mode = before === undefined ? 0o666 : 0o600;
  let handle: FileHandle;
  try {
    handle = await open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  } catch (thrown) {
    // Nothing can be made in the folder, but the file may be written. One with other names is not: they may be anywhere.
    if (before?.names !== 1 || !isForbidden(thrown)) throw thrown;
    await overwrite(target, name, bytes, before);
    return;
  }
  try {
    try {
      await handle.writeFile(bytes);
      if (before !== undefined) {
        // The owner first: changing it clears the set-id bits. Not being allowed to is no reason to fail.
        const own = await handle.stat();
        if (own.uid !== before.uid || own.gid !== before.gid)
          await handle.chown(before.uid, before.gid).catch(() => undefined);
        await handle.chmod(before.mode & 0o7777);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (before === undefined) await create(beside, target, name);
    else {
      const now = await lstat(target, { bigint: true }).catch(() => undefined);
      if (now === undefined || versionOf(now) !== before.version) throw changedMeanwhile(name);
      await rename(beside, target).catch(async (thrown: unknown) => {
        if (codeOf(thrown) !== "EBUSY" && !(before.names === 1 && isForbidden(thrown))) throw thrown;
        await overwrite(target, name, bytes, before);
        await unlink(beside);
      });
    }
  } catch (thrown) {
    await unlink(beside).catch(() => undefined);
    throw thrown;
  }
}

const isForbidden = (thrown: unknown): boolean => ["EACCES", "EPERM", "EROFS"].includes(codeOf(thrown) ?? "");

/**
 * Writes into the file itself: one that is a mount point (containers mount single files) cannot be replaced, nor can one in a
 * folder that may not be changed. This is the only write that is not atomic: a crash in the middle leaves part of the new content.
 */
async function overwrite(target: string, name: string, bytes: Buffer, before: Before): Promise<void> {
  const handle = await open(target, O_WRONLY | O_NOFOLLOW);
  try {
    if (versionOf(await handle.stat({ bigint: true })) !== before.version) throw changedMeanwhile(name);
    await fill(handle, bytes).catch(async (thrown: unknown) => {
      await fill(handle, before.bytes).catch(() => undefined);
      throw thrown;
    });
  } finally {
    await handle.close();
  }
}

async function fill(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; )
    at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
  await handle.truncate(bytes.length);
  await handle.sync();
}

/** For the result, if a file had other names. */
export const otherNamesNote = "[it had other names (hard links), which keep the old content]";

const changedMeanwhile = (name: string): Refusal =>
  new Refusal(`${shown(name)} was changed by somebody else while it was being written; it was left as it is`);

/** Gives a new file its name, without replacing a file created meanwhile. */
async function create(beside: string, target: string, name: string): Promise<void> {
  try {
    await link(beside, target);
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST")
      throw new Refusal(
        `${shown(name)} was created by somebody else while it was written; it was left as it is`,
      );
    // A file system without hard links: the name was free a moment ago.
    if (codeOf(thrown) === "ENOENT") throw thrown;
    await rename(beside, target);
    return;
  }
  await unlink(beside);
}

const versionOf = (found: BigIntStats): string => `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}`;

/** Refuses when the file is no longer what the model saw. */
export function mustBeAsSeen(set: FileToolSet, before: Before, place: Place): void {
  const seen = set.seen.get(place.real);
  if (seen !== undefined && seen !== contentIdOf(before.bytes))
    throw new Refusal(
      `${shown(place.shown)} was changed since it was read; nothing was written. Read it again with read_file, then decide again`,
    );
}

/** The text as bytes. */
export function bytesOf(text: string, what: string): Buffer {
  if (/\p{Surrogate}/u.test(text))
    throw new Refusal(`${what} holds half a character (a lone surrogate), which no UTF-8 file can hold`);
  return Buffer.from(text, "utf8");
}

// The room of writing files whole: into a temporary file next to the target, fsynced, then renamed.
//
// A process that is killed meanwhile leaves its temporary file behind. Its name tells which process writes it, so the next
// one removes what belongs to a process that is gone. Processes on another machine or in another container cannot be
// looked up: their files count as left behind when untouched for an hour; a writer that is alive after all writes again.

import { randomUUID } from "node:crypto";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isGoneByName, ownMarkInName } from "./holder.ts";
import { makeFolder } from "./make-folder.ts";
import { isMissing } from "./system-says.ts";

const partSuffix = ".part";

/** One hour. Writing a text takes a moment; a process that was suspended for longer starts over. */
const longMs = 3_600_000;

/** Creates a file with this content, completely or not at all. The folder must exist. */
export async function writeBeside(place: string, bytes: Buffer): Promise<void> {
  try {
    await write(place, bytes);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    // The temporary file was removed, or the folder with it.
    makeFolder(dirname(place), 0o700);
    await write(place, bytes);
  }
}

/** Total bytes of the files in a folder, those still being written included. Removes temporary files that were left behind. */
export async function heldIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await unlessMissing(readdir(folder), [])) {
    const place = join(folder, name);
    // Another process may have renamed it just now.
    const info = await unlessMissing(stat(place), undefined);
    if (info === undefined) continue;
    if (isLeftBehind(name, info.mtimeMs)) await rm(place, { force: true });
    else bytes += info.size;
  }
  return bytes;
}

function isLeftBehind(name: string, touched: number): boolean {
  if (!name.endsWith(partSuffix)) return false;
  const [mark = ""] = name.slice(0, -partSuffix.length).split(".").slice(-2);
  return isGoneByName(mark) || Date.now() - touched > longMs;
}

async function write(place: string, bytes: Buffer): Promise<void> {
  const beside = `${place}.${ownMarkInName()}.${randomUUID()}${partSuffix}`;
  try {
    const handle = await open(beside, "wx", 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, place);
  } catch (thrown) {
    await rm(beside, { force: true });
    throw thrown;
  }
}

async function unlessMissing<T, Instead>(asked: Promise<T>, instead: Instead): Promise<T | Instead> {
  try {
    return await asked;
  } catch (thrown) {
    if (isMissing(thrown)) return instead;
    throw thrown;
  }
}

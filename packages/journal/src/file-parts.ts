// The room of files that are being written: beside their place, brought to the disk, and then renamed.
//
// A process that is killed meanwhile leaves its part behind. Its name says who writes it, so whoever comes next takes
// away what belongs to a process that is gone. Of another machine's, or another container's, nothing can be known: a
// part that nobody has touched for long counts as left behind, and a writer who lives after all writes it once more.

import { randomUUID } from "node:crypto";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isGoneByName, ownMarkInName } from "./holder.ts";
import { makeFolder } from "./make-folder.ts";
import { isMissing } from "./system-says.ts";

const partSuffix = ".part";

/** Writing one text takes a moment; a process that was halted this long begins anew. */
const longMs = 3_600_000;

/** Makes a file of this content, which is there whole or not at all. The folder is there already. */
export async function writeBeside(place: string, bytes: Buffer): Promise<void> {
  try {
    await write(place, bytes);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    // The part was taken away, or the folder with it.
    makeFolder(dirname(place), 0o700);
    await write(place, bytes);
  }
}

/** What the files of a folder have together, those that are being written among them. Takes away what was left behind. */
export async function heldIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await unlessMissing(readdir(folder), [])) {
    const place = join(folder, name);
    // Another process may just have renamed it.
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

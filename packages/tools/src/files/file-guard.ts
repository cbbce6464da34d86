// The room of the file guard: which local files of a tool's output may reach the user.
//
// A path named by a tool is not trusted: it must begin with the root, lead to a file under the root after following
// symlinks, and the file must not be too large. Refusals name no path, because they may reach somebody who must not
// learn about the file system.

import { existsSync } from "node:fs";
import { basename, sep as ours, resolve } from "node:path";
import { checkGiven, from0, membersOf, text } from "@rondo/core/checks";
import { Root } from "../paths/root.ts";
import { Refusal } from "../reasons.ts";
import { readAtMost } from "../text/text-file.ts";

export interface FileGuardOptions {
  /** The only folder whose files are read. Default: `/files`. */
  root?: string;
  /** Largest file, in bytes; one of exactly this size is read. Default: 5 MiB. */
  maxBytes?: number;
}

/** A file that may be shown. */
export interface GuardedFile {
  data: Uint8Array;
  /** Its name without the folder. */
  name: string;
}

const optionChecks = membersOf<FileGuardOptions>({
  root: text,
  maxBytes: from0,
});

/**
 * Reads the local files that tools hand to the user.
 * @returns a function from a path to the file, or to undefined when there is none. It rejects, without naming a path, when
 *   the path leads out of the root or to something other than a file, when the file is too large, and when it cannot be read.
 */
export function fileGuard(
  options: FileGuardOptions = {},
): ((path: string) => Promise<GuardedFile | undefined>) & { readonly root: string } {
  checkGiven(optionChecks, options, "fileGuard");
  const root = (options.root ?? "/files").replace(/(?<=.)\/+$/, "");
  const maxBytes = options.maxBytes ?? 5 * 1024 * 1024;
  const read = async (path: string): Promise<GuardedFile | undefined> => {
    if (!beginsWith(path, root)) throw new Refusal("local file is outside the root");
    try {
      return await readUnder(root, path, maxBytes);
    } catch (thrown) {
      if (thrown === tooLarge) throw new Refusal("local file is too large");
      throw new Refusal("local file cannot be read");
    }
  };
  return Object.assign(read, { root });
}

/** Whether a path begins with the root as given, and goes on with a name in it. @param sep the system's separator beside `/` */
export function beginsWith(path: string, root: string, sep: string = ours): boolean {
  const isSeparator = (char: string | undefined): boolean => char === "/" || char === sep;
  return path.startsWith(root) && (isSeparator(root.at(-1)) || isSeparator(path[root.length]));
}

const tooLarge = Symbol("too large");

async function readUnder(given: string, path: string, maxBytes: number): Promise<GuardedFile | undefined> {
  if (!existsSync(given)) return undefined;
  const root = new Root(given);
  // It begins with the root as given, which may be relative to the working directory.
  const place = root.locate(resolve(path));
  if (!place.exists) return undefined;
  const handle = await root.open(place, "file");
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw tooLarge;
    // One byte more than expected: a file that grew meanwhile is not the one that was checked.
    const bytes = await readAtMost(handle, size + 1);
    if (bytes.length > size) throw new Refusal("the file grew while it was read");
    return { data: new Uint8Array(bytes), name: basename(path) };
  } finally {
    await handle.close();
  }
}

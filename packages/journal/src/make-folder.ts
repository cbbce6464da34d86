// The room of making folders: a folder and its missing parents.
//
// Node's recursive mkdir never returns when an existing folder answers ENOENT to a mkdir in it (`/proc`): it goes up to
// the parent, finds it, and begins again. Here each level is tried at most twice.

import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isMissing } from "./system-says.ts";

/** @throws the file system's error when it is not a folder, or cannot be created */
export function makeFolder(path: string, mode?: number): void {
  try {
    make(path, mode);
  } catch (thrown) {
    const above = dirname(path);
    if (!isMissing(thrown) || above === path) throw thrown;
    // If it is there now, another process has just made it: the folder in it is tried once more.
    if (!existsSync(above)) makeFolder(above, mode);
    make(path, mode);
  }
}

function make(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (thrown) {
    // Another process may have been faster; and on a read-only root mkdir gives another error for an existing folder.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw thrown;
  }
}

// The room of making folders: a folder, and those above it that are missing.
//
// Node's own recursive mkdir never returns where a folder is there and nothing can be made in it for want of an entry
// (`/proc`): it asks for the folder above, finds it there, and begins again. Here each level is tried twice at most.

import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isMissing } from "./system-says.ts";

/** @throws the file system's error when it is no folder, or cannot be made */
export function makeFolder(path: string, mode?: number): void {
  try {
    make(path, mode);
  } catch (thrown) {
    const above = dirname(path);
    if (!isMissing(thrown) || above === path || existsSync(above)) throw thrown;
    makeFolder(above, mode);
    make(path, mode);
  }
}

function make(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (thrown) {
    // Another process may have been faster, and a root that can only be read says something else of a folder that is there.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw thrown;
  }
}

// The room of git's guard: what a command in the sandbox may not leave in a repository.
//
// Git runs what a repository's hooks and settings name, later and outside of the sandbox. They are read-only; and so that
// nobody puts others in their place, every folder on the way to them stays where it is (it is mounted onto itself: what is
// mounted cannot be renamed), a `.git` that is a file is read-only, and what would lead git to other settings and was not
// there before is taken away once the command has ended.

import { chmodSync, existsSync, lstatSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isUnder } from "../paths/root.ts";

export interface GitGuard {
  /** Arguments for bubblewrap. */
  mounts: string[];
  /** The folders that stay where they are, those above first. */
  folders: string[];
  /** Paths where nothing may be once the command has ended. */
  forbidden: string[];
}

/** What came into being where nothing may be. */
export interface Cleared {
  taken: string[];
  /** What could not be taken away. */
  left: string[];
}

/** Of these git takes programs to run, or learns where else to look for such. */
const acting = ["hooks", "config", "config.worktree", "commondir"];

const maxModules = 100;
const maxModuleDepth = 4;

/** What guards the repository whose working tree is `root`; nothing where it is none. */
export function gitGuard(root: string): GitGuard {
  const git = join(root, ".git");
  const found = lstatSync(git, { throwIfNoEntry: false });
  if (found?.isFile()) return { mounts: ["--ro-bind", git, git], folders: [], forbidden: [] };
  if (!found?.isDirectory()) return { mounts: [], folders: [], forbidden: [] };
  const repositories = [
    git,
    ...modulesIn(join(git, "modules"), maxModuleDepth),
    ...modulesIn(join(git, "worktrees"), maxModuleDepth),
  ];
  const folders = [...new Set(repositories.flatMap((folder) => wayTo(folder, git)))];
  const mounts = folders.flatMap((folder) => ["--bind", folder, folder]);
  const forbidden: string[] = [];
  for (const folder of repositories)
    for (const name of acting) {
      const path = join(folder, name);
      if (existsSync(path)) mounts.push("--ro-bind", path, path);
      else forbidden.push(path);
    }
  return { mounts, folders, forbidden };
}

/** The folders from one down to another. */
const wayTo = (folder: string, from: string): string[] =>
  folder === from ? [from] : [...wayTo(dirname(folder), from), folder];

/** The repositories of submodules, whose names may have slashes, or of linked worktrees. */
function modulesIn(folder: string, depth: number): string[] {
  const found: string[] = [];
  if (depth === 0 || !existsSync(folder)) return found;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || found.length >= maxModules) continue;
    const path = join(folder, entry.name);
    if (isRepository(path)) found.push(path, ...modulesIn(join(path, "modules"), depth - 1));
    else found.push(...modulesIn(path, depth - 1));
  }
  return found.slice(0, maxModules);
}

/** By its settings too: they cannot be taken from it, and without its HEAD it would be left unguarded the next time. */
const isRepository = (folder: string): boolean =>
  existsSync(join(folder, "HEAD")) ||
  lstatSync(join(folder, "config"), { throwIfNoEntry: false })?.isFile() === true;

/** Takes away what came into being where nothing may be. */
export function cleared({ folders, forbidden }: GitGuard): Cleared {
  const taken: string[] = [];
  const left: string[] = [];
  for (const path of forbidden)
    try {
      if (isTakenAway(path, folders)) taken.push(path);
    } catch {
      left.push(path);
    }
  return { taken, left };
}

function isTakenAway(path: string, folders: readonly string[]): boolean {
  try {
    return remove(path);
  } catch {
    // It was made read-only, or what leads there: whoever may make it so may undo it, and here is the same user.
    for (const folder of folders) if (isUnder(folder, path)) unlock(folder);
    unlockAll(path);
    return remove(path);
  }
}

function remove(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  // Whoever put a link on the way would have something taken away elsewhere.
  if (realpathSync.native(dirname(path)) !== dirname(path)) throw new Error("it lies elsewhere");
  rmSync(path, { recursive: true, force: true });
  return true;
}

function unlockAll(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  unlock(path);
  for (const name of readdirSync(path)) unlockAll(join(path, name));
}

/** Gives a folder's owner all leave of it. */
function unlock(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() && (found.mode & 0o700) !== 0o700) chmodSync(folder, found.mode | 0o700);
}

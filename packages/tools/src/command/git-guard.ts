// The room of git's guard: keeps a sandboxed command from leaving programs in a repository.
//
// Git later runs, outside the sandbox, what hooks and settings name. So these are read-only, and cannot be swapped: every
// folder on the way to them is bind-mounted onto itself (a mount point cannot be renamed), and a `.git` that is a file is
// read-only. New files that would make git use other settings are removed once the command has ended.

import { chmodSync, existsSync, lstatSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isUnder } from "../paths/root.ts";

export interface GitGuard {
  /** Arguments for bubblewrap. */
  mounts: string[];
  /** The folders that cannot be moved, parents first. */
  folders: string[];
  /** Paths that must not exist once the command has ended. */
  forbidden: string[];
}

/** What was found at forbidden paths. */
export interface Cleared {
  taken: string[];
  /** What could not be removed. */
  left: string[];
}

/** Git runs programs named in these, or finds more such settings through them. */
const acting = ["hooks", "config", "config.worktree", "commondir"];

const maxModules = 100;
const maxModuleDepth = 4;

/** Guards the repository whose working tree is `root`; guards nothing when it is none. */
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

/** The repositories of submodules (whose names may contain slashes) or of linked worktrees. */
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

/** Recognized by its config too, which a command cannot remove: without its HEAD it would be unguarded the next time. */
const isRepository = (folder: string): boolean =>
  existsSync(join(folder, "HEAD")) ||
  lstatSync(join(folder, "config"), { throwIfNoEntry: false })?.isFile() === true;

/** Removes whatever was created at the forbidden paths. */
export function cleared({ folders, forbidden }: GitGuard): Cleared {
  const taken: string[] = [];
  const left: string[] = [];
  for (const path of forbidden)
    try {
      if (takeAway(path, folders)) taken.push(path);
    } catch {
      left.push(path);
    }
  return { taken, left };
}

/** @returns whether there was anything to remove */
function takeAway(path: string, folders: readonly string[]): boolean {
  try {
    return remove(path);
  } catch {
    // It, or a folder on the way, was made read-only. We are the same user, and may undo that.
    for (const folder of folders) if (isUnder(folder, path)) unlock(folder);
    unlockAll(path);
    return remove(path);
  }
}

function remove(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  // A symlink on the way would make us remove something elsewhere.
  if (realpathSync.native(dirname(path)) !== dirname(path)) throw new Error("it lies elsewhere");
  rmSync(path, { recursive: true, force: true });
  return true;
}

function unlockAll(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  unlock(path);
  for (const name of readdirSync(path)) unlockAll(join(path, name));
}

/** Gives the owner full permission on a folder. */
function unlock(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() && (found.mode & 0o700) !== 0o700) chmodSync(folder, found.mode | 0o700);
}

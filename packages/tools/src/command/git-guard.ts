// The room of git's guard: what a command in the sandbox may not leave in a repository.
//
// Git runs what a repository's hooks and settings name, later and outside of the sandbox. They are read-only; and so that
// nobody puts others in their place, the folder that holds them stays where it is (it is mounted onto itself: what is
// mounted cannot be renamed), a `.git` that is a file is read-only, and what would lead git to other settings and was not
// there before is taken away once the command has ended.

import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface GitGuard {
  /** Arguments for bubblewrap. */
  mounts: string[];
  /** Paths where nothing may be once the command has ended. */
  forbidden: string[];
}

/** Of these git takes programs to run, or learns where else to look for such. */
const acting = ["hooks", "config", "config.worktree", "commondir"];

const maxModules = 100;
const maxModuleDepth = 4;

/** What guards the repository whose working tree is `root`; nothing where it is none. */
export function gitGuard(root: string): GitGuard {
  const git = join(root, ".git");
  const found = lstatSync(git, { throwIfNoEntry: false });
  if (found?.isFile()) return { mounts: ["--ro-bind", git, git], forbidden: [] };
  if (!found?.isDirectory()) return { mounts: [], forbidden: [] };
  const mounts = ["--bind", git, git];
  const forbidden: string[] = [];
  for (const folder of [git, ...modulesIn(join(git, "modules"), maxModuleDepth)])
    for (const name of acting) {
      const path = join(folder, name);
      if (existsSync(path)) mounts.push("--ro-bind", path, path);
      else forbidden.push(path);
    }
  return { mounts, forbidden };
}

/** The repositories of submodules; their names may have slashes. */
function modulesIn(folder: string, depth: number): string[] {
  const found: string[] = [];
  if (depth === 0 || !existsSync(folder)) return found;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || found.length >= maxModules) continue;
    const path = join(folder, entry.name);
    if (existsSync(join(path, "HEAD"))) found.push(path, ...modulesIn(join(path, "modules"), depth - 1));
    else found.push(...modulesIn(path, depth - 1));
  }
  return found.slice(0, maxModules);
}

/** Takes away what came into being where nothing may be. Returns what it was. */
export function cleared({ forbidden }: GitGuard): string[] {
  const gone: string[] = [];
  for (const path of forbidden) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) continue;
    rmSync(path, { recursive: true, force: true });
    gone.push(path);
  }
  return gone;
}

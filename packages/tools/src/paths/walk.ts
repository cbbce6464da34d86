// The room of the walk: every entry below a folder, sorted, without what git ignores and without following symlinks.
//
// Each folder is opened and checked as in the room of the root, so that a folder swapped for a symlink during the walk
// does not lead out. Entries are sorted by whole path, folders with a trailing `/`. The walk yields to the event loop
// regularly: ignore patterns come from the repository, and can take long to match.

import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { codeOf, Refusal } from "../reasons.ts";
import { readWhole } from "../text/text-file.ts";
import { type IgnoreFile, isIgnored, parseIgnore } from "./gitignore.ts";
import type { Place, Root } from "./root.ts";

export type EntryKind = "file" | "folder" | "link" | "other";

export interface Entry {
  /** Relative to the root, with `/` between the parts and none at the end. */
  path: string;
  kind: EntryKind;
}

export interface WalkOptions {
  recursive: boolean;
  /** Include what git ignores, and `node_modules`; never `.git`. */
  includeIgnored: boolean;
  signal?: AbortSignal;
}

/** What a walk left out. */
export interface LeftOut {
  ignored: number;
  /** Folders that could not be read, relative to the root. */
  unreadable: string[];
}

const maxIgnoreBytes = 1024 * 1024;

/** The entries below `start`, in order. `left` is filled during the walk. */
export async function* walk(
  root: Root,
  start: Place,
  options: WalkOptions,
  left: LeftOut,
): AsyncGenerator<Entry, void, undefined> {
  const outer = options.includeIgnored ? undefined : await ignoreFilesAbove(root, start);
  const walking: Walk = { root, start, options, left, top: outer?.top ?? root.real, turn: performance.now() };
  yield* below(walking, start, outer?.files ?? []);
}

/** State shared by the whole walk. */
interface Walk {
  root: Root;
  start: Place;
  options: WalkOptions;
  left: LeftOut;
  /** The folder that ignore rules are relative to. */
  top: string;
  /** When the walk last yielded. */
  turn: number;
}

/** How long a walk blocks the event loop at most, in milliseconds. */
const turnMs = 20;

/** Yields to the event loop, so that an abort can arrive too. */
async function takeTurns(walking: Walk): Promise<void> {
  await new Promise<void>((resolve) => void setImmediate(resolve));
  walking.options.signal?.throwIfAborted();
  walking.turn = performance.now();
}

/** @param files the ignore files of the folders above */
async function* below(
  walking: Walk,
  place: Place,
  files: readonly IgnoreFile[],
): AsyncGenerator<Entry, void, undefined> {
  const { root, start, options, left, top } = walking;
  options.signal?.throwIfAborted();
  let entries: Dirent[];
  let own: IgnoreFile | undefined;
  const here = wayFrom(top, place.real);
  try {
    const folder = await root.folder(place);
    try {
      entries = await readdir(folder.path, { withFileTypes: true });
    } finally {
      await folder.close();
    }
    if (!options.includeIgnored && entries.some((one) => one.name === ".gitignore" && one.isFile()))
      own = await ignoreFileIn(root, place, here);
  } catch (thrown) {
    // A folder that vanished or cannot be read is reported, and does not hide its siblings.
    if (place === start || (codeOf(thrown) === undefined && !(thrown instanceof Refusal))) throw thrown;
    left.unreadable.push(place.shown);
    return;
  }
  const rules = own === undefined ? files : [...files, own];
  const named = entries.map((entry) => ({
    name: entry.name,
    kind: kindOf(entry),
    sortKey: entry.isDirectory() ? `${entry.name}/` : entry.name,
  }));
  named.sort((a, b) => (a.sortKey < b.sortKey ? -1 : a.sortKey > b.sortKey ? 1 : 0));
  for (const { name, kind } of named) {
    if (name === ".git") continue;
    if (performance.now() - walking.turn > turnMs) await takeTurns(walking);
    if (!options.includeIgnored) {
      const ignored =
        (kind === "folder" && name === "node_modules") ||
        isIgnored(rules, [...here, name], kind === "folder");
      if (ignored) {
        left.ignored++;
        continue;
      }
    }
    const path = place.shown === "." ? name : `${place.shown}/${name}`;
    yield { path, kind };
    if (kind !== "folder" || !options.recursive) continue;
    const inner: Place = { shown: path, real: join(place.real, name), exists: true };
    yield* below(walking, inner, rules);
  }
}

/**
 * The ignore files above `start` that apply to it: from the folder that contains `.git` (it may be above the
 * root), or else from the root. `top` is that folder, which their rules are relative to.
 */
async function ignoreFilesAbove(root: Root, start: Place): Promise<{ files: IgnoreFile[]; top: string }> {
  let top = root.real;
  for (let at = start.real; ; at = dirname(at)) {
    if ((await stat(join(at, ".git")).catch(() => undefined)) !== undefined) {
      top = at;
      break;
    }
    if (dirname(at) === at) break;
  }
  const folders: string[] = [];
  for (let at = start.real; at !== top; at = dirname(at)) folders.unshift(dirname(at));
  const files: IgnoreFile[] = [];
  const exclude = await readWhole(join(await gitFolder(top), "info", "exclude"), maxIgnoreBytes).catch(
    () => undefined,
  );
  if (exclude !== undefined) files.push(parseIgnore(exclude, []));
  for (const folder of folders) {
    const text = await readWhole(join(folder, ".gitignore"), maxIgnoreBytes).catch(() => undefined);
    if (text !== undefined) files.push(parseIgnore(text, wayFrom(top, folder)));
  }
  return { files, top };
}

/** Git's folder for a working tree: `.git`, or, for a submodule or linked worktree, where the file of that name points. */
async function gitFolder(top: string): Promise<string> {
  const git = join(top, ".git");
  const told = await readWhole(git, maxIgnoreBytes).catch(() => "");
  const [, path] = /^gitdir: (.+)$/m.exec(told) ?? [];
  if (path === undefined) return git;
  const own = resolve(top, path.trim());
  // A linked worktree shares the folder of its repository.
  const shared = await readWhole(join(own, "commondir"), maxIgnoreBytes).catch(() => "");
  return resolve(own, shared.trim());
}

/** A folder's own `.gitignore`; undefined if it cannot be read, or is too large. */
async function ignoreFileIn(
  root: Root,
  folder: Place,
  base: readonly string[],
): Promise<IgnoreFile | undefined> {
  const file: Place = {
    shown: `${folder.shown}/.gitignore`,
    real: join(folder.real, ".gitignore"),
    exists: true,
  };
  try {
    const handle = await root.open(file, "file");
    try {
      const { size } = await handle.stat();
      if (size > maxIgnoreBytes) return undefined;
      return parseIgnore(await handle.readFile("utf8"), base);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

function kindOf(entry: Dirent): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

const wayFrom = (from: string, to: string): string[] => relative(from, to).split(sep).filter(Boolean);

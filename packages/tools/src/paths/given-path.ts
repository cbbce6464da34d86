// The room of given paths: interprets a path as a model writes it.
//
// A shell would expand `~`, an editor would open `file:///…`, and quotes, spaces or newlines around a name are never
// meant. Taken literally they create folders called `~` and files that nobody finds. A file with exactly the given name
// always comes first, and every resulting path is checked by the room of the root.

import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal, shown } from "../reasons.ts";
import { lookAlike } from "./near-names.ts";
import { isUnder, type Place, type Root } from "./root.ts";
import { gitUnquoted, spellings } from "./spellings.ts";
import { otherOnWindows } from "./windows-names.ts";

/**
 * The place that a path from a model means.
 * @throws Refusal when it leaves the root, or Windows takes a name in it for something else; file system errors other
 *   than "not found"
 */
export function meant(root: Root, given: string, onWindows: boolean = process.platform === "win32"): Place {
  const place = interpreted(root, given);
  const other = onWindows ? otherOnWindows(place.shown) : undefined;
  if (other !== undefined) throw new Refusal(`Path cannot be used: ${shown(given)} (on Windows ${other})`);
  return place;
}

function interpreted(root: Root, given: string): Place {
  const place = located(root, given);
  if (place?.exists) return place;
  const plain = unwrapped(given);
  const spoken = plain === given ? place : located(root, plain);
  if (spoken === undefined) throw homeless(given);
  if (spoken.exists) return spoken;
  const slashed = hasBackslashes(plain) ? located(root, plain.replaceAll("\\", "/")) : undefined;
  if (slashed?.exists) return slashed;
  for (const path of spellings(plain)) {
    const other = located(root, path);
    if (other?.exists) return other;
  }
  const alike = lookAlike(spoken.real);
  if (alike !== undefined) return root.locate(alike);
  mustStayIfReadOtherwise(root, plain);
  // A new file goes there if its folder exists; otherwise the backslashes belong to the name.
  return slashed !== undefined && root.locate(dirname(slashed.real)).exists && slashed.real !== spoken.real
    ? slashed
    : spoken;
}

/** The lock key of a call that touches `given`: its real path. Never throws. */
export function keyOf(root: Root, given: string): string {
  try {
    return `file:${meant(root, given).real}`;
  } catch {
    return `file:${given}`;
  }
}

/** `undefined`: the path begins with `~`, and there is no home folder. */
function located(root: Root, given: string): Place | undefined {
  const path = /^file:\/\//i.test(given) ? fromUrl(given) : given;
  if (path === "~" || path.startsWith("~/")) {
    const asNamed = root.locate(path);
    if (asNamed.exists) return asNamed;
    return inHome(root, path);
  }
  try {
    return root.locate(path);
  } catch (thrown) {
    throw (thrown instanceof Refusal && relativeMeant(root, path)) || thrown;
  }
}

/** Windows separators. Not with `..`: a grant for `notes/*` must not lead out of that folder. */
const hasBackslashes = (path: string): boolean =>
  sep === "/" && path.includes("\\") && !path.split(/[\\/]/).includes("..");

/**
 * A name that another program, or another system, would read as a way out of the root. Nobody means such a name.
 * @throws Refusal if it is one
 */
function mustStayIfReadOtherwise(root: Root, path: string): void {
  let read = path;
  // Twice: it may have been encoded twice.
  for (let times = 0; times < 2; times += 1)
    read = read
      .replaceAll(/%(2e|2f|5c|25)/gi, (encoded) => decodeURIComponent(encoded))
      .replaceAll("\\", "/");
  if (read === path || !read.split("/").includes("..") || isUnder(root.real, resolve(root.real, read)))
    return;
  throw new Refusal(
    `Path is outside the root: ${shown(path)} (read otherwise it leads out of it; only paths under the root can be used)`,
  );
}

function inHome(root: Root, path: string): Place | undefined {
  const home = homeFolder();
  if (home === undefined) return undefined;
  try {
    return root.locate(join(home, path.slice(1)));
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    throw new Refusal(
      `Path is outside the root: ${shown(path)} (~ is the home folder; only paths under the root can be used)`,
    );
  }
}

const maxParts = 16;

/** The relative path behind an absolute one from a model that takes the root for `/`, or for a folder such as `/workspace`. */
function relativeMeant(root: Root, path: string): Refusal | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  if (!isAbsolute(path) || parts.length === 0 || parts.length > maxParts) return undefined;
  const tails = parts.map((_, at) => parts.slice(at).join("/"));
  const meant = tails.find((tail, at) => isThere(root, tail, at === 0));
  return meant === undefined
    ? undefined
    : new Refusal(
        `Path is outside the root: ${shown(path)} (only paths under the root can be used; paths are relative to it: ${shown(meant)})`,
      );
}

/** @param orNew a new file in a folder that is there will do */
function isThere(root: Root, path: string, orNew: boolean): boolean {
  try {
    const place = root.locate(path);
    return place.exists || (orNew && place.shown.includes("/") && root.locate(dirname(place.real)).exists);
  } catch {
    return false;
  }
}

/** Without surrounding whitespace and one pair of quotes, and without git's octal. */
function unwrapped(given: string): string {
  const trimmed = given.trim();
  const unquoted = gitUnquoted(trimmed);
  if (unquoted !== undefined) return unquoted;
  const inner = /^(["'`])(.+)\1$/su.exec(trimmed)?.[2]?.trim() ?? trimmed;
  return inner === "" ? given : inner;
}

function fromUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    throw new Refusal(`Path is outside the root: ${shown(url)} (the URL names no file of this machine)`);
  }
}

function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

const homeless = (given: string): Refusal =>
  new Refusal(`Path is outside the root: ${shown(given)} (~ is a home folder, and there is none)`);

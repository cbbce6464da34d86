// The room of given paths: what a model means by a path as it writes one.
//
// A shell would have made a home of `~`, an editor a path of `file:///…`, and nobody means the quotes, the space or the
// newline around a name. Taken word for word they make folders called `~` and files nobody finds. What is there under the
// very name that is given always comes first; whatever a path becomes, the room of the root judges it.

import { homedir } from "node:os";
import { dirname, isAbsolute, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal, shown } from "../reasons.ts";
import { lookAlike } from "./near-names.ts";
import type { Place, Root } from "./root.ts";

/**
 * Where a path leads that a model gave.
 * @throws Refusal when it leaves the root; file system errors other than "not there"
 */
export function meant(root: Root, given: string): Place {
  const place = located(root, given);
  if (place?.exists) return place;
  const plain = unwrapped(given);
  const spoken = plain === given ? place : located(root, plain);
  if (spoken === undefined) throw homeless(given);
  if (spoken.exists) return spoken;
  const slashed = hasBackslashes(plain) ? located(root, plain.replaceAll("\\", "/")) : undefined;
  if (slashed?.exists) return slashed;
  const alike = lookAlike(spoken.real);
  if (alike !== undefined) return root.locate(alike);
  // To be made there, where its folder is: else it is a name with backslashes in it.
  return slashed !== undefined && root.locate(dirname(slashed.real)).exists && slashed.real !== spoken.real
    ? slashed
    : spoken;
}

/** What a call that touches `given` locks: its real path. Never throws. */
export function keyOf(root: Root, given: string): string {
  try {
    return `file:${meant(root, given).real}`;
  } catch {
    return `file:${given}`;
  }
}

/** `undefined`: it lies in a home folder, and there is none. */
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

/** Path separators of Windows. Not with `..`: what was allowed for `notes/*` must not lead out of there. */
const hasBackslashes = (path: string): boolean =>
  sep === "/" && path.includes("\\") && !path.split(/[\\/]/).includes("..");

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

/** A path from `/` as a model writes it that takes the root for the whole file system. */
function relativeMeant(root: Root, path: string): Refusal | undefined {
  const below = path.replace(/^\/+/, "");
  if (!isAbsolute(path) || below === "") return undefined;
  try {
    const place = root.locate(below);
    const isThere = place.exists || (place.shown.includes("/") && root.locate(dirname(place.real)).exists);
    return isThere
      ? new Refusal(
          `Path is outside the root: ${shown(path)} (only paths under the root can be used; paths are relative to it: ${shown(place.shown)})`,
        )
      : undefined;
  } catch {
    return undefined;
  }
}

/** Without white space and one pair of quotes around it. */
function unwrapped(given: string): string {
  const trimmed = given.trim();
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

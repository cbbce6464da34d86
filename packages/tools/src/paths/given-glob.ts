// The room of given globs: interprets a glob as a model writes it.

import { Refusal, shown } from "../reasons.ts";
import { glob } from "./glob.ts";
import type { Place, Root } from "./root.ts";

/** A glob from a model. @throws Refusal when it cannot be used */
export function compiled(pattern: string): (path: string) => boolean {
  try {
    return glob(pattern);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new Refusal(`the glob cannot be used: ${thrown.message}`);
    throw thrown;
  }
}

/**
 * A glob relative to the searched folder, even if given as an absolute path. An empty one counts as none: models fill in
 * optional arguments.
 * @throws Refusal when it names something outside that folder
 */
export function relativeGlob(pattern: string | undefined, root: Root, place: Place): string | undefined {
  if (pattern === undefined || pattern.trim() === "") return undefined;
  const [, not = "", path = pattern] = /^(!?)(\/.*)$/s.exec(pattern) ?? [];
  const above = [root.real, root.given].find((folder) => path.startsWith(`${folder}/`));
  if (above === undefined) return pattern;
  const below = path.slice(above.length + 1);
  // With a slash in front: a bare name would match in every folder below.
  if (place.shown === ".") return `${not}/${below}`;
  if (below.startsWith(`${place.shown}/`)) return not + below.slice(place.shown.length);
  throw new Refusal(`the glob names nothing in ${shown(place.shown)}: ${shown(pattern)}`);
}

/** A hint on why a glob may have matched nothing. */
export function globNote(option: string, pattern: string, folder: string): string {
  const path = pattern.replace(/^(?:\.?\/)+/, "");
  if (option === "glob" && /^[^!]*\/$/.test(path))
    return `no file matches the ${option}, for it names a folder: ${shown(path)}** is what is in it`;
  if (/\\[\w*.]/.test(path))
    return `no path matches the ${option}; folders are separated by /, and a \\ makes what follows it literal`;
  if (!/[/.*?[{!,]/.test(path))
    return `no name matches the ${option}; ${shown(path)}/** is what is in a folder`;
  if (!path.includes("/")) return `no name matches the ${option}`;
  return `no path matches the ${option}, which is relative to path: it means ${shown(folder === "." ? path : `${folder}/${path}`)}`;
}

// The room of near names: what may have been meant by a name that does not exist.
//
// Names that look the same are the same to a model: macOS writes a narrow space before "PM" and decomposes é, and no
// model can reproduce these. A unique name that looks the same is used; names that are merely similar are only suggested.

import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/** Larger folders are not searched. */
const maxEntries = 5000;
const maxTold = 3;

/** A name as it looks: in composed form (NFC), with one kind of space and one of apostrophe. */
const looks = (name: string): string =>
  name
    .normalize("NFC")
    .replace(/[\p{Zs}\u200b\u2060]/gu, " ")
    .replace(/[\u2018\u2019\u02bc]/g, "'");

/** The existing path that looks like the missing `real`; `undefined` if there is none, or more than one. */
export function lookAlike(real: string): string | undefined {
  const [at, missing] = splitAt(real);
  let found = at;
  for (const name of missing) {
    const alike = namesIn(found).filter((one) => looks(one) === looks(name));
    if (alike.length !== 1) return undefined;
    found = join(found, alike[0]!);
  }
  return found;
}

/** Existing paths similar to the missing `real`: another case, another extension, a part of the name more or less. */
export function nearPaths(real: string): string[] {
  const [at, [name = "", ...behind]] = splitAt(real);
  const names = namesIn(at);
  const plain = (one: string): string => looks(one).toLowerCase().replace(/^@/, "");
  const stem = (one: string): string => plain(one).replace(/(?<=.)\.[^.]*$/, "");
  const wanted = plain(name);
  const near = [
    ...names.filter((one) => plain(one) === wanted),
    ...names.filter((one) => stem(one) === stem(name)),
    ...names.filter((one) => wanted.length > 2 && plain(one).length > 2 && includesOther(plain(one), wanted)),
  ];
  return [...new Set(near)].slice(0, maxTold).map((one) => {
    const whole = join(at, one, ...behind);
    return isThere(whole) ? whole : join(at, one);
  });
}

/** Whether anything exists at the path, even a dangling symlink. */
export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const includesOther = (one: string, other: string): boolean => one.includes(other) || other.includes(one);

/** The existing part of a path, and the missing names after it. */
function splitAt(real: string): [string, string[]] {
  let at = dirname(real);
  while (!isThere(at) && at !== dirname(at)) at = dirname(at);
  return [at, relative(at, real).split(sep)];
}

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder);
    // A name that is not valid UTF-8 cannot be given by a model.
    return names.length > maxEntries ? [] : names.filter((name) => !name.includes("\ufffd")).sort();
  } catch {
    return [];
  }
}

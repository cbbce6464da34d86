// The room of near names: what somebody may have meant by a name that is not there.
//
// Names that look the same are the same to a model: a tool of macOS writes a narrow space before "PM" and splits an é in
// two, and no model can write these again as they were. Names that are merely like one another are told, never taken.

import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/** Folders with more in them are not gone through. */
const maxEntries = 5000;
const maxTold = 3;

/** A name as it looks: composed, each kind of space one, each kind of apostrophe one. */
const looks = (name: string): string =>
  name
    .normalize("NFC")
    .replace(/[\p{Zs}\u200b\u2060]/gu, " ")
    .replace(/[\u2018\u2019\u02bc]/g, "'");

/** The path that looks like `real`, which is not there; `undefined` where there is none, or more than one. */
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

/** Paths like `real`, which is not there: in another case, with another ending, with more or less of a name. */
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

/** Whether anything has this path, a link to nothing too. */
export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const includesOther = (one: string, other: string): boolean => one.includes(other) || other.includes(one);

/** What of a path is there, and the names behind it that are not. */
function splitAt(real: string): [string, string[]] {
  let at = dirname(real);
  while (!isThere(at) && at !== dirname(at)) at = dirname(at);
  return [at, relative(at, real).split(sep)];
}

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder);
    // A name that is no UTF-8 cannot be said again.
    return names.length > maxEntries ? [] : names.filter((name) => !name.includes("\ufffd")).sort();
  } catch {
    return [];
  }
}

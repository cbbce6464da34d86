// The room of file names: any session id as a name that every file system keeps apart, and back.
//
// Small letters, digits, `_` and `-` stay; every other byte is %XX. So two ids that differ in case, or only in how an
// accent is written, do not meet on a file system that folds them, and no id leads out of the folder.

import { createHash } from "node:crypto";
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export const suffix = ".jsonl";

export const leaseSuffix = ".lease";

/** What a segment is called until the one before it is sealed. */
export const pendingSuffix = ".tmp";

/** Names that mean a device on Windows, whatever follows the dot. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** The longest name that is written out; file systems take 255 bytes. */
const longest = 200;

/** The name of a session's file, without its suffix. */
export function nameOf(session: string): string {
  let name = "";
  for (const byte of Buffer.from(session)) {
    const letter = String.fromCharCode(byte);
    name += /[a-z0-9_-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  if (reserved.test(name)) return `%${name.charCodeAt(0).toString(16).toUpperCase()}${name.slice(1)}`;
  if (name.length <= longest) return name;
  // `=` is in no name that is written out.
  const digest = createHash("sha256").update(session).digest("hex");
  return `${name.slice(0, 100).replace(/%.?$/, "")}=${digest}`;
}

/** The session whose file is called so; undefined where its id is too long to be written out. */
export function sessionOf(name: string): string | undefined {
  if (name.includes("=")) return undefined;
  const bytes = name.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The file of a session's segment: `name.jsonl`, `name.2.jsonl`, … No name of a session holds a dot. */
export const segmentName = (name: string, segment: number): string =>
  segment === 1 ? name + suffix : `${name}.${segment}${suffix}`;

/** What a file is called to be: a later segment, or the first file of a session (or something else). */
export function segmentOf(file: string): { name: string; segment: number } {
  const [, name, segment] = /^([^.]+)\.([1-9]\d{0,8})\.jsonl$/.exec(file) ?? [];
  if (name === undefined || segment === undefined || segment === "1")
    return { name: file.slice(0, -suffix.length), segment: 1 };
  return { name, segment: Number(segment) };
}

/**
 * The sessions among what a folder holds, by name, each with its newest segment. What is no file in it is no session,
 * whatever it is called: a pipe would be waited for.
 */
export function newestSegments(folder: string): Map<string, number> {
  const newest = new Map<string, number>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.name.endsWith(suffix) || !isFile(folder, entry)) continue;
    const { name, segment } = segmentOf(entry.name);
    newest.set(name, Math.max(segment, newest.get(name) ?? 0));
  }
  return newest;
}

function isFile(folder: string, entry: Dirent): boolean {
  if (entry.isFile()) return true;
  if (entry.isDirectory() || entry.isFIFO() || entry.isSocket()) return false;
  // A link, or a system that does not tell.
  try {
    return statSync(join(folder, entry.name)).isFile();
  } catch {
    return false;
  }
}

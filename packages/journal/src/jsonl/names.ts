// The room of file names: turns any session id into a safe file name, and back.
//
// Lower-case letters, digits, `_` and `-` stay; every other byte becomes %XX. So ids that differ only in case or in Unicode
// normalization do not collide on a file system that folds them, and no id leads out of the folder.

import { createHash } from "node:crypto";
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export const suffix = ".jsonl";

export const leaseSuffix = ".lease";

/** Suffix of a segment until the one before it is sealed. */
export const pendingSuffix = ".tmp";

/** Device names on Windows, whatever follows the dot. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** Longer names end in a digest instead; file systems allow 255 bytes. */
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
  // `=` never occurs in a name that is spelled out.
  const digest = createHash("sha256").update(session).digest("hex");
  return `${name.slice(0, 100).replace(/%.?$/, "")}=${digest}`;
}

/** The session of a file name; undefined when the id was too long to be spelled out. */
export function sessionOf(name: string): string | undefined {
  if (name.includes("=")) return undefined;
  const bytes = name.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The file of a session's segment: `name.jsonl`, `name.2.jsonl`, … Session names contain no dot. */
export const segmentName = (name: string, segment: number): string =>
  segment === 1 ? name + suffix : `${name}.${segment}${suffix}`;

/** What a file's name means: a later segment, or else the first file of a session. It may be neither. */
export function segmentOf(file: string): { name: string; segment: number } {
  const [, name, segment] = /^([^.]+)\.([1-9]\d{0,8})\.jsonl$/.exec(file) ?? [];
  if (name === undefined || segment === undefined || segment === "1")
    return { name: file.slice(0, -suffix.length), segment: 1 };
  return { name, segment: Number(segment) };
}

/**
 * The sessions in a folder, by name, each with its newest segment. Only regular files count, whatever the name:
 * opening a pipe would block.
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
  // A link, or a system that does not report the type.
  try {
    return statSync(join(folder, entry.name)).isFile();
  } catch {
    return false;
  }
}

// The room of listing: describes a session from the first two lines of its first file and the last one of its newest.
//
// The lines between are not read, so a folder of long sessions lists quickly; they are checked when the session is
// read. A session whose first group was never completed is not listed; for one that cannot be listed the reason is
// returned.

import { existsSync, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { parsedJson, type SessionInfo } from "@rondo/core";
import { withKnownFile } from "./files.ts";
import { isBlankByte, type Line, scan } from "./lines.ts";
import { nameOf, segmentName } from "./names.ts";

type Group = (Line & { what: "group" })["records"];

export interface Listed {
  info: SessionInfo;
  /** Creation time in nanoseconds; decides between two sessions of the same time. */
  bornAt: bigint;
}

const tailBytes = 1 << 16;

class Enough extends Error {}

/** A session, or why it cannot be listed; undefined for none. */
type Told = { listed: Listed } | { why: string } | undefined;

const toRestore = "; see what is left with `rondo journal check`, or restore a copy of the file";

/**
 * Describes a session of the folder, or says why it cannot be listed; undefined when it has no records yet.
 * @param newest the number of its newest segment
 */
export function listSession(folder: string, name: string, newest: number): Told {
  const open = <T>(segment: number, act: (file: number) => T): T | undefined =>
    withKnownFile(join(folder, segmentName(name, segment)), "r", act);
  const told = open(1, (file) => ({ of: listFile(file) }));
  if (told === undefined)
    // It may have been deleted just now.
    return newest > 1 && existsSync(join(folder, segmentName(name, newest)))
      ? { why: `it is missing, and ${segmentName(name, newest)} is there${toRestore}` }
      : undefined;
  if (told.of === undefined || "why" in told.of) return told.of;
  const { listed } = told.of;
  const its = nameOf(listed.info.id);
  if (its !== name) {
    const file = segmentName(its, 1);
    // A copy under another name is not a second session, and cannot be read by that name.
    if (existsSync(join(folder, file))) return undefined;
    return {
      why: `it holds session ${JSON.stringify(listed.info.id)}, whose file is ${file}; give it its name again`,
    };
  }
  // The newest segment may be new and still empty.
  for (let segment = newest; segment > 1; segment -= 1) {
    const latest = open(segment, (file) => lastGroup(file, fstatSync(file).size, 0))?.at(-1);
    if (latest !== undefined)
      return {
        listed: { ...listed, info: { ...listed.info, length: latest.seq + 1, updatedAt: latest.at } },
      };
  }
  return told.of;
}

function listFile(file: number): Told {
  const { birthtimeNs, size } = fstatSync(file, { bigint: true });
  const bytes = Number(size);
  const first: Line[] = [];
  try {
    const { damage } = scan(file, { line: 1, offset: 0, seq: 0 }, bytes, (line) => {
      first.push(line);
      if (first.length === 2) throw new Enough();
    });
    if (damage !== undefined) return { why: `line ${damage.line} is damaged: ${damage.why}${toRestore}` };
  } catch (thrown) {
    if (!(thrown instanceof Enough)) throw thrown;
  }
  const [header, group] = first;
  if (header?.what !== "header" || group?.what !== "group") return undefined;
  const [earliest] = group.records;
  const last = lastGroup(file, bytes, group.offset) ?? group.records;
  const latest = last.at(-1);
  // A line with a valid checksum may still hold something else than a record.
  if (!earliest || !latest) return { why: `its last line holds no record${toRestore}` };
  return {
    listed: {
      info: {
        id: header.header.id,
        length: latest.seq + 1,
        createdAt: earliest.at,
        updatedAt: latest.at,
      },
      bornAt: birthtimeNs,
    },
  };
}

/** The session id in a file's first line; undefined when that line is damaged. */
export function idOf(file: number): string | undefined {
  let id: string | undefined;
  try {
    scan(file, { line: 1, offset: 0, seq: 0 }, fstatSync(file).size, (line) => {
      if (line.what === "header") id = line.header.id;
      throw new Enough();
    });
  } catch (thrown) {
    if (!(thrown instanceof Enough)) throw thrown;
  }
  return id;
}

/** The size of a file without the blank lines at its end. */
function sizeWithoutBlank(file: number, size: number, least: number): number {
  const piece = Buffer.alloc(4096);
  for (let from = size; from > least; ) {
    const want = Math.min(piece.length, from - least);
    from -= want;
    readSync(file, piece, 0, want, from);
    const last = piece.subarray(0, want).findLastIndex((byte) => !isBlankByte(byte));
    if (last < 0) continue;
    // The line feed is the next byte, or the one after it.
    const after = from + last + 1;
    const got = readSync(file, piece, 0, 2, after);
    const feed = piece.subarray(0, got).indexOf(10);
    return feed < 0 ? size : Math.min(size, after + feed + 1);
  }
  return size;
}

/** The records of the last whole group, searched for from the end. */
function lastGroup(file: number, whole: number, least: number): Group | undefined {
  const size = sizeWithoutBlank(file, whole, least);
  let from = size;
  let tail: Buffer = Buffer.alloc(0);
  while (from > least) {
    const want = Math.min(Math.max(tailBytes, tail.length), from - least);
    const piece = Buffer.alloc(want);
    readSync(file, piece, 0, want, from - want);
    from -= want;
    tail = Buffer.concat([piece, tail]);
    const end = tail.lastIndexOf(10);
    const start = end < 0 ? -1 : tail.lastIndexOf(10, end - 1);
    if (end < 0 || (start < 0 && from > least)) continue;
    try {
      const line = parsedJson<{ records?: Group; next?: number }>(
        tail.subarray(start + 1, end).toString("utf8"),
      );
      // In a rotated file the seal comes after the last group.
      return line.next === undefined ? line.records : lastGroup(file, from + start + 1, least);
    } catch {
      return undefined;
    }
  }
  return undefined;
}

// The room of listing: what the files tell of a session from the first two lines of the first and the last of the newest.
//
// The lines between are not read: a folder of long sessions is listed at once. What they hold is checked when the
// session is read. A file that is no session of ours, or whose first group was never finished, is not listed.

import { fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import type { SessionInfo } from "@rondo/core";
import { withKnownFile } from "./jsonl-files.ts";
import { type Line, scan } from "./jsonl-lines.ts";
import { nameOf, segmentName } from "./jsonl-names.ts";

type Group = (Line & { what: "group" })["records"];

interface Listed {
  info: SessionInfo;
  /** Nanoseconds; for two sessions of the same time. */
  bornAt: bigint;
}

const tailBytes = 1 << 16;

class Enough extends Error {}

/** @param newest the number of its newest segment */
export function listSession(folder: string, name: string, newest: number): Listed | undefined {
  const open = <T>(segment: number, act: (file: number) => T): T | undefined =>
    withKnownFile(join(folder, segmentName(name, segment)), "r", act);
  const listed = open(1, listFile);
  // A copy under another name is no second session, and cannot be read by that name.
  if (listed === undefined || nameOf(listed.info.id) !== name) return undefined;
  // The newest may be begun and hold nothing yet.
  for (let segment = newest; segment > 1; segment -= 1) {
    const latest = open(segment, (file) => lastGroup(file, fstatSync(file).size, 0))?.at(-1);
    if (latest !== undefined)
      return { ...listed, info: { ...listed.info, length: latest.seq + 1, updatedAt: latest.at } };
  }
  return listed;
}

function listFile(file: number): Listed | undefined {
  const { birthtimeNs, size } = fstatSync(file, { bigint: true });
  const bytes = Number(size);
  const first: Line[] = [];
  try {
    scan(file, { line: 1, offset: 0, seq: 0 }, bytes, (line) => {
      first.push(line);
      if (first.length === 2) throw new Enough();
    });
  } catch (thrown) {
    if (!(thrown instanceof Enough)) throw thrown;
  }
  const [header, group] = first;
  if (header?.what !== "header" || group?.what !== "group") return undefined;
  const [earliest] = group.records;
  const last = lastGroup(file, bytes, group.offset) ?? group.records;
  const latest = last.at(-1);
  // What was sealed as a record may be none.
  if (!earliest || !latest) return undefined;
  return {
    info: {
      id: header.header.id,
      length: latest.seq + 1,
      createdAt: earliest.at,
      updatedAt: latest.at,
    },
    bornAt: birthtimeNs,
  };
}

/** The records of the last group that is whole, looked for from the end. */
function lastGroup(file: number, size: number, least: number): Group | undefined {
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
      const line = JSON.parse(tail.subarray(start + 1, end).toString("utf8")) as {
        records?: Group;
        next?: number;
      };
      // Behind the last group of a file that was rotated stands its seal.
      return line.next === undefined ? line.records : lastGroup(file, from + start + 1, least);
    } catch {
      return undefined;
    }
  }
  return undefined;
}

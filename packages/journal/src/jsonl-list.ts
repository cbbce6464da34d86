// The room of listing: what a file tells of its session from its first two lines and its last.
//
// The lines between are not read: a folder of long sessions is listed at once. What they hold is checked when the
// session is read. A file that is no session of ours, or whose first group was never finished, is not listed.

import { fstatSync, readSync } from "node:fs";
import type { SessionInfo } from "@rondo/core";
import { type Line, scan } from "./jsonl-lines.ts";

export interface Listed {
  info: SessionInfo;
  /** Nanoseconds; for two sessions of the same time. */
  bornAt: bigint;
}

const tailBytes = 1 << 16;

class Enough extends Error {}

export function listFile(file: number): Listed | undefined {
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

/** The records of the last line that is whole, looked for from the end. */
function lastGroup(
  file: number,
  size: number,
  least: number,
): (Line & { what: "group" })["records"] | undefined {
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
    const line = tail.subarray(start + 1, end).toString("utf8");
    try {
      return (JSON.parse(line) as { records: (Line & { what: "group" })["records"] }).records;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

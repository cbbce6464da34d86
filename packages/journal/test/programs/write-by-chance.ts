// Writes, leases, takes over, reads and follows sessions of a journal by chance, until it is killed. Each line of its output is what it
// is about to write, or what it wrote, read or was given by `follow`.
//
// Arguments: the journal, a name that no other process has, the sessions' ids separated by commas.

import { writeSync } from "node:fs";
import { follow, type Lease, RondoError } from "@rondo/core";
import { sampleRecord } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";
import { markOf } from "../random-marks.ts";

const [place = "", me = "", ids = ""] = process.argv.slice(2);
const tell = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const below = (count: number): number => Math.floor(Math.random() * count);

const sessions = ids.split(",");
const journal = namedJournal(place);
const leases = new Map<string, Lease>();
/** How long a session is, as far as this process knows. */
const lengths = new Map<string, number>();
let number = 0;

async function followed(id: string): Promise<void> {
  let at = 0;
  for await (const record of follow(journal, id))
    tell({ did: "read", id, at: at++, marks: [markOf(record)] });
}

function append(id: string): void {
  if (!lengths.has(id) || below(8) === 0) lengths.set(id, journal.read(id).length);
  const at = lengths.get(id) ?? 0;
  const marks = Array.from({ length: 1 + below(3) }, () => `${me}.${number++}`);
  const text = "x".repeat(below(10) === 0 ? 20_000 : below(40));
  const records = marks.map((mark, i) => sampleRecord(at + i, `${mark} ${text}`));
  const token = below(10) === 0 ? undefined : leases.get(id)?.token;
  tell({ did: "begin", id, at, marks });
  journal.append(id, at, records, token);
  tell({ did: "append", id, at, marks });
  lengths.set(id, at + marks.length);
}

function read(id: string): void {
  const at = below(4) === 0 ? 0 : Math.max(0, (lengths.get(id) ?? 0) - below(5));
  tell({ did: "read", id, at, marks: journal.read(id, at).map(markOf) });
}

function lease(id: string): void {
  const ttlMs = [20, 200, 60_000][below(3)] ?? 20;
  leases.set(id, journal.lease(id, { owner: me, ttlMs, takeOver: below(3) === 0 }));
}

function release(id: string): void {
  void leases.get(id)?.release();
  leases.delete(id);
}

const deeds = [append, append, append, append, append, append, read, read, lease];
const rare = [(id: string) => leases.get(id)?.renew(), release];

function step(): void {
  const id = sessions[below(sessions.length)] ?? "";
  const list = below(10) === 0 ? rare : deeds;
  try {
    void list[below(list.length)]?.(id);
  } catch (thrown) {
    if (!(thrown instanceof RondoError && thrown.kind === "conflict")) throw thrown;
    lengths.delete(id);
  }
  if (below(6) === 0) setTimeout(step, below(4));
  else setImmediate(step);
}

for (const id of sessions) if (below(2) === 0) void followed(id);
step();

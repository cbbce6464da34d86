// A lease whose release could not be written down: this process knows better than the file.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { afterAll, describe, expect, it } from "vitest";
import { namedJournal } from "./named-journal.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-let-go-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hour = { owner: "me", ttlMs: 3_600_000 };

describe.each([
  ["SQLite", (place: string) => join(folder, `${place}.db`)],
  ["JSONL", (place: string) => `jsonl:${join(folder, place)}`],
])("a lease of this process (%s)", (_kind, place) => {
  it("that was let go of after its journal was closed holds nobody up", () => {
    const first = namedJournal(place("closed"));
    const lease = first.lease("s", hour);
    first.close();
    const second = namedJournal(place("closed"));
    expect(() => second.lease("s", hour)).toThrow("is held by me");
    void lease.release();
    expect(second.lease("s", hour).token).toBe(2);
    // What was let go of was the first lease, not the one that came after it.
    expect(() => second.lease("s", hour)).toThrow("is held by me");
    second.close();
  });

  it("in a file that was made anew is not the one that was let go of in the old file", () => {
    const first = namedJournal(place("anew"));
    const lease = first.lease("s", hour);
    first.close();
    void lease.release();
    for (const name of ["anew.db", "anew.db-wal", "anew.db-shm", "anew"])
      rmSync(join(folder, name), { recursive: true, force: true });
    const second = namedJournal(place("anew"));
    expect(second.lease("s", hour).token).toBe(1);
    expect(() => second.lease("s", hour)).toThrow("is held by me");
    second.close();
  });
});

it("journals in memory have one name, and do not let go of each other's leases", () => {
  const [one, other] = [sqliteJournal(":memory:"), sqliteJournal(":memory:")];
  other.lease("s", hour);
  const lease = one.lease("s", hour);
  one.close();
  void lease.release();
  expect(() => other.lease("s", hour)).toThrow("is held by me");
  other.close();
});

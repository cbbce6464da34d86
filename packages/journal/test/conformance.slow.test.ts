import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  isSubAgentOf,
  type Journal,
  type Lease,
  type MemoryJournal,
  memoryBlobs,
  memoryJournal,
  RondoError,
} from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { type JournalUnderTest, sampleRecord, testJournal } from "@rondo/testkit";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "rondo-journal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const subjects: JournalUnderTest[] = [
  { name: "memory", leases: true, watches: true, deletes: true, open: () => memoryJournal({ leases: true }) },
  { name: "memory without leases", watches: true, deletes: true, open: () => memoryJournal() },
  {
    name: "SQLite in memory",
    leases: true,
    watches: true,
    deletes: true,
    open: () => sqliteJournal(":memory:"),
  },
  {
    name: "SQLite",
    durable: true,
    leases: true,
    watches: true,
    deletes: true,
    open: (place) => sqliteJournal(join(folder, `${place}.db`)),
  },
  {
    name: "JSONL",
    durable: true,
    leases: true,
    watches: true,
    deletes: true,
    open: (place) => jsonlJournal(join(folder, place)),
  },
  {
    name: "JSONL in small files",
    durable: true,
    leases: true,
    watches: true,
    deletes: true,
    // Most groups are larger than this, so nearly each has a file of its own.
    open: (place) => jsonlJournal(join(folder, `small-${place}`), { rotateBytes: 200 }),
  },
];

for (const subject of subjects) {
  describe(`the journal suite over ${subject.name}`, () => {
    for (const { name, run } of testJournal(subject)) it(name, run);

    it("agrees with a plain list, for any interleaving of appends by any number of writers", async () => {
      const append = fc.record({
        session: fc.constantFrom("a", "b", "c"),
        /** How far the writer's idea of the length is off. */
        off: fc.oneof(
          { weight: 4, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
        ),
        size: fc.nat({ max: 5 }),
        text: fc.string({ unit: "binary" }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(append, { maxLength: 25 }), async (appends) => {
          const journal = await subject.open(`random-${files++}`);
          const model = new Map<string, string[]>();
          for (const { session, off, size, text } of appends) {
            const held = model.get(session) ?? [];
            const expected = held.length + off;
            const group = Array.from({ length: size }, (_, i) => sampleRecord(expected + i, text));
            const won = await wins(journal, session, expected, group);
            expect(won).toBe(off === 0);
            if (won && size > 0)
              model.set(session, [...held, ...group.map((record) => JSON.stringify(record))]);
          }
          for (const [session, held] of model)
            expect((await journal.read(session)).map((record) => JSON.stringify(record))).toEqual(held);
          const listed = (await journal.list()).map(({ id, length }) => [id, length]);
          expect(new Map(listed as [string, number][])).toEqual(
            new Map([...model].map(([id, held]) => [id, held.length])),
          );
          await journal.close?.();
        }),
        { numRuns: subject.durable ? 25 : 100 },
      );
    });
  });
}

async function wins(journal: Journal, ...group: Parameters<Journal["append"]>): Promise<boolean> {
  try {
    await journal.append(...group);
    return true;
  } catch (thrown) {
    if (thrown instanceof RondoError && thrown.kind === "conflict") return false;
    throw thrown;
  }
}

describe("the suite itself", () => {
  /** A journal with one fault. The suite must see it, or it proves nothing. */
  const faulty: Record<string, (good: MemoryJournal) => Partial<Journal>> = {
    "forgets the token on the way": (good) => ({
      append: (session, seq, records) => good.append(session, seq, records),
    }),
    "lets anybody write": (good) => {
      const { lease: _, ...free } = memoryJournal();
      return { ...free, lease: (session, request) => good.lease?.(session, request) as Lease };
    },
    "gives the same token again": (good) => ({
      lease: (session, request) => ({ ...(good.lease?.(session, request) as Lease), token: 1 }),
    }),
    "never lets a lease go": (good) => ({
      lease: (session, request) => ({ ...(good.lease?.(session, request) as Lease), release: () => {} }),
    }),
    "says nothing when it renews what is lost": (good) => ({
      lease: (session, request) => ({ ...(good.lease?.(session, request) as Lease), renew: () => {} }),
    }),
    "says that it deleted, and keeps all": () => ({ delete: (session) => [session] }),
    "keeps the texts of what it deleted": () => ({ blobs: memoryBlobs() }),
    "leaves the sessions of sub-agents": (good) => ({
      delete: (session) => {
        const left = good.list().filter(({ id }) => isSubAgentOf(id, session));
        const records = left.map(({ id }) => good.read(id));
        const gone = good.delete(session);
        for (const [i, { id }] of left.entries()) good.append(id, 0, records[i] ?? []);
        return gone;
      },
    }),
    "deletes what is held": (good) => ({
      delete: (session) => {
        for (const { id } of good.list()) {
          const lease = good.lease?.(id, { owner: "me", ttlMs: 1_000, takeOver: true }) as Lease;
          void lease.release();
        }
        return good.delete(session);
      },
    }),
    "goes on telling who has stopped to listen": (good) => ({
      watch: (session, heard) => {
        good.watch(session, heard);
        return () => {};
      },
    }),
    "does not compare": (good) => ({
      append: async (session, seq, records) => {
        const length = (await good.read(session)).length;
        await good.append(
          session,
          length,
          records.map((record, i) => ({ ...record, seq: length + i })),
        );
        void seq;
      },
    }),
    "keeps half a group that it refuses": (good) => ({
      append: async (session, seq, records) => {
        for (const [i, record] of records.entries()) await good.append(session, seq + i, [record]);
      },
    }),
    "ignores where to read from": (good) => ({ read: (session) => good.read(session) }),
    "lists the oldest first": (good) => ({ list: async () => (await good.list()).reverse() }),
    "folds the case of ids": (good) => ({
      append: (session, seq, records) => good.append(session.toLowerCase(), seq, records),
      read: (session, from) => good.read(session.toLowerCase(), from),
    }),
    "loses NUL": (good) => ({
      read: async (session, from) =>
        JSON.parse(JSON.stringify(await good.read(session, from)).replaceAll("\\u0000", "")),
    }),
    "forgets the newest record": (good) => ({
      read: async (session, from) => (await good.read(session, from)).slice(0, -1),
    }),
  };
  for (const [fault, break_] of Object.entries(faulty))
    it(`fails a journal that ${fault}`, async () => {
      const open = (): Journal => {
        const good = memoryJournal({ leases: true });
        return { ...good, ...break_(good) };
      };
      const outcomes = await Promise.allSettled(
        testJournal({ name: fault, open, leases: true, watches: true, deletes: true, patienceMs: 300 }).map(
          (entry) => entry.run(),
        ),
      );
      expect(outcomes.some((outcome) => outcome.status === "rejected")).toBe(true);
    });
});

// Who follows a session whose file is taken away would wait for ever: it is told instead, whatever stands there by then.

import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { follow, type LogRecord, type RondoError } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-taken-away-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const later = (records: LogRecord[]): LogRecord[] =>
  records.map((record) => ({ ...record, at: record.at + 1 }));

describe.each([
  {
    kind: "JSONL",
    placeIn: (at: string) => at,
    fileOf: (place: string) => join(place, "s.jsonl"),
    open: (place: string) => jsonlJournal(place),
  },
  {
    kind: "SQLite",
    placeIn: (at: string) => join(at, "j.db"),
    fileOf: (place: string) => place,
    open: (place: string) => sqliteJournal(place),
  },
])("who follows a session of a $kind journal", ({ placeIn, fileOf, open }) => {
  test.each<[string, (place: string, file: string) => void]>([
    ["was deleted", (_place, file) => rmSync(file)],
    ["was moved", (_place, file) => renameSync(file, `${file}.old`)],
    ["was cut to nothing", (_place, file) => truncateSync(file)],
    ["went with its folder", (_place, file) => rmSync(dirname(file), { recursive: true })],
    [
      "was replaced by a shorter one",
      (place, file) => {
        rmSync(dirname(file), { recursive: true });
        mkdirSync(dirname(file));
        const other = open(place);
        other.append("s", 0, sampleRecords(0, 1));
        other.close();
      },
    ],
    [
      "was replaced by a longer one",
      (place, file) => {
        rmSync(dirname(file), { recursive: true });
        mkdirSync(dirname(file));
        const other = open(place);
        other.append("s", 0, later(sampleRecords(0, 9)));
        other.close();
      },
    ],
  ])("is told that its file %s", async (_how, take) => {
    const place = placeIn(join(folder, "runs"));
    const journal = open(place);
    journal.append("s", 0, sampleRecords(0, 2));
    const records = follow(journal, "s");
    await records.next();
    await records.next();
    const next = records.next();
    take(place, fileOf(place));
    const error = (await next.then(
      ({ value }) => value,
      (thrown: unknown) => thrown,
    )) as RondoError;
    expect(error.kind).toBe("storage");
    expect(error.message).toMatch(/deleted, moved(,| or) replaced/);
    expect(await records.next()).toEqual({ done: true, value: undefined });
    journal.close();
  });
});

test("a SQLite file that was cut to nothing under one journal is told as that by it, and by the next that would open it", () => {
  const file = join(folder, "j.db");
  const journal = sqliteJournal(file);
  journal.append("s", 0, sampleRecords(0, 2));
  truncateSync(file);
  expect(() => sqliteJournal(file)).toThrow(
    expect.objectContaining({
      kind: "storage",
      message: expect.stringMatching(
        /it is empty, and .*-wal stands beside it: it was cut to nothing.*put a copy/,
      ),
    }),
  );
  expect(() => journal.append("s", 2, sampleRecords(2, 1))).toThrow(
    /cut to nothing meanwhile. Nothing of this/,
  );
  journal.close();
});

test("what was taken away beside a SQLite file is no loss of a group to who reads", () => {
  const file = join(folder, "j.db");
  const journal = sqliteJournal(file);
  journal.append("s", 0, sampleRecords(0, 2));
  rmSync(`${file}-wal`);
  expect(() => journal.read("s")).toThrow(
    /deleted or replaced meanwhile. What others write to it is not seen/,
  );
  expect(() => journal.append("s", 2, sampleRecords(2, 1))).toThrow(/Nothing of this group was stored/);
  journal.close();
});

// A file of the first version becomes today's; what a check tells of a file; what bounds it.

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type LogRecord, RondoError } from "@rondo/core";
import { checkJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ended, start } from "./programs.ts";
import { refusal } from "./refusal.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-journal-"));
  file = join(folder, "j.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As version 1 wrote it, word for word. */
function writeFirstVersion(records: readonly LogRecord[]): void {
  const db = new DatabaseSync(file);
  db.exec(`
    CREATE TABLE sessions (
      key INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      length INTEGER NOT NULL,
      created_at REAL NOT NULL,
      updated_at REAL NOT NULL,
      format INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE records (
      session INTEGER NOT NULL REFERENCES sessions (key),
      seq INTEGER NOT NULL,
      record TEXT NOT NULL,
      PRIMARY KEY (session, seq)
    ) STRICT;
    PRAGMA application_id = ${0x526f6e64};
    PRAGMA user_version = 1;
    PRAGMA journal_mode = WAL;
  `);
  db.prepare("INSERT INTO sessions VALUES (1, 's', ?, 1000, ?, 0)").run(
    records.length,
    records.at(-1)?.at ?? 0,
  );
  for (const record of records)
    db.prepare("INSERT INTO records VALUES (1, ?, ?)").run(record.seq, JSON.stringify(record));
  db.close();
}

const columns = (db: DatabaseSync): unknown =>
  db
    .prepare(
      "SELECT m.name AS of, p.name, p.type, p.\"notnull\" FROM sqlite_schema m, pragma_table_info(m.name) p WHERE m.type = 'table' ORDER BY 1, 2",
    )
    .all();

describe("a file of version 1", () => {
  it("is read, written and held as if it were made today, and has today's tables afterwards", () => {
    const records = sampleRecords(0, 3, "ä😀");
    writeFirstVersion(records);
    expect(checkJournal(file)).toMatchObject({ records: 3, sessions: 1, findings: [] });
    const journal = sqliteJournal(file, { maxSessionBytes: 600 });
    expect(journal.read("s")).toEqual(records);
    const lease = journal.lease("s", { owner: "me", ttlMs: 1_000 });
    journal.append("s", 3, sampleRecords(3, 1), lease.token);
    // What was there before counts.
    expect(refusal(() => journal.append("s", 4, sampleRecords(4, 1), lease.token)).kind).toBe(
      "payload_too_large",
    );
    expect(journal.list()).toMatchObject([{ id: "s", length: 4, createdAt: 1000 }]);
    journal.close();
    sqliteJournal(join(folder, "new.db")).close();
    const [old, made] = [new DatabaseSync(file), new DatabaseSync(join(folder, "new.db"))];
    expect(columns(old)).toEqual(columns(made));
    expect(old.prepare("PRAGMA user_version").get()).toEqual({ user_version: 3 });
    const [{ bytes } = { bytes: 0 }] = old.prepare("SELECT bytes FROM sessions").all() as { bytes: number }[];
    const texts = [...records, ...sampleRecords(3, 1)].map((record) =>
      Buffer.byteLength(JSON.stringify(record)),
    );
    expect(bytes).toBe(texts.reduce((sum, one) => sum + one, 0));
    old.close();
    made.close();
  });

  it("is read where it cannot be written, and stays as it is", async () => {
    writeFirstVersion(sampleRecords(0, 3));
    chmodSync(file, 0o444);
    chmodSync(folder, 0o555);
    const before = readFileSync(file);
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { stdout } = await ended(start("read-only", [file], nobody));
    expect(JSON.parse(stdout)).toMatchObject({
      listed: ["s: 3"],
      read: 3,
      check: { records: 3, findings: [] },
    });
    expect(readFileSync(file)).toEqual(before);
    chmodSync(folder, 0o755);
  });

  it("stays version 1 when a step fails, and every record with it", () => {
    const records = sampleRecords(0, 2);
    writeFirstVersion(records);
    const db = new DatabaseSync(file);
    // In the way of the table that the step makes.
    db.exec("CREATE TABLE leases (x)");
    db.close();
    expect(refusal(() => sqliteJournal(file)).message).toContain(file);
    const after = new DatabaseSync(file);
    expect(after.prepare("PRAGMA user_version").get()).toEqual({ user_version: 1 });
    expect(after.prepare("SELECT count(*) AS n FROM records").get()).toEqual({ n: 2 });
    expect(JSON.stringify(columns(after))).not.toContain("bytes");
    after.close();
  });
});

describe("a file of version 2", () => {
  it("gets checksums for what is written from now on, and is read without them where it has none", () => {
    const journal = sqliteJournal(file);
    journal.append("s", 0, sampleRecords(0, 2));
    journal.close();
    const old = new DatabaseSync(file);
    old.exec("ALTER TABLE records DROP COLUMN crc; PRAGMA user_version = 2");
    old.close();
    const reader = sqliteJournal(file, { readOnly: true });
    expect(reader.read("s")).toEqual(sampleRecords(0, 2));
    reader.close();
    expect(checkJournal(file)).toMatchObject({ records: 2, findings: [] });
    const again = sqliteJournal(file);
    again.append("s", 2, sampleRecords(2, 1));
    expect(again.read("s")).toEqual(sampleRecords(0, 3));
    again.close();
    const raw = new DatabaseSync(file);
    expect(raw.prepare("SELECT crc IS NULL AS none FROM records ORDER BY seq").all()).toEqual([
      { none: 1 },
      { none: 1 },
      { none: 0 },
    ]);
    raw.close();
  });
});

describe("a file in which a letter of a record was changed", () => {
  it("says so wherever that record is read, and the check tells of it; the others are as they were", () => {
    const journal = sqliteJournal(file);
    for (let seq = 0; seq < 40; seq += 1)
      journal.append("s", seq, [sampleRecord(seq, `é${seq}`.repeat(200))]);
    journal.append("other", 0, sampleRecords(0, 2));
    journal.close();
    const bytes = readFileSync(file);
    const at = bytes.indexOf("é7é7é7é7") + 62;
    expect(bytes[at]).toBe("7".charCodeAt(0));
    bytes[at] = "8".charCodeAt(0);
    writeFileSync(file, bytes);
    const damaged = sqliteJournal(file);
    for (const from of [0, 7]) {
      const error = refusal(() => damaged.read("s", from));
      expect(error.kind).toBe("storage");
      expect(error.message).toMatch(/record 7 of session "s" .* is damaged \(its checksum is \d+, not \d+\)/);
    }
    expect(damaged.read("s", 8)).toHaveLength(32);
    expect(damaged.read("other")).toHaveLength(2);
    damaged.close();
    expect(checkJournal(file)).toMatchObject({
      sessions: 1,
      findings: [{ what: "damage", session: "s", message: expect.stringMatching(/record 7 is damaged: /) }],
    });
  });
});

describe("a file with a page that was overwritten", () => {
  it("says so wherever it is met, the check tells of it, and nothing is changed", () => {
    const journal = sqliteJournal(file);
    for (let seq = 0; seq < 200; seq += 1) journal.append("s", seq, [sampleRecord(seq, "x".repeat(500))]);
    journal.close();
    expect(checkJournal(file)).toMatchObject({ kind: "sqlite", sessions: 1, records: 200, findings: [] });
    const good = readFileSync(file);
    let met = 0;
    for (let page = 2; page * 4096 < good.length; page += 1) {
      const bad = Buffer.from(good);
      bad.fill(0xa5, page * 4096, page * 4096 + 200);
      writeFileSync(file, bad);
      const report = checkJournal(file, { repair: true });
      expect(report.findings.length).toBeGreaterThan(0);
      expect(report.findings.every(({ what, repaired }) => what === "damage" && !repaired)).toBe(true);
      expect(readFileSync(file).equals(bad)).toBe(true);
      const damaged = sqliteJournal(file);
      try {
        // Nothing that was not written is ever read.
        for (const [i, record] of damaged.read("s").entries())
          expect(record).toEqual(sampleRecord(i, "x".repeat(500)));
      } catch (thrown) {
        if (!(thrown instanceof RondoError)) throw thrown;
        expect(thrown.kind).toBe("storage");
        expect(thrown.message).toContain(file);
        met += 1;
      }
      damaged.close();
    }
    expect(met).toBeGreaterThan(10);
  });
});

describe("the check of a SQLite journal", () => {
  const wrongs: [name: string, sql: string, says: RegExp][] = [
    [
      "a record that is missing",
      "DELETE FROM records WHERE session = 1 AND seq = 1",
      /session "s": record 1 is missing/,
    ],
    [
      "a record that is no JSON",
      "UPDATE records SET record = '{' WHERE session = 1 AND seq = 2",
      /record 2 is no JSON/,
    ],
    [
      "a record with another's number",
      "UPDATE records SET record = json_set(record, '$.seq', 7) WHERE session = 1 AND seq = 2",
      /record 2 says it is number 7/,
    ],
    [
      "a length that is not so",
      "UPDATE sessions SET length = 9 WHERE key = 1",
      /has 3 records where the list says 9/,
    ],
    ["records of no session", "DELETE FROM sessions WHERE key = 1", /3 records belong to session number 1/],
    [
      "a record of a type that nobody knows",
      `UPDATE records SET record = '{"type":"nonsense","seq":2,"at":1,"rand":0}' WHERE session = 1 AND seq = 2`,
      /record 2 \(nonsense\) does not fold: this version knows no such type: update rondo/,
    ],
    [
      "a record that does not fold",
      `UPDATE records SET record = '{"type":"run_started","format":1,"input":[],"options":{},"seq":1,"at":1,"rand":0}' WHERE session = 1 AND seq = 1;
       UPDATE records SET record = '{"type":"trimmed","seq":2,"at":1,"rand":0}' WHERE session = 1 AND seq = 2`,
      /record 2 \(trimmed\) does not fold/,
    ],
    [
      "a newer format",
      `UPDATE records SET record = '{"type":"run_started","format":99,"input":[],"seq":1,"at":1,"rand":0}' WHERE session = 1 AND seq = 1`,
      /format 99/,
    ],
  ];
  it.each(wrongs)("tells of %s", (_name, sql, says) => {
    const journal = sqliteJournal(file);
    journal.append("s", 0, sampleRecords(0, 3));
    journal.append("other", 0, sampleRecords(0, 2));
    journal.close();
    const raw = new DatabaseSync(file);
    // With no checksums: each row is as its writer left it.
    raw.exec(`PRAGMA foreign_keys = OFF; UPDATE records SET crc = NULL; ${sql}`);
    raw.close();
    const { findings, sessions } = checkJournal(file);
    expect(findings.map(({ message }) => message).join("\n")).toMatch(says);
    expect(sessions).toBe(1);
  });

  it("works beside a live writer, and refuses what is no journal", () => {
    const journal = sqliteJournal(file);
    journal.append("s", 0, sampleRecords(0, 3));
    expect(checkJournal(file)).toMatchObject({ records: 3, findings: [] });
    journal.append("s", 3, sampleRecords(3, 1));
    journal.close();
    writeFileSync(join(folder, "notes.txt"), "no database");
    expect(refusal(() => checkJournal(join(folder, "notes.txt"))).kind).toBe("invalid_request");
  });
});

it("a record or a session may be so large and no larger", () => {
  const journal = sqliteJournal(file, { maxRecordBytes: 1_000, maxSessionBytes: 1_500 });
  expect(refusal(() => journal.append("s", 0, [sampleRecord(0, "é".repeat(500))])).message).toMatch(
    /record 0 of session "s" has \d{4} bytes, and 1000 are the most/,
  );
  journal.append("s", 0, [sampleRecord(0, "x".repeat(800))]);
  expect(refusal(() => journal.append("s", 1, [sampleRecord(1, "x".repeat(800))])).message).toContain("1500");
  journal.append("t", 0, [sampleRecord(0, "x".repeat(800))]);
  expect(journal.read("s")).toHaveLength(1);
  journal.close();
});

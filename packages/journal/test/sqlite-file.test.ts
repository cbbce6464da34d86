import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { blobRef, formatVersion, type RondoError } from "@rondo/core";
import { checkJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { onlyReading } from "../src/sqlite/read-only.ts";
import { refusal } from "./refusal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-journal-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Every file of the folder, byte for byte. */
function bytesOf(place: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(place).map((name) => [name, readFileSync(join(place, name)).toString("base64")]),
  );
}

test.skipIf(process.platform === "win32")(
  "a file that is made is its owner's alone, and so is what stands beside it",
  () => {
    const journal = sqliteJournal(join(folder, "own.db"));
    journal.append("s", 0, sampleRecords(0, 1));
    const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
    expect(Object.fromEntries(modes)).toEqual({ "own.db": 0o600, "own.db-shm": 0o600, "own.db-wal": 0o600 });
    journal.close();
  },
);

/** A closed journal with one session, at `j.db`. */
function made(): string {
  const file = join(folder, "j.db");
  const journal = sqliteJournal(file);
  journal.append("s", 0, sampleRecords(0, 3));
  journal.close();
  return file;
}

test("a file that nothing was written to yet is an empty journal to a check as well", () => {
  const file = join(folder, "empty.db");
  writeFileSync(file, "");
  expect(checkJournal(file)).toMatchObject({ findings: [], sessions: 0, records: 0 });
  expect(readdirSync(folder)).toEqual(["empty.db"]);
});

test("a check that finds a file damaged does not send to a check", () => {
  const file = made();
  truncateSync(file, statSync(file).size - 5_000);
  const [found] = checkJournal(file).findings;
  expect(found?.message).toMatch(
    /is damaged, or the disk failed \(.*\); restore a copy, or save what can be read with/,
  );
});

test("a check leaves nothing beside a journal that nobody has open", () => {
  const file = made();
  const before = bytesOf(folder);
  expect(checkJournal(file)).toMatchObject({ findings: [], sessions: 1, records: 3 });
  expect(bytesOf(folder)).toEqual(before);
});

test("a check sees what stands in the log of a journal that is open", () => {
  const file = made();
  const journal = sqliteJournal(file);
  expect(checkJournal(file)).toMatchObject({ findings: [], records: 3 });
  journal.append("s", 3, sampleRecords(3, 2));
  expect(checkJournal(file)).toMatchObject({ findings: [], records: 5 });
  journal.append("s", 5, sampleRecords(5, 1));
  journal.close();
  expect(checkJournal(file)).toMatchObject({ findings: [], records: 6 });
});

describe("a file that is taken away while it is open", () => {
  const opened = (): { journal: ReturnType<typeof sqliteJournal>; file: string } => {
    const file = made();
    const journal = sqliteJournal(file);
    journal.append("s", 3, sampleRecords(3, 1));
    return { journal, file };
  };

  it.each<[string, (file: string) => void]>([
    ["deleted", (file) => rmSync(file)],
    ["moved", (file) => renameSync(file, `${file}.old`)],
    [
      "replaced by another journal",
      (file) => {
        for (const name of readdirSync(folder)) renameSync(join(folder, name), join(folder, `old-${name}`));
        sqliteJournal(file).close();
      },
    ],
  ])("takes and gives nothing more, and says so: %s", (_how, take) => {
    const { journal, file } = opened();
    take(file);
    const tries = [
      () => journal.append("s", 4, sampleRecords(4, 1)),
      () => journal.lease("s", { owner: "me", ttlMs: 1_000 }),
      () => journal.read("s"),
      () => journal.list(),
    ];
    for (const attempt of tries) {
      const error = refusal(attempt);
      expect(error.kind).toBe("storage");
      expect(error.message).toContain(`${file} is not the file any more that was opened`);
    }
    journal.close();
  });

  it.each<[string, string[]]>([
    ["-wal", ["-wal"]],
    ["-shm", ["-shm"]],
    ["-wal and -shm", ["-wal", "-shm"]],
  ])("takes nothing more once its %s was deleted, and loses nothing that it took", (_what, endings) => {
    const { journal, file } = opened();
    for (const ending of endings) rmSync(file + ending);
    const tries = [
      () => journal.append("s", 4, sampleRecords(4, 1)),
      () => journal.lease("s", { owner: "me", ttlMs: 1_000 }),
      () => journal.blobs.put("s", "a text", { callId: "call", tool: "tool", isError: false }),
    ];
    for (const attempt of tries) {
      const error = refusal(attempt);
      expect(error.kind).toBe("storage");
      expect(error.message).toContain(`the files beside the journal ${file} (-wal, -shm) are not those`);
    }
    // As after a kill: the journal is not closed.
    const copy = `${file}.copy`;
    for (const ending of ["", "-wal"])
      if (existsSync(file + ending)) copyFileSync(file + ending, copy + ending);
    const after = sqliteJournal(copy);
    expect(after.read("s")).toHaveLength(4);
    after.close();
    journal.close();
    const again = sqliteJournal(file);
    expect(again.read("s")).toHaveLength(4);
    again.close();
  });

  it("is noticed by way of a link to it, too", () => {
    const { journal, file } = opened();
    journal.close();
    const link = join(folder, "link.db");
    symlinkSync(file, link);
    const linked = sqliteJournal(link);
    linked.append("s", 4, sampleRecords(4, 1));
    rmSync(`${file}-wal`);
    expect(refusal(() => linked.append("s", 5, sampleRecords(5, 1))).message).toContain(
      "are not those any more",
    );
    linked.close();
    const again = sqliteJournal(file);
    expect(again.read("s")).toHaveLength(5);
    again.close();
  });

  it("keeps the system's locks while it is open, whoever else in the process opens or checks it", ({
    skip,
  }) => {
    const { journal, file } = opened();
    const locks = (): string[] =>
      existsSync("/proc/locks")
        ? readFileSync("/proc/locks", "utf8")
            .split("\n")
            .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(file).ino} `))
        : [];
    const before = locks().length;
    if (before === 0) return skip("this system does not tell its locks");
    sqliteJournal(file).close();
    checkJournal(file);
    expect(locks()).toHaveLength(before);
    journal.close();
    expect(locks()).toEqual([]);
  });

  it("goes on as if nothing had been once it is put back", () => {
    const { journal, file } = opened();
    renameSync(file, `${file}.old`);
    refusal(() => journal.append("s", 4, sampleRecords(4, 1)));
    renameSync(`${file}.old`, file);
    journal.append("s", 4, sampleRecords(4, 1));
    journal.close();
    expect(sqliteJournal(file).read("s")).toHaveLength(5);
  });
});

describe("a file that is not ours", () => {
  const contents: Record<string, string | Buffer> = {
    "a text": "Dear diary, this is not a database. ".repeat(100),
    "a short text": "hello",
    "one byte": "\0",
    "random bytes as long as a page": Buffer.alloc(4096, 7),
    "half a header": "SQLite format 3\0",
  };
  for (const [name, content] of Object.entries(contents))
    it(`is refused and stays as it is: ${name}`, () => {
      const file = join(folder, "notes.txt");
      writeFileSync(file, content);
      const before = bytesOf(folder);
      const error = refusal(() => sqliteJournal(file));
      expect(error.kind).toBe("invalid_request");
      expect(error.message).toContain(file);
      expect(error.message).toContain("not a SQLite database");
      expect(bytesOf(folder)).toEqual(before);
    });

  for (const [id, mode] of [
    [0, "delete"],
    [0x47504b47, "delete"],
    [0, "wal"],
    [0x47504b47, "wal"],
  ] as const)
    it(`is refused and stays as it is: a database of another application (id ${id}, ${mode} mode, in use)`, () => {
      const file = join(folder, "theirs.db");
      const theirs = new DatabaseSync(file);
      theirs.exec(`PRAGMA application_id = ${id}; PRAGMA journal_mode = ${mode}`);
      theirs.exec("CREATE TABLE sessions (id); INSERT INTO sessions VALUES ('mine')");
      const before = bytesOf(folder);
      expect(Object.keys(before)).toHaveLength(mode === "wal" ? 3 : 1);
      const error = refusal(() => sqliteJournal(file));
      expect(error.kind).toBe("invalid_request");
      expect(error.message).toContain(file);
      expect(error.message).toContain("another application");
      expect(bytesOf(folder)).toEqual(before);
      theirs.close();
    });

  it("is refused when it is a folder, or lies under a file", () => {
    expect(refusal(() => sqliteJournal(folder)).message).toContain("it is a folder");
    writeFileSync(join(folder, "file"), "x");
    const under = join(folder, "file", "j.db");
    expect(refusal(() => sqliteJournal(under))).toMatchObject({ kind: "invalid_request" });
    expect(refusal(() => sqliteJournal(under)).message).toContain(under);
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});

describe("a journal whose header names a version that never was", () => {
  // One damaged byte makes a number of it from which every version would be migrated, one after the other.
  it.each([0, -1, -1_056_964_607])("is refused as damaged, and stays as it is: %d", (version) => {
    const file = made();
    const raw = new DatabaseSync(file);
    raw.exec(`PRAGMA user_version = ${version}`);
    raw.close();
    const before = bytesOf(folder);
    for (const open of [() => sqliteJournal(file), () => sqliteJournal(file, { readOnly: true })]) {
      const error = refusal(open);
      expect(error.kind).toBe("storage");
      expect(error.message).toContain(`${file}: it is damaged: its header names format ${version}`);
    }
    expect(bytesOf(folder)).toEqual(before);
  });
});

describe("a journal of a newer version", () => {
  it("is refused and stays as it is: the file's own version", () => {
    const file = made();
    const raw = new DatabaseSync(file);
    raw.exec("PRAGMA user_version = 99");
    raw.close();
    const before = bytesOf(folder);
    const error = refusal(() => sqliteJournal(file));
    expect(error.kind).toBe("invalid_request");
    expect(error.message).toContain(file);
    expect(error.message).toContain("format 99");
    expect(error.message).toContain("update");
    expect(bytesOf(folder)).toEqual(before);
  });

  it("is refused while the newer process has it open", () => {
    const file = made();
    const raw = new DatabaseSync(file);
    // In WAL mode the file's header does not know it yet.
    raw.exec("PRAGMA user_version = 99");
    expect(refusal(() => sqliteJournal(file)).message).toContain("format 99");
    raw.close();
  });

  it("is refused by session, and stays as it is: the format of its records", () => {
    const file = made();
    const newer = sqliteJournal(file);
    const format = formatVersion + 1;
    newer.append("newer", 0, [
      { type: "run_started", format, input: [], seq: 0, at: 1, rand: 0 },
      sampleRecord(1),
    ]);
    newer.close();
    const before = bytesOf(folder);
    const journal = sqliteJournal(file);
    for (const attempt of [
      () => journal.read("newer"),
      () => journal.read("newer", 1),
      () => journal.append("newer", 2, sampleRecords(2, 1)),
    ]) {
      const error = refusal(attempt);
      expect(error.kind).toBe("invalid_request");
      expect(error.message).toContain(file);
      expect(error.message).toContain('"newer"');
      expect(error.message).toContain(`format ${format}`);
    }
    expect(journal.read("s")).toHaveLength(3);
    expect(journal.list()).toHaveLength(2);
    journal.close();
    expect(bytesOf(folder)).toEqual(before);
  });
});

describe("a damaged journal", () => {
  it("says so when pages are missing", () => {
    const file = made();
    truncateSync(file, 4096);
    const error = refusal(() => sqliteJournal(file).read("s"));
    expect(error.message).toContain(file);
    expect(error.message).toContain("damaged");
  });

  it("says so when its tables are not those of a journal", () => {
    const file = made();
    const raw = new DatabaseSync(file);
    raw.exec("ALTER TABLE sessions RENAME COLUMN created_at TO created_as");
    raw.close();
    const error = refusal(() => sqliteJournal(file).read("s"));
    expect(error.kind).toBe("storage");
    expect(error.message).toContain(file);
    expect(error.message).toContain("damaged");
  });

  it("says which record it is, when one is missing or is no JSON", () => {
    const file = made();
    const change = (sql: string): RondoError => {
      const raw = new DatabaseSync(file);
      raw.exec(sql);
      raw.close();
      const journal = sqliteJournal(file);
      try {
        return refusal(() => journal.read("s"));
      } finally {
        journal.close();
      }
    };
    expect(change("UPDATE records SET record = '{' WHERE seq = 2").message).toContain(
      'record 2 of session "s"',
    );
    expect(change("DELETE FROM records WHERE seq = 1").message).toContain('record 1 of session "s"');
    expect(change("DELETE FROM records WHERE seq = 0").message).toContain('record 0 of session "s"');
    expect(change("DELETE FROM records").message).toContain('record 0 of session "s"');
  });

  it("says so when its tables contradict each other, to whoever writes as well", () => {
    const file = made();
    const raw = new DatabaseSync(file);
    raw.exec("UPDATE sessions SET length = length - 1");
    raw.close();
    const journal = sqliteJournal(file);
    const { length = 0 } = journal.list()[0] ?? {};
    const error = refusal(() => journal.append("s", length, sampleRecords(length, 1)));
    expect(error.kind).toBe("storage");
    expect(error.message).toContain("the file is damaged");
    journal.close();
  });
});

test("a whole text of a cut result that is damaged is found by the check, and whoever reads it hears of storage", () => {
  const file = made();
  const journal = sqliteJournal(file);
  const origin = { callId: "call_1", tool: "shell", isError: false };
  for (const text of ["one", "two", "three"]) void journal.blobs.put("s", text, origin);
  journal.close();
  expect(checkJournal(file)).toMatchObject({ findings: [], sessions: 1 });
  const db = new DatabaseSync(file);
  db.exec(`UPDATE blobs SET text = x'00' WHERE ref = '${blobRef("two")}'`);
  db.close();
  expect(checkJournal(file)).toMatchObject({
    findings: [
      { what: "damage", session: "s", message: `session "s": its whole text ${blobRef("two")} is damaged` },
    ],
    sessions: 1,
  });
  const again = sqliteJournal(file);
  expect(() => again.blobs.get("s", blobRef("two"))).toThrow(
    expect.objectContaining({ kind: "storage", message: expect.stringContaining("restore a copy") }),
  );
  again.close();
});

describe("opening", () => {
  it("makes the file and the folders above it, and is the same journal again afterwards", () => {
    const file = join(folder, "a", "b c", "ü#?%20.db");
    const journal = sqliteJournal(file);
    journal.append("s", 0, sampleRecords(0, 1));
    journal.close();
    expect(readdirSync(join(folder, "a", "b c"))).toEqual(["ü#?%20.db"]);
    const again = sqliteJournal(pathToFileURL(file));
    expect(again.read("s")).toEqual(sampleRecords(0, 1));
    again.close();
  });

  it("takes an empty file for a new one, and a relative path from the working folder", () => {
    const file = join(folder, "empty.db");
    writeFileSync(file, "");
    const journal = sqliteJournal(relative(process.cwd(), file));
    journal.append("s", 0, sampleRecords(0, 1));
    journal.close();
    expect(readFileSync(file).subarray(0, 15).toString()).toBe("SQLite format 3");
  });

  it("does not take a name for a SQLite URI", () => {
    mkdirSync(join(folder, "cwd"));
    const before = process.cwd();
    try {
      process.chdir(join(folder, "cwd"));
      sqliteJournal("file:x?mode=memory").close();
      expect(existsSync(join(folder, "cwd", "file:x?mode=memory"))).toBe(true);
    } finally {
      process.chdir(before);
    }
  });

  it("refuses names that name nothing, and time-outs that are none", () => {
    for (const file of ["", "a\0b"]) expect(refusal(() => sqliteJournal(file)).kind).toBe("invalid_request");
    for (const busyTimeoutMs of [-1, 0.5, Number.NaN])
      expect(refusal(() => sqliteJournal(":memory:", { busyTimeoutMs })).message).toContain("busyTimeoutMs");
  });

  it("writes durably: WAL, full sync, and an id and version any SQLite tool can read", () => {
    const raw = new DatabaseSync(made());
    expect(raw.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(raw.prepare("PRAGMA application_id").get()).toEqual({ application_id: 0x526f6e64 });
    expect(raw.prepare("PRAGMA user_version").get()).toEqual({ user_version: 3 });
    expect(raw.prepare("SELECT json_extract(record, '$.type') AS type FROM records").get()).toEqual({
      type: "queued",
    });
    raw.close();
  });
});

describe("the connection", () => {
  afterEach(() => vi.restoreAllMocks());

  it("waits for the disk at every commit", () => {
    // Nothing short of pulling the plug shows it from outside, so the connection itself is asked.
    const exec = vi.spyOn(DatabaseSync.prototype, "exec");
    const journal = sqliteJournal(join(folder, "j.db"));
    const connection = exec.mock.contexts.at(-1) as DatabaseSync;
    expect(connection.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    // On macOS, where a sync alone does not reach the disk.
    expect(connection.prepare("PRAGMA fullfsync").get()).toEqual({ fullfsync: 1 });
    expect(connection.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 5_000 });
    journal.close();
  });

  it("keeps Node 22's warning about SQLite from the user, and no other", () => {
    const load = process.getBuiltinModule;
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    vi.spyOn(process, "getBuiltinModule").mockImplementation(((id: string) => {
      process.emitWarning(
        "SQLite is an experimental feature and might change at any time",
        "ExperimentalWarning",
      );
      process.emitWarning("something else", "Warning");
      return load(id);
    }) as typeof load);
    sqliteJournal(":memory:").close();
    expect(warned.mock.calls).toEqual([["something else", "Warning"]]);
    expect(process.emitWarning).toBe(warned);
  });

  it("says which Node it needs where there is no SQLite", () => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    const error = refusal(() => sqliteJournal(":memory:"));
    expect(error.kind).toBe("invalid_request");
    expect(error.message).toContain("Node 22.18");
  });
});

describe("a journal another process holds locked", () => {
  it("says so after its time-out, stores nothing, and goes on when the lock is gone", () => {
    const file = made();
    const journal = sqliteJournal(file, { busyTimeoutMs: 1 });
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const error = refusal(() => journal.append("s", 3, sampleRecords(3, 1)));
    expect(error).toMatchObject({ kind: "storage", retryable: true });
    expect(error.message).toContain(file);
    expect(error.message).toContain("locked");
    // Whoever uses the command has no option to set.
    expect(error.message).not.toContain("busyTimeoutMs");
    expect(journal.read("s")).toHaveLength(3);
    other.exec("COMMIT");
    other.close();
    journal.append("s", 3, sampleRecords(3, 1));
    expect(journal.read("s")).toHaveLength(4);
    journal.close();
  });
});

it("a record that is no JSON is refused, and its group with it", () => {
  const journal = sqliteJournal(":memory:");
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const bad = { ...sampleRecord(1), message: circular } as unknown as ReturnType<typeof sampleRecord>;
  const error = refusal(() => journal.append("s", 0, [sampleRecord(0), bad]));
  expect(error.message).toContain("circular");
  expect(journal.read("s")).toEqual([]);
  journal.append("s", 0, [sampleRecord(0)]);
});

test("to look for a text where none was ever kept, or to let go of them, writes nothing and waits for nobody", () => {
  const file = join(folder, "j.db");
  const journal = sqliteJournal(file, { busyTimeoutMs: 0 });
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  expect(journal.blobs.get("s", "out_none")).toBeUndefined();
  void journal.blobs.delete("s");
  expect(other.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'blob%'").all()).toEqual([]);
  other.exec("ROLLBACK");
  other.close();
  const put = journal.blobs.put("s", "a text", { callId: "call", tool: "tool", isError: false });
  const { ref } = put as { ref: string };
  expect(journal.blobs.get("s", ref)).toBe("a text");
  void journal.blobs.delete("s");
  expect(journal.blobs.get("s", ref)).toBeUndefined();
  journal.close();
});

test("a check tells of every session that something is wrong with, however many there are", () => {
  const file = join(folder, "j.db");
  const journal = sqliteJournal(file);
  for (let n = 0; n < 150; n += 1) journal.append(`s${n}`, 0, sampleRecords(0, 1));
  journal.close();
  const db = new DatabaseSync(file);
  db.exec("UPDATE records SET record = '{'");
  db.close();
  const { findings, sessions } = checkJournal(file);
  expect(sessions).toBe(0);
  expect(findings.map(({ session }) => session)).toEqual(Array.from({ length: 150 }, (_, n) => `s${n}`));
});

describe("a journal that can only be read", () => {
  afterEach(() => void vi.useRealTimers());

  test("and can no longer be looked at tells whoever watches it, and why to whoever reads it", () => {
    const file = made();
    vi.useFakeTimers();
    const journal = onlyReading(file, 0, "it is an archive");
    const told: string[] = [];
    const heard = (): void => void told.push(refusal(() => journal.read("s")).message);
    const stop = journal.watch("s", heard);
    rmSync(file);
    symlinkSync(file, file);
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual([expect.stringMatching(/^cannot read the journal .*j\.db: ELOOP/)]);
    stop();
    journal.close();
  });

  test("and is gone may be watched: it may come again", () => {
    const file = made();
    const journal = onlyReading(file, 0, "it is an archive");
    rmSync(file);
    journal.watch("s", () => {})();
    expect(refusal(() => journal.read("s"))).toMatchObject({ kind: "storage" });
    journal.close();
  });
});

test.each([
  ["a journal that writes", false],
  ["one that only reads", true],
])(
  "a session that another process deletes while %s reads it is whole or gone, and not damaged",
  (_, readOnly) => {
    const file = made();
    const [other, journal] = [sqliteJournal(file), sqliteJournal(file, { readOnly })];
    other.append("s", 3, sampleRecords(3, 1));
    // The other process comes in right after the first query.
    for (const query of ["get", "all"] as const) {
      const asked = StatementSync.prototype[query] as (...of: unknown[]) => unknown;
      const interrupted = function (this: StatementSync, ...of: unknown[]): unknown {
        const told = asked.apply(this, of);
        if (this.sourceSQL.includes("FROM sessions")) {
          vi.restoreAllMocks();
          other.delete("s");
        }
        return told;
      };
      vi.spyOn(StatementSync.prototype, query).mockImplementation(interrupted as never);
    }
    expect(journal.read("s")).toEqual(sampleRecords(0, 4));
    expect(journal.read("s")).toEqual([]);
    for (const open of [other, journal]) open.close();
  },
);

test("a check of what cannot be looked at is refused, and says why", () => {
  const file = join(folder, "j.db");
  symlinkSync(file, file);
  const { kind, message } = refusal(() => checkJournal(file));
  expect(kind).toBe("invalid_request");
  expect(message).toMatch(/^cannot read the journal .*j\.db: ELOOP/);
});

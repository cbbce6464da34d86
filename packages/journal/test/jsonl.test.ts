import {
  appendFileSync,
  chmodSync,
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
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { follow, formatVersion, type LogRecord, type RondoError } from "@rondo/core";
import { checkJournal, jsonlJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KnownSessions } from "../src/jsonl/known-sessions.ts";
import { cutFile, three, written } from "./cut-file.ts";
import { ended, start } from "./programs.ts";
import { refusal } from "./refusal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-jsonl-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a folder whose lock was deleted while it is open", () => {
  it("is locked anew: who has it open waits for those who came after", () => {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 1));
    rmSync(join(folder, "lock"));
    journal.append("s", 1, sampleRecords(1, 1));
    expect(readdirSync(folder)).toContain("lock");
    journal.close();
    const hurried = jsonlJournal(folder, { busyTimeoutMs: 0 });
    hurried.append("s", 2, sampleRecords(2, 1));
    rmSync(join(folder, "lock"));
    const other = new DatabaseSync(join(folder, "lock"));
    other.exec("BEGIN IMMEDIATE");
    expect(refusal(() => hurried.append("s", 3, sampleRecords(3, 1)))).toMatchObject({
      kind: "storage",
      retryable: true,
    });
    other.exec("ROLLBACK");
    other.close();
    hurried.append("s", 3, sampleRecords(3, 1));
    expect(hurried.read("s")).toHaveLength(4);
    hurried.close();
  });
});

describe("the lock of a folder", () => {
  it("stores nothing: what a full disk refuses of it would be told of a group that is stored", () => {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 1));
    expect(statSync(join(folder, "lock")).size).toBe(0);
    journal.close();
  });

  it("guards leases: one whose file was deleted is told to be that, and not taken by another", () => {
    const journal = jsonlJournal(folder);
    const { token } = journal.lease("s", { owner: "me", ttlMs: 60_000 });
    rmSync(join(folder, "s.lease"));
    const refused = refusal(() => journal.append("s", 0, sampleRecords(0, 1), token));
    expect([refused.kind, refused.message]).toEqual([
      "conflict",
      expect.stringContaining("its lease (token 1) was deleted;"),
    ]);
    journal.close();
  });

  it("is told to be none where it is another program's file, or its folder is gone", () => {
    writeFileSync(join(folder, "lock"), "somebody else's ".repeat(100));
    const journal = jsonlJournal(folder);
    const append = (): RondoError => refusal(() => journal.append("s", 0, sampleRecords(0, 1)));
    expect(append().message).toContain(
      `${join(folder, "lock")} is not the lock of a journal (file is not a database)`,
    );
    rmSync(folder, { recursive: true });
    expect(append()).toMatchObject({
      kind: "storage",
      message: expect.stringContaining("ENOENT: no such file"),
    });
    journal.close();
  });
});

describe("a session whose file was deleted", () => {
  it("is what was made in its place, whatever is known of the one before", () => {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 3));
    rmSync(join(folder, "s.jsonl"));
    const other = jsonlJournal(folder);
    // Often the system gives it the number of the one that was deleted, and it is longer.
    other.append("s", 0, sampleRecords(0, 2, "of another length"));
    other.append("s", 2, sampleRecords(2, 5, "of another length"));
    expect(journal.read("s")).toEqual(other.read("s"));
    rmSync(join(folder, "s.jsonl"));
    other.append("s", 0, sampleRecords(0, 20));
    appendFileSync(join(folder, "s.jsonl"), "torn");
    journal.append("s", 20, sampleRecords(20, 1));
    expect(checkJournal(folder)).toMatchObject({ records: 21, findings: [] });
    journal.close();
    other.close();
  });

  it("is cut where its own last line is torn, and not where that of the one before ended", () => {
    const journal = jsonlJournal(folder, { warn: () => {} });
    const [first, second] = [sampleRecords(0, 1), sampleRecords(1, 1, "one more")];
    journal.append("s", 0, first);
    const file = join(folder, "s.jsonl");
    const one = readFileSync(file);
    journal.append("s", 1, second);
    // A copy was put back in its place, of a moment when the process that wrote was killed.
    writeFileSync(file, Buffer.concat([one, Buffer.alloc(10_000, "x")]));
    expect(refusal(() => journal.append("s", 2, sampleRecords(2, 1))).message).toContain(
      "has 1 records, not 2",
    );
    journal.append("s", 1, second);
    expect(journal.read("s")).toEqual([...first, ...second]);
    expect(checkJournal(file).findings).toEqual([]);
    journal.close();
  });

  it("is told that its records are gone, and not that another was faster", () => {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 2));
    rmSync(join(folder, "s.jsonl"));
    expect(refusal(() => journal.append("s", 2, sampleRecords(2, 1))).message).toContain(
      "some of them were deleted",
    );
    journal.close();
  });
});

describe("what is known of sessions", () => {
  it("is kept of those that were asked for last, and read again of any other", () => {
    const journal = jsonlJournal(folder);
    for (const id of ["a", "b", "c"]) journal.append(id, 0, sampleRecords(0, 2));
    journal.close();
    const known = new KnownSessions(folder, 2);
    const [a, b] = [known.of("a"), known.of("b")];
    expect(a.read(0)).toHaveLength(2);
    expect(known.of("a")).toBe(a);
    expect(known.of("c").read(0)).toHaveLength(2);
    expect(known.of("a")).toBe(a);
    const anew = known.of("b");
    expect(anew).not.toBe(b);
    expect(anew.read(1)).toHaveLength(1);
  });
});

describe("a file", () => {
  it("is lines of JSON, each with the checksum of the rest, that other tools can read", () => {
    const { file } = written(folder, three());
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      const { crc } = JSON.parse(line) as { crc: string };
      expect(crc).toBe(crc32(Buffer.from(line).subarray(18)).toString(16).padStart(8, "0"));
    }
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ rondo: "session", format: 1, id: "s" });
    expect(lines.slice(1).flatMap((line) => (JSON.parse(line) as { records: LogRecord[] }).records)).toEqual(
      three().flat(),
    );
  });

  it("has a name that every file system keeps apart, for its owner alone", () => {
    const ids = [
      "a",
      "A",
      "../up",
      "con",
      "\u00fc",
      "u\u0308",
      ".",
      "x".repeat(300),
      `${"x".repeat(299)}y`,
      "%41",
    ];
    const journal = jsonlJournal(pathToFileURL(join(folder, "new", "place")));
    for (const id of ids) journal.append(id, 0, [sampleRecord(0, id)]);
    const names = readdirSync(join(folder, "new", "place")).filter((name) => name.endsWith(".jsonl"));
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9_%A-F=-]{1,220}\.jsonl$/);
    expect(names).toContain("%2E%2E%2Fup.jsonl");
    expect(names).toContain("%63on.jsonl");
    for (const id of ids) expect(journal.read(id)).toEqual([sampleRecord(0, id)]);
    journal.close();
  });

  it("of a newer format is refused by name, and stays as it is", () => {
    const { file } = written(folder, three());
    const head = `"rondo":"session","format":2,"id":"s"}`;
    const crc = crc32(Buffer.from(head)).toString(16).padStart(8, "0");
    const rest = readFileSync(file, "utf8").split("\n").slice(1).join("\n");
    writeFileSync(file, `{"crc":"${crc}",${head}\n${rest}`);
    const before = readFileSync(file, "utf8");
    const journal = jsonlJournal(folder);
    for (const attempt of [() => journal.read("s"), () => journal.append("s", 6, sampleRecords(6, 1))]) {
      expect(refusal(attempt)).toMatchObject({ kind: "invalid_request" });
      expect(refusal(attempt).message).toMatch(/s\.jsonl: it has format 2, .*update @rondo\/journal/);
    }
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(checkJournal(folder).findings).toMatchObject([{ what: "newer" }]);
  });

  it("with records of a newer format is refused by session, and the others are not", () => {
    const journal = jsonlJournal(folder);
    const newer: LogRecord = {
      type: "run_started",
      format: formatVersion + 1,
      input: [],
      seq: 0,
      at: 1,
      rand: 0,
    };
    journal.append("newer", 0, [newer]);
    journal.append("s", 0, sampleRecords(0, 1));
    journal.close();
    const again = jsonlJournal(folder);
    expect(refusal(() => again.read("newer")).message).toMatch(/"newer".*format 2.*update @rondo\/core/);
    expect(refusal(() => again.append("newer", 1, sampleRecords(1, 1))).kind).toBe("invalid_request");
    expect(again.read("s")).toHaveLength(1);
    again.close();
  });

  it("that was given another's name is not taken for the other", () => {
    const { file } = written(folder, three());
    renameSync(file, join(folder, "t.jsonl"));
    expect(refusal(() => jsonlJournal(folder).read("t")).message).toMatch(/holds session "s", not "t"/);
    expect(checkJournal(folder).findings).toMatchObject([{ what: "damage" }]);
  });
});

describe("a file that was cut", () => {
  it("at any byte holds every group before the cut and nothing else, and goes on from there", () => {
    // Every byte is cut at in the slow tests.
    cutFile(folder, 29);
  });

  it("is repaired by the check when it is asked to, and by nothing else that it does", () => {
    const { file, ends } = written(folder, three());
    truncateSync(file, (ends[1] ?? 0) + 7);
    const before = readFileSync(file, "utf8");
    expect(checkJournal(folder).findings).toMatchObject([
      { what: "torn_tail", session: "s", repaired: false },
    ]);
    expect(readFileSync(file, "utf8")).toBe(before);
    const report = checkJournal(folder, { repair: true });
    expect(report).toMatchObject({
      records: 3,
      sessions: 1,
      findings: [{ what: "torn_tail", repaired: true }],
    });
    expect(report.findings[0]?.message).toContain("7 bytes behind line 3");
    expect(checkJournal(folder).findings).toEqual([]);
    expect(readFileSync(file).length).toBe(ends[1]);
  });

  it("with a hole where a page of the last line was is torn as well", () => {
    const { file, ends } = written(folder, three());
    const bytes = readFileSync(file);
    bytes.fill(0, (ends[1] ?? 0) + 30, (ends[1] ?? 0) + 60);
    writeFileSync(file, bytes);
    const journal = jsonlJournal(folder, { warn: () => {} });
    expect(journal.read("s")).toHaveLength(3);
    journal.append("s", 3, sampleRecords(3, 1));
    expect(journal.read("s")).toHaveLength(4);
    journal.close();
  });
});

describe("a file that a power failure left longer than what was written to it", () => {
  it.each([
    ["the last line whole, and nothing behind it", 0, 0, 6],
    ["a hole in the last line", 30, 60, 3],
    ["a hole at the beginning of the last line", 0, 25, 3],
  ])("with %s, is read up to what was acknowledged, and goes on from there", (_what, from, to, held) => {
    const { file, ends } = written(folder, three());
    const last = ends[1] ?? 0;
    for (const blank of [1, 512, 3_000_000]) {
      const bytes = Buffer.concat([readFileSync(file), Buffer.alloc(blank)]);
      bytes.fill(0, last + from, last + to);
      writeFileSync(file, bytes);
      const warnings: string[] = [];
      const journal = jsonlJournal(folder, { warn: (message) => warnings.push(message) });
      expect(journal.read("s")).toHaveLength(held);
      expect(journal.list()).toMatchObject([{ id: "s" }]);
      expect(checkJournal(folder).findings).toMatchObject([{ what: "torn_tail" }]);
      journal.append("s", held, sampleRecords(held, 6 - held));
      expect([journal.read("s").length, warnings.length]).toEqual([6, 1]);
      expect(checkJournal(folder).findings).toEqual([]);
      journal.close();
    }
  });
});

describe("a file that a text tool has written anew", () => {
  const crlf = (text: string): string => text.replaceAll("\n", "\r\n");

  it.each<[what: string, change: (text: string) => string, warnings: number]>([
    ["line ends of Windows", crlf, 0],
    ["a byte order mark", (text) => `\uFEFF${text}`, 0],
    ["both", (text) => `\uFEFF${crlf(text)}`, 0],
    ["an empty line at its end", (text) => `${text}\n`, 1],
    ["an empty line and line ends of Windows", (text) => crlf(`${text}\n`), 1],
    ["many blank lines at its end", (text) => `${text}${" \t\n".repeat(200_000)}  `, 1],
  ])("with %s, holds what it held, and goes on", (_what, change, warned) => {
    const { file } = written(folder, three());
    writeFileSync(file, change(readFileSync(file, "utf8")));
    const warnings: string[] = [];
    const journal = jsonlJournal(folder, { warn: (message) => warnings.push(message) });
    expect(journal.read("s")).toHaveLength(6);
    expect(journal.list()).toMatchObject([{ id: "s", length: 6 }]);
    expect(checkJournal(folder)).toMatchObject({ records: 6 });
    journal.append("s", 6, sampleRecords(6, 1));
    expect([journal.read("s").length, warnings.length]).toEqual([7, warned]);
    expect(checkJournal(folder).findings).toEqual([]);
    journal.close();
    expect(jsonlJournal(folder).read("s", 5)).toHaveLength(2);
  });

  it("while it is open, is read again from its beginning", () => {
    const { file } = written(folder, three());
    const journal = jsonlJournal(folder);
    expect(journal.read("s")).toHaveLength(6);
    writeFileSync(file, crlf(readFileSync(file, "utf8")));
    journal.append("s", 6, sampleRecords(6, 1));
    expect(journal.read("s", 2)).toHaveLength(5);
    journal.close();
  });

  it("is damaged by an empty line that another follows", () => {
    const { file } = written(folder, three());
    writeFileSync(file, readFileSync(file, "utf8").replace("\n", "\n\n"));
    expect(refusal(() => jsonlJournal(folder).read("s")).message).toContain("line 2 of the journal");
  });
});

describe("a file that is damaged", () => {
  it("by zeros in a line that others follow has lost no tail: what stands behind them is not cut off", () => {
    const { file, ends } = written(folder, three());
    const bytes = readFileSync(file);
    bytes.fill(0, (ends[0] ?? 0) + 30, (ends[0] ?? 0) + 60);
    writeFileSync(file, bytes);
    const journal = jsonlJournal(folder);
    for (const attempt of [() => journal.read("s"), () => journal.append("s", 2, sampleRecords(2, 1))])
      expect(refusal(attempt).message).toContain(`line 3 of the journal ${file}`);
    journal.close();
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it("anywhere is an error that names the line, and is changed by nobody", () => {
    const groups = three();
    const { file } = written(folder, groups);
    const good = readFileSync(file);
    const lineOf = (at: number): number => good.subarray(0, at).filter((byte) => byte === 10).length + 1;
    fc.assert(
      fc.property(fc.nat({ max: good.length - 2 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bad = Buffer.from(good);
        bad[at] = (bad[at] ?? 0) ^ flip;
        // What becomes a zero in the last line, or in the end of the one before, looks like a page that was lost.
        fc.pre(bad[at] !== 0 || (good[at] !== 10 && lineOf(at) < lineOf(good.length - 1)));
        writeFileSync(file, bad);
        const journal = jsonlJournal(folder);
        const before = lineOf(at);
        for (const attempt of [() => journal.read("s"), () => journal.append("s", 6, sampleRecords(6, 1))]) {
          const error = refusal(attempt);
          expect(error.kind).toBe("storage");
          expect(error.message).toContain(`line ${before} of the journal ${file}`);
        }
        const { findings } = checkJournal(file, { repair: true });
        expect(findings.map(({ what }) => what)).toEqual(["damage"]);
        expect(findings[0]?.message).toContain(`line ${before} `);
        expect(readFileSync(file).equals(bad)).toBe(true);
        journal.close();
      }),
      { numRuns: 150 },
    );
  });

  it("by a missing, a doubled or a foreign line says so", () => {
    const { file } = written(folder, three());
    const [head = "", first = "", second = "", third = ""] = readFileSync(file, "utf8").split("\n");
    const tries: [lines: string[], line: number, why: RegExp][] = [
      [[head, second, third], 2, /begins with record 2, and 0 is due/],
      [[head, first, first, second], 3, /begins with record 0, and 2 is due/],
      [[head, first, third, second], 3, /begins with record 3, and 2 is due/],
      [[first, second], 1, /not the head of a session/],
      [[head, first, "{}", third], 3, /does not begin with a checksum/],
      // Cut off within, and its line ended all the same: nobody can say that it was never acknowledged.
      [[head, first, second.slice(0, 40)], 3, /its checksum is/],
      [[head, first, second.slice(0, 5)], 3, /does not begin with a checksum/],
    ];
    for (const [lines, line, why] of tries) {
      writeFileSync(file, `${lines.join("\n")}\n`);
      const { message } = refusal(() => jsonlJournal(folder).read("s"));
      expect(message).toContain(`line ${line} `);
      expect(message).toMatch(why);
    }
  });

  it("by a line whose checksum is right, and which no journal wrote, says what is wrong with it", () => {
    const { file } = written(folder, three());
    const good = readFileSync(file, "utf8").split("\n").slice(0, 3);
    const tries: [rest: string, why: RegExp][] = [
      ['"seq":3,"records":[', /JSON/],
      ['"seq":3}', /it holds no records/],
      ['"seq":3,"records":[]}', /it holds no records/],
      ['"seq":3,"records":[{"seq":3},{"seq":5}]}', /its record 1 is not numbered 4/],
      ['"seq":3,"records":[null]}', /its record 0 is not numbered 3/],
    ];
    for (const [rest, why] of tries) {
      const line = `{"crc":"${crc32(rest).toString(16).padStart(8, "0")}",${rest}`;
      writeFileSync(file, `${[...good, line].join("\n")}\n`);
      const { message } = refusal(() => jsonlJournal(folder).read("s"));
      expect(message).toContain("line 4 ");
      expect(message).toMatch(why);
    }
  });
});

describe("a lease whose file a power failure left in pieces", () => {
  it.each(["", "\0\0\0\0", '{"token":1,"own', '{"token":"1"}', "null"])("%j holds nobody up", (text) => {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 1));
    journal.lease("s", { owner: "who went with it", ttlMs: 60_000 });
    writeFileSync(join(folder, "s.lease"), text);
    journal.append("s", 1, sampleRecords(1, 1));
    const { token } = journal.lease("s", { owner: "the next", ttlMs: 60_000 });
    expect(() => journal.append("s", 2, sampleRecords(2, 1))).toThrow(/held by the next/);
    journal.append("s", 2, sampleRecords(2, 1), token);
    journal.close();
  });
});

describe("two on one folder", () => {
  it("see what the other appends, and a group that is not finished by neither", () => {
    const [one, other] = [jsonlJournal(folder), jsonlJournal(folder)];
    one.append("s", 0, sampleRecords(0, 2));
    expect(other.read("s")).toHaveLength(2);
    other.append("s", 2, sampleRecords(2, 2));
    expect(refusal(() => one.append("s", 2, sampleRecords(2, 1))).kind).toBe("conflict");
    one.append("s", 4, sampleRecords(4, 1));
    appendFileSync(join(folder, "s.jsonl"), '{"crc":"00000000","seq":5,"rec');
    expect(other.read("s", 3)).toEqual(sampleRecords(3, 2));
    one.close();
    other.close();
  });

  it("follow each other without a word to be polled for", async () => {
    const [one, other] = [jsonlJournal(folder), jsonlJournal(folder)];
    const heard = new Promise<void>((resolve) => {
      const stop = other.watch("s", () => {
        stop();
        resolve();
      });
    });
    one.append("s", 0, sampleRecords(0, 1));
    await heard;
    expect(other.read("s")).toHaveLength(1);
    one.close();
    other.close();
  });
});

describe("what is refused", () => {
  it("a record or a session that is larger than it may be, naming which and what to do", () => {
    const journal = jsonlJournal(folder, { maxRecordBytes: 1_000, maxSessionBytes: 3_000 });
    const error = refusal(() =>
      journal.append("s", 0, [sampleRecord(0), sampleRecord(1, "x".repeat(1_000))]),
    );
    expect(error.kind).toBe("payload_too_large");
    expect(error.message).toMatch(/record 1 of session "s" has \d+ bytes, and 1000 are the most/);
    let seq = 0;
    const full = refusal(() => {
      for (;;) journal.append("s", seq, [sampleRecord(seq++, "x".repeat(500))]);
    });
    expect(full.message).toMatch(
      /would have \d+ bytes, and 3000 are the most one may have; go on in a new session/,
    );
    expect(journal.read("s")).toHaveLength(seq - 1);
    journal.close();
  });

  it("what is no folder, and names that name nothing", () => {
    writeFileSync(join(folder, "file"), "x");
    for (const place of [join(folder, "file"), join(folder, "file", "under"), ""])
      expect(refusal(() => jsonlJournal(place)).kind).toBe("invalid_request");
    expect(refusal(() => checkJournal(join(folder, "nothing"))).message).toContain("there is no journal");
    const other = mkdtempSync(join(folder, "other-"));
    expect(checkJournal(other)).toMatchObject({ sessions: 0, findings: [] });
    writeFileSync(join(other, "notes.txt"), "no session");
    const refused = refusal(() => checkJournal(other));
    expect([refused.kind, refused.message]).toEqual([
      "invalid_request",
      expect.stringContaining(`${other} holds no journal`),
    ]);
  });

  it("a folder that cannot be written, when something is appended; what is there can be read", async () => {
    written(folder, three());
    chmodSync(folder, 0o555);
    chmodSync(join(folder, "s.jsonl"), 0o444);
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    try {
      const { stdout } = await ended(start("open-jsonl", [folder], nobody));
      const told = JSON.parse(stdout);
      expect(told).toMatchObject({ read: 6, error: { kind: "storage" } });
      expect(told.error.message).toContain("must be writable");
    } finally {
      chmodSync(folder, 0o755);
    }
  });
});

describe("a follower", () => {
  it("is told of a file that can no longer be looked at by what it reads, and ends no process", async () => {
    const { file } = written(folder, three());
    const journal = jsonlJournal(folder);
    const following = follow(journal, "s", { from: 6 });
    const next = following.next();
    const told = new Promise<void>((resolve) => journal.watch("s", resolve));
    rmSync(file);
    symlinkSync(file, file);
    await told;
    await expect(next).rejects.toMatchObject({ kind: "storage", message: expect.stringContaining("ELOOP") });
    journal.close();
  });
});

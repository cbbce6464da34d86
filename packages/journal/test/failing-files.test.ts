// Files that fail, are changed or stand in the way while a JSONL journal has its folder open.

import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonlJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileError } from "../src/jsonl/errors.ts";
import { sqliteError } from "../src/sqlite/errors.ts";
import { three, written } from "./cut-file.ts";
import { refusal } from "./refusal.ts";
import { watchCalls } from "./rotation-states.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-failing-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the first group of a session", () => {
  it("has a file whose name lasts before there is anything in it", () => {
    const journal = jsonlJournal(folder);
    const { calls } = watchCalls(folder, () => journal.append("s", 0, sampleRecords(0, 2)));
    journal.close();
    expect(calls).toEqual(["make s.jsonl", "sync folder", "write s.jsonl", "sync s.jsonl"]);
  });

  it("is not stored where the disk fails, at whichever call, and is stored when there is room again", () => {
    for (const failing of [0, 1, 2, 3]) {
      const place = join(folder, String(failing));
      const journal = jsonlJournal(place);
      const append = (): void => journal.append("s", 0, sampleRecords(0, 2));
      expect(refusal(() => watchCalls(place, append, failing)).message).toContain("the disk is full");
      expect(jsonlJournal(place).read("s")).toEqual([]);
      append();
      expect(jsonlJournal(place).read("s")).toEqual(sampleRecords(0, 2));
      journal.close();
    }
  });
});

describe("what the system says of a file", () => {
  it("is told to be no loss of a group only to who appends one", () => {
    const full = 13;
    const tellers = [
      (doing: string) => fileError("/j/s.jsonl", doing, Object.assign(new Error("EIO"), { code: "EIO" })),
      (doing: string) =>
        fileError("/j/s.jsonl", doing, Object.assign(new Error("ENOSPC"), { code: "ENOSPC" })),
      (doing: string) => sqliteError("/j.db", doing, Object.assign(new Error("full"), { errcode: full })),
    ];
    for (const told of tellers) {
      expect(told("append to").message).toContain("nothing of this group");
      for (const doing of ["read", "list", "take a lease in"])
        expect(told(doing).message).not.toContain("group");
    }
  });

  it("of the lock is told as a disk that fails, and the lock is to be removed only where it is none", () => {
    const sqlite = (errcode: number): Error => Object.assign(new Error("says SQLite"), { errcode });
    const ioError = 10;
    const corrupt = 11;
    const notADatabase = 26;
    const told = (errcode: number): string => fileError("/j/s.jsonl", "append to", sqlite(errcode)).message;
    expect(told(ioError)).toContain("the disk failed");
    expect(told(corrupt)).toContain("the disk failed, or");
    expect(told(notADatabase)).not.toContain("the disk failed");
  });
});

describe("a file that was read, and is changed in its place", () => {
  it("gives no records with some missing among them", () => {
    const journal = jsonlJournal(folder, { rotateBytes: 1 });
    journal.append("s", 0, sampleRecords(0, 2));
    journal.append("s", 2, sampleRecords(2, 2));
    expect(journal.read("s")).toHaveLength(4);
    const file = join(folder, "s.jsonl");
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.toSpliced(1, 1, `${lines[1]}${"+".repeat(1_000)}`).join("\n"));
    expect(refusal(() => journal.read("s")).message).toContain(`line 2 of the journal ${file}`);
    journal.close();
  });
});

describe("a folder", () => {
  it("is listed although a file in it cannot be read, and that is told", () => {
    written(folder, three());
    const journal = jsonlJournal(folder);
    journal.append("t", 0, sampleRecords(0, 1));
    journal.close();
    const warned: string[] = [];
    const reading = jsonlJournal(folder, { warn: (message) => warned.push(message) });
    const first = join(folder, "s.jsonl");
    writeFileSync(join(folder, "s.2.jsonl"), readFileSync(first));
    rmSync(first);
    symlinkSync(first, first);
    expect(reading.list().map(({ id }) => id)).toEqual(["t"]);
    expect(warned).toEqual([expect.stringContaining(`cannot list the journal ${first}: ELOOP`)]);
    reading.close();
  });
});

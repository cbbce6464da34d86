import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { checkJournal, jsonlJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";
import { expect, test } from "vitest";
import { ended, start } from "./programs.ts";

test("a folder is listed although a file ends in a whole line that holds no record", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  try {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 2));
    const rest = '"seq":2,"records":[null]}';
    const file = readdirSync(folder).find((name) => name.endsWith(".jsonl")) ?? "";
    appendFileSync(join(folder, file), `{"crc":"${crc32(rest).toString(16).padStart(8, "0")}",${rest}\n`);
    expect(journal.list()).toEqual([]);
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a folder is listed although there is a folder in it that is called like a session's file", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  try {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 2));
    mkdirSync(join(folder, "notes.jsonl"));
    expect(journal.list()).toMatchObject([{ id: "s", length: 2 }]);
    expect(checkJournal(folder).findings).toEqual([]);
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a folder is listed and checked although there are links and pipes in it that are called like a session's file", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  try {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 2));
    symlinkSync(folder, join(folder, "to-a-folder.jsonl"));
    symlinkSync(join(folder, "itself.jsonl"), join(folder, "itself.jsonl"));
    symlinkSync(join(folder, "nothing"), join(folder, "to-nothing.jsonl"));
    // Where there is none, the links are what is tested.
    spawnSync("sh", ["-c", 'mkfifo "$1"', "sh", join(folder, "pipe.jsonl")]);
    expect(journal.list()).toMatchObject([{ id: "s", length: 2 }]);
    expect(checkJournal(folder).findings).toEqual([]);
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a copy of a session's file under another name is no second session", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  try {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 2));
    for (const name of ["s copy.jsonl", "t.jsonl"]) copyFileSync(join(folder, "s.jsonl"), join(folder, name));
    expect(journal.list()).toMatchObject([{ id: "s", length: 2 }]);
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a folder is listed although a session's file in it is somebody else's, and that is told", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  try {
    const journal = jsonlJournal(folder);
    journal.append("s", 0, sampleRecords(0, 2));
    journal.append("theirs", 0, sampleRecords(0, 2));
    journal.close();
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "s.jsonl"), 0o444);
    chmodSync(join(folder, "theirs.jsonl"), 0);
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { stdout } = await ended(start("open-jsonl", [folder], nobody));
    expect(JSON.parse(stdout)).toMatchObject({
      listed: ["s"],
      warnings: [expect.stringContaining(`cannot list the journal ${join(folder, "theirs.jsonl")}: EACCES`)],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

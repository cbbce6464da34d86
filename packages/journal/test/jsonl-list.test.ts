import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
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
    const journal = jsonlJournal(folder, { warn: () => {} });
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

test("a session is listed as it ends, however long its last line is", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  try {
    const journal = jsonlJournal(folder);
    for (const [at, size] of [1, 70_000, 200_000, 65_000].entries()) {
      const [record] = sampleRecords(at, 1, "x".repeat(size));
      journal.append("s", at, [{ ...record, at: 1_000 + at } as typeof record & object]);
      expect(journal.list()).toEqual([{ id: "s", length: at + 1, createdAt: 1_000, updatedAt: 1_000 + at }]);
    }
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a session whose first or last line is damaged is not listed, and that is told, once", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  const warnings: string[] = [];
  try {
    const journal = jsonlJournal(folder, { warn: (message) => warnings.push(message) });
    for (const id of ["head", "group", "end", "gone", "whole"]) journal.append(id, 0, sampleRecords(0, 2));
    const at = (name: string): string => join(folder, `${name}.jsonl`);
    const damage = (name: string, line: number): void => {
      const lines = readFileSync(at(name), "utf8").split("\n");
      writeFileSync(at(name), lines.with(line, `x${lines[line]?.slice(1)}`).join("\n"));
    };
    damage("head", 0);
    damage("group", 1);
    const rest = '"seq":2,"records":[null]}';
    appendFileSync(at("end"), `{"crc":"${crc32(rest).toString(16).padStart(8, "0")}",${rest}\n`);
    renameSync(at("gone"), join(folder, "gone.2.jsonl"));
    // What a crash leaves of a session that was never acknowledged is no damage.
    writeFileSync(at("empty"), "");
    writeFileSync(at("torn"), '{"crc":"');
    for (const _ of ["once", "more"]) expect(journal.list().map(({ id }) => id)).toEqual(["whole"]);
    const check = "; see what is left with `rondo journal check`, or restore a copy of the file";
    expect(warnings.toSorted()).toEqual([
      `the journal ${at("end")} is not listed: its last line holds no record${check}`,
      `the journal ${at("gone")} is not listed: it is missing, and gone.2.jsonl is there${check}`,
      `the journal ${at("group")} is not listed: line 2 is damaged: it does not begin with a checksum${check}`,
      `the journal ${at("head")} is not listed: line 1 is damaged: it does not begin with a checksum${check}`,
    ]);
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a session whose file was renamed is not listed, and that is told", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-list-"));
  const warnings: string[] = [];
  try {
    const journal = jsonlJournal(folder, { warn: (message) => warnings.push(message) });
    journal.append("s", 0, sampleRecords(0, 2));
    renameSync(join(folder, "s.jsonl"), join(folder, "t.jsonl"));
    expect(journal.list()).toEqual([]);
    expect(warnings).toEqual([
      `the journal ${join(folder, "t.jsonl")} is not listed: it holds session "s", whose file is s.jsonl; give it its name again`,
    ]);
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
    const warnings: string[] = [];
    const journal = jsonlJournal(folder, { warn: (message) => warnings.push(message) });
    journal.append("s", 0, sampleRecords(0, 2));
    for (const name of ["s copy.jsonl", "t.jsonl"]) copyFileSync(join(folder, "s.jsonl"), join(folder, name));
    expect(journal.list()).toMatchObject([{ id: "s", length: 2 }]);
    expect(warnings).toEqual([]);
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

import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { checkJournal, jsonlJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";
import { expect, test } from "vitest";

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

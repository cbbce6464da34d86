import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonlJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";
import { expect, test } from "vitest";

test("a group of any number of records is given back: the fork of a long session is one", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-large-"));
  try {
    const journal = jsonlJournal(folder);
    const many = 150_000;
    journal.append("s", 0, sampleRecords(0, many));
    expect(journal.read("s").length).toBe(many);
    expect(journal.read("s", many - 2)).toEqual(sampleRecords(many - 2, 2));
    journal.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

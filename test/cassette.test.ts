// A session's file, as the JSONL journal wrote it, is a cassette.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@rondo/core";
import { jsonlJournal } from "@rondo/journal";
import { replayTest, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

test("the file of a JSONL journal is played again as it is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-cassette-"));
  try {
    const journal = jsonlJournal(folder);
    await new Agent({ model: scripted([say("It snows.")]) }).run("How is Oslo?", { session: "s", journal });
    journal.close?.();
    expect((await replayTest({}, join(folder, "s.jsonl"))).text).toBe("It snows.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

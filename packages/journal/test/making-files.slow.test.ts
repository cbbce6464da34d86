import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { expect, it } from "vitest";
import { ended, start } from "./programs.ts";

it("three processes make, write and close five hundred files at once, and none is ever told that one is locked", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-journal-"));
  try {
    const programs = ["a", "b", "c"].map((me) => start("make-files", [folder, me, "500"]));
    const ends = programs.map((program) => ended(program));
    await Promise.all(programs.map((program) => once(program.stdout, "data")));
    for (const program of programs) program.stdin.write("go\n");
    for (const outcome of await Promise.all(ends)) expect(outcome).toMatchObject({ code: 0, stderr: "" });
    for (let i = 0; i < 500; i++) {
      const journal = sqliteJournal(join(folder, `${i}.db`));
      expect(journal.list()).toHaveLength(3);
      journal.close();
    }
    // Of two that close in one moment each may leave it to the other to clear up behind them: the next one does.
    expect(readdirSync(folder)).toHaveLength(500);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("three processes open journals in a thousand folders that none of them has made yet, and each finds them made", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-journal-"));
  try {
    const programs = ["a", "b", "c"].map((me) => start("make-folders", [folder, me]));
    const ends = programs.map((program) => ended(program));
    await Promise.all(programs.map((program) => once(program.stdout, "data")));
    for (const program of programs) program.stdin.write("go\n");
    for (const outcome of await Promise.all(ends)) expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(folder)).toHaveLength(1000);
    expect(readdirSync(join(folder, "999"))).toEqual(["a", "b", "c"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

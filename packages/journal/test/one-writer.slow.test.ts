// One writer among real processes: alive, frozen, killed.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { follow, type LogRecord } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { namedJournal } from "./named-journal.ts";
import { ended, type Program, start } from "./programs.ts";
import { refusal } from "./refusal.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-writers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program whose lines are pulled one by one. */
function talking(name: string, args: string[]): { program: Program; line(): Promise<string>; say(): void } {
  const program = start(name, args);
  onTestFinished(() => void program.kill("SIGKILL"));
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  let errors = "";
  program.stderr.on("data", (text) => {
    errors += String(text);
  });
  return {
    program,
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`it said no more: ${errors}`);
      return value;
    },
    say: () => void program.stdin.write("go\n"),
  };
}

const dead = (program: Program): Promise<void> =>
  new Promise((resolve) => {
    program.once("close", () => resolve());
    program.kill("SIGKILL");
  });

describe.each([
  ["SQLite", (place: string) => join(folder, `${place}.db`)],
  ["JSONL", (place: string) => `jsonl:${join(folder, place)}`],
])("two processes on one session (%s)", (_kind, place) => {
  it("while one holds it nobody else writes, and who it is is told by its process", async () => {
    const file = place("alive");
    const journal = namedJournal(file);
    const holder = talking("hold", [file]);
    expect(await holder.line()).toBe("held 1");
    holder.say();
    expect(await holder.line()).toBe("wrote 0");
    for (const attempt of [
      () => journal.append("s", 1, [sampleRecord(1)]),
      () => journal.lease("s", { owner: "me", ttlMs: 1_000 }),
    ]) {
      const error = refusal(attempt);
      expect(error.kind).toBe("conflict");
      expect(error.message).toContain(`held by worker (process ${holder.program.pid} on `);
    }
    holder.say();
    expect(await holder.line()).toBe("wrote 1");
    expect(journal.read("s")).toEqual([sampleRecord(0), sampleRecord(1)]);
    journal.close();
  });

  it("one that was killed is replaced at once, however long its lease", async () => {
    const file = place("killed");
    const holder = talking("hold", [file, "2000000000"]);
    expect(await holder.line()).toBe("held 1");
    await dead(holder.program);
    const journal = namedJournal(file);
    const { token } = journal.lease("s", { owner: "me", ttlMs: 1_000 });
    expect(token).toBe(2);
    journal.append("s", 0, [sampleRecord(0)], token);
    journal.close();
  });

  it("one that was frozen is replaced when its time has run out, and writes nothing when it wakes", async () => {
    const file = place("frozen");
    const holder = talking("hold", [file, "300"]);
    expect(await holder.line()).toBe("held 1");
    holder.program.kill("SIGSTOP");
    const journal = namedJournal(file);
    let token = 0;
    await expect
      .poll(
        () => {
          try {
            ({ token } = journal.lease("s", { owner: "the next one", ttlMs: 600_000 }));
          } catch {}
          return token;
        },
        { timeout: 30_000 },
      )
      .toBe(2);
    journal.append("s", 0, [sampleRecord(0, "mine")], token);
    holder.say();
    holder.program.kill("SIGCONT");
    expect(await holder.line()).toMatch(/^refused conflict .*taken over by the next one \(process \d+/);
    expect(journal.read("s")).toEqual([sampleRecord(0, "mine")]);
    journal.close();
  });

  it("a second agent is told who drives it, and reads along until the run has ended", async () => {
    const file = place("driven");
    const first = talking("drive", [file]);
    expect(await first.line()).toBe("driving");
    const second = talking("drive", [file]);
    expect(await second.line()).toMatch(
      new RegExp(`^refused conflict .*held by driver \\(process ${first.program.pid} on .*takeOver`),
    );
    const journal = namedJournal(file);
    const seen: LogRecord[] = [];
    for await (const record of follow(journal, "s")) {
      seen.push(record);
      // The reader is up with it: now it may go on.
      if (record.type === "tool_started") first.say();
      if (record.type === "run_ended") break;
    }
    expect(await first.line()).toBe("ended completed");
    expect(seen).toEqual(journal.read("s"));
    expect(seen.map((record) => record.seq)).toEqual(seen.map((_, i) => i));
    journal.close();
  });
});

it("what processes leave that are killed while they take a lease does not pile up", async () => {
  const place = join(folder, "leasing");
  for (let time = 0; time < 2; time += 1)
    expect(await ended(start("killed-leasing", [place]))).toMatchObject({ signal: "SIGKILL", stderr: "" });
  expect(readdirSync(place).filter((name) => name.endsWith(".tmp"))).toHaveLength(1);
  const journal = jsonlJournal(place);
  expect(journal.lease("s", { owner: "me", ttlMs: 1_000 }).token).toBe(1);
  journal.close();
  expect(readdirSync(place).sort()).toEqual(["lock", "s.lease"]);
});

/** The locks of a process on a file. */
function locksOn(file: string, pid: number | undefined): string[] {
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  return locks.filter((line) => line.includes(` ${pid} `) && line.includes(`:${statSync(file).ino} `));
}

describe("two threads of one process on one SQLite file", () => {
  it("keep its locks: another process cannot take the file for its own while they have it open", async () => {
    const file = join(folder, "threads.db");
    const holder = talking("hold-in-threads", [file]);
    expect(await holder.line()).toBe("open");
    // SQLite before 3.53 asks only for this lock; later versions also look at the one beside it. Only Linux lists them.
    if (process.platform === "linux") expect(locksOn(file, holder.program.pid)).not.toEqual([]);
    const other = new DatabaseSync(file);
    // Only who has the file alone may change this, and removes the files beside it.
    expect(() => other.exec("PRAGMA journal_mode = DELETE")).toThrow("database is locked");
    other.close();
    holder.say();
    expect(await holder.line()).toBe("has 2");
    const journal = sqliteJournal(file);
    expect(journal.read("s")).toHaveLength(2);
    journal.close();
  });
});

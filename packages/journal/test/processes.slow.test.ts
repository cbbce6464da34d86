import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { namedJournal } from "./named-journal.ts";
import { ended, type Program, programArgs, start } from "./programs.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-journal-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts one program for each list of arguments, lets all go at once, and waits for their ends. */
async function together(name: string, lists: string[][]): Promise<string[]> {
  const programs = lists.map((args) => start(name, args));
  const ends = programs.map((program) => ended(program));
  await Promise.all(programs.map((program) => once(program.stdout, "data")));
  for (const program of programs) program.stdin.write("go\n");
  const outcomes = await Promise.all(ends);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ code: 0, stderr: "" });
  return outcomes.map(({ stdout }) => stdout);
}

const kinds: [kind: string, name: (place: string) => string][] = [
  ["SQLite", (place) => `${place}.db`],
  ["JSONL", (place) => `jsonl:${place}`],
];
const rotating: (typeof kinds)[number] = ["JSONL in small files", (place) => `small-jsonl:${place}-small`];

describe("two processes on one file", () => {
  it.each(kinds)(
    "that append at the same place: exactly one wins, and its group stands whole (%s)",
    async (_, name) => {
      const file = name(join(folder, "race"));
      namedJournal(file).close();
      const rounds = 100;
      const won = await together("race", [
        [file, "left", String(rounds)],
        [file, "right", String(rounds)],
      ]);
      const [left = [], right = []] = won.map((stdout) =>
        stdout.split("\n").filter((line) => line.startsWith("won")),
      );
      expect(left.length + right.length).toBe(rounds);
      const journal = namedJournal(file);
      for (let round = 0; round < rounds; round++) {
        const winner = left.includes(`won ${round}`) ? "left" : "right";
        expect(journal.read(String(round))).toEqual(sampleRecords(0, 2, winner));
      }
      journal.close();
    },
  );

  it("may make it at the same moment", async () => {
    const place = join(folder, "new");
    const writers = ["a", "b", "c"];
    const files = 40;
    await together(
      "make-files",
      writers.map((me) => [place, me, String(files)]),
    );
    for (let i = 0; i < files; i++) {
      const journal = sqliteJournal(join(place, `${i}.db`));
      for (const me of writers) expect(journal.read(me)).toEqual([sampleRecord(0, me)]);
      journal.close();
    }
  });
});

describe("kill -9", () => {
  it.each([...kinds, rotating])(
    "at any moment loses no acknowledged group and leaves no half of one (%s)",
    async (_, name) => {
      const file = name(join(folder, "killed"));
      let acknowledged = -1;
      for (let round = 0; round < 6; round++) {
        const size = round % 2 === 0 ? 10 : 30_000;
        const program: Program = start("append-loop", [file, String(size)]);
        let lines = Math.floor(Math.random() * 60);
        const outcome = await ended(program, (line) => {
          acknowledged = Number(line);
          if (lines-- === 0) program.kill("SIGKILL");
        });
        expect(outcome).toMatchObject({ signal: "SIGKILL", stderr: "" });
        const journal = namedJournal(file);
        const records = journal.read("s");
        expect(records.length % 3).toBe(0);
        // At most the one group that was in flight has not been told of.
        expect(records.length - (acknowledged + 3)).toBeGreaterThanOrEqual(0);
        expect(records.map((record) => record.seq)).toEqual(records.map((_, seq) => seq));
        expect(journal.list()).toMatchObject([{ id: "s", length: records.length }]);
        journal.close();
      }
    },
  );
});

describe("a disk that fails", () => {
  it.for([...kinds, rotating])(
    "full: says so, keeps what was acknowledged, and goes on when there is room again (%s)",
    async ([kind, name], { skip }) => {
      const mount = join(folder, `mount-${kind.replaceAll(" ", "-")}`);
      const script = `mkdir -p "$1" && mount -t tmpfs -o size=1m none "$1" && head -c 300000 /dev/zero > "$1/ballast" && shift 1 && exec "$@"`;
      const can = spawnSync("unshare", ["-rm", "sh", "-c", script, "sh", mount, "true"]);
      if (can.status !== 0) return skip("this machine does not let a test mount a small disk");
      const args = programArgs("fill", [name(join(mount, "full")), join(mount, "ballast")]);
      const program = spawn("unshare", ["-rm", "sh", "-c", script, "sh", mount, process.execPath, ...args], {
        stdio: ["pipe", "pipe", "pipe"],
      });
      const { stdout, stderr } = await ended(program);
      expect(stderr).toBe("");
      const told = JSON.parse(stdout);
      expect(told.error).toMatchObject({
        kind: "storage",
        message: expect.stringContaining("the disk is full"),
      });
      expect(told.error.message).toContain(join(mount, "full"));
      expect(told.wentOn).toBe(true);
      expect(told.readable).toBeGreaterThan(0);
      expect(told.readable).toBe(told.acknowledged - 2);
    },
  );

  it.each(kinds)(
    "that refuses to write: names the file and keeps what was acknowledged (%s)",
    async (_, name) => {
      // A limit on the size of files stands in for the disk: the write itself fails, in the middle of a transaction.
      const file = name(join(folder, "limited"));
      const args = programArgs("fill", [file]);
      const script = `trap '' XFSZ; ulimit -f 400; exec "$@"`;
      const program = spawn("sh", ["-c", script, "sh", process.execPath, ...args], {
        stdio: ["pipe", "pipe", "pipe"],
      });
      const { stdout, stderr } = await ended(program);
      expect(stderr).toBe("");
      const told = JSON.parse(stdout);
      expect(told.error).toMatchObject({
        kind: "storage",
        message: expect.stringContaining("the disk failed"),
      });
      expect(told.error.message).toContain(file.replace("jsonl:", ""));
      expect(told.readable).toBe(told.acknowledged);
      const journal = namedJournal(file);
      expect(journal.read("s")).toEqual(sampleRecords(0, told.acknowledged, "x".repeat(10_000)));
      journal.append("s", told.acknowledged, sampleRecords(told.acknowledged, 1));
      journal.close();
    },
  );
});

describe("a file or folder without permission", () => {
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const modes: [name: string, file: number, folder: number][] = [
    ["an unreadable file", 0o000, 0o777],
    ["a read-only file", 0o444, 0o777],
    ["a read-only folder", 0o666, 0o555],
  ];
  for (const [name, fileMode, folderMode] of modes)
    it(`is refused by name: ${name}`, async () => {
      const place = mkdtempSync(join(tmpdir(), "rondo-locked-"));
      const file = join(place, "j.db");
      try {
        sqliteJournal(file).close();
        chmodSync(file, fileMode);
        chmodSync(place, folderMode);
        const { stdout } = await ended(start("open", [file], nobody));
        const told = JSON.parse(stdout);
        expect(told).toMatchObject({ kind: "invalid_request" });
        expect(told.message).toContain(file);
        expect(told.message).toContain("permission");
      } finally {
        chmodSync(place, 0o777);
        rmSync(place, { recursive: true, force: true });
      }
    });

  it("is refused by name: a folder in which a new file cannot be made", async () => {
    const place = mkdtempSync(join(tmpdir(), "rondo-locked-"));
    try {
      chmodSync(place, 0o555);
      for (const file of [join(place, "j.db"), join(place, "sub", "j.db")]) {
        const told = JSON.parse((await ended(start("open", [file], nobody))).stdout);
        expect(told).toMatchObject({ kind: "invalid_request" });
        expect(told.message).toContain(file);
      }
    } finally {
      chmodSync(place, 0o777);
      rmSync(place, { recursive: true, force: true });
    }
  });
});

it("opens without a word on stderr, whatever Node thinks of its SQLite", async () => {
  const { stdout, stderr } = await ended(start("open", [join(folder, "quiet.db")]));
  expect(JSON.parse(stdout)).toEqual({ opened: true });
  expect(stderr).toBe("");
});

/** A program under a limit of the shell's. */
const limited = (limit: string, name: string, args: readonly string[]): Program =>
  spawn("bash", ["-c", `ulimit ${limit}; exec "$@"`, "bash", process.execPath, ...programArgs(name, args)], {
    stdio: ["pipe", "pipe", "pipe"],
  });

it("a group is stored, and told so, where it just fits", async () => {
  // What limits a file's size limits every file: a page of a database has 4,096 bytes.
  const { stdout } = await ended(limited("-f 2", "open-jsonl", [join(folder, "narrow")]));
  expect(JSON.parse(stdout)).toEqual({ listed: [], read: 0, warnings: [] });
});

it("a process that has too many files open is told so, whichever of them was one too many", async () => {
  const args = [join(folder, "many.db"), join(folder, "many")];
  const { stdout } = await ended(limited("-n 200", "without-files", args));
  const told = { kind: "storage", message: expect.stringContaining("EMFILE: too many open files") };
  expect(JSON.parse(stdout)).toEqual([expect.objectContaining(told), expect.objectContaining(told)]);
});

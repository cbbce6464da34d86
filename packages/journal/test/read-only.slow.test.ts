// A SQLite journal that this process may read and not write: a file or a folder without leave to, an archive.

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteJournal } from "@rondo/journal";
import { sampleRecords } from "@rondo/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ended, start } from "./programs.ts";

const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let place: string;
let folder: string;
let file: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "rondo-read-only-"));
  chmodSync(place, 0o755);
  folder = join(place, "kept");
  mkdirSync(folder);
  file = join(folder, "j.db");
});
afterEach(() => {
  chmodSync(folder, 0o777);
  rmSync(place, { recursive: true, force: true });
});

/** An open journal with three records and a text. */
function made(): { journal: ReturnType<typeof sqliteJournal>; ref: string } {
  const journal = sqliteJournal(file);
  journal.append("s", 0, sampleRecords(0, 3));
  const put = journal.blobs.put("s", "a whole text", { callId: "call", tool: "tool", isError: false });
  return { journal, ref: "ref" in put ? put.ref : "" };
}

/** Nobody but its owner may write. */
function lock(fileMode: number, folderMode: number): void {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), fileMode);
  chmodSync(folder, folderMode);
}

const bytesOf = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );

const told = async (ref: string) => {
  const { stdout, stderr } = await ended(start("read-only", [file, ref], nobody));
  expect(stderr).toBe("");
  return JSON.parse(stdout);
};

const whole = {
  listed: ["s: 3"],
  read: 3,
  text: "a whole text",
  check: { sessions: 1, records: 3, findings: [] },
};

describe("a SQLite journal that cannot be written is read, checked and left as it is", () => {
  it.each([
    ["a file that can only be read", 0o444, 0o777],
    ["a folder that can only be read", 0o666, 0o555],
    ["a folder that can only be gone through", 0o444, 0o511],
  ])("%s", async (_what, fileMode, folderMode) => {
    const { journal, ref } = made();
    journal.close();
    lock(fileMode, folderMode);
    const before = bytesOf();
    expect(Object.keys(before)).toEqual(["j.db"]);
    const { refused, ...read } = await told(ref);
    expect(read).toEqual(whole);
    for (const [i, doing] of [
      "append to",
      "take a lease in",
      "keep a text in",
      "delete texts in",
    ].entries()) {
      expect(refused[i].kind).toBe("invalid_request");
      expect(refused[i].message).toContain(`cannot ${doing} the journal ${file}: `);
      expect(refused[i].message).toContain("permission denied");
    }
    expect(bytesOf()).toEqual(before);
  });

  it("but one that may not even be read is refused, and that is said of the file, whatever is wrong with its folder", async () => {
    made().journal.close();
    lock(0o600, 0o755);
    const { stderr } = await ended(start("read-only", [file], nobody));
    expect(stderr).toContain(`cannot open the journal ${file}: it cannot be read (EACCES: permission denied`);
    expect(stderr).toContain("change its permissions");
  });

  it("while its owner has it open, with what stands in the log alone", async () => {
    const { journal, ref } = made();
    lock(0o444, 0o555);
    expect(await told(ref)).toMatchObject(whole);
    journal.close();
  });

  it("after its owner was killed, with what stands in the log alone", async () => {
    const { journal, ref } = made();
    for (const ending of ["", "-wal", "-shm"]) copyFileSync(file + ending, `${file}.copy${ending}`);
    journal.close();
    for (const ending of ["", "-wal", "-shm"]) copyFileSync(`${file}.copy${ending}`, file + ending);
    lock(0o444, 0o555);
    expect(await told(ref)).toMatchObject(whole);
  });

  it("and whoever follows it hears what its owner writes", async () => {
    made().journal.close();
    lock(0o644, 0o555);
    const following = start("read-only-follow", [file, "4"], nobody);
    const { stdout, stderr } = await ended(following, (line) => {
      if (line !== "read 3") return;
      chmodSync(folder, 0o755);
      const journal = sqliteJournal(file);
      journal.append("s", 3, sampleRecords(3, 1));
      journal.close();
    });
    expect(stderr).toBe("");
    expect(stdout).toBe("read 3\nread 4\n");
  });
});

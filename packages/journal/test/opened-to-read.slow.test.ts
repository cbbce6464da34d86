// A journal that is opened to be read only: nothing is made or changed, on any disk.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, tool } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { call, sampleRecords, say, scripted } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, programArgs, start } from "./programs.ts";
import { refusal } from "./refusal.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-to-read-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const origin = { callId: "c", tool: "t", isError: false };
const kinds = [
  ["SQLite", "j.db", sqliteJournal],
  ["JSONL", "j", jsonlJournal],
] as const;

describe.each(kinds)("a journal that is opened to be read only (%s)", (_, name, open) => {
  it("is read, listed and watched while others write it, and refuses to be written", async () => {
    const place = join(folder, "read", name);
    const writer = open(place);
    writer.append("s", 0, sampleRecords(0, 2));
    const put = await writer.blobs.put("s", "a text", origin);
    const journal = open(place, { readOnly: true });
    expect(journal.read("s")).toEqual(sampleRecords(0, 2));
    const { promise: heard, resolve } = Promise.withResolvers<void>();
    const stop = journal.watch("s", resolve);
    writer.append("s", 2, sampleRecords(2, 1));
    await heard;
    stop();
    expect([journal.read("s", 2), journal.list().length]).toEqual([sampleRecords(2, 1), 1]);
    expect(await journal.blobs.get("s", put.ok ? put.ref : "")).toBe("a text");
    for (const attempt of [
      () => journal.append("s", 3, sampleRecords(3, 1)),
      () => journal.lease("s", { owner: "me", ttlMs: 1_000 }),
      () => journal.delete("s"),
    ])
      expect(refusal(attempt)).toMatchObject({
        kind: "invalid_request",
        message: expect.stringContaining("opened to be read only"),
      });
    await expect((async () => journal.blobs.put("s", "more", origin))()).rejects.toThrow(
      "opened to be read only",
    );
    await expect((async () => journal.blobs.delete("s"))()).rejects.toThrow("opened to be read only");
    journal.close();
    expect(refusal(() => journal.list()).message).toContain("is closed");
    writer.close();
  });

  it("opens a session whose run is over, and says how one with an open run is read", async () => {
    const place = join(folder, "sessions", name);
    const writer = open(place);
    const model = scripted([say("It is done."), call("ask"), call("ask")]);
    const ask = tool({
      name: "ask",
      description: "Asks",
      inputSchema: {},
      permission: "ask",
      execute: () => "yes",
    });
    const agent = new Agent({ model, tools: [ask], journal: writer });
    await agent.run("work", { session: "over" });
    await agent.run("work", { session: "parked" });
    const journal = open(place, { readOnly: true });
    const reader = new Agent({ model, tools: [ask], journal });
    expect((await reader.open("over")).result?.text).toBe("It is done.");
    await expect(reader.open("parked")).rejects.toMatchObject({
      kind: "invalid_request",
      message: expect.stringMatching(
        /opened to be read only.*; read\(\) or follow\(\) the records of a session with an open run$/,
      ),
    });
    journal.close();
    writer.close();
  });

  it("must be there, and nothing is made where it is not", () => {
    const place = join(folder, "none", name);
    expect(refusal(() => open(place, { readOnly: true }))).toMatchObject({
      kind: "invalid_request",
      message: expect.stringContaining(place),
    });
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  it("is left as it is, and leaves nothing beside it", () => {
    const place = join(folder, "beside", name);
    open(place).close();
    const before = readdirSync(join(folder, "beside"), { recursive: true });
    const journal = open(place, { readOnly: true });
    expect([journal.list(), journal.read("s")]).toEqual([[], []]);
    expect(readdirSync(join(folder, "beside"), { recursive: true })).toEqual(before);
    journal.close();
  });

  it("is read on a disk that is full, also where its writer was killed", ({ skip }) => {
    const mount = join(folder, `mount-${name}`);
    const script = 'mkdir -p "$1" && mount -t tmpfs -o size=1m none "$1" || exit 3; shift; exec "$@"';
    const program = programArgs("full-disk", [join(mount, name)]);
    const done = spawnSync(
      "unshare",
      ["-rm", "sh", "-c", script, "sh", mount, process.execPath, ...program],
      {
        encoding: "utf8",
      },
    );
    if (done.status === 3 || done.error !== undefined || /unshare/.test(done.stderr))
      return skip("this machine does not let a test mount a small disk");
    expect(done.stderr).toBe("");
    expect(JSON.parse(done.stdout)).toEqual({ killed: 3, closed: 3 });
  });
});

describe("a SQLite file that one process has open twice, once to write and once to read", () => {
  it("keeps its log when another process closes it", async () => {
    const file = join(folder, "twice.db");
    const writer = sqliteJournal(file);
    const reader = sqliteJournal(file, { readOnly: true });
    expect(reader.read("mine")).toEqual([]);
    writer.append("mine", 0, sampleRecords(0, 1));
    expect(reader.read("mine")).toHaveLength(1);
    // The log is empty now, as it is after each checkpoint.
    writer.delete("mine");
    expect(reader.read("mine")).toEqual([]);
    await ended(start("open", [file]));
    writer.append("mine", 0, sampleRecords(0, 2));
    expect(reader.read("mine")).toHaveLength(2);
    reader.close();
    writer.close();
  });

  it("holds nothing yet where it is empty", () => {
    const file = join(folder, "empty.db");
    writeFileSync(file, "");
    const journal = sqliteJournal(file, { readOnly: true });
    expect([journal.list(), journal.read("s")]).toEqual([[], []]);
    journal.close();
    expect(refusal(() => sqliteJournal(":memory:", { readOnly: true })).message).toContain("needs a file");
  });
});

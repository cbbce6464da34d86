import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { follow, type LogRecord } from "@rondo/core";
import { checkJournal, jsonlJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cutRotation, rotateBytes, watchedRotation } from "./cut-rotation.ts";
import { ended, start } from "./programs.ts";
import { refusal } from "./refusal.ts";
import { filesOf, watchCalls } from "./rotation-states.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-rotation-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const files = (): string[] => readdirSync(folder).filter((name) => name !== "lock");

/** Appends groups of one record each. */
function fill(count: number, rotateBytes: number | null): LogRecord[] {
  const journal = jsonlJournal(folder, { rotateBytes });
  for (let seq = 0; seq < count; seq += 1) journal.append("s", seq, [sampleRecord(seq)]);
  journal.close();
  return Array.from({ length: count }, (_, seq) => sampleRecord(seq));
}

describe("a session that grows", () => {
  it("has files of about rotateBytes, each sealed but the newest, that other tools can read", () => {
    const all = fill(20, 1_000);
    const names = [...Array(files().length).keys()].map((i) => (i === 0 ? "s.jsonl" : `s.${i + 1}.jsonl`));
    expect(files()).toEqual([...names].sort());
    expect(names.length).toBeGreaterThan(3);
    const told: unknown[] = [];
    for (const [i, name] of names.entries()) {
      const text = readFileSync(join(folder, name), "utf8");
      expect(text.length).toBeLessThan(1_100);
      const lines = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(lines[0]).toMatchObject({
        rondo: "session",
        id: "s",
        ...(i > 0 && { segment: i + 1, seq: told.length }),
      });
      told.push(...lines.flatMap(({ records = [] }) => records));
      const sealed = i < names.length - 1;
      expect(lines.map(({ next }) => next).filter(Boolean)).toEqual(sealed ? [i + 2] : []);
      if (sealed) expect(lines.at(-1)).toMatchObject({ seq: told.length, next: i + 2 });
    }
    expect(told).toEqual(all);
    const journal = jsonlJournal(folder);
    for (let from = 0; from <= 21; from += 1) expect(journal.read("s", from)).toEqual(all.slice(from));
    expect(journal.list()).toEqual([{ id: "s", length: 20, createdAt: 1_000, updatedAt: 1_019 }]);
    journal.close();
    expect(checkJournal(folder)).toMatchObject({ findings: [], records: 20, sessions: 1 });
    // One file of a session stands for all of them.
    expect(checkJournal(join(folder, "s.2.jsonl"))).toMatchObject({ findings: [], records: 20, sessions: 1 });
  });

  it("stays in one file when it may grow for ever, and by default for long", () => {
    fill(20, null);
    expect(files()).toEqual(["s.jsonl"]);
    const journal = jsonlJournal(folder);
    journal.append("s", 20, [sampleRecord(20, "x".repeat(1_000_000))]);
    journal.close();
    expect(files()).toEqual(["s.jsonl"]);
    for (const rotateBytes of [0, -1, 1.5, Number.NaN])
      expect(refusal(() => jsonlJournal(folder, { rotateBytes })).message).toContain(
        "option rotateBytes: a whole",
      );
  });

  it("is bounded as a whole, and a group larger than a file has one of its own", () => {
    const journal = jsonlJournal(folder, { rotateBytes: 500, maxSessionBytes: 5_000 });
    journal.append("s", 0, [sampleRecord(0, "x".repeat(2_000))]);
    journal.append("s", 1, [sampleRecord(1, "y".repeat(2_000))]);
    expect(files()).toEqual(["s.2.jsonl", "s.jsonl"]);
    expect(refusal(() => journal.append("s", 2, [sampleRecord(2, "z".repeat(1_000))])).kind).toBe(
      "payload_too_large",
    );
    expect(files()).toEqual(["s.2.jsonl", "s.jsonl"]);
    journal.close();
  });

  it("is not rotated by who loses, or was fenced off", () => {
    fill(3, null);
    const journal = jsonlJournal(folder, { rotateBytes: 1 });
    expect(refusal(() => journal.append("s", 2, [sampleRecord(2)])).kind).toBe("conflict");
    const { token } = journal.lease("s", { owner: "one", ttlMs: 60_000 });
    journal.lease("s", { owner: "two", ttlMs: 60_000, takeOver: true });
    expect(refusal(() => journal.append("s", 3, [sampleRecord(3)], token)).kind).toBe("conflict");
    expect(files()).toEqual(["s.jsonl", "s.lease"]);
    journal.close();
  });

  it("may be written by two in turns, whichever of them rotates", () => {
    const [one, other] = [
      jsonlJournal(folder, { rotateBytes: 400 }),
      jsonlJournal(folder, { rotateBytes: 900 }),
    ];
    for (let seq = 0; seq < 30; seq += 1) (seq % 3 === 0 ? one : other).append("s", seq, [sampleRecord(seq)]);
    const all = Array.from({ length: 30 }, (_, seq) => sampleRecord(seq));
    expect(one.read("s")).toEqual(all);
    expect(other.read("s")).toEqual(all);
    expect(refusal(() => one.append("s", 29, [sampleRecord(29)])).kind).toBe("conflict");
    one.close();
    other.close();
    expect(checkJournal(folder)).toMatchObject({ findings: [], records: 30 });
  });
});

describe("a rotation", () => {
  it("makes each step last before the next: the file to come, the seal, its name, the group", () => {
    const { calls } = watchedRotation(join(folder, "watched"));
    expect(calls).toEqual([
      "make s.2.jsonl.tmp",
      "write s.2.jsonl.tmp",
      "sync s.2.jsonl.tmp",
      "sync folder",
      "write s.jsonl",
      "sync s.jsonl",
      "rename s.2.jsonl.tmp to s.2.jsonl",
      "sync folder",
      "write s.2.jsonl",
      "sync s.2.jsonl",
    ]);
  });

  it("that was cut off anywhere loses nothing, repeats nothing, and is gone on with", () => {
    // Every byte is cut at in the slow tests.
    expect([...cutRotation(folder, 41)].sort()).toEqual([
      "s.jsonl at a line",
      "s.jsonl at a line, s.2.jsonl.tmp",
      "s.jsonl at a line, s.2.jsonl.tmp torn",
      "s.jsonl torn, s.2.jsonl.tmp",
      "s.jsonl, s.2.jsonl",
      "s.jsonl, s.2.jsonl at a line",
      "s.jsonl, s.2.jsonl torn",
      "s.jsonl, s.2.jsonl.tmp",
      "s.jsonl, s.2.jsonl.tmp torn, s.2.jsonl",
    ]);
  });

  it("in which the disk fails, at whichever call, is refused, and done when there is room again", () => {
    const { calls } = watchedRotation(join(folder, "whole"));
    for (const failing of calls.keys()) {
      const place = join(folder, `failing-${failing}`);
      const journal = jsonlJournal(place, { rotateBytes });
      journal.append("s", 0, sampleRecords(0, 3, "x".repeat(100)));
      const error = refusal(() =>
        watchCalls(place, () => journal.append("s", 3, sampleRecords(3, 2)), failing),
      );
      expect(error).toMatchObject({ kind: "storage", message: expect.stringContaining("the disk is full") });
      const others = jsonlJournal(place);
      expect(others.read("s")).toEqual(sampleRecords(0, 3, "x".repeat(100)));
      journal.append("s", 3, sampleRecords(3, 2));
      for (const one of [journal, others])
        expect(one.read("s")).toEqual([...sampleRecords(0, 3, "x".repeat(100)), ...sampleRecords(3, 2)]);
      journal.close();
      others.close();
      expect(checkJournal(place)).toMatchObject({ findings: [], records: 5 });
      expect(filesOf(place).size).toBe(2);
    }
  });

  it("is followed: each record comes once, in order, from another process that is killed and starts again", async () => {
    const journal = jsonlJournal(folder);
    const following = follow(journal, "s");
    let seen = 0;
    for (let life = 0; life < 2; life += 1) {
      const writer = start("append-loop", [`small-jsonl:${folder}`, "100"]);
      const over = ended(writer);
      const until = seen + 60;
      while (seen < until) {
        const { value } = await following.next();
        expect(value).toEqual(sampleRecord(seen, "x".repeat(100)));
        seen += 1;
      }
      writer.kill("SIGKILL");
      expect(await over).toMatchObject({ signal: "SIGKILL", stderr: "" });
    }
    await following.return?.();
    journal.close();
    expect(files().length).toBeGreaterThan(10);
    expect(checkJournal(folder, { repair: true }).findings.filter(({ what }) => what === "damage")).toEqual(
      [],
    );
  });
});

describe("files of a session that are damaged", () => {
  const tries: [name: string, harm: () => void, file: string, why: RegExp][] = [
    ["a middle one is missing", () => rmSync(join(folder, "s.2.jsonl")), "s.2.jsonl", /missing/],
    ["the first is missing", () => rmSync(join(folder, "s.jsonl")), "s.jsonl", /missing/],
    ["the newest is missing", () => rmSync(join(folder, "s.4.jsonl")), "s.4.jsonl", /missing/],
    [
      "one stands in another's place",
      () => renameSync(join(folder, "s.3.jsonl"), join(folder, "s.2.jsonl")),
      "s.2.jsonl",
      /begins with record \d+, and \d+ is due/,
    ],
    [
      "one has lost its seal",
      () => {
        const text = readFileSync(join(folder, "s.2.jsonl"));
        truncateSync(join(folder, "s.2.jsonl"), text.lastIndexOf(10, text.length - 2) + 1);
      },
      "s.2.jsonl",
      /ends without its seal/,
    ],
    [
      "one was cut that is not the newest",
      () => truncateSync(join(folder, "s.jsonl"), readFileSync(join(folder, "s.jsonl")).length - 3),
      "s.jsonl",
      /ends without its seal/,
    ],
    [
      "something stands behind a seal",
      () => writeFileSync(join(folder, "s.jsonl"), "{}", { flag: "a" }),
      "s.jsonl",
      /behind the seal/,
    ],
    [
      "the newest was emptied",
      () => truncateSync(join(folder, "s.4.jsonl"), 0),
      "s.4.jsonl",
      /head of its file/,
    ],
  ];

  it.each(tries)("are named, and changed by nobody: %s", (_, harm, file, why) => {
    const all = fill(12, 750);
    expect(files()).toEqual(["s.2.jsonl", "s.3.jsonl", "s.4.jsonl", "s.jsonl"]);
    harm();
    const left = (): [string, string][] =>
      files().map((name) => [name, readFileSync(join(folder, name), "utf8")]);
    const before = left();
    const journal = jsonlJournal(folder, { rotateBytes: 1 });
    for (const attempt of [
      () => journal.read("s"),
      () => journal.append("s", all.length, [sampleRecord(12)]),
    ]) {
      const error = refusal(attempt);
      expect(error.kind).toBe("storage");
      expect(error.message).toContain(join(folder, file));
      expect(error.message).toMatch(why);
    }
    const { findings, sessions } = checkJournal(folder, { repair: true });
    expect(findings).toMatchObject([{ what: "damage", repaired: false }]);
    expect(findings[0]?.message).toMatch(new RegExp(`^${file}: `));
    expect(findings[0]?.message).toMatch(why);
    expect(sessions).toBe(0);
    expect(left()).toEqual(before);
    journal.close();
  });

  it("are seen by who has them open already", () => {
    fill(12, 750);
    const journal = jsonlJournal(folder);
    expect(journal.read("s")).toHaveLength(12);
    rmSync(join(folder, "s.2.jsonl"));
    expect(refusal(() => journal.read("s")).message).toMatch(/s\.2\.jsonl is missing/);
    for (const name of files().filter((one) => one.startsWith("s."))) rmSync(join(folder, name));
    expect(journal.read("s")).toEqual([]);
    journal.append("s", 0, sampleRecords(0, 2));
    expect(journal.read("s")).toHaveLength(2);
    journal.close();
  });
});

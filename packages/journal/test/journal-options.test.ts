// A journal that cannot be opened as it is asked for says so at once, by the option's or the place's own name.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { memoryBlobs, memoryJournal } from "@rondo/core";
import { afterAll, describe, expect, test } from "vitest";
import { checkJournal, fileBlobs, jsonlJournal, sqliteJournal } from "../src/index.ts";
import { refusal } from "./refusal.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-options-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Opens = (place: unknown, options?: unknown) => unknown;
const jsonl = jsonlJournal as Opens;
const sqlite = sqliteJournal as Opens;
const blobs = fileBlobs as Opens;
const check = checkJournal as Opens;

describe("the place of a journal", () => {
  test("in a folder where nothing can be made is refused, and not asked for again and again", ({ skip }) => {
    if (!existsSync("/proc/self")) skip("there is no /proc");
    // In a process of its own: what never returns could not be stopped here.
    const index = new URL("../src/index.ts", import.meta.url).href;
    const open = `const { fileBlobs, jsonlJournal, sqliteJournal } = await import(${JSON.stringify(index)});
      const keep = () => fileBlobs("/proc/none").put("s", "a text");
      for (const open of [() => jsonlJournal("/proc/none"), () => sqliteJournal("/proc/none/a.db"), keep])
        try { await open(); } catch (thrown) { console.log(thrown.message); }`;
    const args = ["--conditions=rondo-source", "--input-type=module", "-e", open];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 20_000 });
    expect(stdout.trim().split("\n")).toEqual([
      expect.stringMatching(/^cannot open the journal \/proc\/none: ENOENT/),
      expect.stringMatching(/^cannot open the journal \/proc\/none\/a.db: ENOENT/),
      expect.stringMatching(/^cannot keep a text in \/proc\/none: ENOENT/),
    ]);
  });

  test("is made with the folders above it", () => {
    const deep = join(folder, "a", "b", "c");
    jsonlJournal(deep).close();
    sqliteJournal(join(folder, "d", "e", "f.db")).close();
    expect([existsSync(deep), existsSync(join(folder, "d", "e", "f.db"))]).toEqual([true, true]);
  });

  test.each([
    [jsonl, "a JSONL journal needs the path of a folder"],
    [sqlite, "a SQLite journal needs the path of a file"],
    [blobs, "a store of texts needs the path of a folder"],
    [check, "a check needs the path of a file or folder"],
  ] as const)("is a path or a file: URL (%#)", (opens, says) => {
    for (const [given, not] of [
      ["", "an empty text"],
      [undefined, "a value of type undefined"],
      [null, "null"],
      [5, "a value of type number"],
      [new URL("https://example.org/j"), "https://example.org/j"],
    ] as const) {
      const { kind, message } = refusal(() => opens(given));
      expect(kind).toBe("invalid_request");
      expect(message).toContain(`${says}, or a file: URL, not ${not}`);
    }
  });

  test("may be told as a URL wherever it may be told as a path", () => {
    const file = pathToFileURL(join(folder, "by url.db"));
    sqliteJournal(file).close();
    jsonlJournal(pathToFileURL(join(folder, "by url"))).close();
    expect(check(file)).toMatchObject({ kind: "sqlite", path: join(folder, "by url.db") });
    expect(check(pathToFileURL(join(folder, "by url")))).toMatchObject({ kind: "jsonl" });
  });
});

describe("the options of a journal", () => {
  const place = join(folder, "never made");

  test.each<[string, Opens, unknown, string]>([
    ["jsonl", jsonl, { rotate: 5 }, "option rotate: there is no such option; did you mean rotateBytes?"],
    [
      "jsonl",
      jsonl,
      { rotateBytes: "64M" },
      'option rotateBytes: a whole number above 0 is needed, not "64M"',
    ],
    ["jsonl", jsonl, { busyTimeoutMs: -1 }, "option busyTimeoutMs: a whole number of milliseconds"],
    ["jsonl", jsonl, { warn: true }, "option warn: a function is needed, not true"],
    ["jsonl", jsonl, 5, "options: an object is needed, not 5"],
    ["sqlite", sqlite, { busyTimeout: 5 }, "there is no such option; did you mean busyTimeoutMs?"],
    ["sqlite", sqlite, { busyTimeoutMs: 2 ** 31 }, "not 2147483648"],
    ["sqlite", sqlite, { now: 5 }, "option now: a function is needed, not 5"],
    ["sqlite", sqlite, { maxSessionBytes: "4G" }, "option maxSessionBytes: a number above 0 is needed"],
    ["sqlite", sqlite, { blobs: { blobBytes: "1M" } }, "option blobs.blobBytes: a number of at least 0"],
    ["blobs", blobs, { bytes: 5 }, "a store of texts: option bytes: there is no such option"],
    ["check", check, { repair: "yes" }, 'option repair: true or false is needed, not "yes"'],
    ["check", check, { busyTimeoutMs: 1.5 }, "option busyTimeoutMs: a whole number of milliseconds"],
  ])("%s: what cannot be used is refused, and nothing is made (%#)", (_of, opens, given, says) => {
    const { kind, message } = refusal(() => opens(place, given));
    expect(kind).toBe("invalid_request");
    expect(message).toContain(says);
    expect(refusal(() => check(place)).message).toContain("there is no journal");
  });

  test("in memory are looked at as well", () => {
    expect(refusal(() => (memoryJournal as Opens)({ lease: true })).message).toContain(
      "did you mean leases?",
    );
    expect(refusal(() => (memoryBlobs as Opens)({ sessionBytes: Number.NaN })).message).toContain(
      "a store of texts: option sessionBytes: a number of at least 0 is needed, not NaN",
    );
  });
});

// Every store of whole texts passes the same suite, and survives what files and processes do.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type BlobStore, blobRef, memoryBlobs, textOf, tool } from "@rondo/core";
import { checkJournal, fileBlobs, jsonlJournal, sqliteJournal } from "@rondo/journal";
import { type BlobStoreUnderTest, call, sampleRecords, say, scripted, testBlobs } from "@rondo/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { ended, start } from "./programs.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-blobs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const origin = { callId: "call_1", tool: "shell", isError: false };

const subjects: BlobStoreUnderTest[] = [
  { name: "memory", open: (_place, limits) => memoryBlobs(limits) },
  {
    name: "SQLite",
    durable: true,
    open: (place, limits) =>
      sqliteJournal(join(folder, `${place}.db`), limits === undefined ? {} : { blobs: limits }).blobs,
  },
  { name: "files", durable: true, open: (place, limits) => fileBlobs(join(folder, place), limits) },
  {
    name: "JSONL",
    durable: true,
    open: (place, limits) =>
      jsonlJournal(join(folder, `${place}.jsonl`), limits === undefined ? {} : { blobs: limits }).blobs,
  },
];

for (const subject of subjects)
  describe(`the blob suite over ${subject.name}`, () => {
    for (const { name, run } of testBlobs(subject)) it(name, run);
  });

describe("the suite itself", () => {
  const put = async (good: BlobStore, session: string, text: string) => good.put(session, text, origin);
  /** A store with one fault. The suite must see it, or it proves nothing. */
  const faulty: Record<string, (good: BlobStore) => Partial<BlobStore>> = {
    "mixes sessions up": (good) => ({
      put: (_session, text) => good.put("all", text, origin),
      get: (_session, ref) => good.get("all", ref),
    }),
    "makes CR LF LF": (good) => ({
      put: (session, text) => good.put(session, text.replaceAll("\r", ""), origin),
    }),
    "deletes nothing": () => ({ delete: () => {} }),
    "names by call": (good) => ({
      put: async (session, text, { callId }) =>
        ({ ...(await put(good, session, text)), ref: callId }) as never,
    }),
    "counts characters for bytes": (good) => ({
      put: async (session, text) => ({ ...(await put(good, session, text)), bytes: text.length }) as never,
    }),
  };
  for (const [fault, break_] of Object.entries(faulty))
    it(`fails a store that ${fault}`, async () => {
      const open: BlobStoreUnderTest["open"] = (_place, limits) => {
        const good = memoryBlobs(limits);
        return { ...good, ...break_(good) };
      };
      const outcomes = await Promise.allSettled(testBlobs({ name: fault, open }).map(({ run }) => run()));
      expect(outcomes.some((outcome) => outcome.status === "rejected")).toBe(true);
    });
});

describe("texts in files", () => {
  it("are plain text files that appear whole, and a damaged one is said to be", async () => {
    const root = join(folder, "plain");
    const store = fileBlobs(root);
    const put = await store.put("ticket/42", "hello\n", origin);
    const home = join(root, readdirSync(root)[0] ?? "");
    const names = readdirSync(home);
    expect(names).toEqual([`${put.ok && put.ref}.txt`]);
    expect(readFileSync(join(home, names[0] ?? ""), "utf8")).toBe("hello\n");
    writeFileSync(join(home, names[0] ?? ""), "other");
    await expect(store.get("ticket/42", put.ok ? put.ref : "")).rejects.toMatchObject({
      kind: "storage",
      message: expect.stringContaining("damaged"),
    });
    expect(await store.put("ticket/42", "hello\n", origin)).toMatchObject({ ok: false });
  });

  it("beside a JSONL journal are looked at by its check, of one session or of all", async () => {
    const root = join(folder, "checked");
    const journal = jsonlJournal(root);
    for (const session of ["a", "b"]) {
      journal.append(session, 0, sampleRecords(0, 1));
      await journal.blobs.put(session, "hello\n", origin);
      await journal.blobs.put(session, "more\n", origin);
    }
    journal.close();
    expect(checkJournal(root)).toMatchObject({ findings: [], sessions: 2 });
    const ref = blobRef("more\n");
    const homes = readdirSync(join(root, "texts"));
    const places = homes.map((home) => join(root, "texts", home, `${ref}.txt`));
    for (const place of places) writeFileSync(place, "mor\n");
    const wrong = {
      what: "damage",
      repaired: false,
      message: expect.stringMatching(new RegExp(`^texts/\\w+/${ref}\\.txt: .*restore a copy`)),
    };
    const { findings, sessions } = checkJournal(root, { repair: true });
    expect(findings).toEqual(
      [wrong, wrong].map((one) => ({ ...one, session: expect.stringMatching(/^[ab]$/) })),
    );
    expect(sessions).toBe(2);
    expect(checkJournal(join(root, "b.jsonl")).findings).toEqual([{ ...wrong, session: "b" }]);
    // Whoever lets go of texts damages nothing.
    for (const place of places) rmSync(place);
    expect(checkJournal(root).findings).toEqual([]);
  });

  it("say which folder cannot be written", async () => {
    const inTheWay = join(folder, "in-the-way");
    writeFileSync(inTheWay, "a file");
    await expect(fileBlobs(inTheWay).put("a", "text", origin)).rejects.toMatchObject({
      kind: "storage",
      message: expect.stringMatching(/cannot keep a text in .*in-the-way/),
    });
  });
});

describe("what a killed process had begun to write", () => {
  /** A folder in which a process was killed while it kept a text of session `s`, and what lies there. */
  const killedIn = async (name: string, text: string) => {
    const root = join(folder, name);
    const { signal } = await ended(start("killed-keeping", [root, text]));
    expect(signal).toBe("SIGKILL");
    const home = join(root, readdirSync(root)[0] ?? "");
    const [part = ""] = readdirSync(home);
    expect(part).toMatch(/\.part$/);
    return { root, home, part };
  };
  const text = "x".repeat(60);

  it("counts no longer against the session's bound, and is gone with the next text", async () => {
    const { root, home } = await killedIn("killed", text);
    const put = await fileBlobs(root, { sessionBytes: 100 }).put("s", "y".repeat(60), origin);
    expect(put).toMatchObject({ ok: true });
    expect(readdirSync(home)).toEqual([`${put.ok && put.ref}.txt`]);
  });

  it("counts and stays while nothing is known of who writes it, and goes when it has long lain there", async () => {
    const { root, home, part } = await killedIn("elsewhere", text);
    const foreign = join(home, "out_x.txt.0b5c7d1e-8a52-4b8e-9f44-1f0f3c0f7a11.part");
    renameSync(join(home, part), foreign);
    const store = fileBlobs(root, { sessionBytes: 100 });
    expect(await store.put("s", "y".repeat(60), origin)).toMatchObject({ ok: false });
    expect(readdirSync(home)).toHaveLength(1);
    const before = Date.now() / 1_000 - 2 * 3_600;
    utimesSync(foreign, before, before);
    const put = await store.put("s", "y".repeat(60), origin);
    expect(readdirSync(home)).toEqual([`${put.ok && put.ref}.txt`]);
  });

  it("is written once more by who was taken for gone and is not", async () => {
    const root = join(folder, "halted");
    const { rename } = files;
    // In the meantime another process has cleared it away.
    files.rename = async (from, to) => {
      files.rename = rename;
      syncBuiltinESMExports();
      rmSync(from);
      await rename(from, to);
    };
    syncBuiltinESMExports();
    const put = await fileBlobs(root).put("s", text, origin);
    expect(put).toMatchObject({ ok: true });
    expect(await fileBlobs(root).get("s", put.ok ? put.ref : "")).toBe(text);
  });
});

describe("texts in SQLite", () => {
  it("are refused once the journal is closed, and a journal without any has no table for them", () => {
    const file = join(folder, "closed.db");
    const journal = sqliteJournal(file);
    expect(readFileSync(file).includes("CREATE TABLE blobs")).toBe(false);
    void journal.blobs.put("a", "text", origin);
    journal.close();
    expect(() => journal.blobs.get("a", "out_x")).toThrow(/closed/);
    const again = sqliteJournal(file);
    expect(readFileSync(file).includes("CREATE TABLE blobs")).toBe(true);
    again.close();
  });
});

describe("texts beside a JSONL journal", () => {
  it("are in a folder of its own folder, which is made with the first, and are refused once it is closed", async () => {
    const place = join(folder, "closed-jsonl");
    const journal = jsonlJournal(place);
    journal.append("a", 0, sampleRecords(0, 1));
    const before = readdirSync(place);
    const put = await journal.blobs.put("a", "text", origin);
    expect(readdirSync(place).filter((name) => !before.includes(name))).toEqual(["texts"]);
    expect([journal.list().length, checkJournal(place).findings]).toEqual([1, []]);
    journal.close();
    const ref = put.ok ? put.ref : "";
    for (const refused of [
      () => journal.blobs.get("a", ref),
      () => journal.blobs.put("a", "other", origin),
      () => journal.blobs.delete("a"),
    ])
      await expect((async () => refused())()).rejects.toMatchObject({
        kind: "invalid_request",
        message: expect.stringMatching(/closed/),
      });
    expect(await fileBlobs(join(place, "texts")).get("a", ref)).toBe("text");
  });

  it("do not make the journal's folder again where it was taken away: what is appended must go nowhere else", async () => {
    const place = join(folder, "taken-jsonl");
    const journal = jsonlJournal(place);
    journal.append("a", 0, sampleRecords(0, 1));
    rmSync(place, { recursive: true });
    await expect(journal.blobs.put("a", "text", origin)).rejects.toMatchObject({
      kind: "storage",
      message: expect.stringContaining(`'${place}'`),
    });
    expect(existsSync(place)).toBe(false);
    expect(() => journal.append("a", 1, sampleRecords(1, 1))).toThrow(/its lock cannot be had/);
    journal.close();
  });
});

describe("several processes", () => {
  it.each(["sqlite", "files"])("keep texts in one place at once (%s)", async (kind) => {
    const place = join(folder, `shared-${kind}`);
    const workers = ["0", "1", "2"].map((worker) => ended(start("keep-texts", [kind, place, worker])));
    const refs = (await Promise.all(workers)).flatMap(({ code, stdout, stderr }) => {
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout) as [string, string][];
    });
    const store: BlobStore = kind === "sqlite" ? sqliteJournal(place).blobs : fileBlobs(place);
    expect(refs).toHaveLength(60);
    for (const [ref, text] of refs) expect(await store.get("shared", ref)).toBe(text);
  });
});

describe("a session in a journal that lasts", () => {
  it.each([
    ["SQLite", sqliteJournal],
    ["JSONL", jsonlJournal],
  ])(
    "reads in another process's place what an earlier one cut, and so does its fork (%s)",
    async (name, open) => {
      const place = join(folder, `session-${name}`);
      const big = tool({
        name: "big",
        description: "Says much.",
        inputSchema: { type: "object", properties: {} },
        effect: "read",
        execute: () => Array.from({ length: 3_000 }, (_, at) => `line ${at} of the whole`).join("\n"),
      });
      const first = open(place);
      const one = new Agent({ model: scripted([call("big"), say("cut")]), tools: [big], journal: first });
      const session = await one.open("s");
      await session.send("go");
      const [ref = ""] = /out_[a-z0-9]+/.exec(textOf(session.messages[2] as never)) ?? [];
      await session.fork("t");
      first.close();

      const second = open(place);
      for (const id of ["s", "t"]) {
        const model = scripted([call("read_output", { ref_id: ref, offset: 2_999 }), say("read")]);
        const later = await new Agent({ model, tools: [big], journal: second }).open(id);
        const { messages } = await later.send("read the end");
        expect(textOf(messages.at(-2) as never)).toBe(" 3000  line 2999 of the whole");
        expect((await later.replay()).firstDifference).toBeUndefined();
      }
      second.close();
    },
  );
});

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonlJournal } from "@rondo/journal";
import { sampleRecord, sampleRecords } from "@rondo/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { namedJournal } from "./named-journal.ts";
import { ended, start } from "./programs.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-delete-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const origin = { callId: "c", tool: "t", isError: false };
const kinds: [kind: string, name: (place: string) => string][] = [
  ["SQLite", (place) => `${place}.db`],
  ["JSONL", (place) => `jsonl:${place}`],
  ["JSONL in small files", (place) => `small-jsonl:${place}-small`],
];

/** Everything that stands in files below a place, as one text. */
function everything(place: string): string {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .map(
      (entry) =>
        `${entry.name}\n${entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), "latin1") : ""}`,
    )
    .join("\n");
}

describe("a deleted session", () => {
  it.each(kinds)(
    "is in no file any more: neither its words, nor its texts, nor its name (%s)",
    async (_, name) => {
      const place = mkdtempSync(join(folder, "erased-"));
      const journal = namedJournal(name(join(place, "j")));
      const secret = "correct-horse-battery";
      for (const id of ["anna", "anna:1.0", "bert"]) {
        const words = id === "bert" ? "bert's" : secret;
        // Of records as well as of texts some have pages of their own, and some share one.
        const lease = journal.lease(id, { owner: `${words}-owner`, ttlMs: 60_000 });
        for (let seq = 0; seq < 40; seq += 1)
          journal.append(
            id,
            seq,
            [sampleRecord(seq, `${words} `.repeat(seq % 7 === 0 ? 2_000 : 3))],
            lease.token,
          );
        for (const times of [1, 5_000]) await journal.blobs.put(id, `${words}\n`.repeat(times), origin);
        await lease.release();
      }
      expect(everything(place)).toContain(secret);
      expect(journal.delete("anna")).toEqual(["anna:1.0", "anna"]);
      // While it is open, as well as when it is closed.
      expect(everything(place).match(/correct-horse-battery|anna/g)).toBeNull();
      journal.close();
      expect(everything(place).match(/correct-horse-battery|anna/g)).toBeNull();
      const again = namedJournal(name(join(place, "j")));
      expect(again.read("bert")).toHaveLength(40);
      again.close();
    },
  );

  it.each(kinds)(
    "is wholly gone after kill -9 in the midst of it and another delete (%s)",
    async (_, name) => {
      const place = mkdtempSync(join(folder, "killed-"));
      const file = name(join(place, "j"));
      for (let round = 0; round < 6; round += 1) {
        const journal = namedJournal(file);
        const ids = Array.from({ length: 30 }, (_, i) => `s${i}`);
        for (const id of ids)
          for (const one of [id, `${id}:1.0`]) {
            for (let seq = 0; seq < 4; seq += 1)
              journal.append(one, seq, sampleRecords(seq, 1, one.repeat(50)));
            await journal.blobs.put(one, one, origin);
          }
        journal.close();
        const named: string[] = [];
        const program = start("delete-loop", [file]);
        const after = Math.floor(Math.random() * ids.length);
        const outcome = await ended(program, (line) => {
          if (named.push(line) > after) program.kill("SIGKILL");
        });
        expect(outcome).toMatchObject({ stderr: "" });
        const left = namedJournal(file);
        const listed = new Set(left.list().map(({ id }) => id));
        const last = named.at(-1) ?? "";
        for (const id of ids) {
          if (named.includes(id) && id !== last) expect([...listed]).not.toContain(id);
          // What was not told of may have been begun.
          else if (listed.has(id) && id !== last && listed.has(`${id}:1.0`))
            expect(left.read(id).length).toBe(4);
        }
        // Whatever is left of one is found by its name, and goes with it.
        for (const id of [...listed].filter((one) => !one.includes(":"))) left.delete(id);
        expect(left.list()).toEqual([]);
        for (const id of ids) {
          expect(left.read(id)).toEqual([]);
          expect(left.delete(id)).toEqual([]);
        }
        left.close();
        expect(everything(place).match(/s\d+(?::1\.0|%3A)|s\d+s\d+/g)).toBeNull();
        const texts = join(place, name("j").replace(/^.*:/, ""), "texts");
        if (existsSync(texts)) expect(readdirSync(texts)).toEqual([]);
      }
    },
  );
});

describe("who watches a session of a folder", () => {
  it("hears of the one that another process began in place of a rotated one it deleted", async () => {
    const place = join(folder, "watched");
    const writer = jsonlJournal(place, { rotateBytes: 200 });
    const reader = jsonlJournal(place, { rotateBytes: 200 });
    for (let seq = 0; seq < 4; seq += 1) writer.append("s", seq, sampleRecords(seq, 1));
    let heard = (): void => {};
    const stop = reader.watch("s", () => heard());
    const news = (): Promise<void> => new Promise((resolve) => (heard = resolve));
    let next = news();
    writer.delete("s");
    await next;
    next = news();
    writer.append("s", 0, sampleRecords(0, 1));
    await next;
    expect(reader.read("s")).toHaveLength(1);
    next = news();
    writer.append("s", 1, sampleRecords(1, 1));
    await next;
    stop();
    writer.close();
    reader.close();
  });
});

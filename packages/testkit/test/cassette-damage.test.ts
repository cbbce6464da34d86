// Recordings that are none, or were damaged: whoever plays one reads which record it is, and what is wrong with it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, formatVersion, type LogRecord, memoryJournal, RondoError } from "@rondo/core";
import { call, cassette, replayTest, say, scripted } from "@rondo/testkit";
import { recordedScript } from "@rondo/testkit/wire";
import { afterAll, beforeAll, expect, test } from "vitest";

const scratch = mkdtempSync(join(tmpdir(), "rondo-damage-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let whole: readonly LogRecord[] = [];
beforeAll(async () => {
  const journal = memoryJournal();
  await new Agent({ model: scripted([call("look"), say("done")]), journal }).run("go", { session: "s" });
  whole = await journal.read("s");
});

function file(name: string, ...lines: string[]): string {
  const path = join(scratch, name);
  writeFileSync(path, lines.join("\n"));
  return path;
}

/** The whole recording with one record changed. */
const changed = (type: LogRecord["type"], change: object): LogRecord[] => {
  const place = whole.findIndex((record) => record.type === type);
  return whole.map((record, at) => (at === place ? ({ ...record, ...change } as LogRecord) : record));
};

test("a file of something else is refused where it is read, and so is one that holds nothing", () => {
  for (const read of [cassette, recordedScript]) {
    expect(() => read(file("script.json", '["hi"]'))).toThrow(/script\.json, line 1: no record$/);
    expect(() => read(file("numbers.jsonl", '{"records": [1]}'))).toThrow(
      /numbers\.jsonl, line 1: no record$/,
    );
    expect(() => read(file("other.jsonl", '{"seq": 0}'))).toThrow(/other\.jsonl, line 1: no record$/);
    expect(() => read(file("torn.jsonl", JSON.stringify(whole[0]), '{"type": "mod'))).toThrow(
      /torn\.jsonl, line 2: no record \(SyntaxError/,
    );
    expect(() => read(file("empty.jsonl", ""))).toThrow(/empty\.jsonl holds no record/);
  }
});

test("a file may begin with the mark that some editors write", async () => {
  const marked = file(
    "marked.jsonl",
    `\ufeff${JSON.stringify(whole[0])}`,
    ...whole.slice(1).map((one) => JSON.stringify(one)),
  );
  const { text } = await replayTest({}, marked);
  expect(text).toBe("done");
});

test("a record that lacks something is named", async () => {
  const lacking = changed("model_finished", { message: undefined });
  for (const read of [cassette, recordedScript])
    expect(() => read(lacking)).toThrow(/the recording's record \d+ \(model_finished\) cannot be read: /);
  await expect(replayTest({}, changed("turn_judged", { verdicts: null }))).rejects.toThrow(
    /record \d+ \(turn_judged\) cannot be read: /,
  );
  // Whatever is missing: the error is ours.
  for (const [at, record] of whole.entries())
    for (const member of Object.keys(record))
      for (const value of [undefined, null, 5, "x", [], {}])
        try {
          cassette(
            whole.map((one, place) => (place === at ? ({ ...one, [member]: value } as LogRecord) : one)),
          );
        } catch (thrown) {
          expect(thrown, `${record.type}.${member} = ${JSON.stringify(value)}`).toBeInstanceOf(RondoError);
        }
});

test("a part of a session, or one that is not in order, is no recording", () => {
  const needed = "give all records of one session, in order";
  for (const part of [whole.slice(1), whole.toSpliced(2, 1), whole.toReversed(), [...whole, ...whole]])
    expect(() => cassette(part)).toThrow(needed);
});

test("records of a newer version are refused, and not read as if they were of this one", () => {
  expect(() => cassette(changed("run_started", { format: formatVersion + 1 }))).toThrow(
    `it was written by a newer version (journal format ${formatVersion + 1}, this is ${formatVersion}): update rondo`,
  );
  expect(() => cassette(changed("turn_judged", { type: "turn_weighed" }))).toThrow(
    /\(turn_weighed\) cannot be read: this version knows no such type/,
  );
});

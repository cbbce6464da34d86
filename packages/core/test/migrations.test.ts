import {
  formatVersion,
  type LogRecord,
  memoryJournal,
  RecordReader,
  type RondoError,
  userText,
} from "@rondo/core";
import { expect, test } from "vitest";

const started = (seq: number, format: number): LogRecord => ({
  type: "run_started",
  format,
  input: [],
  seq,
  at: seq,
  rand: 0,
});
const queued = (seq: number, id: string): LogRecord => ({
  type: "queued",
  id,
  lane: "steer",
  message: userText(id),
  seq,
  at: seq,
  rand: 0,
});

/** Formats as they might have been: -1 called a lane `nudge`, 0 wrote ids in capitals. */
const steps = {
  [formatVersion - 2]: (record: LogRecord): LogRecord =>
    record.type === "queued" && (record.lane as string) === "nudge" ? { ...record, lane: "steer" } : record,
  [formatVersion - 1]: (record: LogRecord): LogRecord =>
    record.type === "queued" ? { ...record, id: record.id.toLowerCase() } : record,
};

test("records of older formats become today's, each by the steps from the format of its run", async () => {
  const journal = memoryJournal();
  journal.append("s", 0, [
    { ...queued(0, "BEFORE"), lane: "nudge" as never } as LogRecord,
    started(1, formatVersion - 2),
    { ...queued(2, "OLDEST"), lane: "nudge" as never } as LogRecord,
    started(3, formatVersion - 1),
    queued(4, "OLD"),
    started(5, formatVersion),
    queued(6, "NEW"),
  ]);
  const whole = await new RecordReader(journal, "s", 0, steps).read();
  const ids = (records: LogRecord[]): string[] =>
    records.flatMap((record) => (record.type === "queued" ? [`${record.id} ${record.lane}`] : []));
  expect(ids(whole)).toEqual(["before steer", "oldest steer", "old steer", "NEW steer"]);
  // What was written stays what it was.
  expect(ids(journal.read("s"))[0]).toBe("BEFORE nudge");
  // A reader that begins in the middle, or goes on, knows which run it is in.
  for (const from of [2, 4, 6]) {
    const reader = new RecordReader(journal, "s", from, steps);
    expect(ids(await reader.read())).toEqual(ids(whole.slice(from)));
    expect(await reader.read()).toEqual([]);
  }
  const reader = new RecordReader(journal, "s", 0, steps);
  await reader.read();
  journal.append("s", 7, [queued(7, "MORE")]);
  expect(ids(await reader.read())).toEqual(["MORE steer"]);
});

test("a newer format is refused and says so, and a gap is damage", async () => {
  const journal = memoryJournal();
  journal.append("s", 0, [started(0, formatVersion + 1), queued(1, "x")]);
  for (const from of [0, 1]) {
    const failure = await new RecordReader(journal, "s", from).read().catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ kind: "invalid_request" });
    expect((failure as RondoError).message).toMatch(/newer version .*update rondo/);
  }
  const gap = { ...memoryJournal(), read: () => [queued(0, "a"), queued(2, "b")] };
  await expect(new RecordReader(gap, "s").read()).rejects.toThrow(
    /record 1 has sequence number 2.*rondo journal check/,
  );
});

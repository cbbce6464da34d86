import {
  Agent,
  formatVersion,
  type Journal,
  type LogRecord,
  memoryJournal,
  RecordJudge,
  RecordReader,
  type RondoError,
  userText,
} from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo } from "./support.ts";

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

test("records of older formats are converted to today's, each by the steps from its run's format", async () => {
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

test("an invalid format number is damage, and takes no time", async () => {
  for (const format of [-1e308, 0.5, Number.NaN, "1" as never]) {
    const journal = memoryJournal();
    journal.append("s", 0, [started(0, format)]);
    const reading = new RecordReader(journal, "s").read();
    await expect(reading).rejects.toThrow(/record 0 \(run_started\) cannot be read: its journal format is /);
  }
  const old = memoryJournal();
  old.append("s", 0, [started(0, Number.MIN_SAFE_INTEGER)]);
  expect(await new RecordReader(old, "s").read()).toHaveLength(1);
});

test("a newer format is refused with an error that says so, and a gap is damage", async () => {
  const journal = memoryJournal();
  journal.append("s", 0, [started(0, formatVersion + 1), queued(1, "x")]);
  for (const from of [0, 1]) {
    const failure = await new RecordReader(journal, "s", from).read().catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ kind: "invalid_request" });
    expect((failure as RondoError).message).toMatch(/newer version .*update rondo/);
  }
  const gap = { ...memoryJournal(), read: () => [queued(0, "a"), queued(2, "b")] };
  await expect(new RecordReader(gap, "s").read()).rejects.toThrow(
    /record 1 \(.*\) cannot be read: its sequence number is 2, but it is number 1 here.*rondo journal check/,
  );
});

const inner = memoryJournal();
const model = scripted([call("look"), say("done")]);
await new Agent({ model, tools: [echo("look")] }).run("go", { session: "s", journal: inner });
const written = inner.read("s");

/** The session as it was written, with something else in place of some records. */
const given = (change: (record: LogRecord) => unknown): Journal => ({
  ...inner,
  read: () => written.map(change) as LogRecord[],
});

const open = (journal: Journal): Promise<unknown> =>
  new Agent({ model, tools: [echo("look")], journal }).open("s").catch((thrown: unknown) => thrown);

test("a group without a run is searched for one once, however many messages are in it", () => {
  const records = Array.from(
    { length: 100 },
    (_, seq): LogRecord => ({ type: "woke", seq, at: seq, rand: 0 }),
  );
  let looks = 0;
  const group = Object.assign([...records], {
    find: () => {
      looks += 1;
      return undefined;
    },
  });
  const judge = new RecordJudge();
  expect(group.map((record, seq) => judge.judge(record, seq, group))).toEqual(records);
  expect(looks).toBe(1);
});

test("a record of an unknown type is refused everywhere: if it were ignored, its content would be lost", async () => {
  for (const at of [1, written.length - 1]) {
    const failure = await open(given((record) => (record.seq === at ? { ...record, type: "wish" } : record)));
    expect(failure).toMatchObject({ kind: "storage" });
    expect((failure as RondoError).message).toMatch(
      new RegExp(
        `session "s": record ${at} \\(wish\\) cannot be read: this version knows no such type: update rondo`,
      ),
    );
  }
});

test.each<[LogRecord["type"], string]>([
  ["run_started", "input"],
  ["model_finished", "message"],
  ["tool_finished", "result"],
])("a record that is not whole (%s without its %s) is damage, and is named", async (type, member) => {
  const failure = await open(
    given((record) => (record.type === type ? { ...record, [member]: undefined } : record)),
  );
  expect(failure).toMatchObject({ kind: "storage" });
  const seq = written.find((record) => record.type === type)?.seq;
  expect((failure as RondoError).message).toMatch(
    new RegExp(`session "s": record ${seq} \\(${type}\\) does not fold: .*rondo journal check`),
  );
});

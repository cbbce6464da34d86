// Readers that are started, stopped and started again while sessions are written, deleted and begun anew: each gets exactly the
// records from its place on, in order and once, and an error if they are gone; on every journal, whoever writes.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { follow, type Journal, type LogRecord, memoryJournal } from "@rondo/core";
import { jsonlJournal, sqliteJournal } from "@rondo/journal";
import { sampleRecord } from "@rondo/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";

const ids = ["s", "t", "s:1.0"];
const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      id: fc.constantFrom(...ids),
      by: fc.nat(1),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("pull" as const),
      nth: fc.nat(9),
      times: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("follow" as const),
      id: fc.constantFrom(...ids),
      by: fc.nat(1),
      from: fc.nat(6),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("again" as const), nth: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("stop" as const, "return" as const), nth: fc.nat(9) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("delete" as const), id: fc.constantFrom(...ids), by: fc.nat(1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("turns" as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
);
type Step = typeof anyStep extends fc.Arbitrary<infer One> ? One : never;

interface Reader {
  id: string;
  from: number;
  /** What there was when it was started, and all that was appended since, until the session was deleted. */
  due: LogRecord[];
  came: LogRecord[];
  failed?: unknown;
  ended: boolean;
  /** Its session was deleted, or shorter than its place. */
  mayFail: boolean;
  pulls: Promise<void>[];
  by: number;
  stop: AbortController;
  stopped: boolean;
  /** It had got nothing when its session was deleted. */
  isUnsure: boolean;
  iterator: AsyncIterableIterator<LogRecord>;
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

async function play(steps: readonly Step[], journals: readonly [Journal, Journal]): Promise<void> {
  const readers: Reader[] = [];
  const held = new Map<string, LogRecord[]>();
  let number = 0;
  const start = (id: string, by: number, from: number): void => {
    const stop = new AbortController();
    const iterator = follow(journals[by] as Journal, id, { from, signal: stop.signal });
    readers.push({
      id,
      by,
      from,
      due: [],
      came: [],
      ended: false,
      mayFail: false,
      isUnsure: false,
      pulls: [],
      stop,
      stopped: false,
      iterator,
    });
  };
  const pull = async (reader: Reader): Promise<void> => {
    const isFirst = reader.pulls.length === 0;
    if (isFirst) {
      // It begins to read when it is first pulled.
      reader.due = [...(held.get(reader.id) ?? [])];
      reader.mayFail = reader.due.length < reader.from;
    }
    reader.pulls.push(
      reader.iterator.next().then(
        ({ done, value }) => {
          if (done) reader.ended = true;
          else reader.came.push(value);
        },
        (thrown: unknown) => {
          reader.failed ??= thrown;
        },
      ),
    );
    if (isFirst) await turns(1);
  };
  for (const step of steps) {
    const reader = "nth" in step ? readers[step.nth % readers.length] : undefined;
    switch (step.do) {
      case "append": {
        const records = held.get(step.id) ?? [];
        const more = Array.from({ length: step.count }, (_, i) => ({
          ...sampleRecord(records.length + i),
          rand: ++number / 1e6,
        }));
        await journals[step.by]?.append(step.id, records.length, more);
        held.set(step.id, [...records, ...more]);
        for (const one of readers) if (one.id === step.id && !one.mayFail) one.due.push(...more);
        break;
      }
      case "pull":
        for (let time = 0; time < step.times && reader !== undefined; time += 1) await pull(reader);
        break;
      case "follow":
        start(step.id, step.by, step.from);
        break;
      case "again":
        // From where it stopped.
        if (reader !== undefined && !reader.mayFail && reader.failed === undefined)
          start(reader.id, reader.by, reader.from + reader.came.length);
        break;
      case "stop":
        if (reader === undefined) break;
        reader.stopped = true;
        reader.stop.abort();
        break;
      case "return":
        if (reader === undefined) break;
        reader.stopped = true;
        await reader.iterator.return?.();
        break;
      case "delete":
        for (const id of step.id === "s" ? ["s", "s:1.0"] : [step.id]) {
          for (const one of readers)
            if (one.id === id && held.has(id)) {
              one.isUnsure ||= !one.mayFail && one.came.length === 0;
              one.mayFail = true;
            }
          held.delete(id);
        }
        await journals[step.by]?.delete?.(step.id);
        break;
      case "turns":
        await turns(step.count);
        break;
    }
  }
  for (const reader of readers) {
    if (reader.pulls.length === 0 && !reader.stopped) await pull(reader);
    const wanted = reader.due.slice(reader.from);
    // Everything that is due comes, if it is pulled for.
    if (!reader.mayFail && !reader.stopped) while (reader.pulls.length < wanted.length) await pull(reader);
    if (reader.mayFail) await pull(reader);
    const due = reader.pulls.slice(0, wanted.length);
    if (!reader.mayFail && !reader.stopped) await Promise.all(due);
    await turns(1);
    reader.stop.abort();
    await Promise.all(reader.pulls);
    if (!reader.isUnsure) expect(reader.came).toEqual(wanted.slice(0, reader.came.length));
    if (!reader.mayFail) expect(reader.failed).toBeUndefined();
    if (!reader.mayFail && !reader.stopped) expect(reader.came.length).toBe(wanted.length);
    if (reader.failed !== undefined) expect(reader.failed).toMatchObject({ kind: "storage" });
  }
}

test.each(["memory", "jsonl", "sqlite"] as const)(
  "readers of a journal in %s",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 5, maxLength: 40, size: "max" }),
        fc.constantFrom(1, 600, 2000, null),
        fc.boolean(),
        async (steps, rotateBytes, beside) => {
          const folder = mkdtempSync(join(tmpdir(), "rondo-readers-"));
          const open = (): Journal =>
            kind === "jsonl"
              ? jsonlJournal(folder, { rotateBytes, warn: () => {} })
              : sqliteJournal(join(folder, "all.db"));
          const one = kind === "memory" ? memoryJournal() : open();
          const other = beside && kind !== "memory" ? open() : one;
          try {
            await play(steps, [one, other]);
          } finally {
            await one.close?.();
            await other.close?.();
            rmSync(folder, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: 15 },
    );
  },
  60_000,
);

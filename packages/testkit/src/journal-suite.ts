// The room of the journal's conformance suite: what any journal must do, whoever keeps the records.
//
// It belongs to no test runner: it returns cases, and a test file registers them. Every case opens a journal of its own.

import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import {
  type ErrorKind,
  follow,
  formatVersion,
  type Journal,
  type Lease,
  type LeaseRequest,
  type LogRecord,
  RondoError,
  type SessionInfo,
  userText,
} from "@rondo/core";
import { type Check, checksOf, type RegisterTest } from "./check.ts";

export interface JournalUnderTest {
  /** Stands before the name of every case. */
  name: string;
  /**
   * Opens the journal that is called `place`: a fresh one for a new place, the same data again for a known one
   * (where `durable` is set).
   */
  open(place: string): Journal | Promise<Journal>;
  /** What is appended is there when the journal is closed and opened again. Default false. */
  durable?: boolean;
  /** It has leases. Default false. */
  leases?: boolean;
  /** It can be watched. Default false. */
  watches?: boolean;
  /** How long a watcher or follower is waited for, in milliseconds. Default 10,000. */
  patienceMs?: number;
}

/**
 * What a journal must do, check by check.
 *
 *     for (const { name, run } of testJournal({ name: "memory", open: () => memoryJournal() })) test(name, run);
 *
 * @param test the runner's: registers the checks as well
 */
export function testJournal(subject: JournalUnderTest, test?: RegisterTest): Check[] {
  const wanted = [
    ...cases,
    ...(subject.leases === true ? leaseCases : []),
    ...(subject.watches === true ? watchCases : []),
    ...(subject.durable === true ? durableCases : []),
  ];
  const checks = wanted.map(([name, body], number): [string, () => Promise<void>] => [
    name,
    async () => {
      const place = `case-${number}`;
      let journal = await subject.open(place);
      const again = async (): Promise<Journal> => {
        await journal.close?.();
        journal = await subject.open(place);
        return journal;
      };
      try {
        await body(journal, again, subject.patienceMs ?? 10_000);
      } finally {
        await journal.close?.();
      }
    },
  ]);
  return checksOf(subject.name, checks, test);
}

/** A record to try a journal with: a `queued` message holding `text`. */
export function sampleRecord(
  seq: number,
  text: string = `record ${seq}`,
  at: number = 1_000 + seq,
): LogRecord {
  return { type: "queued", id: `m${seq}`, lane: "steer", message: userText(text), seq, at, rand: 0.5 };
}

/** `count` records from `from` on. */
export function sampleRecords(from: number, count: number, text?: string): LogRecord[] {
  return Array.from({ length: count }, (_, i) => sampleRecord(from + i, text));
}

type Body = (journal: Journal, again: () => Promise<Journal>, patienceMs: number) => Promise<void>;

const cases: (readonly [name: string, body: Body])[] = [
  [
    "a session nobody wrote is empty and not listed",
    async (journal) => {
      deepStrictEqual(await journal.read("nobody"), []);
      deepStrictEqual(await journal.list(), []);
    },
  ],
  [
    "groups are read back whole and in order",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 3));
      await journal.append("a", 3, sampleRecords(3, 1));
      await journal.append("a", 4, sampleRecords(4, 2));
      deepStrictEqual(await journal.read("a"), sampleRecords(0, 6));
    },
  ],
  [
    "reading begins where it is asked to",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 5));
      deepStrictEqual(await journal.read("a", 0), sampleRecords(0, 5));
      deepStrictEqual(await journal.read("a", 3), sampleRecords(3, 2));
      deepStrictEqual(await journal.read("a", 5), []);
      deepStrictEqual(await journal.read("a", 99), []);
      for (const from of [-1, 0.5, Number.NaN]) await refused(() => journal.read("a", from), String(from));
    },
  ],
  [
    "sessions do not see each other, whatever their ids are",
    async (journal) => {
      const ids = [
        "a",
        "A",
        "a ",
        "ä",
        "a\u0308",
        "a/b",
        "../a",
        "%",
        "_",
        "'",
        '"',
        "😀",
        "__proto__",
        "a\nb",
      ];
      for (const [i, id] of ids.entries()) await journal.append(id, 0, sampleRecords(0, i + 1, id));
      for (const [i, id] of ids.entries())
        deepStrictEqual(await journal.read(id), sampleRecords(0, i + 1, id), JSON.stringify(id));
      deepStrictEqual(new Set((await journal.list()).map((info) => info.id)), new Set(ids));
    },
  ],
  [
    "an id that cannot be stored is refused, not changed",
    async (journal) => {
      for (const id of ["", "a\0b", "half \ud83d"])
        await refused(() => journal.append(id, 0, sampleRecords(0, 1)), JSON.stringify(id));
      deepStrictEqual(await journal.list(), []);
    },
  ],
  [
    "an append that expects another length is refused, names the session and changes nothing",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 2));
      for (const expected of [0, 1, 3, -1])
        await refused(() => journal.append("a", expected, sampleRecords(expected, 1)), '"a"', "conflict");
      await refused(() => journal.append("new", 1, sampleRecords(1, 1)), '"new"', "conflict");
      deepStrictEqual(await journal.read("a"), sampleRecords(0, 2));
      deepStrictEqual((await journal.list()).length, 1);
    },
  ],
  [
    "a group whose records are not numbered consecutively is refused whole",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 1));
      const groups = [[2], [1, 3], [1, 1], [1, 2, 0], [0]];
      for (const seqs of groups)
        await refused(() => {
          return journal.append(
            "a",
            1,
            seqs.map((seq) => sampleRecord(seq)),
          );
        }, '"a"');
      deepStrictEqual(await journal.read("a"), sampleRecords(0, 1));
      await journal.append("a", 1, sampleRecords(1, 1));
    },
  ],
  [
    "an empty group compares and writes nothing",
    async (journal) => {
      await journal.append("a", 0, []);
      deepStrictEqual(await journal.list(), []);
      await journal.append("a", 0, sampleRecords(0, 1));
      await journal.append("a", 1, []);
      await refused(() => journal.append("a", 0, []), '"a"', "conflict");
      deepStrictEqual(await journal.read("a"), sampleRecords(0, 1));
    },
  ],
  [
    "of two that append at one place exactly one wins",
    async (journal) => {
      const outcomes = await Promise.allSettled(
        ["x", "y", "z"].map(async (text) => journal.append("a", 0, [sampleRecord(0, text)])),
      );
      strictEqual(outcomes.filter((outcome) => outcome.status === "fulfilled").length, 1);
      strictEqual((await journal.read("a")).length, 1);
    },
  ],
  [
    "the list tells lengths and times, the session written last first",
    async (journal) => {
      await journal.append("old", 0, [sampleRecord(0, "", 100), sampleRecord(1, "", 110)]);
      await journal.append("young", 0, [sampleRecord(0, "", 200)]);
      const old: SessionInfo = { id: "old", length: 2, createdAt: 100, updatedAt: 110 };
      const young: SessionInfo = { id: "young", length: 1, createdAt: 200, updatedAt: 200 };
      deepStrictEqual(await journal.list(), [young, old]);
      await journal.append("old", 2, [sampleRecord(2, "", 300)]);
      deepStrictEqual(await journal.list(), [{ ...old, length: 3, updatedAt: 300 }, young]);
      await journal.append("same", 0, [sampleRecord(0, "", 300)]);
      deepStrictEqual(
        (await journal.list()).map((info) => info.id),
        ["same", "old", "young"],
      );
    },
  ],
  [
    "what is read is the reader's: changing the list changes nothing",
    async (journal) => {
      const group = sampleRecords(0, 2);
      await journal.append("a", 0, group);
      group.pop();
      (await journal.read("a")).length = 0;
      (await journal.list()).length = 0;
      deepStrictEqual(await journal.read("a"), sampleRecords(0, 2));
      strictEqual((await journal.list()).length, 1);
    },
  ],
  [
    "hard text survives: half characters, NUL, `__proto__`, separators, a megabyte",
    async (journal) => {
      await journal.append("hard", 0, hardRecords());
      sameRecords(await journal.read("hard"), hardRecords());
    },
  ],
  [
    "a group of a thousand records is one group",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 1_000));
      strictEqual((await journal.read("a")).length, 1_000);
      const bad = [...sampleRecords(1_000, 999), sampleRecord(5)];
      await refused(() => journal.append("a", 1_000, bad), '"a"');
      strictEqual((await journal.read("a")).length, 1_000);
    },
  ],
];

/** Long enough not to run out while a case runs. */
const long = 600_000;

async function lease(journal: Journal, session: string, request: Partial<LeaseRequest> = {}): Promise<Lease> {
  ok(journal.lease !== undefined, "the journal has no leases");
  return journal.lease(session, { owner: "one", ttlMs: long, ...request });
}

const leaseCases: (readonly [name: string, body: Body])[] = [
  [
    "who holds a session writes it, and nobody else does",
    async (journal) => {
      const { token, renew } = await lease(journal, "a");
      await journal.append("a", 0, sampleRecords(0, 2), token);
      await refused(() => journal.append("a", 2, sampleRecords(2, 1)), "one", "conflict");
      await refused(() => journal.append("a", 2, sampleRecords(2, 1), token + 1), '"a"', "conflict");
      await refused(() => lease(journal, "a", { owner: "two" }), "one", "conflict");
      await refused(() => lease(journal, "a"), "one", "conflict");
      await renew();
      await journal.append("a", 2, sampleRecords(2, 1), token);
      await journal.append("b", 0, sampleRecords(0, 1));
      await lease(journal, "b", { owner: "two" });
      deepStrictEqual(await journal.read("a"), sampleRecords(0, 3));
    },
  ],
  [
    "a lease that was let go is anybody's, and its token is worth nothing",
    async (journal) => {
      const first = await lease(journal, "a");
      await journal.append("a", 0, sampleRecords(0, 1), first.token);
      await first.release();
      await first.release();
      await refused(() => journal.append("a", 1, sampleRecords(1, 1), first.token), '"a"', "conflict");
      await refused(async () => first.renew(), '"a"', "conflict");
      await journal.append("a", 1, sampleRecords(1, 1));
      const second = await lease(journal, "a", { owner: "two" });
      ok(second.token > first.token, "the second token is not the higher one");
      await first.release();
      await journal.append("a", 2, sampleRecords(2, 1), second.token);
      deepStrictEqual(await journal.read("a"), sampleRecords(0, 3));
    },
  ],
  [
    "a writer that was replaced is fenced off, and who did it is named",
    async (journal) => {
      const first = await lease(journal, "a");
      const second = await lease(journal, "a", { owner: "two", takeOver: true });
      await refused(() => journal.append("a", 0, sampleRecords(0, 1), first.token), "two", "conflict");
      await refused(async () => first.renew(), "two", "conflict");
      await first.release();
      await journal.append("a", 0, sampleRecords(0, 1), second.token);
      await refused(() => journal.append("a", 1, sampleRecords(1, 1)), "two", "conflict");
    },
  ],
  [
    "a lease that ran out is anybody's, and its holder's until somebody takes it",
    async (journal, _, patienceMs) => {
      const first = await lease(journal, "a", { ttlMs: 1 });
      const takenAt = Date.now();
      await until(() => Date.now() > takenAt + 1, patienceMs);
      await journal.append("a", 0, sampleRecords(0, 1), first.token);
      const second = await lease(journal, "a", { owner: "two" });
      await refused(() => journal.append("a", 1, sampleRecords(1, 1), first.token), "two", "conflict");
      await journal.append("a", 1, sampleRecords(1, 1), second.token);
    },
  ],
  [
    "holding a session makes none, and a lease needs an owner and a time",
    async (journal) => {
      await lease(journal, "a");
      deepStrictEqual(await journal.list(), []);
      await refused(() => lease(journal, "b", { owner: "" }), "owner");
      for (const ttlMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
        await refused(() => lease(journal, "b", { ttlMs }), String(ttlMs));
      await refused(() => lease(journal, ""), '""');
    },
  ],
];

const watchCases: (readonly [name: string, body: Body])[] = [
  [
    "who watches a session hears of what is appended, until they stop",
    async (journal, _, patienceMs) => {
      let heard = 0;
      let stopped = 0;
      const stop = journal.watch?.("a", () => {
        heard += 1;
      });
      const stopOther = journal.watch?.("a", () => {
        stopped += 1;
      });
      ok(stop !== undefined, "the journal cannot be watched");
      stopOther?.();
      await journal.append("a", 0, sampleRecords(0, 1));
      await until(() => heard > 0, patienceMs);
      const before = heard;
      await journal.append("a", 1, sampleRecords(1, 1));
      await until(() => heard > before, patienceMs);
      strictEqual(stopped, 0);
      stop();
      stop();
    },
  ],
  [
    "a follower gets what was there and what lands, once and in order",
    async (journal, _, patienceMs) => {
      await journal.append("a", 0, sampleRecords(0, 3));
      const signal = AbortSignal.timeout(patienceMs);
      const reader = follow(journal, "a", { from: 1, signal });
      const got: LogRecord[] = [];
      const reading = (async () => {
        for await (const record of reader) if (got.push(record) === 6) break;
      })();
      for (let seq = 3; seq < 7; seq += 2) await journal.append("a", seq, sampleRecords(seq, 2));
      await reading;
      deepStrictEqual(got, sampleRecords(1, 6));
    },
  ],
];

/** Looks again and again until it is so. */
async function until(so: () => boolean, patienceMs: number): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!so()) {
    ok(Date.now() < end, `nothing was heard for ${patienceMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const durableCases: (readonly [name: string, body: Body])[] = [
  [
    "what was appended is there after closing and opening again",
    async (journal, again) => {
      await journal.append("a", 0, hardRecords());
      await journal.append("b", 0, sampleRecords(0, 2));
      const listed = await journal.list();
      const other = await again();
      sameRecords(await other.read("a"), hardRecords());
      deepStrictEqual(await other.list(), listed);
      await refused(() => other.append("b", 1, sampleRecords(1, 1)), '"b"', "conflict");
      await other.append("b", 2, sampleRecords(2, 1));
      deepStrictEqual(await (await again()).read("b"), sampleRecords(0, 3));
    },
  ],
  [
    "a closed journal refuses, and may be closed twice",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 1));
      await journal.close?.();
      await journal.close?.();
      await refused(() => journal.append("a", 1, sampleRecords(1, 1)), "closed");
      await refused(() => journal.read("a"), "closed");
      await refused(() => journal.list(), "closed");
    },
  ],
];

function hardRecords(): LogRecord[] {
  const texts = [
    "half \ud83d and \udc00 alone",
    "nul \0 in the middle",
    "\u2028\u2029\ufeff\r\n\t\u007f",
    "😀 ä a\u0308 \uffff",
    "é".repeat(1 << 20),
    "",
  ];
  const records = texts.map((text, seq) => sampleRecord(seq, text));
  const model = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"":[null,1e-7,-0.5,"x"]}');
  records.push({ type: "output_checked", ok: true, value: model, seq: texts.length, at: 1, rand: 0 });
  records.push({
    type: "run_started",
    format: formatVersion,
    input: [],
    seq: texts.length + 1,
    at: 2,
    rand: 0,
  });
  return records;
}

/** Compared as JSON text: deepStrictEqual does not tell an own `__proto__` from the real one in its message. */
function sameRecords(got: readonly LogRecord[], wanted: readonly LogRecord[]): void {
  strictEqual(got.length, wanted.length);
  for (const [i, record] of wanted.entries())
    ok(JSON.stringify(got[i]) === JSON.stringify(record), `record ${i} (${record.type}) came back changed`);
  strictEqual(({} as { polluted?: boolean }).polluted, undefined);
}

/** It throws or rejects with an error of that kind, and the message holds `naming`. */
async function refused(
  attempt: () => unknown,
  naming: string,
  kind: ErrorKind = "invalid_request",
): Promise<void> {
  await rejects(
    async () => {
      await attempt();
    },
    (thrown) => {
      ok(thrown instanceof RondoError, `expected a RondoError, got ${String(thrown)}`);
      strictEqual(thrown.kind, kind);
      ok(thrown.message.includes(naming), `the message does not name ${naming}: ${thrown.message}`);
      return true;
    },
  );
}

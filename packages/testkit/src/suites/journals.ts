// The room of the journal's conformance suite: what any journal must do, whoever keeps the records.
//
// It belongs to no test runner: it returns cases, and a test file registers them. Every case opens a journal of its own.

import type { Journal, SessionInfo } from "@rondo/core";
import { able, callable, finite, flag, text } from "@rondo/core/checks";
import {
  type Check,
  checkGave,
  checksOf,
  mustBe,
  type RegisterTest,
  subjectCheck,
  thenLetGo,
} from "./check.ts";
import { deleteCases, deleteLeaseCases, durableDeleteCases } from "./journals/deleting.ts";
import { durableLeaseCases, durableWatchCases, leaseCases, watchCases } from "./journals/leases.ts";
import {
  type Body,
  hardRecords,
  openedBeside,
  refused,
  sameRecords,
  sampleRecord,
  sampleRecords,
} from "./journals/samples.ts";

export interface JournalUnderTest {
  /** Prefix of every case's name. */
  name: string;
  /**
   * Opens the journal named `place`: a new one for a new name, the same data again for a known one
   * (if `durable` is set).
   */
  open(place: string): Journal | Promise<Journal>;
  /** What is appended is there when `append` has returned: for a second journal opened on the same data, and after closing and opening it again. Default: false. */
  durable?: boolean;
  /** It has leases. Default false. */
  leases?: boolean;
  /** It can be watched. Default false. */
  watches?: boolean;
  /** Sessions can be deleted. Default false. */
  deletes?: boolean;
  /** How long to wait for a watcher or follower, in milliseconds. Default: 10,000. */
  patienceMs?: number;
}

const checkSubject = subjectCheck<JournalUnderTest>(
  "testJournal",
  {
    name: text,
    open: callable,
    durable: flag,
    leases: flag,
    watches: flag,
    deletes: flag,
    patienceMs: finite,
  },
  ["name", "open"],
);

/**
 * What a journal must do, check by check.
 *
 *     for (const { name, run } of testJournal({ name: "memory", open: () => memoryJournal() })) test(name, run);
 *
 * @param test the runner's `test` function: also registers the checks
 * @throws RondoError `invalid_request` for an invalid subject
 */
export function testJournal(subject: JournalUnderTest, test?: RegisterTest): Check[] {
  checkSubject(subject);
  const wanted = [
    ...cases,
    ...(subject.leases === true ? leaseCases : []),
    ...(subject.watches === true ? watchCases : []),
    ...(subject.deletes === true ? deleteCases : []),
    ...(subject.deletes === true && subject.leases === true ? deleteLeaseCases : []),
    ...(subject.durable === true ? durableCases : []),
    ...(subject.durable === true && subject.leases === true ? durableLeaseCases : []),
    ...(subject.durable === true && subject.watches === true ? durableWatchCases : []),
    ...(subject.durable === true && subject.deletes === true ? durableDeleteCases : []),
  ];
  const checks = wanted.map(([name, body], number): [string, () => Promise<void>] => [
    name,
    async () => {
      const place = `case-${number}`;
      let journal = await opened(subject, place);
      const again = async (): Promise<Journal> => {
        await journal.close?.();
        journal = await opened(subject, place);
        return journal;
      };
      const beside = (): Promise<Journal> => opened(subject, place);
      await thenLetGo(
        () => body(journal, again, subject.patienceMs ?? 10_000, beside),
        "close()",
        () => journal.close?.(),
      );
    },
  ]);
  return checksOf(subject.name, checks, test);
}

async function opened(subject: JournalUnderTest, place: string): Promise<Journal> {
  const journal = await subject.open(place);
  checkGave("testJournal", "open", able("a journal (append, read, list)", "append", "read", "list"), journal);
  return journal;
}

const cases: (readonly [name: string, body: Body])[] = [
  [
    "a session nobody wrote is empty and not listed",
    async (journal) => {
      mustBe(await journal.read("nobody"), [], "what is read of a session nobody wrote");
      mustBe(await journal.list(), [], "the list of an empty journal");
    },
  ],
  [
    "groups are read back whole and in order",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 3));
      await journal.append("a", 3, sampleRecords(3, 1));
      await journal.append("a", 4, sampleRecords(4, 2));
      mustBe(await journal.read("a"), sampleRecords(0, 6), "what is read of a");
    },
  ],
  [
    "reading begins where it is asked to",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 5));
      mustBe(await journal.read("a", 0), sampleRecords(0, 5), "what is read of a from 0 on");
      mustBe(await journal.read("a", 3), sampleRecords(3, 2), "what is read of a from 3 on");
      mustBe(await journal.read("a", 5), [], "what is read of a from its end on");
      mustBe(await journal.read("a", 99), [], "what is read of a from beyond its end on");
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
        mustBe(
          await journal.read(id),
          sampleRecords(0, i + 1, id),
          `what is read of the session ${JSON.stringify(id)}`,
        );
      mustBe((await journal.list()).map((info) => info.id).sort(), [...ids].sort(), "the ids in the list");
    },
  ],
  [
    "an id that cannot be stored is refused, not changed",
    async (journal) => {
      // What is no text comes from code that nobody has checked.
      for (const id of ["", "a\0b", "half \ud83d", undefined, null, 5] as string[]) {
        const named = String(JSON.stringify(id));
        const asked: { readonly [what: string]: (() => unknown) | undefined } = {
          append: () => journal.append(id, 0, sampleRecords(0, 1)),
          read: () => journal.read(id),
          lease: journal.lease && (() => journal.lease?.(id, { owner: "nobody", ttlMs: 1_000 })),
          watch: journal.watch && (() => journal.watch?.(id, () => {})),
        };
        for (const [what, ask] of Object.entries(asked))
          if (ask !== undefined) await refused(ask, named, "invalid_request", `${what}(${named})`);
      }
      mustBe(await journal.list(), [], "the list after what was refused");
    },
  ],
  [
    "an append that expects another length is refused, names the session and changes nothing",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 2));
      for (const expected of [0, 1, 3, -1])
        await refused(() => journal.append("a", expected, sampleRecords(expected, 1)), '"a"', "conflict");
      await refused(() => journal.append("new", 1, sampleRecords(1, 1)), '"new"', "conflict");
      mustBe(await journal.read("a"), sampleRecords(0, 2), "what is read of a after refused appends");
      mustBe((await journal.list()).length, 1, "the number of sessions after refused appends");
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
      mustBe(await journal.read("a"), sampleRecords(0, 1), "what is read of a after refused groups");
      await journal.append("a", 1, sampleRecords(1, 1));
    },
  ],
  [
    "an empty group compares and writes nothing",
    async (journal) => {
      await journal.append("a", 0, []);
      mustBe(await journal.list(), [], "the list after an empty group");
      await journal.append("a", 0, sampleRecords(0, 1));
      await journal.append("a", 1, []);
      await refused(() => journal.append("a", 0, []), '"a"', "conflict");
      mustBe(await journal.read("a"), sampleRecords(0, 1), "what is read of a after empty groups");
    },
  ],
  [
    "of two that append at one place exactly one wins",
    async (journal) => {
      const outcomes = await Promise.allSettled(
        ["x", "y", "z"].map(async (text) => journal.append("a", 0, [sampleRecord(0, text)])),
      );
      mustBe(
        outcomes.filter((outcome) => outcome.status === "fulfilled").length,
        1,
        "how many of three appends at one place were taken",
      );
      mustBe((await journal.read("a")).length, 1, "the number of records after them");
    },
  ],
  [
    "the list tells lengths and times, the session written last first",
    async (journal) => {
      await journal.append("old", 0, [sampleRecord(0, "", 100), sampleRecord(1, "", 110)]);
      await journal.append("young", 0, [sampleRecord(0, "", 200)]);
      const old: SessionInfo = { id: "old", length: 2, createdAt: 100, updatedAt: 110 };
      const young: SessionInfo = { id: "young", length: 1, createdAt: 200, updatedAt: 200 };
      mustBe(await journal.list(), [young, old], "the list");
      await journal.append("old", 2, [sampleRecord(2, "", 300)]);
      mustBe(
        await journal.list(),
        [{ ...old, length: 3, updatedAt: 300 }, young],
        "the list, after the older session was written",
      );
      await journal.append("same", 0, [sampleRecord(0, "", 300)]);
      mustBe(
        (await journal.list()).map((info) => info.id),
        ["same", "old", "young"],
        "the ids in the list where times are equal: the one written last is first",
      );
    },
  ],
  [
    "the list holds every session, however many there are",
    async (journal) => {
      const ids = Array.from({ length: 120 }, (_, i) => `s${i}`);
      for (const [i, id] of ids.entries()) await journal.append(id, 0, [sampleRecord(0, "", i)]);
      mustBe((await journal.list()).length, ids.length, "the number of sessions in the list");
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
      mustBe(
        await journal.read("a"),
        sampleRecords(0, 2),
        "what is read of a after the lists that were given were changed",
      );
      mustBe(
        (await journal.list()).length,
        1,
        "the number of sessions after the lists that were given were changed",
      );
    },
  ],
  [
    "what it is given stays as it was: the loop goes on with it",
    async (journal) => {
      const group = sampleRecords(0, 2);
      await journal.append("a", 0, group);
      mustBe(group, sampleRecords(0, 2), "the group that was appended, after append has returned");
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
    // More than what a store gives in one page.
    "a group of two thousand records is one group",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 2_000));
      mustBe((await journal.read("a")).length, 2_000, "the number of records");
      const bad = [...sampleRecords(2_000, 999), sampleRecord(5)];
      await refused(() => journal.append("a", 2_000, bad), '"a"');
      mustBe((await journal.read("a")).length, 2_000, "the number of records after a refused group");
    },
  ],
  [
    "who reads while a group is written finds none of it or all of it",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 2));
      let isWriting = true;
      const writing = (async () => journal.append("a", 2, sampleRecords(2, 50)))().finally(() => {
        isWriting = false;
      });
      const found = new Set<number>();
      const reading = (async () => {
        while (isWriting) {
          found.add((await journal.read("a")).length);
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      await Promise.all([writing, reading]);
      mustBe(
        [...found].filter((length) => length !== 2 && length !== 52),
        [],
        "what others than 2 and 52 records were read of a while a group of 50 went behind the first 2",
      );
    },
  ],
];

const durableCases: (readonly [name: string, body: Body])[] = [
  [
    "what was appended is there after closing and opening again",
    async (journal, again) => {
      await journal.append("a", 0, hardRecords());
      await journal.append("b", 0, sampleRecords(0, 2));
      const listed = await journal.list();
      const other = await again();
      sameRecords(await other.read("a"), hardRecords());
      mustBe(await other.list(), listed, "the list after opening again");
      await refused(() => other.append("b", 1, sampleRecords(1, 1)), '"b"', "conflict");
      await other.append("b", 2, sampleRecords(2, 1));
      mustBe(await (await again()).read("b"), sampleRecords(0, 3), "what is read of b after opening again");
    },
  ],
  [
    "what was appended is kept when append has returned, and not only once the journal is closed",
    async (journal, _again, _patienceMs, beside) => {
      await journal.append("a", 0, sampleRecords(0, 2));
      await openedBeside(beside, async (other) => {
        const got = await other.read("a");
        mustBe(got, sampleRecords(0, 2), "what a second one, opened at the same place, reads of a");
      });
    },
  ],
  [
    "of two that are open at one place exactly one wins, and each goes on behind the other",
    async (journal, _again, _patienceMs, beside) => {
      await journal.append("a", 0, sampleRecords(0, 1));
      await openedBeside(beside, async (other) => {
        // Whoever has read once is to see what the other writes then.
        mustBe(await other.read("a"), sampleRecords(0, 1), "what the second of two reads of a");
        await journal.append("a", 1, sampleRecords(1, 1));
        mustBe(await other.read("a"), sampleRecords(0, 2), "what the second reads, after the first wrote");
        await refused(() => other.append("a", 1, sampleRecords(1, 1, "late")), '"a"', "conflict");
        await other.append("a", 2, sampleRecords(2, 1));
        await refused(() => journal.append("a", 2, sampleRecords(2, 1, "late")), '"a"', "conflict");
        await journal.append("a", 3, sampleRecords(3, 1));
        for (const [one, which] of [[journal, "first"] as const, [other, "second"] as const])
          mustBe(await one.read("a"), sampleRecords(0, 4), `what the ${which} of two reads of a`);
      });
    },
  ],
  [
    "a closed journal refuses, and may be closed twice",
    async (journal) => {
      if (journal.close === undefined) return;
      await journal.append("a", 0, sampleRecords(0, 1));
      await journal.close?.();
      await journal.close?.();
      await refused(() => journal.append("a", 1, sampleRecords(1, 1)), "closed");
      await refused(() => journal.read("a"), "closed");
      await refused(() => journal.list(), "closed");
    },
  ],
];

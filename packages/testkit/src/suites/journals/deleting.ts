// The room of the journal's conformance suite that is about deleting: what is erased is gone, all of it and nothing else.

import { ok } from "node:assert/strict";
import { follow, type Journal } from "@rondo/core";
import { mustBe } from "../check.ts";
import { type Body, openedBeside, refused, sampleRecords } from "./samples.ts";

async function deleted(journal: Journal, session: string): Promise<string[]> {
  ok(journal.delete !== undefined, "the journal has no delete");
  return (await journal.delete(session)).toSorted();
}

const ids = async (journal: Journal): Promise<string[]> =>
  (await journal.list()).map(({ id }) => id).toSorted();

const kept = async (journal: Journal, session: string, text: string): Promise<string | undefined> => {
  const put = await journal.blobs?.put(session, text, { callId: "c", tool: "t", isError: false });
  return put?.ok === true ? put.ref : undefined;
};

/** The journal, telling when it was read from a record on. */
const heardReading = (journal: Journal, wanted: number, heard: () => void): Journal => ({
  append: (...given) => journal.append(...given),
  list: () => journal.list(),
  ...(journal.watch === undefined ? {} : { watch: (...given) => journal.watch?.(...given) ?? (() => {}) }),
  async read(session, from = 0) {
    const records = await journal.read(session, from);
    if (from === wanted) heard();
    return records;
  },
});

/** Longer than what is written out where ids are names of files. */
const long = "long ".repeat(60);

/** What a journal that can delete must do. */
export const deleteCases: (readonly [name: string, body: Body])[] = [
  [
    "a deleted session is gone, and no other",
    async (journal) => {
      for (const id of ["a", "A", "b"]) await journal.append(id, 0, sampleRecords(0, 3, id));
      mustBe(await deleted(journal, "a"), ["a"], "what delete says is gone");
      mustBe(await journal.read("a"), [], "what is read of a deleted session");
      mustBe(await ids(journal), ["A", "b"], "the ids in the list");
      mustBe(await journal.read("b"), sampleRecords(0, 3, "b"), "what is read of another session");
      await refused(() => journal.append("a", 3, sampleRecords(3, 1)), '"a"', "conflict");
      for (const id of ["a", "nobody"])
        mustBe(await deleted(journal, id), [], `what delete says is gone of ${id}, which is not there`);
    },
  ],
  [
    "a session of the name of a deleted one begins anew",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 30, "before"));
      await journal.append("a", 30, sampleRecords(30, 3, "before"));
      await deleted(journal, "a");
      await journal.append("a", 0, sampleRecords(0, 2, "after"));
      await journal.append("a", 2, sampleRecords(2, 40, "after"));
      mustBe(await journal.read("a"), sampleRecords(0, 42, "after"), "what is read of it");
      mustBe(await journal.read("a", 40), sampleRecords(40, 2, "after"), "what is read of it from 40 on");
      const [info] = await journal.list();
      mustBe(info, { id: "a", length: 42, createdAt: 1_000, updatedAt: 1_041 }, "what is listed of it");
      mustBe(await deleted(journal, "a"), ["a"], "what delete says is gone, the second time");
      mustBe(await journal.list(), [], "the list, after it was deleted again");
    },
  ],
  [
    "the sessions of its sub-agents go with it, and none that is only called alike",
    async (journal) => {
      for (const top of ["a", long]) {
        const gone = [top, `${top}:1.0`, `${top}:1.0:20.3`, `${top}:7.11`];
        const stays = [`${top}:1`, `${top}:x.1`, `${top}:1.0x`, `${top}b:1.0`, `${top}1.0`, `b${top}:1.0`];
        for (const id of [...gone, ...stays]) await journal.append(id, 0, sampleRecords(0, 2, id));
        mustBe(await deleted(journal, top), gone.toSorted(), "what delete says is gone");
        mustBe(await ids(journal), stays.toSorted(), "the ids in the list");
        for (const id of gone) mustBe(await journal.read(id), [], `what is read of ${JSON.stringify(id)}`);
        for (const id of stays) mustBe(await deleted(journal, id), [id], "what delete says is gone then");
      }
      await journal.append("a:1.0", 0, sampleRecords(0, 1));
      mustBe(
        await deleted(journal, "a"),
        ["a:1.0"],
        "what is gone where only a sub-agent's session was there",
      );
    },
  ],
  [
    "whole texts of a deleted session go with it, also where another session keeps the same",
    async (journal) => {
      if (journal.blobs === undefined) return;
      for (const id of ["a", "a:1.0", "b"]) await journal.append(id, 0, sampleRecords(0, 1));
      const refs = [await kept(journal, "a", "a text"), await kept(journal, "a:1.0", "a text")];
      const other = await kept(journal, "b", "a text");
      await deleted(journal, "a");
      mustBe(await journal.blobs.get("a", refs[0] ?? ""), undefined, "a text of the deleted session");
      mustBe(await journal.blobs.get("a:1.0", refs[1] ?? ""), undefined, "a text of its sub-agent's");
      mustBe(await journal.blobs.get("b", other ?? ""), "a text", "a text of another session");
    },
  ],
  [
    "whoever follows a session that is deleted is told so, wherever they began",
    async (journal, _again, patienceMs) => {
      await journal.append("a", 0, sampleRecords(0, 3));
      const signal = AbortSignal.timeout(patienceMs);
      const begun = [0, 3].map((from) => {
        const { promise: hasRead, resolve } = Promise.withResolvers<void>();
        const told = (async () => {
          for await (const _ of follow(heardReading(journal, from === 0 ? 0 : 2, resolve), "a", {
            from,
            signal,
          }));
        })();
        return { told, hasRead };
      });
      const outcomes = Promise.allSettled(begun.map(({ told }) => told));
      await Promise.race([outcomes, Promise.all(begun.map(({ hasRead }) => hasRead))]);
      await deleted(journal, "a");
      for (const outcome of await outcomes) {
        ok(
          outcome.status === "rejected",
          `a follower of a deleted session was told nothing in ${patienceMs} ms`,
        );
        await refused(() => Promise.reject(outcome.reason), "deleted", "storage");
      }
    },
  ],
  [
    "an id that cannot be stored is refused, and nothing is deleted",
    async (journal) => {
      await journal.append("a", 0, sampleRecords(0, 1));
      for (const id of ["", "a\0b", "half \ud83d", undefined] as string[])
        await refused(() => journal.delete?.(id), String(JSON.stringify(id)));
      mustBe(await ids(journal), ["a"], "the ids in the list");
    },
  ],
];

/** What a journal that can delete and has leases must do. */
export const deleteLeaseCases: (readonly [name: string, body: Body])[] = [
  [
    "a session that is held is not deleted, nor one whose sub-agent's is, and who holds it is named",
    async (journal) => {
      for (const id of ["a", "a:1.0", "a:2.0"]) {
        await journal.append(id, 0, sampleRecords(0, 2));
        await kept(journal, id, "a text");
      }
      for (const held of ["a", "a:1.0"]) {
        const lease = await journal.lease?.(held, { owner: "one", ttlMs: 600_000 });
        await refused(() => deleted(journal, "a"), "one", "conflict");
        mustBe((await ids(journal)).length, 3, `the number of sessions after delete was refused for ${held}`);
        await lease?.release();
      }
      mustBe(await deleted(journal, "a"), ["a", "a:1.0", "a:2.0"], "what is gone once nobody holds them");
    },
  ],
  [
    "no token of a deleted session is given again, and a writer of before writes nothing more",
    async (journal) => {
      const first = await journal.lease?.("a", { owner: "one", ttlMs: 600_000 });
      await journal.append("a", 0, sampleRecords(0, 1), first?.token);
      await first?.release();
      await deleted(journal, "a");
      await refused(() => journal.append("a", 0, sampleRecords(0, 1), first?.token), '"a"', "conflict");
      const second = await journal.lease?.("a", { owner: "two", ttlMs: 600_000 });
      ok(
        first !== undefined && second !== undefined && second.token > first.token,
        `the token after deleting is ${second?.token}, and ${first?.token} was given before: whoever still has that could write`,
      );
      await refused(() => journal.append("a", 0, sampleRecords(0, 1), first.token), "two", "conflict");
      await first.release();
      await journal.append("a", 0, sampleRecords(0, 1), second.token);
      await second.release();
    },
  ],
];

/** What a journal that can delete must do that outlives its process. */
export const durableDeleteCases: (readonly [name: string, body: Body])[] = [
  [
    "what was deleted stays so, for whoever opens it again or has it open as well",
    async (journal, again, _patienceMs, beside) => {
      await journal.append("a", 0, sampleRecords(0, 3));
      await journal.append("b", 0, sampleRecords(0, 1));
      await openedBeside(beside, async (other) => {
        mustBe(await other.read("a"), sampleRecords(0, 3), "what the second of two reads of a");
        await deleted(journal, "a");
        mustBe(await other.read("a"), [], "what the second reads of a, after the first deleted it");
        mustBe(await ids(other), ["b"], "the ids in the list of the second");
        await refused(() => other.append("a", 3, sampleRecords(3, 1)), '"a"', "conflict");
        await other.append("a", 0, sampleRecords(0, 5, "anew"));
        mustBe(
          await journal.read("a"),
          sampleRecords(0, 5, "anew"),
          "what the first reads of the one begun anew",
        );
        await deleted(other, "a");
      });
      if ((await journal.read("a")).length > 0) await deleted(journal, "a");
      const opened = await again();
      mustBe(await opened.read("a"), [], "what is read of a deleted session after opening again");
      mustBe(await ids(opened), ["b"], "the ids in the list after opening again");
    },
  ],
];

// The room of the journal's conformance suite that is about others: who holds a session, and who watches it.

import { ok } from "node:assert/strict";
import { follow, type Journal, type Lease, type LeaseRequest, type LogRecord } from "@rondo/core";
import { mustBe } from "../check.ts";
import { type Body, openedBeside, refused, sampleRecords } from "./samples.ts";

/** Long enough not to run out while a case runs. */
const long = 600_000;

async function lease(journal: Journal, session: string, request: Partial<LeaseRequest> = {}): Promise<Lease> {
  ok(journal.lease !== undefined, "the journal has no leases");
  return journal.lease(session, { owner: "one", ttlMs: long, ...request });
}

/** What a journal with leases must do. */
export const leaseCases: (readonly [name: string, body: Body])[] = [
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
      mustBe(await journal.read("a"), sampleRecords(0, 3), "what is read of a");
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
      mustBe(await journal.read("a"), sampleRecords(0, 3), "what is read of a");
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
      mustBe(await journal.list(), [], "the list while a session is held and nothing written");
      await refused(() => lease(journal, "b", { owner: "" }), "owner");
      for (const ttlMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
        await refused(() => lease(journal, "b", { ttlMs }), String(ttlMs));
      await refused(() => lease(journal, ""), '""');
    },
  ],
];

/** What a journal with leases must do that outlives its process. */
export const durableLeaseCases: (readonly [name: string, body: Body])[] = [
  [
    "a lease holds against whoever opens the same place as well, until they take it over",
    async (journal, _again, _patienceMs, beside) => {
      const first = await lease(journal, "a");
      await journal.append("a", 0, sampleRecords(0, 1), first.token);
      await openedBeside(beside, async (other) => {
        await refused(() => other.append("a", 1, sampleRecords(1, 1)), "one", "conflict");
        await refused(() => lease(other, "a", { owner: "two" }), "one", "conflict");
        const second = await lease(other, "a", { owner: "two", takeOver: true });
        await refused(() => journal.append("a", 1, sampleRecords(1, 1), first.token), "two", "conflict");
        await refused(async () => first.renew(), "two", "conflict");
        await other.append("a", 1, sampleRecords(1, 1), second.token);
        mustBe(await journal.read("a"), sampleRecords(0, 2), "what is read of a");
      });
    },
  ],
  [
    "no token is given twice, also not when it was closed and opened again",
    async (journal, again) => {
      const first = await lease(journal, "a");
      await journal.append("a", 0, sampleRecords(0, 1), first.token);
      await first.release();
      const opened = await again();
      const second = await lease(opened, "a", { owner: "two" });
      ok(
        second.token > first.token,
        `the token after opening again is ${second.token}, and ${first.token} was given before: whoever still has that could write`,
      );
      await refused(() => opened.append("a", 1, sampleRecords(1, 1), first.token), "two", "conflict");
    },
  ],
];

/** What a journal that can be watched must do. */
export const watchCases: (readonly [name: string, body: Body])[] = [
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
      mustBe(stopped, 0, "how often a watcher that had stopped was called");
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
      const writing = (async () => {
        for (let seq = 3; seq < 7; seq += 2) await journal.append("a", seq, sampleRecords(seq, 2));
      })();
      // What goes wrong with one is not to be left unheard while the other is waited for.
      await Promise.all([reading, writing]);
      mustBe(got, sampleRecords(1, 6), "what the follower got");
    },
  ],
];

/** What a journal must do that is watched while others write it. */
export const durableWatchCases: (readonly [name: string, body: Body])[] = [
  [
    "who watches a session hears of what is appended by whoever opened the same place as well",
    async (journal, _again, patienceMs, beside) => {
      await journal.append("a", 0, sampleRecords(0, 1));
      await openedBeside(beside, async (other) => {
        let heard = 0;
        const stop = journal.watch?.("a", () => {
          heard += 1;
        });
        try {
          // It may be called too often: what counts is a call behind the last append.
          await other.append("a", 1, sampleRecords(1, 1));
          const before = heard;
          await other.append("a", 2, sampleRecords(2, 1));
          await until(() => heard > before, patienceMs);
        } finally {
          stop?.();
        }
        mustBe(await journal.read("a"), sampleRecords(0, 3), "what is read of a by who has heard of it");
      });
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

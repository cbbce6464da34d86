// The lease as a protocol: any number of writers, any order of steps, crashes at any point, clocks that jump.

import {
  checkToken,
  isHeld,
  type LeaseState,
  memoryJournal,
  RondoError,
  releaseLease,
  renewLease,
  takeLease,
  userText,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

type Step = {
  who: number;
  do: "take" | "take_over" | "append" | "append_bare" | "renew" | "release" | "crash" | "freeze_and_append";
  /** How far the clock moves before it; backwards, too. */
  clock: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  who: fc.nat({ max: 2 }),
  do: fc.constantFrom(
    "take",
    "take",
    "append",
    "append",
    "append",
    "take_over",
    "append_bare",
    "renew",
    "release",
    "crash",
    "freeze_and_append",
  ),
  clock: fc.oneof(fc.nat({ max: 4 }), fc.integer({ min: -50, max: 50 }), fc.constant(0)),
});

const attempt = (act: () => void): boolean => {
  try {
    act();
    return true;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RondoError);
    expect((thrown as RondoError).kind).toBe("conflict");
    return false;
  }
};

describe("over any interleaving of writers, crashes and jumps of the clock", () => {
  test("tokens only grow, only the newest one can write, and a fenced writer never appends again", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state: LeaseState | undefined;
        let now = 1_000;
        const tokens: (number | undefined)[] = [undefined, undefined, undefined];
        const fenced = new Set<number>();
        let newest = 0;
        /** Tokens in the order they wrote. */
        const wrote: number[] = [];
        for (const { who, do: act, clock } of steps) {
          now += clock;
          const token = tokens[who];
          switch (act) {
            case "take":
            case "take_over": {
              const before = state;
              const took = attempt(() => {
                state = takeLease(
                  "s",
                  state,
                  { owner: `w${who}`, ttlMs: 10, takeOver: act === "take_over" },
                  now,
                );
              });
              // Nobody who is alive and in time is replaced unasked, and nobody else is waited for.
              expect(took).toBe(act === "take_over" || !isHeld(before, now));
              if (!took) break;
              if (before?.owner !== undefined) fenced.add(before.token);
              expect(state?.token).toBeGreaterThan(newest);
              newest = state?.token ?? 0;
              tokens[who] = newest;
              break;
            }
            case "append":
            case "freeze_and_append": {
              if (token === undefined) break;
              const wins = attempt(() => checkToken("s", state, token, act === "append" ? now : now - 1_000));
              expect(wins).toBe(token === newest && !fenced.has(token));
              if (wins) wrote.push(token);
              break;
            }
            case "append_bare":
              expect(attempt(() => checkToken("s", state, undefined, now))).toBe(!isHeld(state, now));
              break;
            case "renew":
              if (token === undefined) break;
              if (
                attempt(() => {
                  state = renewLease("s", state, token, now);
                })
              ) {
                expect(token).toBe(newest);
                expect(isHeld(state, now)).toBe(true);
              }
              break;
            case "release":
              if (token === undefined) break;
              state = releaseLease(state, token);
              fenced.add(token);
              if (token === newest) expect(isHeld(state, now)).toBe(false);
              break;
            case "crash":
              tokens[who] = undefined;
          }
          expect(state?.token ?? 0).toBe(newest);
        }
        expect(wrote).toEqual([...wrote].sort((a, b) => a - b));
      }),
      { numRuns: 2_000 },
    );
  });

  test("a writer that keeps asking gets it within twice its duration, however the clock jumped before", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 1, max: 1_000 }), (jump, ttlMs) => {
        const state = takeLease("s", undefined, { owner: "dead", ttlMs }, 1e7);
        let now = 1e7 + jump;
        let waited = 0;
        while (!attempt(() => takeLease("s", state, { owner: "next", ttlMs }, now))) {
          now += 1;
          waited += 1;
        }
        expect(waited).toBeLessThanOrEqual(2 * ttlMs);
      }),
    );
  });

  test("a holder that is known to be dead is replaced at once", () => {
    const state = takeLease("s", undefined, { owner: "dead", ttlMs: 1_000 }, 0);
    expect(attempt(() => takeLease("s", state, { owner: "next", ttlMs: 1_000 }, 1))).toBe(false);
    expect(takeLease("s", state, { owner: "next", ttlMs: 1_000 }, 1, true).token).toBe(2);
    expect(attempt(() => checkToken("s", state, undefined, 1, true))).toBe(true);
  });
});

test("two writers that take turns on one journal at any moment: every acknowledged group is there, in order", () => {
  const turn = fc.record({ who: fc.nat({ max: 2 }), ms: fc.nat({ max: 15 }), give: fc.boolean() });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 50 }), (turns) => {
      let now = 0;
      const journal = memoryJournal({ leases: true, now: () => now });
      const writers = [0, 1, 2].map((who) => ({
        who,
        lease: undefined as { token: number; release(): void } | undefined,
        at: 0,
      }));
      const acknowledged: string[] = [];
      for (const { who, ms, give } of turns) {
        now += ms;
        const writer = writers[who]!;
        attempt(() => {
          if (writer.lease === undefined) {
            writer.lease = journal.lease?.("s", { owner: `w${who}`, ttlMs: 10 }) as {
              token: number;
              release(): void;
            };
            writer.at = journal.read("s").length;
          }
          const text = `${who} at ${writer.at}`;
          const record = {
            type: "queued" as const,
            id: text,
            lane: "steer" as const,
            message: userText(text),
            seq: writer.at,
            at: now,
            rand: 0,
          };
          try {
            journal.append("s", writer.at, [record], writer.lease.token);
          } catch (thrown) {
            writer.lease = undefined;
            throw thrown;
          }
          writer.at += 1;
          acknowledged.push(text);
          if (give) {
            writer.lease.release();
            writer.lease = undefined;
          }
        });
      }
      expect(journal.read("s").map((record) => (record.type === "queued" ? record.id : ""))).toEqual(
        acknowledged,
      );
    }),
    { numRuns: 500 },
  );
});

test("a writer whose lease was taken or has expired is told which", () => {
  const own = takeLease("s", undefined, { owner: "one", ttlMs: 1_000 }, 0);
  const taken = takeLease("s", own, { owner: "two", ttlMs: 1_000, takeOver: true }, 0);
  const left = releaseLease(taken, taken.token);
  for (const [state, why] of [
    [taken, "taken over by two;"],
    [left, "taken over;"],
    [releaseLease(own, own.token), "released;"],
    [undefined, "deleted;"],
  ] as const)
    expect(() => checkToken("s", state, own.token, 0)).toThrow(`its lease (token 1) was ${why} open`);
});

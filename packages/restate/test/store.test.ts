// Records in key-value state: whatever is appended, in whatever groups and by however many invocations, is read back.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readLines } from "../src/state/page.ts";
import type { KeyValues } from "../src/state/pieces.ts";
import { RecordStore } from "../src/state/store.ts";
import { Taken } from "../src/state/taken-mails.ts";

function memory(): { kv: KeyValues; values: Map<string, string>; writes: () => number } {
  const values = new Map<string, string>();
  let written = 0;
  const kv: KeyValues = {
    get: async (keys) => keys.map((key) => values.get(key) ?? null),
    keys: async () => [...values.keys()],
    set: (key, value) => {
      written += value.length;
      values.set(key, value);
    },
  };
  return { kv, values, writes: () => written };
}

const load = async (kv: KeyValues): ReturnType<typeof RecordStore.load> =>
  RecordStore.load(kv, await kv.keys());

describe("the records of a session", () => {
  it("are read back from any one on, after any groups and any invocations", async () => {
    const group = fc.record({
      sizes: fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(9_000)), { maxLength: 6 }),
      driven: fc.boolean(),
      again: fc.constantFrom("no", "to drive", "to append"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(group, { maxLength: 60 }), fc.nat(), async (groups, place) => {
        const { kv } = memory();
        const all: string[] = [];
        let { store } = await load(kv);
        let driven = false;
        for (const { sizes, driven: is, again } of groups) {
          if (again === "to drive") ({ store } = await load(kv));
          if (again === "to append") store = await RecordStore.open(kv, await kv.keys());
          const lines = sizes.map((size, at) => `${all.length + at}:${"x".repeat(size)}`);
          // A drive says that it drives together with what it begins with.
          if (lines.length === 0 && is) continue;
          store.append(lines, is);
          all.push(...lines);
          driven = is;
        }
        const from = place % (all.length + 2);
        const read = await readLines(kv, await kv.keys(), from);
        expect(read.lines).toEqual(all.slice(from));
        expect([read.seq, store.seq]).toEqual([all.length, all.length]);
        if (groups.length > 0) expect(read.driven).toBe(driven);
        const whole = await load(kv);
        expect(whole.lines.join("\n")).toBe(all.join("\n"));
      }),
    );
  });

  it("are not read to append to them, however many there are", async () => {
    const { kv } = memory();
    const { store } = await load(kv);
    for (let at = 0; at < 200; at += 1) store.append([`${at}:${"x".repeat(3_000)}`], false);
    const keys = await kv.keys();
    expect(keys.length).toBeGreaterThan(30);
    let read = 0;
    const get: KeyValues["get"] = (asked) => {
      read += asked.length;
      return kv.get(asked);
    };
    const end = await RecordStore.open({ ...kv, get }, keys);
    expect([end.seq, read]).toEqual([200, 9]);
  });

  it("are read page by page, each with how many there are in all, and with no record twice or left out", async () => {
    const group = fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(9_000)), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(group, { maxLength: 60 }),
        fc.nat(),
        fc.oneof(fc.integer({ min: 1, max: 500 }), fc.constant(30_000)),
        async (groups, place, most) => {
          const { kv } = memory();
          const { store } = await load(kv);
          const all: string[] = [];
          for (const sizes of groups) {
            const lines = sizes.map((size, at) => `${all.length + at}:${"x".repeat(size)}`);
            store.append(lines, true);
            all.push(...lines);
          }
          const from = place % (all.length + 2);
          const read: string[] = [];
          for (let at: number | undefined = from; at !== undefined; ) {
            const page: Awaited<ReturnType<typeof readLines>> = await readLines(
              kv,
              await kv.keys(),
              at,
              most,
            );
            expect([page.seq, page.driven]).toEqual([all.length, groups.length > 0]);
            if (page.lines.length > 1) expect(page.lines.join("").length).toBeLessThanOrEqual(most);
            read.push(...page.lines);
            at = page.next;
          }
          expect(read).toEqual(all.slice(from));
        },
      ),
    );
  });

  it("are not all looked at for a page of some", async () => {
    const { kv } = memory();
    const { store } = await load(kv);
    for (let at = 0; at < 4_000; at += 1) store.append([`${at}:${"x".repeat(1_000)}`], true);
    let looked = 0;
    const counting: KeyValues = {
      ...kv,
      get: async (keys) => {
        const values = await kv.get(keys);
        for (const value of values) looked += value?.length ?? 0;
        return values;
      },
    };
    const most = 200_000;
    const page = await readLines(counting, await kv.keys(), 1_000, most);
    expect([page.seq, page.lines.length]).toEqual([4_000, page.next === undefined ? -1 : page.next - 1_000]);
    expect(page.lines.join("").length).toBeGreaterThan(0.9 * most);
    expect(looked).toBeLessThan(1.5 * most);
  });

  it("are written about three times in all, under few keys, however many groups there are", async () => {
    const { kv, values, writes } = memory();
    const { store } = await load(kv);
    let total = 0;
    for (let at = 0; at < 2_000; at += 1) {
      const line = `${at}:${"x".repeat(500)}`;
      total += line.length;
      store.append([line], true);
    }
    expect(values.size).toBeLessThan(160);
    expect(writes() / total).toBeLessThan(3.5);
  });
});

describe("mails", () => {
  it("are taken once each, in whatever order they come", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 })), fc.nat(), (mails, cut) => {
        let taken = new Taken();
        const seen = new Set<number>();
        for (const [at, mail] of mails.entries()) {
          if (at === cut % (mails.length + 1)) taken = new Taken(taken.data);
          expect(taken.take(mail)).toBe(!seen.has(mail));
          seen.add(mail);
        }
        for (let n = 1; n <= 21; n += 1) expect(taken.has(n)).toBe(seen.has(n));
      }),
    );
  });
});

// A log remembers what it summed: asking again costs what is new.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Log } from "../../src/loop/log.ts";

const naive = (items: readonly number[], from: number, to: number): number =>
  items.slice(from, to).reduce((sum, item) => sum + item, 0);

describe("the sum of a log", () => {
  test("is the plain sum, for every version, in whatever order versions grow and are summed", () => {
    const step = fc.record({
      version: fc.nat(20),
      push: fc.option(fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 4 }), { nil: undefined }),
      from: fc.nat(12),
      to: fc.nat(12),
      double: fc.boolean(),
    });
    const once = (item: number): number => item;
    const twice = (item: number): number => item * 2;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const versions: { log: Log<number>; items: number[] }[] = [{ log: Log.of<number>(), items: [] }];
        for (const { version, push, from, to, double } of steps) {
          const { log, items } = versions[version % versions.length] as (typeof versions)[number];
          if (push !== undefined) versions.push({ log: log.push(...push), items: [...items, ...push] });
          const [measure, weight] = double ? [twice, 2] : [once, 1];
          expect(log.sum(measure, from, to)).toBe(
            to <= from ? 0 : naive(items, Math.min(from, items.length), Math.min(to, items.length)) * weight,
          );
        }
        for (const { log, items } of versions) expect(log.sum(once)).toBe(naive(items, 0, items.length));
      }),
    );
  });

  test("measures each item once, however often it is called while the log grows", () => {
    let measured = 0;
    const measure = (item: number): number => {
      measured += 1;
      return item;
    };
    let log = Log.of<number>();
    for (let n = 1; n <= 1_000; n += 1) {
      log = log.push(n);
      expect(log.sum(measure)).toBe((n * (n + 1)) / 2);
      log.sum(measure, Math.floor(n / 2));
    }
    expect(measured).toBe(1_000);
  });
});

// The small runner under the mutation run: what a test is given there is what vitest gives it.

import { describe, expect, test } from "vitest";
import { collect, test as collected, describe as within } from "../scripts/mutate/vitest-face.ts";

const mixed = [" ", [], ["a", "b"]];
const lists = [
  [1, 2],
  [3, 4],
];
const byVitest: unknown[][] = [];

describe("a test for each row is given", () => {
  test.each(mixed)("%j", (...given: unknown[]) => void byVitest.push(given));
  test.each(lists)("%j", (...given: unknown[]) => void byVitest.push(given));

  test("the row itself where not every row is a list, and else what is in it, as vitest has it", async () => {
    const ours: unknown[][] = [];
    const keep = (...given: unknown[]): void => void ours.push(given);
    const tests = await collect("file", async () => {
      collected.each(mixed)("%j", keep);
      within("a group", () => collected.each(lists)("%j", keep));
    });
    for (const { body } of tests) await body();
    expect(ours).toEqual(byVitest);
    expect(ours).toEqual([[" "], [[]], [["a", "b"]], [1, 2], [3, 4]]);
  });
});

// How a file of failure cases is played, through all of Rondo, in every chunking. Each file has a test file of its own, so
// that they are played side by side.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toothless } from "../../scripts/cases/falsify.ts";
import type { Case } from "../../scripts/cases/format.ts";
import { judge } from "../../scripts/cases/judge.ts";
import { observe } from "../../scripts/cases/perform.ts";
import { refusable } from "../../scripts/cases/requests.ts";
import { fewAtATime, readCases, runCases } from "../../scripts/cases/run-cases.ts";
import { ambiguous, notYet } from "./not-yet.ts";

/** Plays the cases of a file in this folder. */
export function playCases(name: string): void {
  const text = readFileSync(join(import.meta.dirname, name), "utf8");

  describe(`the cases of ${name}`, () => {
    test("come out as they must, but for those that are listed with what is missing", async () => {
      const surprises: string[] = [];
      let played = 0;
      for await (const { id, reasons } of runCases(text)) {
        played += 1;
        const listed = Object.hasOwn(notYet, id);
        if (reasons.length > 0 && !listed) surprises.push(`${id}: ${reasons.join("; ")}`);
        if (reasons.length === 0 && listed) surprises.push(`${id} passes: take it off the list`);
      }
      expect(surprises).toEqual([]);
      expect(played).toBeGreaterThan(10);
    }, 600_000);

    test("fail when any one of their expectations is made false, and make no request that a provider would refuse", async () => {
      const without: string[] = [];
      const whole = (readCases(text) as Case[]).filter(({ id }) => !Object.hasOwn(notYet, id));
      const played = fewAtATime(whole, async (one) => ({ one, seen: await observe(one, "frames") }));
      for await (const { one, seen } of played) {
        expect(judge(one, seen), one.id).toEqual([]);
        expect(refusable(one, seen), one.id).toEqual([]);
        without.push(...toothless(one, seen).map((what) => `${one.id} ${what}`));
      }
      expect(without.filter((what) => !Object.hasOwn(ambiguous, what))).toEqual([]);
    }, 300_000);
  });
}

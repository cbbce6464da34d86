// How a file of failure cases is played, through all of Rondo, in every chunking. Each file has a test file of its own, so
// that they are played side by side.
//
// They are played once, and each test looks at what came of it: of what was seen only that is kept, for it is large.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { toothless } from "../../scripts/cases/falsify.ts";
import type { Case } from "../../scripts/cases/format.ts";
import type { Observation } from "../../scripts/cases/observation.ts";
import { refusable } from "../../scripts/cases/requests.ts";
import { runCases } from "../../scripts/cases/run-cases.ts";
import { type Chunking, chunkings } from "../../scripts/cases/wire.ts";
import { ambiguous, notYet } from "./not-yet.ts";

/** Plays the cases of a file in this folder, with their bodies split in these ways. */
export function playCases(name: string, cuts: readonly Chunking[] = chunkings): void {
  describe(`the cases of ${name}`, () => {
    /** Why cases failed, by their ids; nothing where they passed. */
    const reasons = new Map<string, readonly string[]>();
    /** Expectations that could be made false, and requests that a provider would refuse. */
    const without: string[] = [];
    const refused: string[] = [];
    /** The cases whose expectations were made false. */
    const doubted = new Set<string>();

    beforeAll(async () => {
      const text = readFileSync(join(import.meta.dirname, name), "utf8");
      const hear = (one: Case, seen: Observation): void => {
        if (Object.hasOwn(notYet, one.id)) return;
        doubted.add(one.id);
        without.push(...toothless(one, seen).map((what) => `${one.id} ${what}`));
        refused.push(...refusable(one, seen).map((what) => `${one.id} ${what}`));
      };
      const played = runCases(text, undefined, hear, cuts);
      for await (const result of played) reasons.set(result.id, result.reasons);
      expect(reasons.size).toBeGreaterThan(10);
    }, 900_000);

    test("come out as they must, but for those that are listed with what is missing", () => {
      const surprises: string[] = [];
      for (const [id, wrong] of reasons) {
        const listed = Object.hasOwn(notYet, id);
        if (wrong.length > 0 && !listed) surprises.push(`${id}: ${wrong.join("; ")}`);
        if (wrong.length === 0 && listed) surprises.push(`${id} passes: take it off the list`);
      }
      expect(surprises).toEqual([]);
    });

    test("fail when any one of their expectations is made false, and make no request that a provider would refuse", () => {
      expect(without.filter((what) => !Object.hasOwn(ambiguous, what))).toEqual([]);
      expect(refused).toEqual([]);
      const passed = [...reasons].flatMap(([id, wrong]) => (wrong.length === 0 ? [id] : []));
      expect(passed.filter((id) => !doubted.has(id) && !Object.hasOwn(notYet, id))).toEqual([]);
    });
  });
}

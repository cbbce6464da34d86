// The loop's decisions as they were recorded: walks through everything the world may answer, under every shape of the
// loop, each with the digest of all that was decided, written down and folded on it. Words for people are left out.
//
// What changes here was meant, or is a defect. Where it was meant, `RONDO_RECORD=1 npx vitest run --project fast
// packages/core/test/decisions.test.ts` records it anew; `npm run -s modelcheck` says whether the promises still hold.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Subject } from "../../testkit/src/modelcheck/explore.ts";
import { subjects } from "../../testkit/src/modelcheck/subjects.ts";
import { walk } from "../../testkit/src/modelcheck/walk.ts";
import { digest } from "../src/json/digest.ts";
import { Log } from "../src/loop/log.ts";

const place = join(import.meta.dirname, "decisions.generated.json");
const recorded = JSON.parse(readFileSync(place, "utf8")) as { [subject: string]: string[] };
const recording = process.env.RONDO_RECORD === "1";
const walks = 60;

/** The same numbers on every machine. */
function numbers(seed: number): number[] {
  let at = seed;
  return Array.from({ length: 90 }, () => {
    at = (Math.imul(at, 1_103_515_245) + 12_345) >>> 0;
    return (at >>> 8) % 1_000;
  });
}

function plain(_name: string, value: unknown): unknown {
  if (value instanceof Log) return [...value];
  return typeof value === "string" && value.includes(" ") ? "words" : value;
}

/** All that came of one walk. */
function cameOf(subject: Subject, seed: number): string {
  const { records, decisions, states } = walk(subject, numbers(seed));
  return digest(JSON.stringify([records, decisions, states.at(-1)], plain)).slice(-7);
}

describe("the loop decides as recorded", () => {
  afterAll(() => {
    if (recording) writeFileSync(place, `${JSON.stringify(recorded, null, 1)}\n`);
  });

  test.each(subjects().map((subject) => [subject.name, subject] as const))("%s", (name, subject) => {
    const came = Array.from({ length: walks }, (_, seed) => cameOf(subject, seed + 1));
    if (recording) recorded[name] = came;
    expect(came).toEqual(recorded[name]);
  });
});

// P1, P3, P4, P7 and P8 end to end: real processes, real journals, a real SIGKILL at boundaries of the journal and at
// random instants, and a harness that is itself tried against those who do it wrong. A short one: `npm run crash` is the
// long one.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Campaign, campaign, isClean, lifeProgram, type Outcome } from "../scripts/crash/campaign.ts";
import type { Mistake } from "../scripts/crash/mistakes.ts";
import type { Wrong } from "../scripts/crash/verdict.ts";
import { runScript } from "./run-script.ts";

const crash = (...args: string[]): ReturnType<typeof runScript> => runScript("crash", ...args);

const folder = mkdtempSync(join(tmpdir(), "rondo-crash-test-"));
let program: string;
beforeAll(async () => {
  program = await lifeProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A campaign in this process, without the random kills. */
const played = (how: Omit<Campaign, "kills" | "program">): Promise<Outcome> =>
  campaign({ ...how, kills: 0, program });

describe("a run that is killed with SIGKILL", () => {
  test.each(["sqlite", "jsonl"])(
    "at boundaries of its journal and at random instants ends as one that never was (%s)",
    async (journal) => {
      const { code, lines } = await crash(
        "--journal",
        journal,
        "--kills",
        "12",
        "--every",
        "6",
        "--seed",
        "3",
      );
      expect(lines.at(-1)).toMatch(
        /^\d+ kills, 0 lost runs, 0 lost records, 0 reordered, 0 repeated writes, \d+ unknown$/,
      );
      // An eighth of the boundaries, and the instants.
      expect(Number.parseInt(lines.at(-1) ?? "", 10)).toBeGreaterThan(30);
      expect(code).toBe(0);
    },
  );

  test("in the middle of a write is told that its outcome is unknown, and waits for no lease to run out", async () => {
    const outcome = await played({ journal: "sqlite", seed: 1, only: /^effect/, every: 4 });
    expect(isClean(outcome)).toBe(true);
    expect(outcome.unknown).toBeGreaterThan(0);
    // The lease of who was killed holds for 15 s.
    expect(outcome.openedMs.most).toBeGreaterThan(0);
    expect(outcome.openedMs.most).toBeLessThan(15_000);
  });

  test("in the middle of a write whose tool can find out goes on as if it had never been killed", async () => {
    for (const journal of ["sqlite", "jsonl"] as const) {
      const outcome = await played({ journal, seed: 1, only: /^effect [st]:/ });
      expect(isClean(outcome)).toBe(true);
      expect(outcome.kills).toBeGreaterThan(3);
      expect(outcome.unknown).toBe(0);
    }
  });
});

describe("runs on a cluster whose workers and nodes are killed with SIGKILL", () => {
  const sumUp = /^\d+ kills?, 0 lost runs, 0 lost records, 0 reordered, 0 repeated writes, \d+ unknown$/;

  test("end as runs do that never were", async ({ skip }) => {
    const { code, lines } = await crash("--journal", "restate", "--kills", "4", "--seed", "3");
    // Restate's server is not to be had everywhere: its words say why.
    if (code === 3) skip(lines.at(-1));
    // What was wrong stands in the lines before the last.
    expect(lines.at(-1), lines.join("\n")).toMatch(sumUp);
    expect(lines.at(-1)).toMatch(/^4 kills/);
    expect(code).toBe(0);
  });
});

describe("the harness notices", () => {
  const made: [mistake: Mistake, where: RegExp, wrong: Wrong][] = [
    ["ack_before_write", /^append.*after$/, "lost record"],
    ["drop_last_group", /^append/, "lost record"],
    ["repeat_group", /^append/, "lost run"],
    ["reorder_group", /^append/, "reordered"],
    ["late_intent", /^effect.*after$/, "repeated write"],
    ["write_again", /^effect.*after$/, "repeated write"],
    ["lose_message", /^append/, "lost record"],
  ];

  test.each(made)("%s", async (mistake, only, wrong) => {
    for (const journal of ["sqlite", "jsonl"] as const) {
      const outcome = await played({ journal, seed: 5, every: 2, only, mistake, bail: true });
      expect(outcome.wrong[wrong]).toBeGreaterThan(0);
    }
  });

  test("and says so, and exits with 1", async () => {
    const { code, lines } = await crash(
      "--mistake",
      "write_again",
      "--kills",
      "0",
      "--only",
      "^effect",
      "--bail",
    );
    expect(lines.at(-1)).toMatch(
      /^\d+ kills?, 0 lost runs, 0 lost records, 0 reordered, [1-9]\d* repeated writes?, /,
    );
    expect(code).toBe(1);
  });
});

// P1 to P8 under everything at once: agents of every preset, every fault of the wire, processes that are killed; and a
// harness that is itself tried against agents, journals and workers that do it wrong. A short one: `npm run chaos` is
// the long one.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { campaign, workerProgram } from "../scripts/chaos/campaign.ts";
import { type Mistake, mistakes } from "../scripts/chaos/mistakes.ts";
import { planOf } from "../scripts/chaos/plan.ts";
import { against, growthOf, mostGrowth, Tally } from "../scripts/chaos/table.ts";
import type { HeapRow } from "../scripts/chaos/words.ts";
import { runScript } from "./run-script.ts";

const chaos = (...args: string[]): ReturnType<typeof runScript> => runScript("chaos", ...args);

describe("hundreds of agents against a provider that misbehaves", () => {
  test("keep every promise, in a process that lives and in processes that are killed", async () => {
    const { code, lines } = await chaos(
      "--minutes",
      "0.1",
      "--agents",
      "40",
      "--mortals",
      "15",
      "--seed",
      "7",
    );
    expect(lines.at(-1), lines.join("\n")).toBe("chaos: holds");
    expect(code).toBe(0);
    const row = (name: string): string => lines.find((line) => line.startsWith(name)) ?? "";
    expect(row("broken")).toContain("P1 0, P2 0, P3 0, P4 0, P5 0, P6 0, P7 0, P8 0, other 0");
    expect(Number(/judged (\d+)/.exec(row("agents"))?.[1])).toBeGreaterThan(40);
    expect(Number(/kills (\d+)/.exec(row("crashes"))?.[1])).toBeGreaterThan(0);
    expect(Number(/with a fault (\d+)/.exec(row("requests"))?.[1])).toBeGreaterThan(20);
    for (const preset of ["default", "think_act_observe", "step_sequence", "steerable"])
      expect(lines.join("\n")).toMatch(new RegExp(`${preset} [1-9]`));
  });

  test("are who they are by the seed and their name alone, and one can be played again by itself", async () => {
    expect(planOf(7, "a3", false)).toEqual(planOf(7, "a3", false));
    const plans = Array.from({ length: 40 }, (_, at) => JSON.stringify(planOf(7, `a${at}`, false)));
    expect(new Set(plans).size).toBe(40);
    const { code, lines } = await chaos("--seed", "7", "--only", "a3");
    expect(code, lines.join("\n")).toBe(0);
    expect(lines.filter((line) => line.startsWith("a3 ")).at(0)).toContain('"run_started"');
    expect(lines.find((line) => line.startsWith("agents"))).toContain("judged 1,");
  });

  test.each([
    ["--only", "nobody"],
    ["--minutes", "never"],
    ["--mistake", "none_of_ours"],
  ])("refuse %s %s", async (...args) => {
    const { code } = await chaos(...args);
    expect(code).toBe(2);
  });
});

describe("the harness notices", () => {
  const folder = mkdtempSync(join(tmpdir(), "rondo-chaos-test-"));
  let program: string;
  beforeAll(async () => {
    program = await workerProgram(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What only shows where processes are killed. */
  const mortal: ReadonlySet<Mistake> = new Set(["forget_records", "write_again"]);
  const seen = Object.keys(mistakes).filter((name) => name !== "keep_sessions") as Mistake[];

  test.each(seen)("%s", async (mistake) => {
    const { breaks } = mistakes[mistake];
    // What an agent must come to before a mistake can show takes chance, and a busy machine leaves less of it. Agents that
    // live in processes of their own need more time.
    for (let seed = 5; ; seed += 1) {
      const tally = new Tally(seed);
      // It has shown as soon as one agent shows it.
      const enough = (): boolean => (tally.broken.get(breaks) ?? 0) > 0;
      const outcome = await campaign({
        seed,
        ms: mortal.has(mistake) ? 12_000 : 1_500,
        together: mortal.has(mistake) ? 0 : 20,
        mortals: mortal.has(mistake) ? 30 : 0,
        mistake,
        program,
        ...(mistake === "leave_rejections" ? {} : { enough }),
        hear: (news) => "came" in news && tally.add(news),
      });
      const seen = mistake === "leave_rejections" ? outcome.unhandled.length : tally.broken.get(breaks);
      if (seen === 0 && seed < 9) continue;
      expect(seen).toBeGreaterThan(0);
      expect(against(tally, outcome)).not.toEqual([]);
      return;
    }
  });

  test("a heap that grows, and one that is measured too seldom to tell", () => {
    const rows = (...sizes: number[]): HeapRow[] =>
      sizes.map((heapMb, at) => ({ at, ended: at, heapMb, rssMb: heapMb }));
    expect(growthOf(rows(10, 20))).toBeUndefined();
    expect(growthOf(rows(10, 20, 22))).toBeLessThanOrEqual(mostGrowth);
    expect(growthOf(rows(10, 20, 23))).toBeGreaterThan(mostGrowth);
  });

  test("nothing where there is nothing to notice", async () => {
    const tally = new Tally(5);
    const hear = (news: object): void => void ("came" in news && tally.add(news as never));
    const outcome = await campaign({ seed: 5, ms: 1_500, together: 15, mortals: 25, program, hear });
    expect(tally.findings).toEqual([]);
    expect(against(tally, outcome)).toEqual([]);
  });
});

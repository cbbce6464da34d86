// The mutation run, over one small source of the loop, and the proof that it tells what survives: a source and a test
// that misses something on purpose. `npm run -s mutate` is the long one.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { campaign, type Tried } from "../scripts/mutate/campaign.ts";
import { entryOf, readExplained } from "../scripts/mutate/explained.ts";
import { installed, instrument, type Mutant } from "../scripts/mutate/instrument.ts";
import { isKilled, reportOf } from "../scripts/mutate/report.ts";
import { root } from "../scripts/packages.ts";

const missing = await installed().then(
  () => undefined,
  (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
);

const source = `
export const kinds: readonly string[] = ["plain", "round"];
export function countDown(from: number): number {
  let left = from;
  while (left > 0) left -= 1;
  return left;
}
export function size(one: { kind?: string; at: number }): number {
  if (one.kind === "round") return one.at * 2;
  return one.at > 10 ? 10 : one.at;
}
`;

/** Sees everything but the border at 10. */
const seeing = `
import { expect, test } from "vitest";
import { countDown, kinds, size } from "./small.ts";
test("counts down", () => expect([countDown(3), countDown(-1)]).toEqual([0, -1]));
test.each([[{ at: 3 }, 3], [{ at: 20 }, 10], [{ kind: "round", at: 20 }, 40]])("is as large as it is: %j", (one, wanted) => {
  expect(size(one)).toBe(wanted);
});
test("waits for what must come", async () => {
  expect(kinds).toEqual(["plain", "round"]);
  await new Promise((resolve) => setTimeout(resolve, size({ at: 1 })));
});
`;

describe.skipIf(missing !== undefined)(
  `mutation${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "rondo-mutants-"));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test("kills what a test sees, endless loops and what is made while loading among it, and tells what survives", async () => {
      writeFileSync(join(folder, "small.ts"), source);
      writeFileSync(join(folder, "small.test.ts"), seeing);
      const made = await instrument(folder, ["small.ts"]);
      const { tried, unfit, tests } = await campaign(made, {
        files: [join(folder, "small.test.ts")],
        workers: 2,
        budgetMs: 1_000,
      });
      expect([unfit, tests]).toEqual([[], 5]);
      const survivors = tried.filter((one) => !isKilled(one)).map(({ mutant }) => mutant);
      const changes = survivors.map(({ before, after }) => `${before} => ${after}`);
      // At 10 both branches say 10; down from below nothing is counted either way.
      expect(changes).toContain("one.at > 10 => one.at >= 10");
      expect(changes.length).toBeLessThan(tried.length / 4);
      const fate = (before: string, after: string): string | undefined =>
        tried.find(({ mutant }) => mutant.before === before && mutant.after === after)?.verdict;
      expect(fate("left -= 1", "left += 1")).toBe("hung");
      expect(fate('["plain", "round"]', "[]")).toBe("killed");
      expect(fate("one.at * 2", "one.at / 2")).toBe("killed");

      const { lines } = reportOf(tried, []);
      expect(lines.join("\n")).toContain("one.at > 10` → `one.at >= 10`:");
      expect(lines.at(-1)).toBe(
        `in all: ${tried.length} mutants, ${tried.length - survivors.length} killed, ${survivors.length} survived (0 explained), score ${((100 * (tried.length - survivors.length)) / tried.length).toFixed(1)} %`,
      );
    });

    test("runs as a command over one source, and its score comes out", async () => {
      const args = [
        "--only",
        "loop/folding/same-model.ts",
        "--tests",
        "packages/core/test/loop/judging.test.ts",
      ];
      const main = join(root, "scripts/mutate/main.ts");
      const [code, text] = await new Promise<[number, string]>((resolve) => {
        execFile(
          process.execPath,
          ["--conditions=rondo-source", main, ...args],
          { cwd: root },
          (error, stdout) => resolve([error === null ? 0 : 1, stdout]),
        );
      });
      expect(text).toMatch(
        /^loop\/folding\/same-model\.ts: \d+ mutants, \d+ killed, \d+ survived \(\d+ explained\), score \d+\.\d %$/m,
      );
      expect(text).toMatch(/^in all: /m);
      expect(code).toBe(0);
    });
  },
);

describe("what is explained", () => {
  const mutant: Mutant = {
    id: "1",
    file: "loop/a.ts",
    line: 3,
    kind: "x",
    code: "return `a`;",
    before: "`a`",
    after: "``",
  };
  const dead: Tried = { mutant, verdict: "killed", ran: 1 };
  const alive: Tried = { mutant, verdict: "survived", ran: 1 };
  const folder = mkdtempSync(join(tmpdir(), "rondo-explained-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "survivors.md");

  test("does not count, and is told as stale once its mutant is killed", () => {
    writeFileSync(path, `## loop/a.ts\n\n${entryOf(mutant)} nobody reads it.\n`);
    const explained = readExplained(path);
    expect(explained[0]?.why).toBe("nobody reads it.");
    expect(reportOf([alive], explained).lines).toEqual([
      "loop/a.ts: 1 mutants, 0 killed, 1 survived (1 explained), score 100.0 %",
      "loop: 1 mutants, 0 killed, 1 survived (1 explained), score 100.0 %",
      "in all: 1 mutants, 0 killed, 1 survived (1 explained), score 100.0 %",
    ]);
    expect(reportOf([dead], explained).lines.join("\n")).toContain("stale in survivors.md: loop/a.ts");
    expect(reportOf([alive], []).rooms[0]?.score).toBe(0);
  });

  test("wants a reason", () => {
    writeFileSync(path, `## loop/a.ts\n\n${entryOf(mutant)}\n`);
    expect(() => readExplained(path)).toThrow(/survivors\.md:3 is no entry with a reason/);
  });

  test("is what survivors.md says, each entry readable", () => {
    for (const { why } of readExplained(join(root, "scripts/mutate/survivors.md"))) expect(why).not.toBe("");
  });
});

// The fuzz, for a few seconds, and the proof that it sees what goes wrong: targets that are wrong on purpose. `npm run
// fuzz` is the long one.

import { describe, expect, test } from "vitest";
import { campaign } from "../scripts/fuzz/campaign.ts";
import { targets } from "../scripts/fuzz/targets.ts";
import { runScript } from "./run-script.ts";

const fuzz = (...args: string[]): ReturnType<typeof runScript> => runScript("fuzz", ...args);

test("whatever reads what others wrote gives a result or a typed error, the same for every chunking", async () => {
  const { code, lines } = await fuzz("--inputs", "40", "--seed", "3");
  expect(lines.at(-1)).toBe(`${40 * targets.length} inputs, 0 broken`);
  expect(code).toBe(0);
});

describe("the fuzz notices a target", () => {
  const made: [mistake: string, wrong: RegExp][] = [
    ["type-error", /^TypeError: .* at packages\/models\/src\/transport\/sse\.ts/],
    ["chunking", /^Broken: chunking \d gives/],
    ["hang", /^hang: no answer in 1500 ms$/],
    ["slow", /^slow: \d+ ms for \d+ characters$/],
    ["growth", /^growth: \d+ characters came of \d+$/],
  ];

  test.each(made)("with the mistake %s, and makes its input small", async (mistake, wrong) => {
    const only = `mistake-${mistake}`;
    const stallMs = { slow: 60_000, hang: 1_500 }[mistake] ?? 4_000;
    const { findings, broken } = await campaign({ seed: 1, inputs: 400, only, stallMs, most: 1 });
    expect(broken).toBeGreaterThan(0);
    expect(findings[0]?.wrong).toMatch(wrong);
    // The smallest that is wrong is a frame of a character.
    if (/type|growth|slow/.test(mistake)) expect(findings[0]?.input).toMatch(/^data: ?x\n\n$/);
    expect(JSON.stringify(findings[0]?.input).length).toBeLessThan(100);
  });

  test("and says so as a line of JSON that brings it back, and exits with 1", async () => {
    const first = await fuzz("--only", "mistake-type-error", "--inputs", "60", "--seed", "4");
    expect(first.code).toBe(1);
    expect(first.lines.at(-1)).toMatch(/^60 inputs, [1-9]\d* broken$/);
    const found = JSON.parse(first.lines[0] ?? "") as { target: string; seed: number; number: number };
    expect(found).toMatchObject({ target: "mistake-type-error", seed: 4, input: "data:x\n\n" });
    const again = await fuzz(
      ...["--only", found.target, "--seed", String(found.seed)],
      ...["--from", String(found.number), "--inputs", "1"],
    );
    expect(again.lines).toEqual([first.lines[0], "mistake-type-error 1", "1 inputs, 1 broken"]);
  });

  test("asked for one that does not exist, it names those that do, and exits with 2", async () => {
    expect(await fuzz("--only", "nothing")).toEqual({ code: 2, lines: [""] });
  });
});

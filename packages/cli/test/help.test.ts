// What the command says of itself, on a terminal and off one.

import { describe, expect, it } from "vitest";
import { run } from "../src/commands/run.ts";
import { runs } from "../src/commands/runs.ts";
import { commandHelp, generalHelp } from "../src/line/help.ts";

const oneLine = (text: string): string => text.replace(/\s+/g, " ");
const longest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

describe("the help", () => {
  it("says the same in lines of any width, none of them longer", () => {
    for (const help of [
      (width: number) => generalHelp([run, runs], width),
      (width: number) => commandHelp(run, width),
    ]) {
      const whole = help(Number.POSITIVE_INFINITY);
      for (const width of [60, 80, 132]) {
        expect(longest(help(width))).toBeLessThanOrEqual(width);
        expect(oneLine(help(width))).toBe(oneLine(whole));
      }
    }
  });

  it("has each option on one line off a terminal", () => {
    expect(commandHelp(run, Number.POSITIVE_INFINITY)).toMatch(/^ {6}--no-journal {2,}Keep nothing$/m);
    expect(commandHelp(run, 80)).toMatch(/^ {6}--no-journal\n {10}Keep nothing$/m);
    expect(commandHelp(runs, 300)).toMatch(/^ {6}--all {2,}All of them$/m);
  });
});

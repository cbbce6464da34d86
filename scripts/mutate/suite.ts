// The room of the kill set: the tests that are run with each mutant.
//
// They are those of core that take no time worth speaking of, the walks whose decisions are recorded, and a small look
// of the model checker. What takes seconds is left out: it would be run thousands of times, and what it alone would see
// counts as survived.

import { globSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../packages.ts";

/** Properties, and tables over every reference system: as long as all the rest together. */
const slow =
  /^(promises|.*properties|presets\/x-(endings|table|views)|structured-partial|context\/ledger|redact)\./;
/** Of rooms that are not mutated: they meet the loop by the way only. */
const elsewhere = /^(coerce|render|migrations|context\/(cap|cap-head-tail|prune|log|compact-.*))\./;

const tests = join(root, "packages/core/test");

/** Files with tests, absolute; the quickest kills first. */
export function killSet(): string[] {
  const files = globSync("**/*.test.ts", { cwd: tests })
    .filter((path) => !/\.slow\.test\.ts$/.test(path) && !slow.test(path) && !elsewhere.test(path))
    .sort()
    .map((path) => join(tests, path));
  return [
    ...files.filter(isAlways),
    join(import.meta.dirname, "model-check.test.ts"),
    ...files.filter((one) => !isAlways(one)),
  ];
}

/** Tests that ask the loop's rooms directly: tried with every mutant that they meet. */
export const isAlways = (path: string): boolean =>
  /^(decisions|loop\/.*|rules\/.*)\.test\.ts$/.test(relative(tests, path));

// The room of the kill set: the tests that are run with each mutant.
//
// The fast tests of core, the walks with recorded decisions, and a short run of the model checker. Tests that take
// seconds are left out, because they would run thousands of times: mutants that only they would notice count as
// survivors.

import { globSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../packages.ts";

/** Property tests, and tables over all reference systems: they take as long as all others together. */
const slow =
  /^(promises|.*properties|presets\/x-(endings|table|views)|structured-partial|context\/ledger|redact)\./;
/** Tests of code that is not mutated, which use the loop only incidentally. */
const elsewhere = /^(coerce|render|migrations|context\/(cap|cap-head-tail|prune|log|compact-.*))\./;

const tests = join(root, "packages/core/test");

/** Test files, absolute; those that kill fastest first. */
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

/** Tests that test the loop's files directly: run with every mutant that they reach. */
export const isAlways = (path: string): boolean =>
  /^(decisions|loop\/.*|rules\/.*)\.test\.ts$/.test(relative(tests, path));

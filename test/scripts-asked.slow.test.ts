// What a script of the workspace says when it is asked wrongly: 1 is kept for what it found.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../scripts/packages.ts";

test.each([
  ["crash", ["--only", "("], "--only: Invalid regular expression"],
  ["crash", ["--kill", "3"], "Unknown option '--kill'"],
  ["chaos", ["--agents", "2.5"], "--agents must be a whole number, not 2.5"],
  ["fuzz", ["--minutes", "0"], "--minutes must be a number from 0.001 to a million, not 0"],
  ["mutate", ["--oops"], "Unknown option '--oops'"],
  ["modelcheck", ["--oops"], "Unknown option '--oops'"],
  ["modelcheck", ["--states", "many"], "--states must be a whole number from 1, not many"],
  ["modelcheck", ["--states", "0"], "--states must be a whole number from 1, not 0"],
  ["longrun", ["--steps", "many"], "--steps must be a whole number of at least 1, not many"],
])("%s %j is asked wrongly: it says what is wrong, and ends with 2", (script, args, why) => {
  const home = script === "modelcheck" ? "packages/testkit/src" : "scripts";
  const main = join(root, home, script, "main.ts");
  const node = ["--conditions=rondo-source", "--disable-warning=ExperimentalWarning", main, ...args];
  const { status, stderr, stdout } = spawnSync(process.execPath, node, { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toMatch(new RegExp(`^${script}: `));
  expect(stderr).toContain(why);
});

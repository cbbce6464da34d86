// What a script of the workspace says when it is asked wrongly: 1 is kept for what it found.

import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withPackages } from "../scripts/built.ts";
import { root } from "../scripts/packages.ts";

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: { readonly [name: string]: string };
};

function asking(script: string, args: readonly string[]): SpawnSyncReturns<string> {
  const main = join(root, scripts[script]?.split(" ").at(-1) ?? "");
  const node = [...withPackages, "--disable-warning=ExperimentalWarning", main, ...args];
  return spawnSync(process.execPath, node, { encoding: "utf8" });
}

test.each([
  ...[
    "crash",
    "chaos",
    "fuzz",
    "mutate",
    "modelcheck",
    "longrun",
    "cases",
    "rules",
    "cluster",
    "bench",
    "fixtures",
  ],
  ...["table", "compat", "stop-reasons", "reference", "site", "catalogue", "lock"],
])("%s --help says what it does, and how it is asked", (script) => {
  const { status, stderr, stdout } = asking(script, ["--help"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^\\W?npm run -s ${script}\\b`));
  expect(stdout).not.toMatch(/^(?:\/\/|import )/m);
});

test.each([
  ["crash", ["--only", "("], "--only: Invalid regular expression"],
  ["crash", ["--kill", "3"], "Unknown option '--kill'"],
  ["chaos", ["--agents", "2.5"], "--agents must be a whole number, not 2.5"],
  ["fuzz", ["--minutes", "0"], "--minutes must be a number from 0.001 to a million, not 0"],
  ["mutate", ["--oops"], "Unknown option '--oops'"],
  ["mutate", ["--only", ""], "there is no source without a name in the loop or the rules"],
  ["mutate", ["--only", "loop/batch.ts,loop/nosuch.ts"], "there is no source loop/nosuch.ts in the loop"],
  ["mutate", ["--tests", "nosuch.test.ts"], "--tests: ENOENT: no such file"],
  ["mutate", ["--again", "/nosuch/results.json"], "--again: ENOENT: no such file"],
  ["mutate", ["--again", "README.md"], "--again: Unexpected token"],
  ["mutate", ["--json", "/nosuch/results.json"], "--json: ENOENT: no such file"],
  ["mutate", ["--log", "/nosuch/log.jsonl"], "--log: ENOENT: no such file"],
  ["modelcheck", ["--oops"], "Unknown option '--oops'"],
  ["modelcheck", ["--states", "many"], "--states must be a whole number of at least 1, not many"],
  ["modelcheck", ["--states", "0"], "--states must be a whole number of at least 1, not 0"],
  ["longrun", ["--steps", "many"], "--steps must be a whole number of at least 1, not many"],
  ["cluster", ["--oops"], "Unknown option '--oops'"],
  ["table", ["--chek"], "Unknown option '--chek'"],
  ["compat", ["--chek"], "Unknown option '--chek'"],
  ["stop-reasons", ["--chek"], "Unknown option '--chek'"],
  ["lock", ["--chek"], "Unknown option '--chek'"],
  ["reference", ["--oops"], "Unknown option '--oops'"],
  ["catalogue", ["--oops"], "Unknown option '--oops'"],
  ["site", ["--serve", "--port", "here"], "--port must be a whole number, not here"],
  ["cluster", ["--sessions", "0"], "--sessions must be a whole number of at least 1, not 0"],
])("%s %j is asked wrongly: it says what is wrong, and ends with 2", (script, args, why) => {
  const { status, stderr, stdout } = asking(script, args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toMatch(new RegExp(`^${script}: `));
  expect(stderr).toContain(why);
});

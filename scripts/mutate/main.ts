// npm run -s mutate [-- --only FILE,… --tests FILE,… --budget MS --workers N --json FILE --again FILE --log FILE]
//
// Changes the loop and the rules in thousands of small ways, one at a time, and checks that a test notices. Prints the
// score of each file, and the survivors that survivors.md does not explain; exits with 1 when a folder's score is below 90,
// with 2 for a wrong command line.
// `--only loop/next.ts,rules/`: only these files; `--again FILE`: only survivors in the results that `--json FILE` wrote.
// `--log FILE`: writes each verdict as it comes, one line of JSON each.

import { accessSync, appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandLine } from "../command-line.ts";
import { root } from "../packages.ts";
import { campaign, type Tried } from "./campaign.ts";
import { keyOf, readExplained } from "./explained.ts";
import { instrument, sourcesIn } from "./instrument.ts";
import { isKilled, reportOf } from "./report.ts";
import { isAlways, killSet } from "./suite.ts";

const wanted = 90;

const asked: CommandLine = new CommandLine("mutate");
const values = asked.options({
  only: { type: "string", default: "loop/,rules/" },
  tests: { type: "string" },
  budget: { type: "string", default: "500" },
  workers: { type: "string", default: "2" },
  json: { type: "string" },
  again: { type: "string" },
  log: { type: "string" },
});

const base = join(root, "packages/core/src");
const only = values.only.split(",");
const sources = sourcesIn(base, ["loop", "rules"]);
for (const one of only)
  if (one === "" || !sources.some((file) => file.startsWith(one)))
    asked.refuse(
      `there is no source ${one || "without a name"} in the loop or the rules (--only ${values.only})`,
    );
const files = sources.filter((file) => only.some((one) => file.startsWith(one)));
const tests = values.tests?.split(",").map((path) => resolve(root, path)) ?? killSet();
for (const path of tests) asked.file("tests", () => accessSync(path));
const sizes = {
  workers: asked.whole("workers", values.workers, 1),
  budgetMs: asked.whole("budget", values.budget, 1),
};
/** What was killed before stays killed; the rest is tried again. */
const before =
  values.again === undefined
    ? []
    : asked.file("again", () =>
        (JSON.parse(readFileSync(values.again as string, "utf8")) as Tried[]).filter(isKilled),
      );
// A campaign takes long: make sure now that the results can be written at its end.
for (const name of ["json", "log"] as const) {
  const path = values[name];
  if (path !== undefined) asked.file(name, () => appendFileSync(path, ""));
}
const made = await instrument(base, files);

const dead = new Map(before.map((one) => [keyOf(one.mutant), one]));
const left = made.mutants.filter((mutant) => !dead.has(keyOf(mutant)));
const { tried, unfit } = await campaign(
  { ...made, mutants: left },
  {
    files: tests,
    always: tests.filter(isAlways),
    ...sizes,
    hear: (line) => console.error(line),
    ...(values.log === undefined
      ? {}
      : { tried: (one: Tried) => appendFileSync(values.log as string, `${JSON.stringify(one)}\n`) }),
  },
);
for (const { id, why } of unfit) console.error(`left out: ${id.replace(root, "")}: ${why.split("\n")[0]}`);

const all = [
  ...tried,
  ...made.mutants.flatMap((mutant) => {
    const known = dead.get(keyOf(mutant));
    return known === undefined || mutant.leftOut !== undefined ? [] : [{ ...known, mutant }];
  }),
].sort((a, b) => Number(a.mutant.id) - Number(b.mutant.id));
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all, null, 1)}\n`);
const { lines, rooms } = reportOf(all, readExplained(join(import.meta.dirname, "survivors.md")));
for (const line of lines) console.log(line);
process.exitCode = rooms.every(({ score }) => score >= wanted) ? 0 : 1;

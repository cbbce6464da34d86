// npm run -s modelcheck -- [--states N] [--seed S]
//
// Explores the pure loop: for agents of every kind the world answers in every possible way, until at least N distinct
// states (150,000) were visited, and each is checked against the promises. A violation is printed as a minimal sequence of
// steps; the last line is `visited N states, 0 broken`. Exits with 1 when something is broken, or from 100,000 states on
// when some row of the loop's table was never reached, with 2 for a wrong command line.

import { type Row, table } from "@rondo/core";
import { explore, type Finding } from "../../packages/testkit/src/modelcheck/explore.ts";
import { storyOf } from "../../packages/testkit/src/modelcheck/model-check.ts";
import { shrunk } from "../../packages/testkit/src/modelcheck/shrink.ts";
import { subjects } from "../../packages/testkit/src/modelcheck/subjects.ts";
import { CommandLine } from "../command-line.ts";

const asked: CommandLine = new CommandLine("modelcheck");
const values = asked.options({
  states: { type: "string", default: "150000" },
  seed: { type: "string", default: "1" },
});
// Without any state nothing could be broken.
const wanted = asked.whole("states", values.states, 1);
const seed = asked.whole("seed", values.seed);
const list = subjects();
let states = 0;
const findings: Finding[] = [];
const rows = new Set<Row>();
for (const [at, one] of list.entries()) {
  const share = Math.ceil((wanted - states) / (list.length - at));
  const report = explore(one, share, { seed });
  states += report.states;
  findings.push(...report.findings.map((finding) => shrunk(one, finding)));
  for (const row of report.rows) rows.add(row);
  console.log(
    `${one.name}: ${report.states} states, ${report.transitions} transitions, ${report.findings.length} broken`,
  );
}
// A short exploration misses rare rows; the full one must reach every row.
for (const row of wanted < 100_000 ? [] : Object.values(table).flat())
  if (!rows.has(row))
    findings.push({ subject: "all", broken: `no state led to: ${row.when}, ${row.does}`, path: [] });
for (const { subject, broken, path } of findings) console.log(`\n${storyOf(`${broken} (${subject})`, path)}`);
console.log(`visited ${states} states, ${findings.length} broken`);
process.exitCode = findings.length > 0 || states < wanted ? 1 : 0;

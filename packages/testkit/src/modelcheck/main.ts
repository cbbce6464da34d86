// npm run -s modelcheck [-- --states N --seed S]: visits at least N distinct states (default 150,000) over all subjects
// and ends with `visited N states, 0 broken`.

import { parseArgs } from "node:util";
import { type Row, table } from "@rondo/core";
import { explore, type Finding } from "./explore.ts";
import { storyOf } from "./model-check.ts";
import { shrunk } from "./shrink.ts";
import { subjects } from "./subjects.ts";

const { values } = parseArgs({
  options: { states: { type: "string", default: "150000" }, seed: { type: "string", default: "1" } },
});
const wanted = Number(values.states);
const list = subjects();
let states = 0;
const findings: Finding[] = [];
const rows = new Set<Row>();
for (const [at, one] of list.entries()) {
  const share = Math.ceil((wanted - states) / (list.length - at));
  const report = explore(one, share, { seed: Number(values.seed) });
  states += report.states;
  findings.push(...report.findings.map((finding) => shrunk(one, finding)));
  for (const row of report.rows) rows.add(row);
  console.log(
    `${one.name}: ${report.states} states, ${report.transitions} transitions, ${report.findings.length} broken`,
  );
}
// A small look leaves rare rows out; the full one must reach every row.
for (const row of wanted < 100_000 ? [] : Object.values(table).flat())
  if (!rows.has(row))
    findings.push({ subject: "all", broken: `no state led to: ${row.when}, ${row.does}`, path: [] });
for (const { subject, broken, path } of findings) console.log(`\n${storyOf(`${broken} (${subject})`, path)}`);
console.log(`visited ${states} states, ${findings.length} broken`);
process.exitCode = findings.length > 0 || states < wanted ? 1 : 0;

// npm run -s modelcheck [-- --states N --seed S]: visits at least N distinct states (default 150,000) over all subjects
// and ends with `visited N states, 0 broken`. Exits with 1 where something is broken, with 2 when it was asked wrongly.

import { parseArgs } from "node:util";
import { messageOf, type Row, table } from "@rondo/core";
import { explore, type Finding } from "./explore.ts";
import { storyOf } from "./model-check.ts";
import { shrunk } from "./shrink.ts";
import { subjects } from "./subjects.ts";

function refuse(words: string): never {
  console.error(`modelcheck: ${words}`);
  process.exit(2);
}

/** A whole number of at most nine digits. Of no states at all nothing could be broken. */
function whole(name: "states" | "seed", least: number): number {
  const text = values[name];
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  return refuse(`--${name} must be a whole number from ${least}, not ${text}`);
}

function given(): { states: string; seed: string } {
  try {
    return parseArgs({
      options: { states: { type: "string", default: "150000" }, seed: { type: "string", default: "1" } },
    }).values;
  } catch (thrown) {
    return refuse(messageOf(thrown));
  }
}

const values = given();
const wanted = whole("states", 1);
const seed = whole("seed", 0);
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
// A small look leaves rare rows out; the full one must reach every row.
for (const row of wanted < 100_000 ? [] : Object.values(table).flat())
  if (!rows.has(row))
    findings.push({ subject: "all", broken: `no state led to: ${row.when}, ${row.does}`, path: [] });
for (const { subject, broken, path } of findings) console.log(`\n${storyOf(`${broken} (${subject})`, path)}`);
console.log(`visited ${states} states, ${findings.length} broken`);
process.exitCode = findings.length > 0 || states < wanted ? 1 : 0;

// npm run -s bench [-- --scenarios 50-steps,cold] [--subjects fetch,node,rondo,pi] [--runs 5] [--json]
// npm run -s bench -- --scenarios loop,deltas [--runs 9] [--json]
//
// There are two kinds of scenarios. Those of the contest run Rondo, the peers and hand-written loops against one server,
// each cell in a fresh process; they run by default. The others measure one part of Rondo each, in one process, and run
// when named. Every figure is compared with a floor measured in the same rounds; a subject that did other work than the
// others is an error. `--help` lists everything.

import { CommandLine } from "../scripts/command-line.ts";
import { runContest } from "./contest/command.ts";
import { plans } from "./contest/plan.ts";
import { render } from "./contest/report.ts";
import { subjects } from "./contest/subjects.ts";
import { printTable } from "./measure.ts";
import type { Scenario, Tabled } from "./scenario.ts";
import { decoding } from "./scenarios/decoding.ts";
import { deltas } from "./scenarios/deltas.ts";
import { estimate } from "./scenarios/estimate.ts";
import { imports } from "./scenarios/imports.ts";
import { journals } from "./scenarios/journals.ts";
import { loop } from "./scenarios/loop.ts";
import { restate } from "./scenarios/restate.ts";
import { resume } from "./scenarios/resume.ts";
import { steps } from "./scenarios/steps.ts";

const scenarios: Readonly<Record<string, Scenario | Tabled>> = {
  loop,
  decoding,
  deltas,
  steps,
  resume,
  imports,
  estimate,
  journals,
  restate,
};
const inContest = [...Object.keys(plans), "install-size"];

const line = new CommandLine("bench");
const values = line.options({
  scenarios: { type: "string", default: inContest.join(",") },
  subjects: { type: "string" },
  runs: { type: "string" },
  "peer-runs": { type: "string" },
  json: { type: "boolean", default: false },
  verdict: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
  render: { type: "boolean", default: false },
  "cpu-prof": { type: "string" },
  instructions: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
});
const rounds = (name: "runs" | "peer-runs"): number | undefined => {
  const text = values[name];
  return text === undefined ? undefined : line.whole(name, text, 1);
};
const runs = rounds("runs");
const peerRuns = rounds("peer-runs");
const named = namesIn("scenario", values.scenarios, [...inContest, ...Object.keys(scenarios)]);
const taking =
  values.subjects === undefined
    ? undefined
    : namesIn(
        "subject",
        values.subjects,
        subjects.map(({ name }) => name),
      );

function namesIn(what: string, text: string, known: readonly string[]): string[] {
  const names = text.split(",");
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  return line.refuse(`there is no ${what} ${JSON.stringify(unknown)}; there are ${known.join(", ")}`);
}

const micro = (value: number): string => value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0);

async function measureParts(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const scenario = scenarios[name] as Scenario | Tabled;
    if ("table" in scenario) {
      const table = await scenario.table();
      if (values.json) console.log(JSON.stringify({ scenario: name, table }));
      else {
        console.log(`\n${name}: ${scenario.about}\n`);
        if (typeof table === "string") console.log(table);
        else printTable(table.head, table.rows);
      }
      continue;
    }
    const rows: string[][] = [];
    for await (const figures of scenario.run(runs ?? scenario.rounds))
      for (const figure of figures) {
        if (values.json) console.log(JSON.stringify({ scenario: name, ...figure }));
        rows.push([
          figure.title,
          figure.subject,
          micro(figure.cpu),
          micro(figure.wall),
          figure.ratio.toFixed(2),
        ]);
      }
    if (values.json) continue;
    console.log(`\n${name}: ${scenario.about}\n`);
    printTable(["", "", `µs CPU per ${scenario.unit}`, "µs wall", "ratio"], rows);
  }
}

if (values.help) {
  console.log(`npm run -s bench -- [--scenarios A,B] [--subjects X,Y] [--runs N] [--peer-runs N] [--json]
npm run -s bench -- --verdict [--runs N] [--peer-runs N] [--json] [--write]

contest:   ${inContest.join(", ")}
subjects:  ${subjects.map(({ name }) => name).join(", ")}
by parts:  ${Object.keys(scenarios).join(", ")} (only when named)

--verdict  runs what the bounds need, prints "ok" or "not ok" a bound, exits 1 when one is not
--write    puts the figures into bench/RESULTS.md and draws bench/plots/
--render   draws those again from bench/contest.json, measuring nothing
--cpu-prof DIR  a CPU profile of each cell into DIR (slows it)
--instructions  counts the instructions of each cell in place of its time (Valgrind; a minute or two a cell), which other
           work on the machine does not change`);
} else if (values.render) render();
else {
  const asked = named.filter((name) => inContest.includes(name));
  if (values.verdict || asked.length > 0)
    process.exitCode = await runContest({
      scenarios: asked,
      subjects: taking,
      runs,
      peerRuns,
      json: values.json,
      verdict: values.verdict,
      write: values.write,
      cpuProf: values["cpu-prof"],
      instructions: values.instructions,
    });
  if (!values.verdict) await measureParts(named.filter((name) => !inContest.includes(name)));
}

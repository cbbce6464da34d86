// npm run -s bench [-- --scenarios loop,deltas] [--runs 9] [--json]
//
// Ratios, not bounds: every figure stands beside a floor measured in the same rounds. Nothing here passes or fails by
// its speed; only a subject that did other work than its neighbours is an error. What was measured is kept in RESULTS.md.

import { parseArgs } from "node:util";
import { printTable } from "./measure.ts";
import type { Scenario, Tabled } from "./scenario.ts";
import { decoding } from "./scenarios/decoding.ts";
import { deltas } from "./scenarios/deltas.ts";
import { estimate } from "./scenarios/estimate.ts";
import { imports } from "./scenarios/imports.ts";
import { journals } from "./scenarios/journals.ts";
import { loop } from "./scenarios/loop.ts";
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
};

const { values } = parseArgs({
  options: {
    scenarios: { type: "string", default: Object.keys(scenarios).join(",") },
    runs: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const micro = (value: number): string => value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0);

for (const name of values.scenarios.split(",")) {
  const scenario = scenarios[name];
  if (scenario === undefined)
    throw new Error(`there is no scenario ${name}; there are ${Object.keys(scenarios).join(", ")}`);
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
  for await (const figures of scenario.run(Number(values.runs ?? scenario.rounds)))
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

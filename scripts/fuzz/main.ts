// npm run -s fuzz -- [--minutes N] [--seed S] [--only TARGET] [--inputs N] [--from N] [--stall SECONDS]
//
// Random, mutated and grammar-based input for everything that parses foreign data. Exits with 1 when anything broke, with
// 2 for a wrong command line. A broken input is printed as a line of JSON, minimized; `--seed`, `--only`, `--from` and
// `--inputs 1` reproduce it.

import { CommandLine } from "../command-line.ts";
import { campaign, chosen, summaryOf } from "./campaign.ts";
import { targets } from "./targets.ts";

const asked: CommandLine = new CommandLine("fuzz");
const values = asked.options({
  minutes: { type: "string" },
  seed: { type: "string", default: "1" },
  only: { type: "string" },
  inputs: { type: "string" },
  from: { type: "string", default: "0" },
  stall: { type: "string", default: "15" },
});
const { only, minutes, inputs } = values;
if (chosen(only).length === 0)
  asked.refuse(`there is no target ${only}; there are ${targets.map(({ name }) => name).join(", ")}`);

const outcome = await campaign({
  seed: asked.whole("seed", values.seed),
  from: asked.whole("from", values.from),
  stallMs: 1_000 * asked.number("stall", values.stall, 0.001),
  ...(inputs === undefined
    ? { ms: 60_000 * asked.number("minutes", minutes ?? "1", 0.001) }
    : { inputs: asked.whole("inputs", inputs, 1) }),
  ...(inputs !== undefined && minutes !== undefined
    ? { ms: 60_000 * asked.number("minutes", minutes, 0.001) }
    : {}),
  ...(only === undefined ? {} : { only }),
  hear: (finding) => console.log(JSON.stringify(finding)),
});
console.log(
  Object.entries(outcome.each)
    .map(([name, count]) => `${name} ${count}`)
    .join(", "),
);
console.log(summaryOf(outcome));
process.exitCode = outcome.broken > 0 ? 1 : 0;

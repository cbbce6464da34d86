// npm run -s chaos -- [--minutes N] [--seed S] [--agents N] [--mortals N] [--only AGENT] [--row-seconds N]
//   [--mistake NAME]
//
// Hundreds of agents of every preset work against providers that misbehave in every way `rondo-wire` knows, while other
// processes full of agents are killed with SIGKILL and resumed. Every journal is then checked against the promises
// P1 to P8. Exits with 1 when one was broken, with 2 for a wrong command line.
//
// The seed determines each agent, its model's answers, which request meets which fault, how each tool call goes, who
// talks at which event, and when a process is killed. Timing depends on the machine: what a kill interrupts, and which of
// two simultaneous events comes first, varies between runs. `--only` plays one agent alone, and
// prints its records.

import { CommandLine } from "../command-line.ts";
import { campaign } from "./campaign.ts";
import { isMistake, mistakes } from "./mistakes.ts";
import { against, growthOf, heapHead, heapLine, Tally } from "./table.ts";

const asked: CommandLine = new CommandLine("chaos");
const values = asked.options({
  minutes: { type: "string", default: "1" },
  seed: { type: "string", default: "1" },
  agents: { type: "string", default: "200" },
  mortals: { type: "string", default: "40" },
  "row-seconds": { type: "string", default: "60" },
  only: { type: "string" },
  mistake: { type: "string" },
});
const { only, mistake } = values;
if (only !== undefined && !/^(a\d+|m\d+-\d+)$/.test(only))
  asked.refuse(`--only takes the name of an agent as the table gives it, e.g. a12 or m3-7, not ${only}`);
if (mistake !== undefined && !isMistake(mistake))
  asked.refuse(`--mistake must be one of ${Object.keys(mistakes).join(", ")}, not ${mistake}`);

/** Characters of a record to print; more in a file than on a terminal. */
const shownCharacters = process.stdout.isTTY ? 300 : 10_000;

const seed = asked.whole("seed", values.seed);
const sizes = {
  ms: 60_000 * asked.number("minutes", values.minutes, 0.01),
  together: asked.whole("agents", values.agents),
  mortals: asked.whole("mortals", values.mortals),
  rowMs: 1_000 * asked.number("row-seconds", values["row-seconds"], 1),
};
const tally = new Tally(seed);
console.log(
  `chaos: seed ${seed}, ${values.minutes} minutes, ${values.agents} agents at once, ${values.mortals} in a process that is killed`,
);
console.log(heapHead);
const outcome = await campaign({
  seed,
  ...sizes,
  ...(only === undefined ? {} : { only }),
  ...(mistake === undefined ? {} : { mistake }),
  show: (session, record) => console.log(`${session} ${record.slice(0, shownCharacters)}`),
  hear: (news) => {
    if ("heapMb" in news) return console.log(heapLine(news));
    tally.add(news);
    for (const { promise, words } of news.came.findings)
      console.log(`${promise} broken by ${news.name} (--seed ${seed} --only ${news.name}): ${words}`);
  },
});
for (const words of outcome.unhandled.slice(0, 20)) console.log(`unhandled: ${words}`);
for (const words of new Set(outcome.violations.slice(0, 200))) console.log(`malformed: ${words}`);
for (const words of new Set(outcome.problems.slice(0, 200))) console.log(`script: ${words}`);
for (const words of outcome.failed.slice(0, 20)) console.log(`failed: ${words}`);
for (const line of tally.lines(outcome)) console.log(line);
const growth = growthOf(outcome.heap);
console.log(
  `heap                  ${growth === undefined ? "too few rows to tell" : `the last row is ${growth.toFixed(2)} of the second`}`,
);
const faults = against(tally, outcome);
console.log(faults.length === 0 ? "chaos: holds" : `chaos: broken: ${faults.join(", ")}`);
process.exitCode = faults.length === 0 ? 0 : 1;

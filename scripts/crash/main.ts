// npm run -s crash -- [--journal sqlite|jsonl|restate] [--kills N] [--seed S] [--every N] [--only PATTERN] [--jobs N]
//   [--mistake NAME] [--bail]
//
// A scripted agent in a real process is killed with SIGKILL at every boundary of its journal, and N times at random
// instants, and continues in the next process. Exits with 1 when anything was lost, reordered or repeated, with 2 for a
// wrong command line. `--mistake` makes a mistake on purpose, to test that it is noticed.
//
// On Restate the N kills hit workers and server nodes (three to one) at random instants, while runs continue on whichever
// worker is alive. The server is installed first if necessary; if that is impossible, this exits with 3.

import { CommandLine } from "../command-line.ts";
import { campaign, isClean, summaryOf } from "./campaign.ts";
import { isMistake, mistakes } from "./mistakes.ts";

const asked: CommandLine = new CommandLine("crash");
const values = asked.options({
  journal: { type: "string", default: "sqlite" },
  kills: { type: "string", default: "100" },
  seed: { type: "string", default: "1" },
  every: { type: "string", default: "1" },
  only: { type: "string" },
  jobs: { type: "string", default: "2" },
  mistake: { type: "string" },
  bail: { type: "boolean", default: false },
});
const { journal, only, mistake, bail } = values;
if (journal !== "sqlite" && journal !== "jsonl" && journal !== "restate")
  asked.refuse(`--journal must be sqlite, jsonl or restate, not ${journal}`);
if (mistake !== undefined && !isMistake(mistake))
  asked.refuse(`there is no mistake ${mistake}; there are ${Object.keys(mistakes).join(", ")}`);

if (journal === "restate") {
  if (only !== undefined)
    asked.refuse("--only names boundaries of a journal on this machine, not of restate");
  if (mistake !== undefined && mistake !== "write_again")
    asked.refuse(`on restate there is the mistake write_again, not ${mistake}`);
  // Imports Restate's SDK, which the other journals need not load.
  const { campaignOnRestate } = await import("./restate/campaign.ts");
  const { NoServer } = await import("../../examples/cluster/engine/engine.ts");
  try {
    const outcome = await campaignOnRestate({
      kills: asked.whole("kills", values.kills),
      seed: asked.whole("seed", values.seed),
      writeAgain: mistake === "write_again",
      bail,
      hear: (words) => console.log(words),
    });
    const { killed, runs, openedMs } = outcome;
    console.log(
      `restate, seed ${values.seed}: ${runs} runs, ${killed.workers} workers and ${killed.nodes} nodes killed; a ` +
        `session whose worker was killed was worked at again in ${openedMs.median.toFixed(0)} ms (median), ` +
        `${openedMs.most.toFixed(0)} ms at most`,
    );
    console.log(summaryOf(outcome));
    process.exit(isClean(outcome) ? 0 : 1);
  } catch (thrown) {
    if (!(thrown instanceof NoServer)) throw thrown;
    console.log(`crash: there is no server to kill: ${thrown.message}`);
    process.exit(3);
  }
}

const outcome = await campaign({
  journal,
  kills: asked.whole("kills", values.kills),
  seed: asked.whole("seed", values.seed),
  every: asked.whole("every", values.every),
  together: asked.whole("jobs", values.jobs, 1),
  bail,
  ...(only === undefined ? {} : { only: asked.pattern("only", only) }),
  ...(mistake === undefined ? {} : { mistake }),
  hear: (words) => console.log(words),
});
const { boundaries, runs, openedMs } = outcome;
console.log(
  `${journal}, seed ${values.seed}: ${runs} runs of ${boundaries} boundaries; a session whose owner was killed was open ` +
    `again in ${openedMs.median.toFixed(0)} ms (median), ${openedMs.most.toFixed(0)} ms at most`,
);
console.log(summaryOf(outcome));
process.exitCode = isClean(outcome) ? 0 : 1;

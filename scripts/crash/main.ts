// npm run -s crash -- [--journal sqlite|jsonl] [--kills N] [--seed S] [--every N] [--only PATTERN] [--jobs N]
//   [--mistake NAME] [--bail]
//
// A scripted agent in a real process is killed with SIGKILL at every boundary of its journal, and N times at random
// instants, and goes on in the next process. Exits with 1 when anything was lost, reordered or repeated; with 2 when it
// was asked wrongly. `--mistake` makes one on purpose, to see that it is noticed.

import { parseArgs } from "node:util";
import { messageOf } from "@rondo/core";
import { campaign, isClean, summaryOf } from "./campaign.ts";
import { isMistake, mistakes } from "./mistakes.ts";

function refuse(words: string): never {
  console.error(`crash: ${words}`);
  process.exit(2);
}

function whole(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) refuse(`--${name} must be a whole number, not ${text}`);
  return Number(text);
}

let values: Record<"journal" | "kills" | "seed" | "every" | "jobs", string> & {
  only?: string;
  mistake?: string;
  bail: boolean;
};
try {
  ({ values } = parseArgs({
    options: {
      journal: { type: "string", default: "sqlite" },
      kills: { type: "string", default: "100" },
      seed: { type: "string", default: "1" },
      every: { type: "string", default: "1" },
      only: { type: "string" },
      jobs: { type: "string", default: "2" },
      mistake: { type: "string" },
      bail: { type: "boolean", default: false },
    },
  }));
} catch (thrown) {
  refuse(messageOf(thrown));
}
const { journal, only, mistake, bail } = values;
if (journal !== "sqlite" && journal !== "jsonl") refuse(`--journal must be sqlite or jsonl, not ${journal}`);
if (mistake !== undefined && !isMistake(mistake))
  refuse(`there is no mistake ${mistake}; there are ${Object.keys(mistakes).join(", ")}`);

const outcome = await campaign({
  journal,
  kills: whole("kills", values.kills),
  seed: whole("seed", values.seed),
  every: whole("every", values.every),
  together: Math.max(1, whole("jobs", values.jobs)),
  bail,
  ...(only === undefined ? {} : { only: new RegExp(only) }),
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

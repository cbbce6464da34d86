// npm run -s fuzz -- [--minutes N] [--seed S] [--only TARGET] [--inputs N] [--from N] [--stall SECONDS]
//
// Random, mutated and grammar-made input for whatever reads what others wrote. Exits with 1 when anything broke; with 2
// when it was asked wrongly. What broke is printed as a line of JSON, as small as it could be made; `--seed`, `--only`,
// `--from` and `--inputs 1` bring it back.

import { parseArgs } from "node:util";
import { messageOf } from "@rondo/core";
import { campaign, chosen, summaryOf } from "./campaign.ts";
import { targets } from "./targets.ts";

function refuse(words: string): never {
  console.error(`fuzz: ${words}`);
  process.exit(2);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 1e6)) refuse(`--${name} must be a number above 0, not ${text}`);
  return number;
}

function whole(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) refuse(`--${name} must be a whole number, not ${text}`);
  return Number(text);
}

let values: { minutes?: string; seed: string; only?: string; inputs?: string; from: string; stall: string };
try {
  ({ values } = parseArgs({
    options: {
      minutes: { type: "string" },
      seed: { type: "string", default: "1" },
      only: { type: "string" },
      inputs: { type: "string" },
      from: { type: "string", default: "0" },
      stall: { type: "string", default: "15" },
    },
  }));
} catch (thrown) {
  refuse(messageOf(thrown));
}
const { only, minutes, inputs } = values;
if (chosen(only).length === 0)
  refuse(`there is no target ${only}; there are ${targets.map(({ name }) => name).join(", ")}`);

const outcome = await campaign({
  seed: whole("seed", values.seed),
  from: whole("from", values.from),
  stallMs: 1_000 * positive("stall", values.stall),
  ...(inputs === undefined
    ? { ms: 60_000 * positive("minutes", minutes ?? "1") }
    : { inputs: whole("inputs", inputs) }),
  ...(inputs !== undefined && minutes !== undefined ? { ms: 60_000 * positive("minutes", minutes) } : {}),
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

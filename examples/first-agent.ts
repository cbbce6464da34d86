// The first agent of docs/guide/first-agent.md: a model, a few tools, a limit.
// npx node --conditions=rondo-source examples/first-agent.ts

import { Agent, maxSteps } from "@rondo/core";
import { offline } from "@rondo/models";
import { calculate, fileTools } from "@rondo/tools";

const agent = new Agent({
  model: offline(),
  system: "You answer questions about the files of this folder.",
  tools: [...fileTools({ root: "." }), calculate()],
  rules: [maxSteps(20)],
});

const { text, end, steps } = await agent.run("How many .md files are under docs/guide?");
console.log(text);
console.log(`${end?.reason} after ${steps} steps, by the rule ${end?.rule}`);

// An agent on the files of a folder, its events as they come.
// npx node --conditions=rondo-source examples/files.ts [folder] [task]

import { Agent, maxSteps } from "@rondo/core";
import { offline } from "@rondo/models";
import { calculate, fileTools } from "@rondo/tools";

const [root = ".", task = "Which is the longest .md file here?"] = process.argv.slice(2);
const agent = new Agent({
  model: offline(),
  tools: [...fileTools({ root }), calculate()],
  rules: [maxSteps(20)],
});
const stream = agent.stream(task);

for await (const event of stream) {
  if (event.type === "tool_start") console.log(`> ${event.call.name} ${JSON.stringify(event.call.args)}`);
  if (event.type === "text_delta") process.stdout.write(event.text);
}
const { end, steps } = await stream.result;
console.log(`\n${end?.reason} after ${steps} steps, by ${end?.rule}`);

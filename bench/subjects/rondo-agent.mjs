// Rondo as somebody would use it who wants to see the answer as it comes: `Agent.stream`, everything else as it is by
// default.

import { Agent, tool } from "@rondo/core";

export function agentOver(model, { system, tools, maxSteps }) {
  const agent = new Agent({
    model,
    system,
    maxSteps,
    tools: tools.map(({ name, description, parameters, execute }) =>
      tool({
        name,
        description,
        inputSchema: parameters,
        effect: name.startsWith("look") ? "read" : "write",
        execute,
      }),
    ),
  });
  return async (prompt) => {
    let heard = 0;
    const stream = agent.stream(prompt);
    for await (const event of stream) if (event.type === "text_delta") heard += event.text.length;
    const { text, end } = await stream.result;
    if (end?.reason !== "completed") throw new Error(`the run ended: ${JSON.stringify(end)}`);
    return { text, heard };
  };
}

// Mastra: its Agent over its own model for compatible servers, streaming.

import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";

export function prepare({ base, system, tools, maxSteps }) {
  const agent = new Agent({
    id: "bench",
    name: "bench",
    instructions: system,
    model: { providerId: "bench", modelId: "bench", url: base, apiKey: "bench" },
    tools: Object.fromEntries(
      tools.map(({ name, description, parameters, execute }) => [
        name,
        createTool({
          id: name,
          description,
          inputSchema: parameters,
          execute: async (args) => execute(args),
        }),
      ]),
    ),
  });
  return async (prompt) => {
    const output = await agent.stream(prompt, { maxSteps });
    let heard = 0;
    for await (const piece of output.textStream) heard += piece.length;
    const steps = await output.steps;
    return { text: steps.at(-1).text, heard };
  };
}

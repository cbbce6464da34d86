// Vercel AI SDK: `streamText` with its loop, over the provider for compatible servers.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";

export function prepare({ base, system, tools, maxSteps }) {
  const provider = createOpenAICompatible({
    name: "bench",
    baseURL: base,
    apiKey: "bench",
    includeUsage: true,
  });
  const model = provider.chatModel("bench");
  const set = Object.fromEntries(
    tools.map(({ name, description, parameters, execute }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute: (args) => execute(args) }),
    ]),
  );
  return async (prompt) => {
    const result = streamText({ model, system, prompt, tools: set, stopWhen: stepCountIs(maxSteps) });
    let heard = 0;
    for await (const part of result.textStream) heard += part.length;
    return { text: await result.text, heard };
  };
}

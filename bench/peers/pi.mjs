// pi: its Agent over its own stream function for Chat Completions.

import { Agent } from "@earendil-works/pi-agent-core";
import { streamSimple } from "@earendil-works/pi-ai/api/openai-completions";

export function prepare({ base, system, tools }) {
  const model = {
    id: "bench",
    name: "bench",
    api: "openai-completions",
    provider: "bench",
    baseUrl: base,
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000,
    maxTokens: 4096,
  };
  const own = tools.map(({ name, description, parameters, execute }) => ({
    name,
    label: name,
    description,
    parameters,
    execute: async (_id, args) => ({ content: [{ type: "text", text: execute(args) }], details: undefined }),
  }));
  return async (prompt) => {
    const agent = new Agent({
      initialState: { systemPrompt: system, model, thinkingLevel: "off", tools: own },
      streamFn: streamSimple,
      getApiKey: () => "bench",
    });
    let heard = 0;
    agent.subscribe((event) => {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
        heard += event.assistantMessageEvent.delta.length;
    });
    await agent.prompt(prompt);
    if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage);
    const last = agent.state.messages.at(-1);
    return {
      text: last.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
      heard,
    };
  };
}

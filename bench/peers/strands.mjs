// Strands: its Agent over its OpenAI model with Chat Completions, streaming.

import { Agent, FunctionTool } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";

export function prepare({ base, system, tools }) {
  const own = tools.map(
    ({ name, description, parameters, execute }) =>
      new FunctionTool({ name, description, inputSchema: parameters, callback: (args) => execute(args) }),
  );
  const model = new OpenAIModel({
    api: "chat",
    modelId: "bench",
    apiKey: "bench",
    clientConfig: { baseURL: base },
  });
  return async (prompt) => {
    const agent = new Agent({ model, tools: own, systemPrompt: system, printer: false });
    const stream = agent.stream(prompt);
    let heard = 0;
    for (;;) {
      const { done, value } = await stream.next();
      if (done)
        return {
          text: value.lastMessage.content
            .map((block) => (block.type === "textBlock" ? block.text : ""))
            .join(""),
          heard,
        };
      if (value.type !== "modelStreamUpdateEvent") continue;
      const { event } = value;
      if (event.type === "modelContentBlockDeltaEvent" && event.delta.type === "textDelta")
        heard += event.delta.text.length;
    }
  };
}

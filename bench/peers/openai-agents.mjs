// OpenAI Agents JS over its model for Chat Completions, streaming, with tracing off (traces would be sent to OpenAI).

import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";

export function prepare({ base, system, tools, maxSteps }) {
  setTracingDisabled(true);
  const client = new OpenAI({ apiKey: "bench", baseURL: base });
  const agent = new Agent({
    name: "bench",
    instructions: system,
    model: new OpenAIChatCompletionsModel(client, "bench"),
    tools: tools.map(({ name, description, parameters, execute }) =>
      tool({ name, description, parameters, strict: false, execute: (args) => execute(args) }),
    ),
  });
  return async (prompt) => {
    const result = await run(agent, prompt, { stream: true, maxTurns: maxSteps });
    let heard = 0;
    for await (const event of result)
      if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
        heard += event.data.delta.length;
    await result.completed;
    return { text: result.finalOutput, heard };
  };
}

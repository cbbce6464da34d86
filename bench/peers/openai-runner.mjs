// The OpenAI SDK's own tool runner, streaming.

import OpenAI from "openai";

export function prepare({ base, system, tools, maxSteps }) {
  const client = new OpenAI({ apiKey: "bench", baseURL: base });
  const runnable = tools.map(({ name, description, parameters, execute }) => ({
    type: "function",
    function: { name, description, parameters, parse: JSON.parse, function: (args) => execute(args) },
  }));
  return async (prompt) => {
    const runner = client.chat.completions.runTools(
      {
        model: "bench",
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: "system", content: system },
          { role: "user", content: prompt },
        ],
        tools: runnable,
      },
      { maxChatCompletions: maxSteps },
    );
    let heard = 0;
    runner.on("content", (delta) => {
      heard += delta.length;
    });
    return { text: await runner.finalContent(), heard };
  };
}

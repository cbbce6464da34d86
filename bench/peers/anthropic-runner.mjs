// The Anthropic SDK's own tool runner, streaming. It speaks only Anthropic's protocol.
//
// `thread: false`: by default the server keeps the conversation and a request carries only what is new, which no other
// subject can do, and is different work.

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";

export function prepare({ base, system, tools, maxSteps }) {
  const client = new Anthropic({ apiKey: "bench", baseURL: base });
  const runnable = tools.map(({ name, description, parameters, execute }) =>
    betaTool({ name, description, inputSchema: parameters, run: (args) => execute(args) }),
  );
  return async (prompt) => {
    const runner = client.beta.messages.toolRunner({
      model: "bench",
      max_tokens: 4096,
      max_iterations: maxSteps,
      stream: true,
      thread: false,
      system,
      messages: [{ role: "user", content: prompt }],
      tools: runnable,
    });
    let heard = 0;
    let last;
    for await (const stream of runner) {
      for await (const event of stream)
        if (event.type === "content_block_delta" && event.delta.type === "text_delta")
          heard += event.delta.text.length;
      last = await stream.finalMessage();
    }
    return {
      text: last.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      heard,
    };
  };
}

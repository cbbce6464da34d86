// The parts that LangChain's and LangGraph's subjects share: the model, the tools, and reading the stream.

import { AIMessageChunk } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";

export function partsOf({ base, tools }) {
  return {
    model: new ChatOpenAI({
      model: "bench",
      apiKey: "bench",
      streaming: true,
      streamUsage: true,
      useResponsesApi: false,
      configuration: { baseURL: base },
    }),
    tools: tools.map(({ name, description, parameters, execute }) =>
      tool((args) => execute(args), { name, description, schema: parameters }),
    ),
  };
}

/** Reads its token stream: pieces of messages, each with metadata. */
export async function read(agent, prompt, maxSteps) {
  const stream = await agent.stream(
    { messages: [{ role: "user", content: prompt }] },
    // A step is two nodes of the graph.
    { streamMode: "messages", recursionLimit: maxSteps * 2 + 10 },
  );
  let heard = 0;
  let text = "";
  let id;
  for await (const [piece] of stream) {
    if (!(piece instanceof AIMessageChunk) || typeof piece.content !== "string") continue;
    heard += piece.content.length;
    if (piece.id !== id) text = "";
    id = piece.id;
    text += piece.content;
  }
  return { text, heard };
}

// The room of listening: counts the characters of text that a listener received, and checks them against the answer.

import { type Agent, type Model, userText } from "@rondo/core";

export async function heardByCall(model: Model): Promise<number> {
  let heard = 0;
  const answer = await model.call(
    { messages: [userText("hi")], tools: [], toolChoice: "auto", settings: {} },
    {
      signal: new AbortController().signal,
      emit: (event) => {
        if (event.type === "text_delta") heard += event.text.length;
      },
    },
  );
  const [part] = answer.content;
  if (part?.type !== "text" || part.text.length !== heard)
    throw new Error("the answer is not what was heard");
  return heard;
}

export async function heardByAgent(agent: Agent): Promise<number> {
  let heard = 0;
  const stream = agent.stream("hi");
  for await (const event of stream) if (event.type === "text_delta") heard += event.text.length;
  if ((await stream.result).text.length !== heard) throw new Error("the answer is not what was heard");
  return heard;
}

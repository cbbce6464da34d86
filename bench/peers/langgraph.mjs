// LangGraph: its prebuilt agent, streaming tokens.

import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { partsOf, read } from "./langchain-parts.mjs";

export function prepare(setup) {
  const { model, tools } = partsOf(setup);
  const agent = createReactAgent({ llm: model, tools, prompt: setup.system });
  return (prompt) => read(agent, prompt, setup.maxSteps);
}

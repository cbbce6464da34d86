// LangChain: `createAgent`, streaming tokens.

import { createAgent } from "langchain";
import { partsOf, read } from "./langchain-parts.mjs";

export function prepare(setup) {
  const agent = createAgent({ ...partsOf(setup), systemPrompt: setup.system });
  return (prompt) => read(agent, prompt, setup.maxSteps);
}

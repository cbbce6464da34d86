// Rondo over its default transport, its events pulled one by one from `Agent.stream`.

import { openaiCompatible } from "@rondo/models";
import { pulledAgentOver } from "./rondo-agent.mjs";

export const prepare = (setup) =>
  pulledAgentOver(openaiCompatible({ model: "bench", baseURL: setup.base, apiKey: "bench" }), setup);

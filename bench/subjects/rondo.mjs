// Rondo over its default transport, which is node:http on Node.

import { openaiCompatible } from "@rondo/models";
import { agentOver } from "./rondo-agent.mjs";

export const prepare = (setup) =>
  agentOver(openaiCompatible({ model: "bench", baseURL: setup.base, apiKey: "bench" }), setup);

// Rondo over its default transport, speaking Anthropic's protocol.

import { anthropic } from "@rondo/models";
import { agentOver } from "./rondo-agent.mjs";

export const prepare = (setup) =>
  agentOver(anthropic("bench", { baseURL: setup.base, apiKey: "bench" }), setup);

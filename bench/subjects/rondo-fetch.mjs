// Rondo over `fetch`, as on platforms without node:http.

import { fetchClient, openaiCompatible } from "@rondo/models";
import { agentOver } from "./rondo-agent.mjs";

export const prepare = (setup) =>
  agentOver(
    openaiCompatible({ model: "bench", baseURL: setup.base, apiKey: "bench", http: fetchClient() }),
    setup,
  );

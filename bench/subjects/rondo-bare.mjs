// Rondo with everything turned off that can be: no retries, repairs, detection of loops, context stages and conversions.

import { openaiCompatible } from "@rondo/models";
import { bareAgentOver } from "./rondo-agent.mjs";

export const prepare = (setup) =>
  bareAgentOver(openaiCompatible({ model: "bench", baseURL: setup.base, apiKey: "bench" }), setup);

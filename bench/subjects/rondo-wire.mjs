// Rondo's loop over a wire by hand, speaking Chat Completions.

import { modelByHand } from "./model-by-hand.mjs";
import { agentOver } from "./rondo-agent.mjs";

export const prepare = (setup) => agentOver(modelByHand("openai-chat", setup), setup);

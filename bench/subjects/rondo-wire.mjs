// Rondo's loop over the hand-written wire, speaking Chat Completions.

import { modelByHand } from "./model-by-hand.mjs";
import { agentOver } from "./rondo-agent.mjs";

export const prepare = (setup) => agentOver(modelByHand("openai-chat", setup), setup);

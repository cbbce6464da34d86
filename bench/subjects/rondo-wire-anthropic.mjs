// Rondo's loop over the hand-written wire, speaking Anthropic's protocol.

import { modelByHand } from "./model-by-hand.mjs";
import { agentOver } from "./rondo-agent.mjs";

export const prepare = (setup) => agentOver(modelByHand("anthropic-messages", setup), setup);

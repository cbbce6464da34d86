// Rondo's loop over a wire by hand, speaking Anthropic's protocol.

import { modelByHand } from "./model-by-hand.mjs";
import { agentOver } from "./rondo-agent.mjs";

export const prepare = (setup) => agentOver(modelByHand("anthropic-messages", setup), setup);

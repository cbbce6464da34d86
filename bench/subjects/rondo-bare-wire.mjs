// Rondo with everything turned off that can be, over the hand-written wire: the least that Rondo's loop can cost as it is.

import { modelByHand } from "./model-by-hand.mjs";
import { bareAgentOver } from "./rondo-agent.mjs";

export const prepare = (setup) => bareAgentOver(modelByHand("openai-chat", setup), setup);

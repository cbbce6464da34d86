// The loop by hand over `node:http` with Rondo's promises, speaking Anthropic's protocol.

import { keptByHand } from "./kept-by-hand.mjs";
import { sendByNodeWatched } from "./send-node-watched.mjs";

export const prepare = keptByHand("anthropic-messages", sendByNodeWatched);

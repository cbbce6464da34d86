// The loop by hand over `node:http` with Rondo's design, speaking Anthropic's protocol.

import { pureByHand } from "./pure-by-hand.mjs";
import { sendByNodeWatched } from "./send-node-watched.mjs";

export const prepare = pureByHand("anthropic-messages", sendByNodeWatched);

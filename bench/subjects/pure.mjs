// The loop by hand over `node:http` with Rondo's design, speaking Chat Completions.

import { pureByHand } from "./pure-by-hand.mjs";
import { sendByNodeWatched } from "./send-node-watched.mjs";

export const prepare = pureByHand("openai-chat", sendByNodeWatched);

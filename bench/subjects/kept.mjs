// The loop by hand over `node:http` with Rondo's promises, speaking Chat Completions.

import { keptByHand } from "./kept-by-hand.mjs";
import { sendByNodeWatched } from "./send-node-watched.mjs";

export const prepare = keptByHand("openai-chat", sendByNodeWatched);

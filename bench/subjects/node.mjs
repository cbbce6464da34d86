// The loop by hand over `node:http`, speaking Chat Completions.

import { byHand } from "./by-hand.mjs";
import { sendByNode } from "./send-node.mjs";

export const prepare = byHand("openai-chat", sendByNode);

// The loop by hand over `node:http`, speaking Anthropic's protocol.

import { byHand } from "./by-hand.mjs";
import { sendByNode } from "./send-node.mjs";

export const prepare = byHand("anthropic-messages", sendByNode);

// The loop by hand over `fetch`, speaking Anthropic's protocol.

import { byHand } from "./by-hand.mjs";
import { sendByFetch } from "./send-fetch.mjs";

export const prepare = byHand("anthropic-messages", sendByFetch);

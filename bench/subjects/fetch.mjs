// The loop by hand over `fetch`, speaking Chat Completions.

import { byHand } from "./by-hand.mjs";
import { sendByFetch } from "./send-fetch.mjs";

export const prepare = byHand("openai-chat", sendByFetch);

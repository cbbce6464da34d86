import { byHand } from "./by-hand.mjs";
import { sendByFetch } from "./send-fetch.mjs";

export const prepare = byHand("anthropic-messages", sendByFetch);

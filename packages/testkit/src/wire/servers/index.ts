// The face of the servers' personalities.

import { hostedPersonalities } from "./hosted.ts";
import type { ServerPersonality } from "./personality.ts";
import { selfHostedPersonalities } from "./self-hosted.ts";

export { checkServerRequest } from "./check.ts";
export type {
  ServerAnswer,
  ServerError,
  ServerPersonality,
  ServerRules,
  ServerStyle,
} from "./personality.ts";
export { renderServerAnswer } from "./render.ts";
export { unknownPersonality } from "./self-hosted.ts";

/** Every compatible server that can be played, by its name. */
export const serverPersonalities: { readonly [server: string]: ServerPersonality } = {
  ...hostedPersonalities,
  ...selfHostedPersonalities,
};

// The face of the servers' personalities.

import { RondoError } from "@rondo/core";
import { hostedPersonalities } from "./hosted.ts";
import type { ServerPersonality } from "./personality.ts";
import { selfHostedPersonalities } from "./self-hosted.ts";
import { vendorPersonalities } from "./vendors.ts";

export { checkServerRequest } from "./check.ts";
export type {
  ServerError,
  ServerPersonality,
  ServerRules,
  ServerStyle,
} from "./personality.ts";
export { renderServer } from "./render.ts";
export { unknownPersonality } from "./self-hosted.ts";

/** Every compatible server that can be played, by its name. */
export const serverPersonalities: { readonly [server: string]: ServerPersonality } = {
  ...vendorPersonalities,
  ...hostedPersonalities,
  ...selfHostedPersonalities,
};

/** The personality of a server by its name. Throws for a name that is not in the table. */
export function personalityOf(server: string | ServerPersonality): ServerPersonality {
  if (typeof server !== "string") return server;
  const found = Object.hasOwn(serverPersonalities, server) ? serverPersonalities[server] : undefined;
  if (found !== undefined) return found;
  throw new RondoError(
    "invalid_request",
    `there is no server ${JSON.stringify(server)} to play: there are ${Object.keys(serverPersonalities).join(", ")}`,
  );
}

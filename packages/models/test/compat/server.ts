// A compatible server on the loopback: rondo-wire with that server's personality.

import type { JsonObject } from "@rondo/core";
import { type RondoWire, rondoWire, type ServerPersonality, type WireScript } from "@rondo/testkit/wire";

export interface Played extends RondoWire {
  /** Bodies of the requests so far. */
  bodies: (JsonObject & { messages: JsonObject[] })[];
  /** What was refused of all requests. */
  refused: string[];
}

export const usage = { inputTokens: 1200, outputTokens: 34 };

export async function play<T>(
  server: ServerPersonality | string,
  script: WireScript,
  use: (played: Played) => Promise<T>,
): Promise<T> {
  await using wire = await rondoWire({ server, script, usage });
  return await use(
    Object.defineProperties(wire, {
      bodies: { get: () => wire.requests.map(({ body }) => body) },
      refused: { get: () => wire.violations.map(({ path, message }) => `${path}: ${message}`) },
    }) as Played,
  );
}

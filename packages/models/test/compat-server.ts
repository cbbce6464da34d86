// A compatible server on the loopback, played after its personality: it refuses what the real one refuses, and answers
// as the real one does.

import type { Json, JsonObject } from "@rondo/core";
import {
  checkServerRequest,
  renderServerAnswer,
  type ServerAnswer,
  type ServerError,
  type ServerPersonality,
} from "@rondo/testkit";
import { type Loopback, sse, withServer } from "./transport-loopback.ts";

/** What the server is to say to its first, second, … request. */
export type Part = Pick<ServerAnswer, "reasoning" | "text" | "calls"> | ServerError;

export interface Played extends Loopback {
  /** Bodies as they came. */
  bodies: (JsonObject & { messages: JsonObject[] })[];
  /** What was refused, of all requests. */
  refused: string[];
}

export const usage = { input: 1200, output: 34 };

export async function play<T>(
  personality: ServerPersonality,
  parts: readonly Part[],
  use: (played: Played) => Promise<T>,
): Promise<T> {
  const bodies: Played["bodies"] = [];
  const refused: string[] = [];
  return await withServer(
    (request, response) => {
      const violations = checkServerRequest(personality, request.body, request.headers);
      const body = JSON.parse(request.body) as Played["bodies"][number] & { stream_options?: JsonObject };
      bodies.push(body);
      const json = { "content-type": "application/json" };
      const [first] = violations;
      if (first !== undefined) {
        refused.push(...violations.map(({ path, message }) => `${path}: ${message}`));
        const { status, body } = personality.refuse(first);
        response.writeHead(status, json).end(body);
        return;
      }
      const part = parts[bodies.length - 1];
      if (part === undefined) {
        response.writeHead(500, json).end('{"error":{"message":"nothing more to say"}}');
        return;
      }
      if ("status" in part) {
        response.writeHead(part.status, part.stream === true ? sse : json).end(part.body);
        return;
      }
      const answer = renderServerAnswer(personality, {
        ...part,
        number: bodies.length,
        model: String(body.model),
        usage,
        tellsUsage: (body.stream_options as { include_usage?: Json } | undefined)?.include_usage === true,
      });
      response.writeHead(200, sse).end(answer);
    },
    (loopback) => use(Object.assign(loopback, { bodies, refused })),
  );
}

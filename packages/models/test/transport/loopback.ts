// A real server on the loopback for these tests, and the smallest codec there can be.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { AssistantMessage, Json, JsonObject, ModelEvent, ModelIo, ModelRequest } from "@rondo/core";
import { RondoError } from "@rondo/core";
import { Answer } from "../../src/answer.ts";
import type { Codec } from "../../src/codec.ts";
import { classifyHttpError, classifyStreamError } from "../../src/transport/errors.ts";

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface Loopback {
  url: string;
  server: Server;
  seen: Seen[];
  /** Sockets accepted so far. */
  sockets: Socket[];
  /** Resolves when `count` sockets have been closed, by whomever. */
  closed(count: number): Promise<void>;
}

export type Handler = (request: Seen, response: ServerResponse, message: IncomingMessage) => void;

/** Serves until the callback has settled; then everything is torn down. */
export async function withServer<T>(handler: Handler, use: (loopback: Loopback) => Promise<T>): Promise<T> {
  const seen: Seen[] = [];
  const sockets: Socket[] = [];
  let closedCount = 0;
  let waiting: (() => void)[] = [];
  const server = createServer((message, response) => {
    const pieces: Buffer[] = [];
    message.on("data", (piece: Buffer) => pieces.push(piece));
    message.on("end", () => {
      const request: Seen = {
        method: message.method ?? "",
        url: message.url ?? "",
        headers: message.headers,
        body: Buffer.concat(pieces).toString(),
      };
      seen.push(request);
      handler(request, response, message);
    });
  });
  server.on("connection", (socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      closedCount += 1;
      for (const wake of waiting) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await use({
      url: `http://127.0.0.1:${port}`,
      server,
      seen,
      sockets,
      closed: async (count) => {
        while (closedCount < count) {
          await new Promise<void>((resolve) => waiting.push(resolve));
          waiting = [];
        }
      },
    });
  } finally {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Writes pieces so that each leaves in a packet of its own, as far as the system lets it. */
export function drip(
  response: ServerResponse,
  pieces: readonly (string | Uint8Array)[],
  end: () => void,
): void {
  response.socket?.setNoDelay(true);
  let at = 0;
  const next = (): void => {
    const piece = pieces[at++];
    if (piece === undefined) end();
    else response.write(piece, () => setImmediate(next));
  };
  next();
}

export const sse = { "content-type": "text/event-stream" };

/** `{"text": …}` adds text, `{"stop": true}` ends, `{"error": …}` fails. */
export const tinyCodec: Codec = {
  api: "tiny",
  framing: "sse",
  encoder: () => ({
    encode: (request) => ({
      path: "/v1/tiny",
      headers: { "x-tiny": "1" },
      body: JSON.stringify({ model: "m", count: request.messages.length }),
      warnings:
        request.settings.seed === undefined ? [] : [{ code: "unsupported", message: "tiny has no seed" }],
    }),
  }),
  decoder: (target, emit) => {
    const answer = new Answer(target, emit);
    let stopped = false;
    return {
      push(frame) {
        if (frame.data === "[DONE]") {
          stopped = true;
          return;
        }
        const body = JSON.parse(frame.data) as JsonObject;
        if (frame.exception === true) throw classifyStreamError(body, { code: frame.event });
        if (body.error !== undefined) throw classifyStreamError(body);
        if (typeof body.text === "string") answer.text(0, body.text);
        if (body.stop === true) stopped = true;
      },
      get finished() {
        return stopped;
      },
      end() {
        if (!stopped) throw answer.truncated("tiny");
        return answer.finish({ wire: "end_turn", raw: "stop" });
      },
      partial: () => answer.partial(),
    };
  },
  decodeWhole(body: Json, target, emit): AssistantMessage {
    const { error, text } = body as JsonObject;
    if (error !== undefined) throw classifyStreamError(body);
    if (typeof text !== "string") throw new RondoError("protocol", "no answer");
    const answer = new Answer(target, emit);
    answer.text(0, text);
    return answer.finish({ wire: "end_turn" });
  },
  errorOf: (response) => classifyHttpError(response),
};

export const tinyRequest: ModelRequest = { messages: [], tools: [], toolChoice: "auto", settings: {} };

export function watch(
  signal: AbortSignal = new AbortController().signal,
): ModelIo & { events: ModelEvent[] } {
  const events: ModelEvent[] = [];
  return { signal, events, emit: (event) => events.push(event) };
}

/** The error a promise rejects with; fails when it resolves. */
export async function errorFrom(promise: Promise<unknown>): Promise<RondoError> {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof RondoError) return thrown;
    throw thrown;
  }
  throw new Error("it resolved");
}

// An MCP server over HTTP in which each call says what goes wrong with it (`how`).

import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Served {
  url: URL;
  close(): Promise<void>;
}

interface Asked {
  id?: number;
  method: string;
  params?: { protocolVersion?: string; name?: string; arguments?: { how?: string; n?: number } };
}

const inputSchema = { type: "object", properties: { how: { type: "string" }, n: { type: "number" } } };
const tools = [
  { name: "look", inputSchema, annotations: { readOnlyHint: true } },
  { name: "set", inputSchema, annotations: { idempotentHint: true } },
  { name: "note", inputSchema },
];

/** A call that had its effect: what may be answered. */
interface Called {
  response: ServerResponse;
  result: object;
  answer(what: object): void;
  /** Begins a stream of events with these texts. */
  stream(...texts: string[]): void;
  frame(what: object, id?: number): string;
  /** From here on the server knows none of its sessions. */
  forget(): void;
}
/** What happens to a call after it had its effect. */
const ways: Readonly<Record<string, (called: Called) => void>> = {
  late: ({ answer, result }) => void setTimeout(answer, 40, { result }),
  never: () => {},
  dies: ({ response }) => void response.destroy(),
  killed: ({ stream, response }) => {
    stream(": hello\n\n");
    setTimeout(() => response.destroy(), 5);
  },
  "dies in its answer": ({ stream, frame, result, response }) => {
    stream(frame({ result }).slice(0, 30));
    setTimeout(() => response.destroy(), 5);
  },
  "dies after": ({ stream, frame, result, response }) => {
    stream(frame({ result }));
    response.destroy();
  },
  "dies soon": ({ forget, answer, result }) => {
    forget();
    answer({ result });
  },
  garbage: ({ response }) => void response.setHeader("content-type", "application/json").end("<html>"),
  twice: ({ stream, frame, result, response }) => {
    stream(frame({ result }), frame({ result }));
    response.end();
  },
  "another id": ({ stream, frame, result, response }) => {
    stream(frame({ result }, 4242), frame({ result }));
    response.end();
  },
  noise: ({ stream, frame, result, response }) => {
    stream(`: ${"x".repeat(300_000)}\n\n`, "retry: 1\n\n", "data: nonsense\n\n", frame({ result }));
    response.end();
  },
  progress: ({ stream, frame, result }) => stream(frame({ result })),
  null: ({ answer }) => answer({ result: null }),
  "no result": ({ response }) => void response.writeHead(202).end(),
  list: ({ answer }) => answer({ result: [1, 2] }),
  cancels: ({ response }) => void response.writeHead(504).end("late"),
  "odd error": ({ response }) => void response.setHeader("content-type", "text/html").end("<h1>log in</h1>"),
  "closes its output": ({ stream, response }) => {
    stream(": hello\n\n");
    response.end();
  },
};

/** @param effects the file in which a call with an effect leaves its number */
export async function serveByChance(effects: string): Promise<Served> {
  let life = 0;
  const lives: number[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    for await (const piece of request) body += String(piece);
    const { id, method, params } = JSON.parse(body) as Asked;
    const answer = (what: object): void =>
      void response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...what }));
    if (method === "initialize") {
      response.setHeader("mcp-session-id", String(lives.push(life) - 1));
      const serverInfo = { name: "chance", version: "1" };
      return answer({
        result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
      });
    }
    const { how = "ok", n } = params?.arguments ?? {};
    if (how === "dies first") life += 1;
    if (lives[Number(request.headers["mcp-session-id"])] !== life)
      return void response.writeHead(404).end("no such session");
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list") return answer({ result: { tools } });
    if (how === "error") return answer({ error: { code: -32_000, message: "no" } });
    if (how === "asks") return void response.writeHead(429).end("slower");
    appendFileSync(effects, `${params?.name} ${n}\n`);
    const result = { content: [{ type: "text", text: `done ${n}` }] };
    const way = ways[how] ?? (() => answer({ result }));
    way({
      response,
      result,
      answer,
      stream: (...texts) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const text of texts) response.write(text);
      },
      frame: (what, of = id) => `data: ${JSON.stringify({ jsonrpc: "2.0", id: of, ...what })}\n\n`,
      forget: () => {
        life += 1;
      },
    });
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

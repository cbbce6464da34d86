// Tools of MCP servers that are gone: a process that ended, and an HTTP server that forgot its sessions when it started again.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { Agent, type Message, textOf } from "@rondo/core";
import { call, calls, type Script, say, scripted } from "@rondo/testkit";
import { type McpClient, type McpToolsOptions, mcpTools } from "@rondo/tools";
import { afterEach, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "programs/mcp-server.ts");
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const clientOf = async (transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<Client> => {
  const client = new Client({ name: "rondo", version: "1" });
  await client.connect(transport as StdioClientTransport);
  open.push(client);
  return client;
};
const started = (): Promise<Client> =>
  clientOf(new StdioClientTransport({ command: process.execPath, args: [program] }));

async function ran(client: McpClient, script: Script, options: McpToolsOptions = {}): Promise<string[]> {
  const tools = await mcpTools(client, { permission: "allow", ...options });
  const { messages, end } = await new Agent({ model: scripted(script), tools, retry: { attempts: 1 } }).run(
    "go",
  );
  expect(end?.reason).toBe("completed");
  return messages.flatMap(resultOf);
}

const resultOf = (message: Message): string[] =>
  message.role === "tool" ? [`${message.isError ? "error" : "fine"}: ${textOf(message)}`] : [];

describe("a server whose process ends", () => {
  // https://github.com/anthropics/claude-code/issues/83838, https://github.com/MoonshotAI/kimi-code/pull/1991,
  // https://github.com/smg-project/smg/pull/2441
  const script = [call("die"), call("look"), say("done")];

  it("within a write leaves its outcome in doubt, and is connected again for the next call", async () => {
    let connected = 0;
    const reconnect = async (): Promise<Client> => {
      connected += 1;
      return started();
    };
    expect(await ran(await started(), script, { reconnect })).toEqual([
      expect.stringMatching(/^error: .*closed.*whether the call had an effect is unknown/),
      "fine: look is done",
    ]);
    expect(connected).toBe(1);
  });

  it("between calls is connected again, once for all of them", async () => {
    const first = await started();
    const lost: McpClient[] = [];
    const reconnect = async (client: McpClient): Promise<Client> => {
      lost.push(client);
      return started();
    };
    const together = calls([["look"], ["look", { at: 2 }]]);
    const tools = await mcpTools(first, { permission: "allow", trusted: true, reconnect });
    await first.close();
    const agent = new Agent({ model: scripted([together, say("done")]), tools, toolOrder: "parallel" });
    const { messages } = await agent.run("go");
    expect(messages.flatMap(resultOf)).toEqual(["fine: look is done", "fine: look is done"]);
    expect(lost).toEqual([first]);
  });

  it("is said to be lost, and the call not in doubt, where nobody connects again", async () => {
    const results = await ran(await started(), script);
    expect(results[1]).toMatch(/^error: .*Not connected: the connection to the MCP server is lost/);
    expect(results[1]).not.toMatch(/unknown/);
  });

  it("is said to be gone if connecting again fails, and asked for again with the next call", async () => {
    let connected = 0;
    const reconnect = async (): Promise<Client> => {
      connected += 1;
      if (connected === 1) throw new Error("no such program");
      return started();
    };
    const twice = [call("die"), call("look"), call("look", { again: true }), say("done")];
    expect(await ran(await started(), twice, { reconnect })).toEqual([
      expect.stringMatching(/^error: .*unknown/),
      expect.stringMatching(/^error: .*connecting again failed: no such program/),
      "fine: look is done",
    ]);
    const nothing = (async () => undefined) as unknown as () => Promise<Client>;
    const results = await ran(await started(), script, { reconnect: nothing });
    expect(results[1]).toMatch(/what reconnect returned.*a connected client of MCP/);
  });
});

describe("a server that no longer knows the session", () => {
  // https://github.com/microsoft/vscode/issues/301591, https://github.com/modelcontextprotocol/python-sdk/issues/1676
  let asked: number;
  let token: string;
  type Fault = (request: IncomingMessage, response: ServerResponse) => void;
  let fault: Fault | undefined;

  async function serving(): Promise<{ url: URL; forget(): void }> {
    asked = 0;
    token = "";
    fault = undefined;
    const sessions = new Map<string, StreamableHTTPServerTransport>();
    const http = createServer((request, response) => {
      void (async () => {
        if (fault !== undefined) return fault(request, response);
        if (token !== "" && request.headers.authorization !== `Bearer ${token}`) {
          response.writeHead(401).end("the token has expired");
          return;
        }
        const id = String(request.headers["mcp-session-id"] ?? "");
        let transport = sessions.get(id);
        if (id !== "" && transport === undefined) {
          response.writeHead(404, { "content-type": "application/json" });
          response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
          return;
        }
        if (transport === undefined) {
          const fresh = new StreamableHTTPServerTransport({
            sessionIdGenerator: () => crypto.randomUUID(),
            onsessioninitialized: (given) => {
              sessions.set(given, fresh);
            },
          });
          transport = fresh;
          const server = new McpServer({ name: "orders", version: "1" });
          server.registerTool("order", {}, async () => {
            asked += 1;
            return { content: [{ type: "text", text: `order ${asked}` }] };
          });
          await server.connect(fresh as Parameters<typeof server.connect>[0]);
        }
        await transport.handleRequest(request, response);
      })();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const close = (): void => {
      http.closeAllConnections();
      http.close();
    };
    open.push({ close });
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
    return { url, forget: () => sessions.clear() };
  }

  it("is connected again, and the call is made once", async () => {
    const { url, forget } = await serving();
    const connect = (): Promise<Client> => clientOf(new StreamableHTTPClientTransport(url));
    const client = await connect();
    const tools = await mcpTools(client, { permission: "allow", reconnect: connect });
    forget();
    const script = [call("order"), call("order", { again: true }), say("done")];
    const { messages } = await new Agent({ model: scripted(script), tools }).run("go");
    expect(messages.flatMap(resultOf)).toEqual(["fine: order 1", "fine: order 2"]);
    expect(asked).toBe(2);
  });

  it("or the token, is connected again with another", async () => {
    // https://github.com/onyx-dot-app/onyx/issues/9237
    const { url } = await serving();
    const connect = (): Promise<Client> => {
      const headers = { authorization: `Bearer ${token}` };
      return clientOf(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    };
    token = "first";
    const tools = await mcpTools(await connect(), { permission: "allow", reconnect: connect });
    token = "second";
    const { messages } = await new Agent({ model: scripted([call("order"), say("done")]), tools }).run("go");
    expect(messages.flatMap(resultOf)).toEqual(["fine: order 1"]);
  });

  it.each<[string, Fault, RegExp]>([
    [
      "breaks the connection",
      (request: IncomingMessage) => request.socket.destroy(),
      /fetch failed: .+unknown$/,
    ],
    [
      "is behind a gateway that gives up",
      (_: unknown, response: ServerResponse) => response.writeHead(504).end("late"),
      /late \(HTTP 504\);.*unknown$/,
    ],
    ...[500, 503, 520].map((status): [string, Fault, RegExp] => [
      `fails with HTTP ${status}`,
      (_: unknown, response: ServerResponse) => response.writeHead(status).end("failed"),
      new RegExp(`failed \\(HTTP ${status}\\);.*unknown$`),
    ]),
    [
      "does not have what the call needs",
      (_: unknown, response: ServerResponse) => response.writeHead(501).end("not here"),
      /not here \(HTTP 501\)$/,
    ],
    [
      "is behind a gateway that refuses",
      (_: unknown, response: ServerResponse) => response.writeHead(429).end("slower"),
      /slower \(HTTP 429\)$/,
    ],
    [
      "answers with a page",
      (_: unknown, response: ServerResponse) => response.setHeader("content-type", "text/html").end("<p>"),
      /cannot read the server's answer: .*text\/html;.*unknown$/,
    ],
    [
      "answers with something that is no JSON",
      (_: unknown, response: ServerResponse) =>
        response.setHeader("content-type", "application/json").end("<p>"),
      /cannot read the server's answer: .*JSON;.*unknown$/,
    ],
    [
      "answers with JSON that is no message",
      (_: unknown, response: ServerResponse) =>
        response.setHeader("content-type", "application/json").end("[1]"),
      /cannot read the server's answer: .*unknown$/s,
    ],
  ])("or that %s leaves a write in doubt only if it may have been made", async (_what, broken, said) => {
    // https://github.com/u14app/deep-research/issues/127, https://github.com/smg-project/smg/pull/2441
    const { url } = await serving();
    const tools = await mcpTools(await clientOf(new StreamableHTTPClientTransport(url)), {
      permission: "allow",
    });
    fault = broken;
    const { messages } = await new Agent({ model: scripted([call("order"), say("done")]), tools }).run("go");
    expect(messages.flatMap(resultOf)).toEqual([expect.stringMatching(said)]);
  });

  it("or that is down says so, and leaves nothing in doubt", async () => {
    const { url } = await serving();
    const tools = await mcpTools(await clientOf(new StreamableHTTPClientTransport(url)), {
      permission: "allow",
    });
    await open[0]?.close();
    // Until the client has seen that its connections are closed, it would send the call on one of them.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { messages } = await new Agent({ model: scripted([call("order"), say("done")]), tools }).run("go");
    expect(messages.flatMap(resultOf)).toEqual([expect.stringMatching(/ECONNREFUSED(?!.*unknown)/)]);
  });

  it("is an error that says so where nobody connects again", async () => {
    const { url, forget } = await serving();
    const tools = await mcpTools(await clientOf(new StreamableHTTPClientTransport(url)), {
      permission: "allow",
    });
    forget();
    const { messages } = await new Agent({ model: scripted([call("order"), say("done")]), tools }).run("go");
    expect(messages.flatMap(resultOf)).toEqual([
      expect.stringMatching(/^error: .*Session not found.*: the connection to the MCP server is lost/s),
    ]);
    expect(asked).toBe(0);
  });
});

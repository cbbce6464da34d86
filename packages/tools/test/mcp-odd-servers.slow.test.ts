// Tools of MCP servers that do not keep to the protocol, each in a process of its own. What they list and answer was reported of real
// servers, or of what a client made of them.

import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Agent, type Message, type Tool, textOf } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { mcpTools } from "@rondo/tools";
import { afterEach, describe, expect, it } from "vitest";

const program = join(import.meta.dirname, "programs/raw-mcp-server.ts");
const open: Client[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

interface Served {
  tools?: unknown[];
  answers?: Record<string, unknown>;
}

async function served(told: Served): Promise<Tool[]> {
  const client = new Client({ name: "rondo", version: "1" });
  const args = [program, JSON.stringify(told)];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  open.push(client);
  return mcpTools(client, { permission: "allow" });
}

/** The results of a call of each tool, in a run. */
async function results(told: Served): Promise<Record<string, unknown>> {
  const tools = await served(told);
  const names = tools.map(({ name }) => name);
  const model = scripted([...names.map((name) => call(name)), say("done")]);
  const { messages, end } = await new Agent({ model, tools, rules: [], retry: { attempts: 1 } }).run("go");
  expect(end?.reason).toBe("completed");
  return Object.fromEntries(messages.flatMap(entryOf));
}

function entryOf(message: Message): [string, unknown][] {
  if (message.role !== "tool") return [];
  const files = message.content.filter((part) => part.type === "file");
  const told = files.length === 0 ? textOf(message) : message.content;
  return [[message.name, message.isError ? { error: told } : told]];
}

const object = { type: "object" };
const listed = (name: string, more: object = {}): object => ({ name, inputSchema: object, ...more });
const text = (said: string): object => ({ content: [{ type: "text", text: said }] });
/** A server whose tools all return what they are told to. */
const answering = (answers: Record<string, unknown>): Served => ({
  tools: Object.keys(answers).map((name) => listed(name)),
  answers,
});

describe("a server of which a client refuses something", () => {
  it.each([
    // https://github.com/modelcontextprotocol/typescript-sdk/issues/1175, https://github.com/anthropics/claude-code/issues/76040
    [
      "whose output schema has a dangling reference",
      { outputSchema: { ...object, properties: { x: { $ref: "#/$defs/No" } } } },
    ],
    // https://github.com/anthropics/claude-code/issues/88049
    ["whose input schema is a union", { inputSchema: { anyOf: [object, object] } }],
    // https://github.com/zereight/gitlab-mcp/issues/286
    ["whose input schema is empty", { inputSchema: {} }],
    ["without an input schema", { inputSchema: undefined }],
    ["whose input schema is none", { inputSchema: "object" }],
    // https://github.com/anthropics/claude-code/issues/17742
    ["one of whose arguments may be anything", { inputSchema: { ...object, properties: { x: true } } }],
    ["whose annotations and title are none", { annotations: { readOnlyHint: "no" }, title: 7 }],
  ])("for one tool %s keeps that tool and the others", async (_what, more) => {
    const tools = await served({ tools: [listed("odd", more), listed("plain")] });
    expect(tools.map(({ name }) => name)).toEqual(["odd", "plain"]);
    expect(tools[0]?.definition.inputSchema).toMatchObject(object);
  });

  it("for having no tools has none", async () => {
    // https://github.com/google-gemini/gemini-cli/issues/10365, https://github.com/microsoft/vscode/issues/243614
    expect(await served({})).toEqual([]);
  });

  it("for what it answers is read all the same, because the call has had its effect", async () => {
    const ordered = {
      // https://github.com/rekog-labs/MCP-Nest/issues/79: an output schema, and an answer that does not keep to it.
      missing: text("order 5 is placed"),
      other: { ...text("order 6 is placed"), structuredContent: { order: 6 } },
      // https://github.com/ElliotPadfield/unpaywall-mcp/issues/4
      json: { content: [{ type: "json", json: { doi: "10.1" } }] },
      // https://github.com/waldzellai/waldzell-mcp/issues/44
      mime: { content: [{ type: "application/json", text: '{"step":1}' }] },
      // https://github.com/calebl/ynab-mcp-server/issues/31
      failed: { content: [{ type: "error", text: "the card was refused" }], isError: true },
      // https://github.com/cloudflare/mcp-server-cloudflare/issues/12
      legacy: { toolResult: text("from an older server") },
      bare: { toolResult: { id: 7 } },
      none: { result: { id: 8 } },
      string: { content: "only a text" },
      strings: { content: ["one", "two"] },
      single: { content: { type: "text", text: "no list" } },
      list: { ...text("2 rows"), structuredContent: [31, 32] },
      blank: { content: [{ type: "text", text: null }] },
    };
    const schema = { ...object, properties: { order: { type: "string" } }, required: ["order"] };
    const tools = Object.keys(ordered).map((name) =>
      listed(name, name === "missing" || name === "other" ? { outputSchema: schema } : {}),
    );
    expect(await results({ tools, answers: ordered })).toEqual({
      missing: "order 5 is placed",
      other: "order 6 is placed",
      json: '{"type":"json","json":{"doi":"10.1"}}',
      mime: '{"step":1}',
      failed: { error: "the card was refused" },
      legacy: "from an older server",
      bare: '{"id":7}',
      none: '{"result":{"id":8}}',
      string: "only a text",
      strings: "onetwo",
      single: "no list",
      list: "2 rows[31,32]",
      blank: '{"type":"text","text":null}',
    });
  });
});

describe("a failed call", () => {
  it("is told with what the server said besides the message", async () => {
    // https://github.com/anthropics/claude-code/issues/71352, https://github.com/modelcontextprotocol/typescript-sdk/pull/1578
    const url = "https://login.example/start";
    const told = await results({
      ...answering({
        words: { code: -32603, message: "Internal error", data: "no such user: 19704" },
        members: { code: -32602, message: "Invalid", data: { field: "id" } },
        again: { code: -32602, message: "no such field", data: "no such field" },
        none: { code: -32603, message: "Internal error", data: null },
        url: {
          code: -32042,
          message: "Login needed",
          data: { elicitations: [{ mode: "url", url, message: "Log in", elicitationId: "1" }] },
        },
      }),
    });
    expect(told).toEqual({
      words: { error: "Error: MCP error -32603: Internal error (no such user: 19704)" },
      members: { error: 'Error: MCP error -32602: Invalid ({"field":"id"})' },
      again: { error: "Error: MCP error -32602: no such field" },
      none: { error: "Error: MCP error -32603: Internal error" },
      url: { error: expect.stringContaining(url) },
    });
  });

  it("of which the server says nothing is told so", async () => {
    const told = await results(
      answering({
        empty: { content: [], isError: true },
        blank: { ...text(" "), isError: true },
        structured: { content: [], isError: true, structuredContent: { code: "GONE" } },
      }),
    );
    expect(told).toEqual({
      empty: { error: expect.stringMatching(/failed.*does not say why/) },
      blank: { error: expect.stringMatching(/failed.*does not say why/) },
      structured: { error: '{"code":"GONE"}' },
    });
  });
});

describe("what a call returns", () => {
  const inBase64 = (said: string | number[]): string => Buffer.from(said as string).toString("base64");
  const blob = (mimeType: string | undefined, data: string): object => ({
    content: [{ type: "resource", resource: { uri: "file:///a", mimeType, blob: data } }],
  });

  it("is read as text if it is one, in whatever form it comes", async () => {
    // https://github.com/github/copilot-cli/issues/4916, https://github.com/danny-avila/LibreChat/pull/15601,
    // https://github.com/anthropics/claude-code/issues/58330
    const svg = "<svg xmlns='http://www.w3.org/2000/svg'/>";
    const told = await results(
      answering({
        text: blob("text/plain", inBase64("hello, wörld")),
        json: blob("Application/JSON; charset=utf-8", inBase64('{"a":1}')),
        problem: blob("application/problem+json", inBase64('{"b":2}')),
        svg: { content: [{ type: "image", mimeType: "image/svg+xml", data: inBase64(svg) }] },
        bytes: blob("text/plain", inBase64([0xff, 0xfe, 0x00, 0xd8])),
        pdf: blob("application/pdf", "JVBERi0="),
        unknown: blob(undefined, "AAAA"),
      }),
    );
    const file = (mediaType: string): unknown => [expect.objectContaining({ type: "file", mediaType })];
    expect(told).toEqual({
      text: "hello, wörld",
      json: '{"a":1}',
      problem: '{"b":2}',
      svg,
      bytes: file("text/plain"),
      pdf: file("application/pdf"),
      unknown: file("application/octet-stream"),
    });
  });

  it("is looked through in no more time than it takes to read it", async () => {
    const data = `${" ".repeat(100_000)}!`;
    const told = await results(
      answering({ wide: { content: [{ type: "image", mimeType: "image/png", data }] } }),
    );
    expect(told).toEqual({ wide: expect.stringContaining('"image"') });
  }, 5_000);

  it("is a file only if it is bytes", async () => {
    const image = (data: unknown): object => ({ content: [{ type: "image", mimeType: "image/png", data }] });
    const png = "iVBORw0KGgo=";
    const told = await results(
      answering({
        good: image(png),
        url: image(`data:image/png;base64,${png}`),
        lines: image("iVBO\nRw0K\nGgo="),
        path: image("/tmp/screenshot.png: no such file"),
        empty: image(""),
        untyped: { content: [{ type: "image", data: png }] },
        data: { content: [{ type: "data", data: "plain" }] },
      }),
    );
    const file = [expect.objectContaining({ type: "file", data: png })];
    expect(told).toEqual({
      good: file,
      url: file,
      lines: file,
      path: expect.stringContaining("no such file"),
      empty: expect.stringContaining('"image"'),
      untyped: file,
      data: '{"type":"data","data":"plain"}',
    });
  });

  it("is told whole although parts of its values stand in the text", async () => {
    // https://github.com/MoonshotAI/kimi-code/issues/2554
    const summed = {
      ...text("Created issue 1234 for Annabel."),
      structuredContent: { id: 1234, votes: 3, by: "Ann" },
    };
    const told = await results(answering({ summed }));
    expect(told).toEqual({ summed: 'Created issue 1234 for Annabel.{"id":1234,"votes":3,"by":"Ann"}' });
  });
});

describe("the tools of a server", () => {
  it("are in the same order, under the same names, in whatever order it lists them", async () => {
    // https://github.com/openclaw/openclaw/pull/58037, https://github.com/googleapis/mcp-toolbox/issues/3463
    const tools = ["write", "look.at", "look_at", "add"].map((name) => listed(name, { description: name }));
    const told = async (given: unknown[]): Promise<string[]> =>
      (await served({ tools: given })).map(({ name, definition }) => `${name}: ${definition.description}`);
    const expected = ["add: add", "look_at: look.at", "look_at_2: look_at", "write: write"];
    expect(await told(tools)).toEqual(expected);
    expect(await told(tools.toReversed())).toEqual(expected);
  });

  it("have names that begin as Gemini wants them", async () => {
    // https://github.com/diegosouzapw/OmniRoute/issues/13715
    const tools = await served({ tools: ["1c_reload", "-dash", "_ok"].map((name) => listed(name)) });
    expect(tools.map(({ name }) => name)).toEqual(["_-dash", "_1c_reload", "_ok"]);
  });
});

// Tools of an MCP server in a process of its own, which hangs, changes its tools and dies while a run uses them.

import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Agent, type Message, textOf, toolWith } from "@rondo/core";
import { call, type Script, type ScriptedModel, say, scripted } from "@rondo/testkit";
import { mcpTools } from "@rondo/tools";
import { afterEach, expect, test } from "vitest";

const program = join(import.meta.dirname, "programs/mcp-server.ts");
const open: Client[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

async function connected(): Promise<Client> {
  const client = new Client({ name: "rondo", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program] }));
  open.push(client);
  return client;
}

/** A run with the server's tools, of which `slow` may take 50 ms. */
async function ran(client: Client, script: Script): Promise<{ model: ScriptedModel; results: string[] }> {
  const tools = (await mcpTools(client, { permission: "allow" })).map((one) =>
    one.name === "slow" ? toolWith(one, { timeoutMs: 50 }) : one,
  );
  const model = scripted(script);
  const { messages, end } = await new Agent({ model, tools, retry: { attempts: 1 } }).run("go");
  expect(end?.reason).toBe("completed");
  return { model, results: messages.flatMap(resultOf) };
}

const resultOf = (message: Message): string[] =>
  message.role === "tool" ? [`${message.isError ? "error" : "fine"}: ${textOf(message)}`] : [];

test("a call that takes too long is answered so and cancelled at the server, whose other tools stay (F217)", async () => {
  const client = await connected();
  const { results } = await ran(client, [call("slow"), call("cancelled"), call("look"), say("done")]);
  expect(results).toEqual([
    expect.stringMatching(/^error: .*50 ms/),
    "fine: cancelled is done",
    "fine: look is done",
  ]);
});

test("a server that dies within a call is an error that the model reads, and so are later calls (F217)", async () => {
  const client = await connected();
  const { results } = await ran(client, [
    call("look"),
    call("die"),
    call("look", { again: true }),
    say("done"),
  ]);
  expect(results).toEqual([
    "fine: look is done",
    expect.stringMatching(/^error: .*closed/i),
    expect.stringMatching(/^error: .*not connected/i),
  ]);
});

test("a server that changes its tools during a run changes no request of it: a call of one that is gone is an error (F226)", async () => {
  const client = await connected();
  const script = [call("look"), call("change"), call("look", { again: true }), call("new"), say("done")];
  const { model, results } = await ran(client, script);
  expect(results).toEqual([
    "fine: look is done",
    "fine: change is done",
    expect.stringMatching(/^error: .*no tool look any more/),
    expect.stringMatching(/^error: .*new/),
  ]);
  const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name).join());
  expect(new Set(offered)).toEqual(new Set(["cancelled,change,die,look,slow"]));
  // The next run has those that the server has then.
  expect((await mcpTools(client)).map(({ name }) => name)).toContain("new");
});

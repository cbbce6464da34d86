// Runs with the tools of an MCP server in which anything goes wrong with any call, over standard input and output and over HTTP: each
// run ends with a reason, each call has its result, no write has its effect twice or is said to have had none, and no process is left.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Agent, isPaired, type Message, textOf } from "@rondo/core";
import { calls, say, scripted } from "@rondo/testkit";
import { type McpClient, mcpTools } from "@rondo/tools";
import fc from "fast-check";
import { expect, test } from "vitest";
import { serveByChance } from "./serve-by-chance.ts";

const program = join(import.meta.dirname, "programs/mcp-by-chance.ts");
const ways = [
  ...["ok", "ok", "ok", "late", "never", "error", "dies first", "dies", "killed", "dies in its answer"],
  ...[
    "dies after",
    "dies soon",
    "garbage",
    "twice",
    "another id",
    "list changes",
    "progress",
    "odd progress",
  ],
  ...["noise", "null", "no result", "list", "both", "asks", "cancels", "odd error", "closes its output"],
];
const anyCall = fc.record({
  name: fc.constantFrom("look", "set", "note", "note"),
  how: fc.constantFrom(...ways),
});
const anyTrial = fc.record({
  turns: fc.array(fc.array(anyCall, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
  isHttp: fc.boolean(),
  reconnects: fc.constantFrom("never", "always", "once", "fails"),
  toolOrder: fc.constantFrom("parallel", "by_effect"),
  /** A call that never returns is given up by one of these. */
  gives: fc.constantFrom("abort", "deadline", "timeout"),
  afterMs: fc.integer({ min: 1, max: 300 }),
});
type Trial = typeof anyTrial extends fc.Arbitrary<infer One> ? One : never;

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function play(trial: Trial): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rondo-mcp-"));
  const [effects, processes] = [join(folder, "effects"), join(folder, "processes")];
  const http = trial.isHttp ? await serveByChance(effects) : undefined;
  const clients: Client[] = [];
  const connect = async (): Promise<McpClient> => {
    const client = new Client({ name: "rondo", version: "1" });
    clients.push(client);
    const args = [program, effects, processes];
    const transport =
      http === undefined
        ? new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" })
        : new StreamableHTTPClientTransport(http.url);
    await client.connect(transport as StdioClientTransport);
    return client;
  };
  try {
    await demandRun(trial, connect, () => linesOf(effects));
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await http?.close();
    await expect.poll(() => linesOf(processes).map(Number).filter(isAlive), { timeout: 5_000 }).toEqual([]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function demandRun(
  { turns, reconnects, toolOrder, gives, afterMs }: Trial,
  connect: () => Promise<McpClient>,
  effects: () => string[],
): Promise<void> {
  let times = 0;
  const reconnect = async (): Promise<McpClient> => {
    times += 1;
    if (reconnects === "fails" || (reconnects === "once" && times > 1)) throw new Error("cannot");
    return connect();
  };
  const tools = await mcpTools(await connect(), {
    permission: "allow",
    trusted: true,
    ...(reconnects === "never" ? {} : { reconnect }),
  });
  let n = 0;
  const script = turns.map((turn) => calls(turn.map(({ name, how }) => [name, { how, n: n++ }] as const)));
  const agent = new Agent({
    model: scripted([...script, say("done"), say("landed")]),
    tools,
    toolOrder,
    repeats: null,
    abortGraceMs: 100,
    ...(gives === "deadline" ? { budget: { ms: afterMs } } : {}),
    ...(gives === "timeout" ? { toolTimeoutMs: afterMs } : {}),
  });
  const session = await agent.open("s");
  const { end, messages } = await session.send("go", {
    signal: AbortSignal.timeout(gives === "abort" ? afterMs : 3_000),
  });
  expect(end).toBeDefined();
  expect(isPaired(messages)).toBe(true);
  const results = messages.filter(({ role }) => role === "tool");
  demandEffects(results as (Message & { role: "tool" })[], turns.flat(), effects());
}

function demandEffects(
  results: readonly (Message & { role: "tool" })[],
  asked: readonly { name: string; how: string }[],
  effects: readonly string[],
): void {
  for (const [n, result] of results.entries()) {
    const { name, how } = asked[n] ?? {};
    const times = effects.filter((one) => one === `${name} ${n}`).length;
    const said = `${how}: ${textOf(result)}`;
    if (textOf(result) === `done ${n}` && times === 0) throw new Error(`${said}, and it was not`);
    if (name === "note" && times > 1) throw new Error(`${said}, ${times} times`);
    if (name === "note" && times === 1 && result.isError && !/unknown/.test(said))
      throw new Error(`${said}, and it was`);
  }
}

test("whatever happens to the calls of an MCP server", async () => {
  await fc.assert(fc.asyncProperty(anyTrial, play), { numRuns: 12 });
}, 120_000);

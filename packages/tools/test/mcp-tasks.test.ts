// Tools that an MCP server runs as tasks only (https://github.com/TanStack/ai/issues/704), by the official SDK.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Agent, type Message, type RondoEvent, textOf } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { mcpTools } from "@rondo/tools";
import { afterEach, expect, it } from "vitest";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** The agent of a server whose `research` is a task that ends as given; absent: never. */
async function agentOf(end?: "completed" | "failed"): Promise<{ agent: Agent; store: InMemoryTaskStore }> {
  const store = new InMemoryTaskStore();
  const capabilities = { tasks: { cancel: {}, requests: { tools: { call: {} } } } };
  const server = new McpServer({ name: "test", version: "1" }, { capabilities, taskStore: store });
  server.experimental.tasks.registerToolTask(
    "research",
    { execution: { taskSupport: "required" } },
    {
      createTask: async ({ taskStore }) => {
        const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 5 });
        const content = [{ type: "text" as const, text: `it ${end}` }];
        if (end === undefined) await taskStore.updateTaskStatus(task.taskId, "working", "reading page 3");
        else
          setTimeout(() => {
            void taskStore.storeTaskResult(task.taskId, end, { content, isError: end === "failed" });
          }, 10);
        return { task };
      },
      getTask: async ({ taskId, taskStore }) => taskStore.getTask(taskId),
      getTaskResult: async ({ taskId, taskStore }) =>
        (await taskStore.getTaskResult(taskId)) as { content: [] },
    },
  );
  const client = new Client({ name: "rondo", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  open.push(client, { close: () => store.cleanup() });
  const tools = await mcpTools(client, { permission: "allow" });
  return { agent: new Agent({ model: scripted([call("research"), say("done")]), tools }), store };
}

it.each([
  ["completed", false],
  ["failed", true],
] as const)("a task that %s is the call's result", async (end, isError) => {
  const { agent } = await agentOf(end);
  const result = (await agent.run("go")).messages[2] as Message;
  expect(result).toMatchObject({ role: "tool", isError });
  expect(textOf(result)).toBe(`it ${end}`);
});

it("a task tells its status, and is cancelled with its call", async () => {
  const { agent, store } = await agentOf();
  const session = await agent.open("s");
  const events: RondoEvent[] = [];
  session.subscribe((event) => {
    events.push(event);
    if (JSON.stringify(event).includes("reading page 3")) session.abort("enough");
  });
  expect((await session.send("go")).end?.reason).toBe("aborted");
  expect(events.some(({ type }) => type === "tool_update")).toBe(true);
  await expect.poll(() => store.getAllTasks().map(({ status }) => status)).toEqual(["cancelled"]);
});

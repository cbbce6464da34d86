// An MCP server over standard input and output. `slow` never answers, and its cancellation is told by `cancelled`; `change`
// takes `look` away and adds `new`; `die` ends the process within the call.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const names = new Set(["look", "slow", "cancelled", "change", "die"]);
const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: { listChanged: true } } });

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [...names].map((name) => ({ name, inputSchema: { type: "object" as const } })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }, { signal }) => {
  const said = (text: string) => ({ content: [{ type: "text" as const, text }] });
  if (!names.has(name)) throw new Error(`there is no tool ${name} any more`);
  if (name === "die") process.exit(1);
  if (name === "slow") {
    signal.addEventListener("abort", () => cancel());
    return new Promise<never>(() => {});
  }
  if (name === "cancelled") await cancelled;
  if (name === "change") {
    names.delete("look");
    names.add("new");
    await server.sendToolListChanged();
  }
  return said(`${name} is done`);
});
await server.connect(new StdioServerTransport());

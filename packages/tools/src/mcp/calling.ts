// The room of the call: how a client of either kind is asked to call a tool.

import type { JsonObject } from "@rondo/core";
import type { McpCallOptions, McpClient, McpTool } from "./client.ts";
import { runTask, tasksFor } from "./tasks.ts";
import { hearing, takingAnything } from "./unchecked.ts";

/** Calls a tool. @returns the server's answer, unchecked */
export async function called(
  client: McpClient,
  tool: McpTool,
  args: JsonObject,
  options: McpCallOptions,
): Promise<unknown> {
  const { name, inputSchema } = tool;
  const params = { name, arguments: args };
  const tasks = tasksFor(tool, client);
  if (tasks !== undefined) return runTask(tasks, params, options);
  if (client.callTool.length !== 2)
    return hearing((resultSchema) => client.callTool(params, resultSchema, options));
  const second = client as unknown as OptionsSecond;
  // Under the earlier protocol its `callTool` is this request and checks. Under the later one it sends more with it.
  if (second.getProtocolEra?.() === "legacy" && typeof second.request === "function")
    return second.request({ method: "tools/call", params }, takingAnything, options);
  // Without an output schema in the definition, the answer is not checked by one.
  return second.callTool(params, { ...options, toolDefinition: { name, inputSchema } });
}

interface OptionsSecond {
  getProtocolEra?(): unknown;
  request?(
    request: { method: string; params: JsonObject },
    resultSchema: object,
    options: McpCallOptions,
  ): Promise<unknown>;
  callTool(
    params: { name: string; arguments: JsonObject },
    options: McpCallOptions & { toolDefinition: Pick<McpTool, "name" | "inputSchema"> },
  ): Promise<object>;
}

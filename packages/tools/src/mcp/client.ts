// The room of the MCP client, as far as tools need one: described by its shape, so that nothing of the SDK is imported.

import type { JsonObject } from "@rondo/core";
import { able } from "@rondo/core/checks";
import { runTask, tasksFor } from "./tasks.ts";
import { hearing, mayHaveRefused, takingAnything } from "./unchecked.ts";

/** A tool as a server lists it. */
export interface McpTool {
  name: string;
  description?: string | undefined;
  inputSchema: object;
  annotations?: { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined } | undefined;
}

/** How a call is made: signal, time limit, and progress callback. */
export interface McpCallOptions {
  signal: AbortSignal;
  /** Milliseconds. */
  timeout: number;
  onprogress(told: { progress: number; message?: string | undefined }): void;
}

/** A connected client: `Client` of `@modelcontextprotocol/sdk`, or anything with these two functions. */
export interface McpClient {
  listTools(page?: { cursor: string }): Promise<{ tools: McpTool[]; nextCursor?: string | undefined }>;
  /**
   * `resultSchema` takes any answer. If it takes only two parameters (`Client` of `@modelcontextprotocol/client`), the options are
   * passed second.
   */
  callTool(
    params: { name: string; arguments: JsonObject },
    resultSchema: object | undefined,
    options: McpCallOptions,
  ): Promise<object>;
}

export const mcpClient: ReturnType<typeof able> = able(
  "a connected client of MCP (listTools, callTool)",
  "listTools",
  "callTool",
);

/** More pages than any server needs. */
const mostPages = 1_000;

/** JSON-RPC's code for a method that a server does not have. */
const noSuchMethod = -32_601;

/**
 * All tools of a server, page by page, each once: a call has only a name, so a second tool of that name could not be told from the
 * first. An entry without a name cannot be called and is left out: the others are worth no less. They are in the order of their
 * names: servers list theirs in any order, and another order would be another request to a provider's cache.
 */
export async function toolsOf(client: McpClient): Promise<McpTool[]> {
  const tools = new Map<string, McpTool>();
  const asked = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const listed = await pageOf(client, cursor);
    for (const one of Array.isArray(listed?.tools) ? listed.tools : [])
      if (isTool(one) && !tools.has(one.name)) tools.set(one.name, one);
    cursor = listed?.nextCursor;
    // Some servers say "" or null after the last page, which would ask for the first one again, and some name pages in a circle.
    if (!cursor || asked.has(cursor)) break;
    asked.add(cursor);
  }
  return [...tools.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

const isTool = (one: McpTool | null): one is McpTool => typeof one?.name === "string";

type Page = Partial<Awaited<ReturnType<McpClient["listTools"]>>> | undefined;

/** A page of the list; undefined if the server has no tools at all. */
async function pageOf(client: McpClient, cursor: string | undefined): Promise<Page> {
  try {
    return await (cursor === undefined ? client.listTools() : client.listTools({ cursor }));
  } catch (thrown) {
    if ((thrown as { code?: unknown } | undefined)?.code === noSuchMethod) return undefined;
    const { request } = client as Asking;
    if (typeof request !== "function" || !mayHaveRefused(thrown)) throw thrown;
    const params = cursor === undefined ? {} : { params: { cursor } };
    return request.call(client, { method: "tools/list", ...params }, takingAnything);
  }
}

/** The SDK's clients also make any other request, and take what the given schema takes. */
interface Asking {
  request?(request: { method: string; params?: JsonObject }, resultSchema: object): Promise<Page>;
}

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

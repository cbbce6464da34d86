// The room of the MCP client, as far as tools need one: described by its shape, so that nothing of the SDK is imported.

import type { JsonObject } from "@rondo/core";
import { able } from "@rondo/core/checks";

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
  /** If it takes only two parameters (`Client` of `@modelcontextprotocol/client`), the options are passed second. */
  callTool(
    params: { name: string; arguments: JsonObject },
    resultSchema: undefined,
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

/**
 * All tools of a server, page by page, each once: a call has only a name, so a second tool of that name could not be told from the
 * first. An entry without a name cannot be called and is left out: the others are worth no less.
 */
export async function toolsOf(client: McpClient): Promise<McpTool[]> {
  const tools = new Map<string, McpTool>();
  const asked = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const listed = await (cursor ? client.listTools({ cursor }) : client.listTools());
    for (const one of Array.isArray(listed.tools) ? listed.tools : [])
      if (isTool(one) && !tools.has(one.name)) tools.set(one.name, one);
    cursor = listed.nextCursor;
    // Some servers say "" or null after the last page, which would ask for the first one again, and some name pages in a circle.
    if (!cursor || asked.has(cursor)) break;
    asked.add(cursor);
  }
  return [...tools.values()];
}

const isTool = (one: McpTool | null): one is McpTool => typeof one?.name === "string";

/** Calls a tool. @returns the server's answer, unchecked */
export function called(
  client: McpClient,
  name: string,
  args: JsonObject,
  options: McpCallOptions,
): Promise<object> {
  const params = { name, arguments: args };
  if (client.callTool.length !== 2) return client.callTool(params, undefined, options);
  return (client as unknown as OptionsSecond).callTool(params, options);
}

interface OptionsSecond {
  callTool(params: { name: string; arguments: JsonObject }, options: McpCallOptions): Promise<object>;
}

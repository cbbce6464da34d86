// The room of the MCP client, as far as tools need one: described by its shape, so that nothing of the SDK is imported.

import type { JsonObject } from "@rondo/core";
import { able } from "@rondo/core/checks";

/** A tool as a server lists it. */
export interface McpTool {
  name: string;
  description?: string | undefined;
  inputSchema: object;
  annotations?:
    | {
        readOnlyHint?: boolean | undefined;
        destructiveHint?: boolean | undefined;
        idempotentHint?: boolean | undefined;
      }
    | undefined;
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

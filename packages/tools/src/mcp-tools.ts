// The room of an MCP server's tools: one tool of each, called by a client that somebody else has connected.
//
// What a server says of itself is another program's word. Its patterns are matched in linear time; that a tool only reads is
// believed where the server is trusted.

import { foreignSchema, type JsonObject, type Permission, type Tool, tool, toolResult } from "@rondo/core";
import { checkGiven, flag, membersOf, text } from "@rondo/core/checks";
import { called, type McpClient, type McpTool, mcpClient, toolsOf } from "./mcp/client.ts";
import { outputsOf } from "./mcp/outputs.ts";
import { permissionOption } from "./options.ts";

export interface McpToolsOptions {
  /** Stands before the names of its tools, and `_`: two servers may have a tool of the same name. Default: nothing. */
  server?: string;
  /**
   * Believe what the server says of its tools: one that only reads is a `read` and allowed, one that may be repeated is `idempotent`.
   * Default: false. Then each is a `write` that asks.
   */
  trusted?: boolean;
  /** Whether a call of any of its tools is asked about. Default: `ask`, but for what a trusted server says only reads. */
  permission?: Permission;
}

const optionChecks = membersOf<McpToolsOptions>({
  server: text,
  trusted: flag,
  permission: permissionOption,
});

/** The agent's clock is the one that counts; a client's own is set to the longest that a timer takes. */
const longestMs = 2 ** 31 - 1;

/**
 * One tool of each that an MCP server has now. The client stays yours: connect it before, and close it when no agent uses the tools any more;
 * a call after that is an error that the model reads.
 * @throws RondoError `invalid_request` for what is no client, or an option that cannot be used; whatever the client throws when it lists
 */
export async function mcpTools(client: McpClient, options: McpToolsOptions = {}): Promise<Tool[]> {
  checkGiven(mcpClient, client, "mcpTools");
  checkGiven(optionChecks, options, "mcpTools");
  const names = new Set<string>();
  return (await toolsOf(client)).map((one) => {
    const name = nameFor(options.server === undefined ? one.name : `${options.server}_${one.name}`, names);
    names.add(name);
    return toolOf(name, client, one, options);
  });
}

/** Providers take 64 letters, digits, _ and - alone, and two names may be one in these. */
function nameFor(wanted: string, taken: ReadonlySet<string>, count = 1): string {
  const end = count === 1 ? "" : `_${count}`;
  const name = (wanted.replace(/[^\w-]/g, "_").slice(0, 64 - end.length) || "tool") + end;
  return taken.has(name) ? nameFor(wanted, taken, count + 1) : name;
}

function toolOf(as: string, client: McpClient, given: McpTool, options: McpToolsOptions): Tool {
  const { name, description = "", inputSchema, annotations } = given;
  const { readOnlyHint = false, idempotentHint = false } = (options.trusted && annotations) || {};
  return tool({
    name: as,
    description,
    inputSchema: foreignSchema(inputSchema as JsonObject),
    effect: readOnlyHint ? "read" : idempotentHint ? "idempotent" : "write",
    permission: options.permission ?? (readOnlyHint ? "allow" : "ask"),
    execute: async (args, { signal, update }) => {
      const answer = await called(client, name, args as JsonObject, {
        signal,
        timeout: longestMs,
        onprogress: ({ progress, message }) => update(message ?? `${progress}`, { progress }),
      });
      return toolResult(outputsOf(answer), { isError: (answer as { isError?: unknown }).isError === true });
    },
  });
}

// The room of an MCP server's tools: makes one tool of each, called through a client that the application connected.
//
// What a server says of itself is not trusted. Its patterns are matched in linear time, and its claim that a tool only
// reads is believed only if the server is `trusted`. What it describes holds nothing that only a model could read, and is the
// tool's version: if the server changes it later, grants that were given for it no longer hold.

import { createHash } from "node:crypto";
import {
  canonical,
  foreignSchema,
  type Json,
  type JsonObject,
  type Permission,
  parsedJson,
  type Tool,
  tool,
  toolResult,
  withoutTags,
} from "@rondo/core";
import { callable, checkGiven, flag, isTooDeep, membersOf, text } from "@rondo/core/checks";
import { called } from "./mcp/calling.ts";
import { type McpCallOptions, type McpClient, type McpTool, mcpClient } from "./mcp/client.ts";
import { Connection } from "./mcp/connection.ts";
import { toolsOf } from "./mcp/listing.ts";
import { isFailed, outputsOf } from "./mcp/outputs.ts";
import { permissionOption } from "./options.ts";

export interface McpToolsOptions {
  /** Prefix of the tools' names, followed by `_`: two servers may have tools of the same name. Default: none. */
  server?: string;
  /**
   * Believe what the server says of its tools: one that only reads is a `read` and allowed, one that may be repeated is `idempotent`.
   * Default: false. Then each tool is a `write` that asks for approval.
   */
  trusted?: boolean;
  /** The permission of all its tools. Default: `ask`, except for tools that a trusted server says only read. */
  permission?: Permission;
  /**
   * Connects again when the server is gone or no longer knows the session, and resolves with the new client. Calls that need one at
   * the same time share it. It is given the lost client, which it may close. Default: later calls fail.
   */
  reconnect?: (lost: McpClient) => Promise<McpClient>;
}

const optionChecks = membersOf<McpToolsOptions>({
  server: text,
  trusted: flag,
  permission: permissionOption,
  reconnect: callable,
});

/** The longest timer. The agent's own clock decides, so the client's time limit is set to this. */
const longestMs = 2 ** 31 - 1;

/**
 * Makes one tool of each tool that an MCP server has now. The client stays yours: connect it first, and close it when no agent uses the
 * tools any more; a later call returns an error that the model reads.
 * @throws RondoError `invalid_request` for an invalid client or option; whatever the client throws when it lists the tools
 */
export async function mcpTools(client: McpClient, options: McpToolsOptions = {}): Promise<Tool[]> {
  checkGiven(mcpClient, client, "mcpTools");
  checkGiven(optionChecks, options, "mcpTools");
  const connection = new Connection(client, options.reconnect);
  const names = new Set<string>();
  return (await toolsOf(client)).map((one) => {
    const name = nameFor(options.server === undefined ? one.name : `${options.server}_${one.name}`, names);
    names.add(name);
    return toolOf(name, connection, one, options);
  });
}

/**
 * Providers accept 64 letters, digits, _ and - only, Gemini's no digit and no - in front, and two names may become equal when
 * reduced to these.
 */
function nameFor(wanted: string, taken: ReadonlySet<string>, count = 1): string {
  const end = count === 1 ? "" : `_${count}`;
  const plain = wanted.replace(/[^\w-]/g, "_").replace(/^[\d-]/, "_$&");
  const name = (plain.slice(0, 64 - end.length) || "tool") + end;
  return taken.has(name) ? nameFor(wanted, taken, count + 1) : name;
}

function toolOf(as: string, connection: Connection, given: McpTool, options: McpToolsOptions): Tool {
  const description = typeof given.description === "string" ? given.description : "";
  const { readOnlyHint, destructiveHint, idempotentHint } = (options.trusted && given.annotations) || {};
  // A tool that says both is wrong in one: only the safe reading is taken.
  const reads = readOnlyHint === true && destructiveHint !== true;
  const effect = reads ? "read" : idempotentHint === true ? "idempotent" : "write";
  return tool({
    name: as,
    description: withoutTags(description),
    inputSchema: foreignSchema(seen(schemaIn(given.inputSchema))),
    version: versionOf(given),
    effect,
    permission: options.permission ?? (reads ? "allow" : "ask"),
    execute: async (args, { signal, update }) => {
      const how: McpCallOptions = {
        signal,
        timeout: longestMs,
        onprogress: ({ progress, message }) => update(message ?? `${progress}`, { progress }),
      };
      const answer = await connection.request({
        make: (client) => called(client, given, args as JsonObject, how),
        mayRepeat: effect !== "write",
        signal,
      });
      return toolResult(outputsOf(answer), { isError: isFailed(answer) });
    },
  });
}

/** What a server gives as a schema; anything if it is none, or nested so deep that nothing could read it. */
const schemaIn = (given: unknown): JsonObject =>
  typeof given === "object" && given !== null && !Array.isArray(given) && !isTooDeep(given as Json)
    ? (given as JsonObject)
    : {};

/** A digest of what the server says of a tool, in whatever order it says it. */
function versionOf({ name, description, inputSchema, annotations }: McpTool): string {
  const said = parsedJson(
    JSON.stringify([
      name,
      description ?? null,
      inputSchema === undefined ? null : schemaIn(inputSchema),
      annotations ?? null,
    ]),
  );
  return createHash("sha256").update(canonical(said)).digest("hex");
}

/** A schema without tag characters, wherever they are in it. */
function seen(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema);
  const without = withoutTags(text);
  return without === text ? schema : parsedJson<JsonObject>(without);
}

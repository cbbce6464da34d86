// The room of the list: all tools that an MCP server has, whatever else it lists.

import type { JsonObject } from "@rondo/core";
import type { McpClient, McpTool } from "./client.ts";
import { mayHaveRefused, takingAnything } from "./unchecked.ts";

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

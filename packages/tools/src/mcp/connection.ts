// The room of the connection: which client a call is made with, and what happens when its server is gone.
//
// A server's process may end, a server may forget a session, and a token expires. Then every later call fails until somebody connects
// again. A call is made again only if it surely had no effect, or may have it twice: a server whose connection broke may have done
// before what it was asked.

import { messageOf } from "@rondo/core";
import { checkGiven } from "@rondo/core/checks";
import { type McpClient, mcpClient } from "./client.ts";
import { doubt, failureOf, lossOf } from "./failures.ts";
import { untilAborted } from "./until-aborted.ts";

/** Connects a new client in place of a lost one, which it may close. */
export type Reconnect = (lost: McpClient) => Promise<McpClient>;

/** What is done with the client of the moment. */
export interface Request<Answer> {
  make(client: McpClient): Promise<Answer>;
  /** Whether it may be made again although it may have had its effect. */
  mayRepeat: boolean;
  signal: AbortSignal;
}

export class Connection {
  #client: McpClient;
  readonly #reconnect: Reconnect | undefined;
  #coming: Promise<McpClient> | undefined;

  constructor(client: McpClient, reconnect: Reconnect | undefined) {
    this.#client = client;
    this.#reconnect = reconnect;
  }

  /**
   * Makes a request with the client, and if that is lost with a new one.
   * @throws the signal's reason if that has fired: what a client says then is not that the call may have had its effect
   */
  async request<Answer>(request: Request<Answer>): Promise<Answer> {
    const client = this.#client;
    const { make, mayRepeat, signal } = request;
    if (isLost(client)) return this.#again(client, request, new Error("Not connected"));
    try {
      return await make(client);
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      if (isRefused(client, thrown)) return this.#again(client, request, thrown);
      if (!isLost(client)) throw failureOf(thrown, mayRepeat);
      if (mayRepeat) return this.#again(client, request, thrown);
      throw lossOf(thrown, doubt);
    }
  }

  /** Makes a request with the client after a lost one. */
  async #again<Answer>(lost: McpClient, request: Request<Answer>, why: unknown): Promise<Answer> {
    const { make, mayRepeat, signal } = request;
    if (this.#reconnect === undefined) throw lossOf(why, "");
    const client = await untilAborted(this.#after(lost), signal);
    return make(client).catch((thrown: unknown) => {
      if (signal.aborted) throw signal.reason;
      if (!isLost(client)) throw failureOf(thrown, mayRepeat);
      throw lossOf(thrown, mayRepeat ? "" : doubt);
    });
  }

  /** The client after a lost one. Calls that find the same one lost share it. */
  #after(lost: McpClient): McpClient | Promise<McpClient> {
    if (this.#client !== lost) return this.#client;
    this.#coming ??= this.#connected(lost).finally(() => {
      this.#coming = undefined;
    });
    return this.#coming;
  }

  async #connected(lost: McpClient): Promise<McpClient> {
    try {
      const client = await this.#reconnect?.(lost);
      checkGiven(mcpClient, client, "what reconnect returned");
      this.#client = client as McpClient;
      return this.#client;
    } catch (thrown) {
      const told = `the MCP server is gone, and connecting again failed: ${messageOf(thrown)}`;
      throw new Error(told, { cause: thrown });
    }
  }
}

/** The SDK's clients have a transport as long as they are connected. Of any other client nothing is known. */
interface Connected {
  transport?: { sessionId?: unknown } | undefined;
}

const isLost = (client: McpClient): boolean =>
  "transport" in client && (client as Connected).transport === undefined;

/**
 * Whether a server refused a request before anything else: it does not know the session, or the token is no longer valid. The
 * first clients give the status as `code`.
 */
function isRefused(client: McpClient, thrown: unknown): boolean {
  const { code, status } = Object(thrown) as { code?: unknown; status?: unknown };
  if (code === 401 || status === 401) return true;
  return (code === 404 || status === 404) && typeof (client as Connected).transport?.sessionId === "string";
}

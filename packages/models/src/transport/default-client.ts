// The room of the default client: node:http on Node, fetch everywhere else, one for the process.

import type { HttpClient } from "./http.ts";
import { fetchClient } from "./http-fetch.ts";
import { nodeClient, onNode } from "./http-node.ts";

let client: HttpClient | undefined;

/** The client of a model that was given none. */
export function defaultClient(): HttpClient {
  client ??= onNode() ? nodeClient() : fetchClient();
  return client;
}

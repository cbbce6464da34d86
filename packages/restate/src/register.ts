// The room of registering: a Restate server learns where a worker is, and what it serves.

import { messageOf, RondoError } from "@rondo/core";

export interface RegisterOptions {
  /** The server's admin address, e.g. `http://127.0.0.1:9070`. */
  admin: string;
  /** The worker's address as the server reaches it, e.g. `http://10.0.0.7:9080`. Each version of the code has one of its own. */
  worker: string;
  /** Learn anew what is at an address that is known already; else nothing is learnt there, and that is no error. New code at an old address breaks the runs that began with the old. Default false. */
  force?: boolean;
  /** Sent with the request. */
  headers?: { readonly [name: string]: string };
}

/**
 * Registers a worker: runs that begin from now on go to it; those that began elsewhere stay there.
 * @returns the id of the deployment
 * @throws RondoError `network` when the server cannot be reached; `server_error` with what it said
 */
export async function register({
  admin,
  worker,
  force = false,
  headers = {},
}: RegisterOptions): Promise<string> {
  const url = `${admin.replace(/\/+$/, "")}/deployments`;
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ uri: worker, force }),
    });
  } catch (thrown) {
    throw new RondoError("network", `${url}: the server cannot be reached: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  const text = await response.text();
  if (!response.ok)
    throw new RondoError(
      "server_error",
      `${url}: ${response.status} ${text.slice(0, 500)}; the server must reach the worker at ${worker}, over HTTP/2`,
      { status: response.status },
    );
  return (JSON.parse(text) as { id: string }).id;
}

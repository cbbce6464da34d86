// The room of registering: tells a Restate server where a worker is; it then asks what the worker serves.

import { RondoError, thrownIn } from "@rondo/core";
import { checkGiven, flag, membersOf, recordOf, text } from "@rondo/core/checks";
import { address, messageIn } from "./ingress.ts";

export interface RegisterOptions {
  /** The server's admin URL, e.g. `http://127.0.0.1:9070`. */
  admin: string;
  /** The worker's URL as the server reaches it, e.g. `http://10.0.0.7:9080`. Each version of the code needs one of its own. */
  worker: string;
  /** Register a known URL again; without it nothing changes for a known one, which is no error. New code at an old URL breaks the runs that began with the old code. Default false. */
  force?: boolean;
  /** Sent with the request. */
  headers?: { readonly [name: string]: string };
}

const optionChecks = membersOf<RegisterOptions>(
  { admin: address, worker: address, force: flag, headers: recordOf(text) },
  ["admin", "worker"],
);

/**
 * Registers a worker: new runs go to it; runs that began elsewhere stay there.
 * @returns the id of the deployment
 * @throws RondoError `invalid_request` naming the invalid option; `network` when the server cannot be reached;
 *   `server_error` with the server's message
 */
export async function register(options: RegisterOptions): Promise<string> {
  checkGiven(optionChecks, options, "register");
  const { admin, worker, force = false, headers = {} } = options;
  const url = `${admin.replace(/\/+$/, "")}/deployments`;
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ uri: worker, force }),
    });
  } catch (thrown) {
    throw new RondoError(
      "network",
      `${url}: the server cannot be reached: ${thrownIn(thrown).why}; is Restate running, and is this its admin address?`,
      { cause: thrown },
    );
  }
  const { status } = response;
  const said = await response.text();
  const id = response.ok ? idIn(said) : undefined;
  if (id !== undefined) return id;
  // The server's code for a worker that it could not ask for its services.
  const hint = said.includes("META0")
    ? `the server must reach a worker at ${worker}, over HTTP/2: is one listening there?`
    : "is this the admin address of a Restate server, and not its ingress?";
  throw new RondoError("server_error", `${url}: ${status} ${messageIn(said).slice(0, 500)}; ${hint}`, {
    status,
  });
}

function idIn(said: string): string | undefined {
  try {
    const { id } = JSON.parse(said) as { id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

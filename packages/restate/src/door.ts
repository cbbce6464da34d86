// The room of the door: the worker's HTTP server, and its open connections.

import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { RondoError } from "@rondo/core";

/** Answers requests. */
export type Handle = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export class Door {
  readonly #handle: Handle;
  readonly #connections = new Set<ServerHttp2Session>();
  #server: Http2Server | undefined;

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  /** Listens. @returns the address @throws the system's error when it cannot; another port may then be tried */
  async open(port: number, host: string): Promise<string> {
    // Node would take a string for the path of a pipe.
    if (!(Number.isInteger(port) && port >= 0 && port < 2 ** 16))
      throw new RondoError(
        "invalid_request",
        `listen: the port must be a whole number from 0 to 65535, not ${JSON.stringify(port)}`,
      );
    if (this.#server !== undefined) throw new RondoError("invalid_request", "this worker listens already");
    const server = createServer(this.#handle);
    server.on("session", (session) => {
      this.#connections.add(session);
      session.once("close", () => this.#connections.delete(session));
      session.on("error", () => {});
    });
    this.#server = server;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, resolve);
      });
    } catch (thrown) {
      this.#server = undefined;
      throw thrown;
    }
    const { port: bound } = server.address() as AddressInfo;
    return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  }

  /** Closes all connections at once; resolves when no new one is accepted. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const connection of this.#connections) connection.destroy();
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

// The room of the balancer: one address for several workers, as a load balancer of a platform gives it.
//
// Restate sends the invocations of a deployment to the deployment's one address, and whatever an invocation has begun
// stays with that deployment. So the workers of one version of the code stand behind one address, and any of them takes
// over from one that died; the next version of the code gets an address of its own. This one knows nothing of HTTP: it
// passes bytes on. It balances connections, of which the server must then open enough: see `connectionSettings`.

import { createServer, connect as open, type Socket } from "node:net";
import { listening } from "./ports.ts";

/**
 * Of the server's configuration, for workers behind a balancer of connections: few invocations share a connection, an
 * idle one is soon closed, and a worker that stands still is noticed in seconds. By default a connection takes 128
 * invocations and lives as long as it is used: a second worker would never hear of any.
 */
export const connectionSettings = {
  "worker.invoker": {
    "http2-streams-per-connection-limit": 4,
    "http2-idle-connection-timeout": "2s",
    "http2-keep-alive-interval": "2s",
    "http2-keep-alive-timeout": "2s",
  },
} as const;

export interface Balancer {
  readonly address: string;
  /** Workers take part from now on, or no more; connections that are open stay. Addresses as `http://127.0.0.1:9080`. */
  add(address: string): void;
  remove(address: string): void;
  /** Closes all connections: whoever needs one opens another, and it is balanced anew. */
  cut(): void;
  /** How many connections each worker has. */
  load(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export async function startBalancer(workers: readonly string[] = []): Promise<Balancer> {
  const load = new Map<string, number>(workers.map((worker) => [worker, 0]));
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.once("close", () => sockets.delete(socket));
    // The other half is closed with it; there is nobody to tell.
    socket.on("error", () => {});
  };
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  /** To whoever has the fewest connections; whoever refuses was just killed, and the next is asked. */
  const pass = (client: Socket, refused: ReadonlySet<string>): void => {
    const [chosen] = [...load]
      .filter(([address]) => !refused.has(address))
      .sort(([, one], [, other]) => one - other)
      .map(([address]) => address);
    if (chosen === undefined || client.destroyed) {
      client.destroy();
      return;
    }
    const count = (by: number): void => {
      const present = load.get(chosen);
      if (present !== undefined) load.set(chosen, present + by);
    };
    const { hostname, port } = new URL(chosen);
    const worker = open(Number(port), hostname);
    keep(worker);
    count(1);
    let connected = false;
    worker.once("connect", () => {
      connected = true;
      client.pipe(worker);
      worker.pipe(client);
    });
    worker.once("close", () => {
      count(-1);
      if (connected) client.destroy();
      else pass(client, new Set([...refused, chosen]));
    });
    client.once("close", () => worker.destroy());
  };
  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client);
    pass(client, new Set());
  });
  const address = `http://127.0.0.1:${await listening(server)}`;
  return {
    address,
    add: (worker) => void (load.has(worker) || load.set(worker, 0)),
    remove: (worker) => void load.delete(worker),
    load: () => new Map(load),
    cut,
    async stop() {
      const closed = new Promise((settle) => server.close(settle));
      cut();
      await closed;
    },
  };
}

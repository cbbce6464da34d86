// The room of the balancer: one address for several workers, like a platform's load balancer.
//
// Restate sends the invocations of a deployment to its one address, and an invocation stays with the deployment it began
// with. So the workers of one version of the code are behind one address, and any of them takes over from one that died;
// the next version gets an address of its own. The balancer knows nothing of HTTP: it passes on bytes. It balances
// connections, of which the server must therefore open enough: see `connectionSettings`.

import { createServer, connect as open, type Socket } from "node:net";
import { listening } from "./ports.ts";

/**
 * Server settings for workers behind a connection balancer: few invocations per connection, idle connections closed soon,
 * and a worker that hangs noticed within seconds. By default a connection takes 128 invocations and stays open while it
 * is used: a second worker would never get any.
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
  /** Adds or removes a worker; open connections stay. Addresses as `http://127.0.0.1:9080`. */
  add(address: string): void;
  remove(address: string): void;
  /** Closes all connections: new ones are opened as needed, and balanced anew. */
  cut(): void;
  /** Number of connections per worker. */
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
  /** To the worker with the fewest connections; if it refuses, it was just killed, and the next is tried. */
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

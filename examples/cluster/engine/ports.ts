// The room of free ports: port numbers that nobody on this machine listens on.
//
// The system chooses them; they are released again, so another process may take one first, and the caller must be ready
// to ask again. All ports of one call are different.

import { createServer, type Server } from "node:net";

export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  try {
    const ports: number[] = [];
    for (let number = 0; number < count; number += 1) {
      const server = createServer();
      held.push(server);
      ports.push(await listening(server));
    }
    return ports;
  } finally {
    await Promise.all(held.map((server) => new Promise((settle) => server.close(settle))));
  }
}

/** Listens on a loopback port that the system chooses. */
export function listening(server: Server): Promise<number> {
  return new Promise((settle, fail) => {
    server.once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") fail(new Error("a socket without a port"));
      else settle(address.port);
    });
  });
}

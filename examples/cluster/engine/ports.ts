// The room of free ports: numbers that nobody on this machine listens at.
//
// The system chooses; they are let go of before somebody else takes them, so that whoever asked must be ready to find
// one taken and ask again. All of one call are different.

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

/** Listens on a port of loopback that the system chooses. */
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

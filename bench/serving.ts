// The room of serving: runs a file again as a server process, so that its processor time is not ours.

import { fork } from "node:child_process";
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

export interface Serving {
  url: string;
  close(): Promise<void>;
}

/** Starts a file as a server. It calls {@link listen} when {@link isServing}. @param address of the file */
export async function startServing(address: string): Promise<Serving> {
  const child = fork(fileURLToPath(address), ["serve"], {
    execArgv: process.execArgv.filter((flag) => !flag.startsWith("--cpu-prof")),
  });
  const died = once(child, "exit").then(([code, signal]) => {
    throw new Error(`${address} ended with ${code ?? signal} before it could be asked`);
  });
  const [port] = (await Promise.race([once(child, "message"), died])) as [number];
  died.catch(() => {});
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      child.kill();
      await once(child, "exit");
    },
  };
}

export const isServing = (): boolean => process.argv[2] === "serve";

export function listen(server: Server): void {
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

/** Answers with events, each write after the previous one was flushed. */
export function stream(response: ServerResponse, writes: readonly (Buffer | string)[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.socket?.setNoDelay(true);
  let at = 0;
  const next = (): void => {
    const write = writes[at++];
    if (write === undefined) response.end();
    else response.write(write, () => setImmediate(next));
  };
  next();
}

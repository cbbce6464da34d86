// The room of the server: a process of its own that streams answers as each protocol does.
//
// A request says in its header `x-bench` what it wants: the protocol, how many text deltas, how many of them a write.

import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { protocols } from "./protocols.ts";

export interface Wish {
  protocol: string;
  deltas: number;
  perWrite: number;
}

export interface Server {
  url: string;
  close(): Promise<void>;
}

/** Starts the server in another process, so that its processor time is not ours. */
export async function startServer(): Promise<Server> {
  const child = fork(fileURLToPath(import.meta.url), ["serve"], {
    execArgv: process.execArgv.filter((flag) => !flag.startsWith("--cpu-prof")),
  });
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      child.kill();
      await once(child, "exit");
    },
  };
}

/** The writes of an answer, made once: the server is not what is measured, and shares the machine. */
export function writesOf({ protocol: name, deltas, perWrite }: Wish): string[] {
  const protocol = protocols[name];
  if (protocol === undefined) throw new Error(`there is no protocol ${name}`);
  const writes: string[] = [];
  for (let at = 0; at < deltas; at += perWrite) {
    let text = at === 0 ? protocol.begin : "";
    for (let one = at; one < Math.min(at + perWrite, deltas); one += 1)
      text += protocol.delta(`tok${one} `, one);
    writes.push(text);
  }
  writes.push(protocol.finish);
  return writes;
}

function serve(): void {
  const known = new Map<string, string[]>();
  const server = createServer((message, response) => {
    const wish = String(message.headers["x-bench"]);
    const writes = known.get(wish) ?? writesOf(JSON.parse(wish) as Wish);
    known.set(wish, writes);
    message.resume();
    message.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.socket?.setNoDelay(true);
      let at = 0;
      const next = (): void => {
        const write = writes[at++];
        if (write === undefined) response.end();
        else response.write(write, () => setImmediate(next));
      };
      next();
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
}

if (process.argv[2] === "serve") serve();

// The room of the server: a separate process that streams answers in each protocol.
//
// The request header `x-bench` says what to send: the protocol, the number of text deltas, and how many per write.

import { createServer } from "node:http";
import { protocols } from "./protocols.ts";
import { isServing, listen, type Serving, startServing, stream } from "./serving.ts";

export interface Wish {
  protocol: string;
  deltas: number;
  perWrite: number;
}

/** Starts the server in another process. */
export const startServer = (): Promise<Serving> => startServing(import.meta.url);

/** The writes of an answer, prepared once: the server is not what is measured, but shares the machine. */
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
    message.on("end", () => stream(response, writes));
  });
  listen(server);
}

if (isServing()) serve();

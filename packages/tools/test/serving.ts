// The room of serving: an HTTP server on this machine that is gone after the test.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Heard {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface Serving {
  /** `http://127.0.0.1:…`. */
  origin: string;
  /** `127.0.0.1:…`. */
  host: string;
  port: number;
  /** What was asked, oldest first. */
  heard: Heard[];
}

/** Serves what `answer` says. */
export async function serving(
  answer: (response: ServerResponse, heard: Heard) => void,
  address = "127.0.0.1",
): Promise<Serving> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
    heard.push(one);
    answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://${address}:${port}`, host: `${address}:${port}`, port, heard };
}

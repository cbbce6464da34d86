// What is told of a server that cannot be reached: early that it is waited for, and in the end what to do.

import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { restateJournal } from "@rondo/restate";
import { expect, onTestFinished, test } from "vitest";

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A port that nobody listens at. */
async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, "close");
  return port;
}

test("that a server is waited for is told once, whoever asks it meanwhile, and the error says what to do", async () => {
  const ingress = `http://127.0.0.1:${await closedPort()}`;
  const told: string[] = [];
  const journal = restateJournal({ ingress, patienceMs: 3_000, warn: (message) => told.push(message) });
  const [list, read] = await Promise.allSettled([journal.list(), journal.read("s")]);
  expect(told).toEqual([`waiting for the Restate server at ${ingress}, for at most 3 s`]);
  for (const asked of [list, read]) {
    const { kind, message } = (asked as PromiseRejectedResult).reason;
    expect(kind).toBe("network");
    expect(message).toMatch(
      new RegExp(
        `^${ingress}/\\S+: the server cannot be reached: .*ECONNREFUSED.*; is Restate running, and is this the address of its ingress\\?$`,
      ),
    );
  }
});

test("a server that takes no connection is waited for and given up like one that refuses it", async () => {
  // It is silent where a handshake is due.
  const sockets = new Set<{ destroy(): void }>();
  const port = await listening(createServer((socket) => sockets.add(socket.on("error", () => {}))));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const ingress = `https://127.0.0.1:${port}`;
  const told: string[] = [];
  const journal = restateJournal({ ingress, patienceMs: 1_800, warn: (message) => told.push(message) });
  await expect(journal.read("s")).rejects.toThrow(
    /the server cannot be reached: no connection within 1\.8 s; is Restate running/,
  );
  expect(told).toEqual([`waiting for the Restate server at ${ingress}, for at most 1.8 s`]);
});

test("of a server that is slow to answer nothing is told, and one that is not ready is waited for", async () => {
  const told: string[] = [];
  const server = createHttpServer((request, response) => {
    request.resume();
    const isReady = request.url?.includes("/slow/") || told.length > 0;
    if (!isReady) response.writeHead(503).end("not ready");
    else if (request.url?.includes("/busy/")) response.end(JSON.stringify({ seq: 0, text: "" }));
    // What is told of it would be told by now.
    else setTimeout(() => response.end(JSON.stringify({ seq: 0, text: "" })), 1_700);
  });
  const ingress = `http://127.0.0.1:${await listening(server)}`;
  const journal = restateJournal({ ingress, warn: (message) => told.push(message) });
  expect(await journal.read("slow")).toEqual([]);
  expect(told).toEqual([]);
  expect(await journal.read("busy")).toEqual([]);
  expect(told).toEqual([`waiting for the Restate server at ${ingress}, for at most 30 s`]);
});

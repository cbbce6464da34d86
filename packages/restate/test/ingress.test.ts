// How a server is asked: at the address as it was written, again when it breaks off, and not again when it is none.

import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { type RestateJournal, restateJournal } from "@rondo/restate";
import { expect, onTestFinished, test, vi } from "vitest";

/** A server of one's own. @returns its port */
async function serving(answer: RequestListener): Promise<number> {
  return listening(
    createServer((request, response) => {
      request.resume();
      answer(request, response);
    }),
  );
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const journalAt = (ingress: string): RestateJournal => restateJournal({ ingress, patienceMs: 30_000 });

const empty = JSON.stringify({ seq: 0, text: "" });

test("an address that has another form when it is parsed is asked under its own path", async () => {
  const asked: (string | undefined)[] = [];
  const port = await serving(({ url }, response) => {
    asked.push(url);
    response.end(empty);
  });
  await journalAt(`http://127.1:${port}/behind/`).read("a/..");
  await journalAt(`http://127.0.0.1:0${port}`).read("..");
  expect(asked).toEqual(["/behind/rondo_session/a%2F../read", "/rondo_session/../read"]);
});

test("a long call that breaks off more than once is asked for again each time: the server was there in between", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const port = await serving((_request, response) => {
    asked += 1;
    vi.setSystemTime(Date.now() + 600_000);
    if (asked < 4) response.destroy();
    else response.end(empty);
  });
  expect(await journalAt(`http://127.0.0.1:${port}`).read("s")).toEqual([]);
  expect(asked).toBe(4);
});

test("a connection that is never had is no long call, however long it took, and is given up", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const server = createTcpServer((socket) => {
    asked += 1;
    vi.setSystemTime(Date.now() + 20_000);
    socket.destroy();
  });
  const port = await listening(server);
  // No handshake comes of it.
  await expect(journalAt(`https://127.0.0.1:${port}`).read("s")).rejects.toMatchObject({ kind: "network" });
  expect(asked).toBe(2);
});

test("a server that answers with what is no JSON is no Restate, and is not waited for", async () => {
  let asked = 0;
  const port = await serving((_request, response) => {
    asked += 1;
    response.end("<html>It works!</html>");
  });
  const ingress = `http://127.0.0.1:${port}`;
  await expect(journalAt(ingress).read("s")).rejects.toMatchObject({
    kind: "server_error",
    status: 200,
    message: `${ingress}/rondo_session/s/read: 200 with what is no JSON: <html>It works!</html>; is this the address of a Restate ingress?`,
  });
  expect(asked).toBe(1);
});

test("a refusal whose message is no text is told as it came", async () => {
  const port = await serving((_request, response) => response.writeHead(403).end('{"message":{"code":7}}'));
  const ingress = `http://127.0.0.1:${port}`;
  await expect(journalAt(ingress).read("s")).rejects.toMatchObject({
    kind: "server_error",
    message: `${ingress}/rondo_session/s/read: 403 {"message":{"code":7}}`,
  });
});

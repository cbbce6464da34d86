// How a server is asked: at the address as it was written, again when it breaks off, and not again when it is none.

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type RestateJournal, restateJournal } from "@rondo/restate";
import { expect, onTestFinished, test } from "vitest";

/** A server of one's own. @returns its port */
async function serving(answer: RequestListener): Promise<number> {
  const server = createServer((request, response) => {
    request.resume();
    answer(request, response);
  });
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

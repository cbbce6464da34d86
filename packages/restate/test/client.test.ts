// What a client of Restate refuses before it asks anybody, and when it waits no longer.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { restateClient } from "@rondo/restate";
import { expect, test } from "vitest";

const circle: { self?: unknown } = {};
circle.self = circle;

test.each([
  ["a bigint", { n: 1n }, "args.n is a bigint, and JSON has no such value"],
  ["a circle", circle, "args.self is a circle, and JSON has no such value"],
  ["a list", [], "not []"],
  ["nothing", undefined, "not undefined"],
])("a call is not edited to %s, in the words of every session", async (_what, args, why) => {
  const client = restateClient({ agent: "a", ingress: "http://127.0.0.1:9" });
  await expect(client.session("s").edit("1.0", args as never)).rejects.toMatchObject({
    kind: "invalid_request",
    message: `edit: the arguments must be an object of plain JSON: ${why}`,
  });
});

test("a run whose signal fired is waited for no longer than a server is, where nobody is there who could end it", async () => {
  const asked: string[] = [];
  // Restate takes what is asked and waits for a worker.
  const server = createServer(({ url = "" }) => void asked.push(url));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ingress = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = restateClient({ agent: "a", ingress, patienceMs: 50 });
  const signal = AbortSignal.timeout(20);
  try {
    await expect(client.session("s").send("go", { signal })).rejects.toMatchObject({
      kind: "aborted",
      message: "the run was told to end, and nothing was heard of it for 0.05 s; is a worker there?",
    });
    // It ends when somebody is there.
    expect(asked).toContain("/rondo_inbox/s/post");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

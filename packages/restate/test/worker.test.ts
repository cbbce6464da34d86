// What a worker says of itself before any server asks it.

import { Agent } from "@rondo/core";
import { restateClient, restateWorker } from "@rondo/restate";
import { say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

const agent = new Agent({ model: scripted([say("hi")]) });

test("a worker whose port was taken can be told to listen at another", async () => {
  const one = restateWorker({ agents: { agent } });
  const other = restateWorker({ agents: { agent } });
  try {
    const port = Number(new URL(await one.listen()).port);
    await expect(other.listen(port)).rejects.toThrow("EADDRINUSE");
    expect(await other.listen()).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await expect(other.listen()).rejects.toMatchObject({ message: "this worker listens already" });
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
});

test("a name that no agent can have is refused alike by a worker and a client, with what one must be", () => {
  const why = '"my agent" cannot name an agent: it must be 1 to 64 letters, digits, _ or -';
  expect(() => restateWorker({ agents: { "my agent": agent } })).toThrow(`restateWorker: ${why}`);
  expect(() => restateClient({ agent: "my agent", ingress: "http://127.0.0.1:9" })).toThrow(
    `restateClient: ${why}`,
  );
});

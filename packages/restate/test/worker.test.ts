// What a worker says of itself before any server asks it.

import { Agent } from "@rondo/core";
import { restateClient, restateJournal, restateWorker } from "@rondo/restate";
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

test("a worker that was closed listens no more: it would take calls and begin nothing", async () => {
  const worker = restateWorker({ agents: { agent } });
  await worker.listen();
  await worker.close();
  await worker.close();
  await expect(worker.listen()).rejects.toMatchObject({
    kind: "invalid_request",
    message: "this worker was closed: make a new one",
  });
});

test("a name that no agent can have is refused alike by a worker and a client, with what one must be", () => {
  const why = '"my agent" cannot name an agent: it must be 1 to 64 letters, digits, _ or -';
  expect(() => restateWorker({ agents: { "my agent": agent } })).toThrow(`restateWorker: ${why}`);
  expect(() => restateClient({ agent: "my agent", ingress: "http://127.0.0.1:9" })).toThrow(
    `restateClient: ${why}`,
  );
});

test("options that cannot be used are refused by their name, by workers, clients and journals alike", () => {
  const ingress = "http://127.0.0.1:9";
  const refused: [() => unknown, string][] = [
    [() => restateWorker({} as never), "restateWorker: option agents: an object is needed, not undefined"],
    [() => restateWorker({ agents: {} }), "option agents: an agent is needed, and nothing is given"],
    [
      () => restateWorker({ agents: { a: {} as never } }),
      "option agents.a: an Agent is needed, not an object",
    ],
    [
      () => restateWorker({ agents: { agent }, toolTimeoutMs: Number.NaN }),
      "option toolTimeoutMs: a finite number",
    ],
    [
      () => restateClient({ ingres: ingress, agent: "a" } as never),
      "restateClient: option ingres: there is no such",
    ],
    [
      () => restateClient({ ingress: [], agent: "a" }),
      "option ingress: an address is needed, and nothing is given",
    ],
    [
      () => restateClient({ ingress: "ftp://x", agent: "a" }),
      'option ingress: an http address is needed, not "ftp://x"',
    ],
    [
      () => restateClient({ ingress, agent: "a", workers: ["127.0.0.1:9080"] }),
      "option workers[0]: an http address",
    ],
    [
      () => restateJournal({ ingress: [ingress, "x"] }),
      "restateJournal: option ingress[1]: an http address is needed",
    ],
    [() => restateJournal({ ingress, lookMs: 0 }), "option lookMs: a number above 0 is needed, not 0"],
  ];
  for (const [make, why] of refused) {
    expect(make).toThrow(why);
    expect(make).toThrow(expect.objectContaining({ kind: "invalid_request" }));
  }
});

// What a worker says of itself before any server asks it.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "@rondo/core";
import { register, restateClient, restateJournal, restateWorker } from "@rondo/restate";
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

test("a worker listens at a port, and at nothing else that its number might be taken for", async () => {
  const worker = restateWorker({ agents: { agent } });
  for (const port of ["9080x", "9080", 70_000, -1, 1.5])
    await expect(worker.listen(port as never)).rejects.toMatchObject({
      kind: "invalid_request",
      message: `listen: the port must be a whole number from 0 to 65535, not ${JSON.stringify(port)}`,
    });
});

test("a worker is registered at an admin address alone, and whatever answers elsewhere is told as what it is", async () => {
  const options = { admin: "http://127.0.0.1:9", worker: "http://127.0.0.1:9080" };
  const refused: [object, string][] = [
    [{ ...options, admin: "127.0.0.1:9070" }, "register: option admin: an http address is needed"],
    [{ admin: options.admin }, "register: option worker: an http address is needed, not undefined"],
    [{ ...options, uri: "x" }, "register: option uri: there is no such option"],
  ];
  for (const [given, why] of refused)
    await expect(register(given as never)).rejects.toMatchObject({
      kind: "invalid_request",
      message: expect.stringContaining(why),
    });
  await expect(register(options)).rejects.toMatchObject({
    kind: "network",
    message: expect.stringMatching(
      /the server cannot be reached: .+; is Restate running, and is this its admin/,
    ),
  });
  const answers: [number, string, string][] = [
    [400, '{"message":"bad path: /deployments"}', "400 bad path: /deployments; is this the admin address"],
    [200, "hello", "200 hello; is this the admin address"],
    [
      500,
      '{"message":"[META0003] refused"}',
      "refused; the server must reach a worker at http://127.0.0.1:9080",
    ],
  ];
  const server = createServer((_, response) => {
    const [status, text] = answers[0] ?? [200, ""];
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const admin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (; answers[0] !== undefined; answers.shift())
    await expect(register({ ...options, admin })).rejects.toMatchObject({
      kind: "server_error",
      message: expect.stringContaining(answers[0][2]),
    });
  server.close();
});

// The drivers' conformance suite: the same agents give the same records on SQLite and on Restate as in memory.

import { sqliteJournal } from "@rondo/journal";
import { coreSession, type DrivenSession, testDriver } from "@rondo/testkit";
import { afterAll, beforeAll, describe, it } from "vitest";
import { register, restateClient, restateWorker } from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

describe("the driver of core, on SQLite", () => {
  for (const { name, run } of testDriver({
    name: "sqlite",
    open: async (agent, id) => {
      const journal = sqliteJournal(":memory:");
      const session = await agent.open(id, { journal });
      return { session: coreSession(session, () => journal.read(id)), close: () => journal.close() };
    },
  }))
    it(name, run);
});

describe.skipIf(whyNoServer !== undefined)(
  `the driver on Restate${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;
    let cases = 0;

    beforeAll(async () => {
      server = await startServer();
    });

    afterAll(() => server.stop());

    for (const { name, run } of testDriver({
      name: "restate",
      open: async (agent, id) => {
        cases += 1;
        const namespace = `case_${cases}`;
        const worker = restateWorker({ agents: { subject: agent }, namespace });
        await register({ admin: server.admin, worker: await worker.listen() });
        const session = restateClient({ ingress: server.ingress, namespace, agent: "subject" }).session(id);
        return { session: session as DrivenSession, close: () => worker.close({ withinMs: 0 }) };
      },
    }))
      it(name, run);
  },
);

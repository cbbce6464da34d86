// The journal's conformance suite against a real server.

import { Agent } from "@rondo/core";
import { say, scripted, testJournal } from "@rondo/testkit";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type RestateWorker, register, restateJournal, restateWorker } from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

describe.skipIf(whyNoServer !== undefined)(
  `the journal on Restate${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;
    const workers = new Map<string, RestateWorker>();

    beforeAll(async () => {
      server = await startServer();
    });

    afterAll(async () => {
      for (const worker of workers.values()) await worker.close({ withinMs: 0 });
      await server.stop();
    });

    /** Sessions of one case are in a namespace of their own, which a worker serves. */
    const open = async (place: string): Promise<ReturnType<typeof restateJournal>> => {
      if (!workers.has(place)) {
        const agent = new Agent({ model: scripted(() => say("nothing")) });
        const worker = restateWorker({ agents: { agent }, namespace: place });
        workers.set(place, worker);
        await register({ admin: server.admin, worker: await worker.listen() });
      }
      return restateJournal({ ingress: server.ingress, namespace: place, lookMs: 20 });
    };

    for (const { name, run } of testJournal({
      name: "restate",
      open,
      durable: true,
      leases: true,
      watches: true,
      patienceMs: 30_000,
    }))
      it(name, run);
  },
);

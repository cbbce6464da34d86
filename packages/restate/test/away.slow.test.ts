// Workers may be away for as long as they like: what was begun waits for them, and goes on by itself when one is back.

import { Agent, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RestateWorker, register, restateClient, restateWorker } from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

describe.skipIf(whyNoServer !== undefined)(
  `workers that are away${whyNoServer ? ` (${whyNoServer})` : ""}`,
  () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer();
    });
    afterAll(() => server.stop());

    /** How often the server has tried what is under way. */
    const attempts = async (): Promise<number> => {
      const query = "select retry_count from sys_invocation where status <> 'completed'";
      const answer = await fetch(`${server.admin}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query }),
      });
      const { rows } = (await answer.json()) as { rows: { retry_count?: number }[] };
      return Math.max(0, ...rows.map((row) => row.retry_count ?? 0));
    };

    it("are waited for beyond the number of attempts at which the server gives up by itself", async () => {
      const started = Promise.withResolvers<void>();
      const worker = (execute: () => unknown): RestateWorker => {
        const look = tool({
          name: "look",
          description: "Looks",
          inputSchema: { type: "object" },
          effect: "read",
          execute,
        });
        const clerk = new Agent({ model: scripted([call("look"), say("It rains.")]), tools: [look] });
        return restateWorker({ agents: { clerk }, log: () => {} });
      };
      const first = worker(() => {
        started.resolve();
        return new Promise(() => {});
      });
      const address = await first.listen();
      await register({ admin: server.admin, worker: address, force: true });
      const session = restateClient({ ingress: server.ingress, agent: "clerk" }).session("s");
      const sent = session.send("What is the weather?");
      await started.promise;
      await first.close({ withinMs: 0 });
      while ((await attempts()) < 5) await new Promise((resolve) => setTimeout(resolve, 20));
      const second = worker(() => "rain");
      await second.listen(Number(new URL(address).port));
      expect((await sent).end?.reason).toBe("completed");
      await second.close();
    });
  },
);

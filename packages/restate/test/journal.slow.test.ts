// The journal's conformance suite against a real server.

import { Agent, type LogRecord, memoryBlobs, subAgent, tool } from "@rondo/core";
import { call, sampleRecord, say, scripted, testJournal } from "@rondo/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RestateWorker, register, restateClient, restateJournal, restateWorker } from "../src/index.ts";
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
      deletes: true,
      patienceMs: 30_000,
    }))
      it(name, run);

    it("a session that a worker drove is deleted with its sub-agents', and begins anew for those who know it", async () => {
      const namespace = "erased";
      const texts = memoryBlobs();
      const { promise: asked, resolve: hear } = Promise.withResolvers<void>();
      const { promise: answer, resolve: goOn } = Promise.withResolvers<string>();
      const waits = tool({
        name: "waits",
        description: "waits",
        inputSchema: { type: "object" },
        execute: () => {
          hear();
          return answer;
        },
      });
      const child = new Agent({
        model: scripted(({ messages }) => (messages.at(-1)?.role === "tool" ? say("helped") : call("waits"))),
        tools: [waits],
      });
      const helper = subAgent({ name: "helper", description: "helps", agent: child });
      const model = scripted(({ messages }) =>
        messages.at(-1)?.role === "tool" ? say("Done.") : call("helper", { task: "t" }),
      );
      const worker = restateWorker({
        agents: { agent: new Agent({ model, tools: [helper] }) },
        namespace,
        blobs: texts,
      });
      workers.set(namespace, worker);
      await register({ admin: server.admin, worker: await worker.listen() });
      const journal = restateJournal({ ingress: server.ingress, namespace, lookMs: 20 });
      const session = restateClient({ ingress: server.ingress, namespace, agent: "agent" }).session("anna");
      const first = session.send("go");
      await asked;
      await expect(journal.delete("anna")).rejects.toMatchObject({ kind: "conflict" });
      goOn("waited");
      expect((await first).text).toBe("Done.");
      const told: string[] = [];
      const { promise: hasRead, resolve: read } = Promise.withResolvers<void>();
      const following = (async () => {
        for await (const thing of session.follow({ lookMs: 20 }))
          if ("record" in thing && told.push(thing.record.type) === 1) read();
      })();
      const end = expect(following).rejects.toMatchObject({ kind: "storage" });
      await hasRead;
      const text = await texts.put("anna:2.0", "whole", { callId: "c", tool: "t", isError: false });
      expect(await journal.delete("anna")).toEqual(["anna:2.0", "anna"]);
      await end;
      expect(await texts.get("anna:2.0", text.ok ? text.ref : "")).toBeUndefined();
      expect([await journal.list(), await session.messages(), await session.status()]).toEqual([
        [],
        [],
        "idle",
      ]);
      await session.steer("word");
      expect((await session.send("again")).text).toBe("Done.");
      expect((await session.messages()).map(({ role }) => role)).toEqual(
        expect.arrayContaining(["user", "assistant", "tool"]),
      );
      const calls = (await session.records()).filter(({ type }) => type === "model_finished").length;
      expect(await session.spent()).toMatchObject({ agents: 1, modelCalls: expect.any(Number) });
      expect((await session.spent()).modelCalls).toBeGreaterThan(calls);
      expect((await journal.list()).map(({ id }) => id).sort()).toEqual([
        "anna",
        expect.stringContaining("anna:"),
      ]);
    });

    it("a sub-agent whose records cannot be read ends its parent's drive, which goes on once they are gone", async () => {
      const namespace = "unread";
      const child = new Agent({ model: scripted(() => say("helped")) });
      const helper = subAgent({ name: "helper", description: "helps", agent: child });
      const model = scripted(({ messages }) =>
        messages.at(-1)?.role === "tool" ? say("Done.") : call("helper", { task: "t" }),
      );
      const worker = restateWorker({
        agents: { agent: new Agent({ model, tools: [helper] }) },
        namespace,
        log: () => {},
      });
      workers.set(namespace, worker);
      await register({ admin: server.admin, worker: await worker.listen() });
      const journal = restateJournal({ ingress: server.ingress, namespace });
      await journal.append("s:2.0", 0, [{ ...sampleRecord(0), type: "of_tomorrow" } as unknown as LogRecord]);
      const session = restateClient({ ingress: server.ingress, namespace, agent: "agent" }).session("s");
      await expect(session.send("go")).rejects.toMatchObject({
        kind: "storage",
        message: expect.stringContaining('session "s:2.0": record 0 (of_tomorrow) cannot be read'),
      });
      // Nothing of it was told to the model as a result.
      expect((await journal.read("s")).map(({ type }) => type)).not.toContain("tool_finished");
      await journal.delete("s:2.0");
      await session.steer("go on");
      expect((await session.settled())?.text).toBe("Done.");
    });
  },
);

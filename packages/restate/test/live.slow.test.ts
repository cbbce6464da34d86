// What a worker keeps to itself: live events, work that outlives an attempt, and what is too large to be told.

import { Agent, type Model, tool } from "@rondo/core";
import { call, hold, say, scripted } from "@rondo/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Followed, type RestateWorker, register, restateClient, restateWorker } from "../src/index.ts";
import { startServer, type TestServer, whyNoServer } from "./server.ts";

const liveToken = "told-to-those-who-know-it";
const nothing = { type: "object", properties: {} };

describe.skipIf(whyNoServer !== undefined)(`a worker${whyNoServer ? ` (${whyNoServer})` : ""}`, () => {
  let server: TestServer;
  let worker: RestateWorker;
  let address: string;

  beforeEach(async () => {
    server = await startServer();
  });

  afterEach(async () => {
    await worker.close({ withinMs: 0 });
    await server.stop();
  });

  const serve = async (agent: Agent): Promise<ReturnType<typeof restateClient>> => {
    worker = restateWorker({ agents: { agent }, liveToken, log: () => {} });
    address = await worker.listen();
    await register({ admin: server.admin, worker: address });
    return restateClient({ ingress: server.ingress, agent: "agent", workers: address, liveToken });
  };

  it("tells records and deltas in their order, and goes on behind a cursor without a gap or a double", async () => {
    const held = hold(say(" and the rest", { chunk: 1 }));
    const client = await serve(new Agent({ model: scripted([[say("the beginning", { chunk: 1 }), held]]) }));
    const session = client.session("s");
    const seen: Followed[] = [];
    const text = (): string =>
      seen.map((one) => ("event" in one && one.event.type === "text_delta" ? one.event.text : "")).join("");
    const first = session.follow();
    const running = session.send("go");
    for await (const one of first) {
      seen.push(one);
      if (text() === "the beginning") break;
    }
    held.release();
    await running;
    const cursor = seen.at(-1)?.cursor ?? "";
    for await (const one of session.follow({ cursor })) {
      seen.push(one);
      if ("record" in one && one.record.type === "run_ended") break;
    }
    expect(text()).toBe("the beginning and the rest");
    const records = seen.flatMap((one) => ("record" in one ? [one.record] : []));
    expect(records).toEqual(await session.records());
  });

  it("gives a run that its server hands out again the work that goes on: nothing is done twice, nothing is lost", async () => {
    const gate = Promise.withResolvers<void>();
    let began = 0;
    const slow = tool({
      name: "slow",
      description: "waits",
      inputSchema: nothing,
      effect: "write",
      execute: async () => {
        began += 1;
        await gate.promise;
        return "done it";
      },
    } as Parameters<typeof tool>[0]);
    const client = await serve(new Agent({ model: scripted([call("slow"), say("done")]), tools: [slow] }));
    const session = client.session("s");
    const running = session.send("go");
    while (began === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    server = await server.restart();
    gate.resolve();
    const { text, end } = await running;
    expect([text, end?.reason, began]).toEqual(["done", "completed", 1]);
    const records = await session.records();
    expect(records.map(({ type }) => type)).not.toContain("opened");
    expect(records.find(({ type }) => type === "tool_finished")).toMatchObject({
      result: { isError: false },
    });
  });

  it("turns what no message can hold into an error that says so", async () => {
    const large = tool({
      name: "large",
      description: "says much",
      inputSchema: nothing,
      effect: "read",
      execute: () => "x".repeat(17 * 2 ** 20),
    } as Parameters<typeof tool>[0]);
    const client = await serve(
      new Agent({
        model: scripted([call("large"), say("I see")], { keepRequests: false }) as Model,
        tools: [large],
        context: { cap: null, trim: null, compaction: null, guard: null },
      }),
    );
    const session = client.session("s");
    const { text } = await session.send("go");
    expect(text).toBe("I see");
    const finished = (await session.records()).find(({ type }) => type === "tool_finished");
    expect(JSON.stringify(finished).length).toBeLessThan(1_000);
    expect(finished).toMatchObject({ result: { isError: true } });
  });
});

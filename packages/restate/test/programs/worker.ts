// A worker in a process of its own, to be killed: its tools write down each time they begin, and hang when they are told to.

import { appendFileSync, existsSync } from "node:fs";
import { Agent, type Effect, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { restateWorker } from "../../src/index.ts";

const [, , port = "0", log = "", hang = ""] = process.argv;

const counting = (name: string, effect: Effect): ReturnType<typeof tool> =>
  tool({
    name,
    description: name,
    inputSchema: { type: "object", properties: {} },
    effect,
    execute: async (_, { idempotencyKey }) => {
      appendFileSync(log, `${name} ${idempotencyKey} ${process.pid}\n`);
      // As long as the file is there.
      while (existsSync(hang)) await new Promise((resolve) => setTimeout(resolve, 20));
      return `${name} done`;
    },
  } as Parameters<typeof tool>[0]);

const agent = new Agent({
  model: scripted(({ messages }) => {
    const asked = JSON.stringify(messages[0]);
    const over = messages.some(({ role }) => role === "tool");
    if (over) return say("done");
    return call(asked.includes("read") ? "read" : asked.includes("both") ? "write" : "write");
  }),
  tools: [counting("read", "read"), counting("write", "write")],
});

const worker = restateWorker({ agents: { agent }, log: () => {} });
process.send?.({ address: await worker.listen(Number(port)) });
process.on("message", () => void worker.close().then(() => process.exit(0)));

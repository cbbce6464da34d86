// The room of the bench's worker program: Rondo's loop, or the bare handler, on Restate's SDK.
//
// Argument: which of the two. It records the time between the steps of each run, and reports it on request.

import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import {
  Agent,
  type AssistantMessage,
  type Message,
  type Model,
  type ModelRequest,
  textOf,
} from "@rondo/core";
import { restateWorker } from "@rondo/restate";
import { benchOrigin, callAt, doneAnswer, look } from "../stepping.ts";
import { bare } from "./bare.ts";

const [which = "rondo"] = process.argv.slice(2);

/** When each run was last seen, and the times between steps, in milliseconds. */
let times: number[] = [];
const last = new Map<string, number>();
const stepped = (run: string, first: boolean): void => {
  const now = performance.now();
  const before = first ? undefined : last.get(run);
  if (before !== undefined) times.push(now - before);
  last.set(run, now);
};

/** Calls the tool until it has given as many answers as the task says: `ID STEPS`. */
function stepping(): Model {
  return {
    id: "bench",
    origin: benchOrigin,
    async call({ messages }: ModelRequest): Promise<AssistantMessage> {
      // The task, then an answer and a result per step.
      const step = (messages.length + 1) / 2;
      const task = textOf(messages.at(0) as Message);
      const [run = "", steps] = task.split(" ");
      stepped(run, step === 1);
      return step < Number(steps) ? callAt(step) : doneAnswer();
    },
  };
}

async function listen(): Promise<string> {
  if (which === "bare") {
    const server = createServer(createEndpointHandler({ services: [bare(stepped)], logger: () => {} }));
    await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const agent = new Agent({
    model: stepping(),
    tools: [look],
    maxSteps: 1_000,
    // Nothing is cut or summarized, so that all of it is measured.
    context: { cap: null, trim: null, prune: null, guard: null, compaction: null },
  });
  return restateWorker({ agents: { bench: agent } }).listen();
}

process.send?.({ listening: await listen() });
process.on("message", () => {
  process.send?.({ times });
  times = [];
});
// The parent process is gone.
process.once("disconnect", () => process.exit());

// The room of the thread that tries inputs. It may hang or run out of memory: then the main thread terminates it, and
// learns from the shared counter which input it was.

import { parentPort, workerData } from "node:worker_threads";
import type { Json } from "@rondo/core";
import { Chance } from "../chance.ts";
import { wrongWith } from "./judge.ts";
import type { Answer, Order } from "./orders.ts";
import { targetOf } from "./targets.ts";

const counter = new Int32Array(workerData.counter as SharedArrayBuffer);
const port = parentPort;
if (port === null) throw new Error("this is the program of a worker");

async function obey(order: Order): Promise<Answer> {
  const target = targetOf(order.target);
  if (target === undefined) throw new Error(`there is no target ${order.target}`);
  if (order.do === "try") {
    const wrong = await wrongWith(target, order.input);
    return wrong === undefined ? { ran: 1 } : { ran: 1, broken: { input: order.input, wrong } };
  }
  const until = performance.now() + order.ms;
  let ran = 0;
  while (ran < order.count && (ran === 0 || performance.now() < until)) {
    const number = order.from + ran;
    Atomics.store(counter, 0, number);
    Atomics.add(counter, 1, 1);
    const input: Json = target.make(new Chance(order.seed, order.target, number));
    const wrong = await wrongWith(target, input);
    ran += 1;
    if (wrong !== undefined) return { ran, broken: { input, wrong } };
  }
  return { ran };
}

port.on("message", async (order: Order) => port.postMessage(await obey(order)));

// The room of the worker's program: does what its orders say, and reports every unhandled error.
//
// Argument: its orders, as JSON.

import { judgeEra, live } from "./mortal.ts";
import { steady } from "./steady.ts";
import { type Orders, tell } from "./words.ts";

const orders = JSON.parse(process.argv[2] ?? "") as Orders;

const unhandled = (thrown: unknown): void =>
  tell({ say: "unhandled", words: String((thrown as Error)?.stack ?? thrown) });
process.on("unhandledRejection", unhandled);
process.on("uncaughtException", unhandled);

tell({ say: "up" });
if (orders.be === "steady") await steady(orders);
else if (orders.be === "mortal") await live(orders);
else await judgeEra(orders);
// An unhandled rejection is reported only at the end of a turn of the event loop.
await new Promise((resolve) => setImmediate(resolve));
tell({ say: "end" });
// Tools that never end must not keep the process alive.
process.exit(0);

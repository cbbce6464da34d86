// The program of a worker: it is what its orders say, and tells of everything nobody heard.
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
// A rejection nobody hears is told at the end of a turn.
await new Promise((resolve) => setImmediate(resolve));
tell({ say: "end" });
// Tools that never end are no reason to stay.
process.exit(0);

// Drives session `s` of a journal: one tool call that ends when a line is heard. Says `driving`, then how it ended.

import { once } from "node:events";
import { Agent, RondoError, tool } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { namedJournal } from "../named-journal.ts";

const [file = ""] = process.argv.slice(2);
const journal = namedJournal(file);
const wait = tool({
  name: "wait",
  description: "waits",
  inputSchema: { type: "object", properties: {} },
  effect: "read",
  execute: async () => {
    console.log("driving");
    await once(process.stdin, "data");
    return "waited";
  },
});
const model = scripted([call("wait"), say("done")]);
try {
  const session = await new Agent({ model, tools: [wait], journal, lease: { owner: "driver" } }).open("s");
  const { end } = await session.send("go");
  console.log(`ended ${end?.reason}`);
} catch (thrown) {
  console.log(
    `refused ${thrown instanceof RondoError ? `${thrown.kind} ${thrown.message}` : String(thrown)}`,
  );
}
journal.close();
process.stdin.destroy();

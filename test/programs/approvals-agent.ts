// An agent that is killed between two results, and while it pays. Arguments: the journal's file, the effects' file.
// Says `quick is kept` once the first of two results is durable, and ends with `end JSON`.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Agent, textOf, tool } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { call, calls, say, scripted } from "@rondo/testkit";

const [file = "", effects = ""] = process.argv.slice(2);
const lines = (): string[] =>
  existsSync(effects) ? readFileSync(effects, "utf8").split("\n").filter(Boolean) : [];
const anything = { type: "object", properties: {} } as const;

const model = scripted((request) => {
  const answered = request.messages.filter((message) => message.role === "assistant").length;
  if (answered === 0) return calls([["slow"], ["quick"]]);
  return answered === 1 ? call("slow", { again: true }) : say("done");
});
const quick = tool({
  name: "quick",
  description: "pays at once",
  inputSchema: anything,
  keys: () => ["quick"],
  permission: "ask",
  execute: (_args, { idempotencyKey }) => {
    appendFileSync(effects, `quick ${idempotencyKey}\n`);
    return "quick paid";
  },
});
const slow = tool({
  name: "slow",
  description: "pays, and is killed before it can say so",
  inputSchema: anything,
  keys: () => ["slow"],
  permission: "ask",
  execute: async (_args, { idempotencyKey }) => {
    const first = lines().every((line) => !line.startsWith("slow"));
    appendFileSync(effects, `slow ${idempotencyKey}\n`);
    // Only the first life hangs: it is killed here.
    if (first) await new Promise((resolve) => setTimeout(resolve, 60_000));
    return "slow paid";
  },
  reconcile: (key) => (lines().includes(`slow ${key}`) ? { done: "slow was paid" } : { notDone: true }),
});

const journal = sqliteJournal(file);
const session = await new Agent({ model, tools: [quick, slow], journal, lease: { ttlMs: 100 } }).open("s", {
  takeOver: true,
});
if (session.status === "idle") {
  await session.allow({ id: "quick", tool: "quick", uses: 1 });
  await session.allow({ id: "slow", tool: "slow", uses: 2 });
}
void (async () => {
  for await (const record of session.follow())
    if (record.type === "tool_finished") process.stdout.write("a result is kept\n");
})();
const result = session.status === "interrupted" ? await session.resume() : await session.send("go");
const results = result.messages.filter((message) => message.role === "tool").map(textOf);
process.stdout.write(
  `end ${JSON.stringify({ reason: result.end?.reason, results, grants: session.grants })}\n`,
  () => process.exit(0),
);

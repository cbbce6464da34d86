// An agent that is killed: started again and again on one journal until its run has ended.
// Arguments: the journal's file, the effects' file. Says `event TYPE` for each live event, and `end JSON` at the last.

import { appendFileSync } from "node:fs";
import { Agent, textOf, tool } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { call, say, scripted } from "@rondo/testkit";

const [file = "", effects = ""] = process.argv.slice(2);
const steps = 6;

/** Answers by what it is asked, so that every life of this process has the same model. */
const model = scripted((request) => {
  const answered = request.messages.filter((message) => message.role === "assistant").length;
  if (answered >= steps) return say(`after ${answered} steps`, { chunk: 3 });
  return [
    say(`step ${answered}`),
    call("look", { step: answered }),
    call("note", { step: answered }),
    call("look", { again: answered }),
  ];
});

const look = tool({
  name: "look",
  description: "looks",
  inputSchema: { type: "object", properties: {} },
  effect: "read",
  execute: async (args) => {
    await new Promise((resolve) => setImmediate(resolve));
    return `saw ${JSON.stringify(args)}`;
  },
});

const note = tool({
  name: "note",
  description: "notes",
  inputSchema: { type: "object", properties: {} },
  effect: "write",
  execute: async (_args, { idempotencyKey }) => {
    appendFileSync(effects, `${idempotencyKey}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    return "noted";
  },
});

const journal = sqliteJournal(file);
const session = await new Agent({ model, tools: [look, note], journal }).open("s");
// A line is written before the loop goes on, so that whoever counts lines can kill at each.
session.subscribe((event) => void process.stdout.write(`event ${event.type}\n`));
const result =
  session.status === "interrupted" ? await session.resume() : (session.result ?? (await session.send("go")));
const conversation = result.messages.map((message) => [
  message.role,
  message.role === "tool" ? message.isError : false,
  textOf(message),
]);
process.stdout.write(`end ${JSON.stringify({ end: result.end, text: result.text, conversation })}\n`);

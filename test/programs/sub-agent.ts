// A parent with two sub-agents at work at once, killed and started again on one journal until its run has ended.
// Arguments: the journal's file, the effects' file. Says `event TYPE` for each live event, those of sub-agents among
// them, and `end JSON` at the last.

import { appendFileSync } from "node:fs";
import { Agent, type Message, subAgent, textOf, tool } from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { call, calls, say, scripted } from "@rondo/testkit";

const [file = "", effects = ""] = process.argv.slice(2);
const steps = 4;
const usage = { inputTokens: 10, outputTokens: 1 };

const answers = (messages: readonly Message[]): number =>
  messages.filter((message) => message.role === "assistant").length;

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

/** Answers by what it is asked, so that every life of this process has the same models. */
const worker = new Agent({
  model: scripted(
    ({ messages }) =>
      answers(messages) < steps ? call("note", { step: answers(messages) }) : say("noted all", { chunk: 3 }),
    { usage },
  ),
  tools: [note],
});

const parent = new Agent({
  model: scripted(
    ({ messages }) =>
      answers(messages) === 0
        ? calls([
            ["work", { task: "one half" }],
            ["work", { task: "the other" }],
          ])
        : say("both are done"),
    { usage },
  ),
  tools: [subAgent({ name: "work", description: "works", agent: worker })],
  journal: sqliteJournal(file),
  budget: { tokens: 10_000 },
});

const session = await parent.open("s");
// A line is written before the loop goes on, so that whoever counts lines can kill at each.
session.subscribe((event) => {
  let inner = event;
  while (inner.type === "child") inner = inner.event;
  process.stdout.write(`event ${inner.type}\n`);
});
const result =
  session.status === "interrupted" ? await session.resume() : (session.result ?? (await session.send("go")));
const { end, text, usage: spent } = result;
const results = result.messages.filter((message) => message.role === "tool").map(textOf);
process.stdout.write(`end ${JSON.stringify({ end, text, spent, results })}\n`);

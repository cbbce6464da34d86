// What a tool has for programs goes with its result, and no model reads it.

import {
  Agent,
  charEstimator,
  type Message,
  memoryJournal,
  type RondoEvent,
  type ToolMessage,
  textOf,
  tool,
  toolResult,
} from "@rondo/core";
import { agentStrategy, managedContext, steerable, stepSequence, thinkActObserve } from "@rondo/core/presets";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";

const details = { diff: ["-old", "+new"], added: 1 };
const edit = tool({
  name: "edit",
  description: "Edits a file",
  inputSchema: { type: "object" },
  execute: () => toolResult("a.ts is edited", { details }),
});

const resultIn = (messages: readonly Message[]): ToolMessage | undefined =>
  messages.find((one): one is ToolMessage => one.role === "tool");

test("details of a result are in events and in the history, also in another process", async () => {
  const journal = memoryJournal();
  const ended: RondoEvent[] = [];
  const agent = new Agent({ model: scripted([call("edit"), say("Done.")]), tools: [edit], journal });
  const { messages } = await agent.run("Edit it.", {
    session: "s",
    onEvent: (event) => event.type === "tool_end" && ended.push(event),
  });
  expect(ended).toEqual([expect.objectContaining({ details })]);
  expect(resultIn(messages)).toMatchObject({ content: [{ type: "text", text: "a.ts is edited" }], details });
  const again = await new Agent({ model: scripted([]), tools: [edit], journal }).open("s");
  expect(resultIn(again.messages)?.details).toEqual(details);
  expect((await again.replay()).difference).toBeUndefined();
});

test("details stay if the result is cut, or if a hook changes its text; secrets in them are removed", async () => {
  const long = tool({
    name: "edit",
    description: "Edits a file",
    inputSchema: { type: "object" },
    execute: () => toolResult("a line\n".repeat(500), { details: { ...details, token: "correct-horse" } }),
  });
  const agent = new Agent({
    model: scripted([call("edit"), say("Done.")]),
    tools: [long],
    context: { cap: { bytes: 100 } },
    hooks: {
      afterTool: (_call, { content }) => ({ content: [...content, { type: "text", text: "(kept)" }] }),
    },
    redact: { secrets: ["correct-horse"] },
  });
  const result = resultIn((await agent.run("Edit it.")).messages);
  expect(textOf(result as ToolMessage)).toMatch(/truncated; ref=.*\(kept\)$/s);
  expect(result?.details).toEqual({ ...details, token: "***REDACTED***" });
});

test("details that are not JSON are refused, as an error of the tool", async () => {
  const odd = tool({
    name: "edit",
    description: "Edits a file",
    inputSchema: { type: "object" },
    execute: () => toolResult("done", { details: { at: 5n as never } }),
  });
  const { messages } = await new Agent({ model: scripted([call("edit"), say("Done.")]), tools: [odd] }).run(
    "Edit it.",
  );
  expect(resultIn(messages)).toMatchObject({ isError: true });
  expect(JSON.stringify(resultIn(messages)?.content)).toContain("toolResult: option details");
});

test("details are copied: a tool may reuse its object", async () => {
  const shared = { count: 1 };
  const counting = tool({
    name: "edit",
    description: "Edits a file",
    inputSchema: { type: "object" },
    execute: () => {
      const result = toolResult("done", { details: shared });
      shared.count += 1;
      return result;
    },
  });
  const { messages } = await new Agent({
    model: scripted([call("edit"), say("Done.")]),
    tools: [counting],
  }).run("Edit it.");
  expect(resultIn(messages)?.details).toEqual({ count: 1 });
});

test("details take no room in the window, because no model gets them", async () => {
  const rows = tool({
    name: "edit",
    description: "Edits a file",
    inputSchema: { type: "object" },
    execute: () => toolResult("200 rows", { details: { rows: "a row ".repeat(50_000) } }),
  });
  const model = scripted([call("edit"), say("Done.")], { facts: { contextWindow: 8_000 } });
  const heard: string[] = [];
  const { messages } = await new Agent({ model, tools: [rows] }).run("Edit it.", {
    onEvent: ({ type }) => heard.push(type),
  });
  expect(heard).not.toContain("compaction_start");
  expect(resultIn(messages)).toMatchObject({ content: [{ type: "text", text: "200 rows" }] });
  expect(charEstimator().message(resultIn(messages) as Message)).toBeLessThan(20);
});

test("details pass through every preset that rewords results", async () => {
  const failing = tool({
    name: "edit",
    description: "Edits a file",
    inputSchema: { type: "object", properties: {} },
    execute: () => toolResult("no such file", { isError: true, details }),
  });
  for (const preset of [agentStrategy, managedContext, steerable, stepSequence, thinkActObserve]) {
    const agent = new Agent(preset({ model: scripted([call("edit"), say("Done.")]), tools: [failing] }));
    expect(resultIn((await agent.run("Edit it.")).messages)?.details, preset.name).toEqual(details);
  }
});

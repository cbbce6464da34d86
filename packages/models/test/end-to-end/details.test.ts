// What a tool has for programs stays with them: no provider is sent it.

import { Agent, tool, toolResult, userText } from "@rondo/core";
import { anthropic, google, openai } from "@rondo/models";
import { call, say } from "@rondo/testkit";
import { rondoWire } from "@rondo/testkit/wire";
import { expect, test } from "vitest";

const edit = tool({
  name: "edit",
  description: "Edits a file",
  inputSchema: { type: "object" },
  execute: () => toolResult("a.ts is edited", { details: { diff: ["-old", "+new"] } }),
});

const models = {
  anthropic: (where: object) => anthropic("claude-sonnet-5", where),
  openai: (where: object) => openai("gpt-5.2", where),
  "openai chat": (where: object) => openai.chat("gpt-5.2", where),
  google: (where: object) => google("gemini-3-pro", where),
};

test.each(Object.entries(models))("details of a result are not sent to %s", async (name, made) => {
  await using wire = await rondoWire({ script: [call("edit"), say("Done."), say("Again.")] });
  const model = made({ baseURL: wire.urlFor(name.split(" ")[0] as "openai"), apiKey: "any" });
  const { messages } = await new Agent({ model, tools: [edit] }).run("Edit it.");
  await new Agent({ model, tools: [edit] }).run([...messages, userText("Again.")]);
  expect(wire.requests).toHaveLength(3);
  const sent = wire.requests.map(({ text }) => text).join();
  expect(sent).toContain("a.ts is edited");
  expect(sent).not.toContain("+new");
});

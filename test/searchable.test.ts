// Tools that are found by words, over sockets, in the form of each protocol.

import { Agent, tool } from "@rondo/core";
import { anthropic, bedrock, google, openai } from "@rondo/models";
import { call, say } from "@rondo/testkit";
import { rondoWire } from "@rondo/testkit/wire";
import { searchable } from "@rondo/tools";
import { expect, test } from "vitest";

const tools = ["weather", "timer"].map((name) =>
  tool({
    name,
    description: `What the ${name} says`,
    inputSchema: { type: "object" },
    effect: "read",
    execute: () => "ran",
  }),
);

test.each(["anthropic", "openai", "openai-chat", "google", "bedrock"] as const)(
  "searchable tools are found and called over the protocol of %s",
  async (name) => {
    await using wire = await rondoWire({
      script: [call("search_tools", { query: "weather" }), call("weather", { city: "Oslo" }), say("Rain.")],
    });
    const where = { baseURL: wire.urlFor(name), apiKey: "any" };
    const model = {
      anthropic: () => anthropic("claude-sonnet-5", where),
      openai: () => openai("gpt-5.2", where),
      "openai-chat": () => openai.chat("gpt-5.2", where),
      google: () => google("gemini-3-pro", where),
      bedrock: () => bedrock("anthropic.claude-sonnet-5-v1:0", where),
    }[name]();
    const run = await new Agent({ model, tools: searchable(tools) }).run("How is the weather?");
    expect([run.text, wire.violations]).toEqual(["Rain.", []]);
    const sent = wire.requests.map(({ text }) => told(text));
    expect(sent.map((one) => one.includes("What the weather says"))).toEqual([false, true, true]);
    expect(sent.some((one) => one.includes("What the timer says"))).toBe(false);
  },
);

/** A request without the tools that are declared, but that the model is not told of. */
function told(text: string): string {
  const { tools = [], ...body } = JSON.parse(text) as {
    tools?: { name?: string; defer_loading?: boolean }[];
  };
  const all = tools.filter((one) => one.defer_loading !== true || text.includes(`"tool_name":"${one.name}"`));
  return JSON.stringify({ ...body, tools: all });
}

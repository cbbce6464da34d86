// The tool choice of a request holds for its answer: not every model and not every server keeps to it.

import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { Agent, type AgentOptions, textOf, tool } from "../src/index.ts";

/** An agent with the tools `look` and `save`, which plays the script; and the names of the calls that ran. */
function choosing(script: Parameters<typeof scripted>[0], options: Partial<AgentOptions> = {}) {
  const ran: string[] = [];
  const tools = (["look", "save"] as const).map((name) =>
    tool({
      name,
      description: name,
      inputSchema: { type: "object", properties: { at: { type: "number" } } },
      effect: name === "look" ? "read" : "write",
      execute: () => {
        ran.push(name);
        return "done";
      },
    }),
  );
  const model = scripted(script);
  return { agent: new Agent({ model, tools, ...options }), model, ran };
}

const results = (messages: readonly { role: string }[]) =>
  messages.filter(({ role }) => role === "tool").map((message) => textOf(message as never));

test("a call does not run if its request allowed none", async () => {
  const { agent, ran } = choosing([call("save"), say("As you wish.")], { toolChoice: "none" });
  const { text, messages, end } = await agent.run("tell me");
  expect([ran, text, end?.reason]).toEqual([[], "As you wish.", "completed"]);
  expect(results(messages)).toEqual(["Error: save was not executed: the request allowed no tool calls."]);
});

test("a call does not run if its request asked for another tool", async () => {
  const { agent, ran } = choosing([[call("look"), call("save")], say("Seen.")], {
    hooks: { prepareStep: ({ step }) => (step === 1 ? { toolChoice: { tool: "look" } } : undefined) },
  });
  const { messages } = await agent.run("look first");
  expect(ran).toEqual(["look"]);
  expect(results(messages)).toEqual([
    "done",
    "Error: save was not executed: the request allowed only calls of look.",
  ]);
});

test("needs no approval for a call that its request did not allow", async () => {
  const { agent } = choosing([call("save"), say("No.")], {
    toolChoice: "none",
    hooks: { permission: () => "ask" },
  });
  expect((await agent.run("tell me")).parked).toBeUndefined();
});

test("a call in place of the typed output does not run, and the output is asked for again", async () => {
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
  for (const facts of [undefined, { output: "none" } as const]) {
    const given = facts === undefined ? {} : { facts };
    const model = scripted(
      [
        say("It is Rome."),
        call("save"),
        facts === undefined ? say('{"city":"Rome"}') : call("final_output", { city: "Rome" }),
      ],
      given,
    );
    const { agent, ran } = choosing([], { model, output: city });
    const { output, end } = await agent.run("where?");
    expect([ran, output, end?.reason]).toEqual([[], { city: "Rome" }, "completed"]);
  }
});

test("a call that its request did not allow runs if the agent says so", async () => {
  const { agent, ran } = choosing([call("save"), say("Saved.")], {
    toolChoice: "none",
    disallowedCalls: "run",
  });
  await agent.run("save it");
  expect(ran).toEqual(["save"]);
});

test("the choice holds for its own step only", async () => {
  const { agent, ran } = choosing([call("save"), call("save"), say("Saved.")], {
    hooks: { prepareStep: ({ step }) => (step === 1 ? { toolChoice: "none" } : undefined) },
  });
  await agent.run("save it");
  expect(ran).toEqual(["save"]);
});

test("a model that keeps calling what it may not call comes to an end, whatever its arguments", async () => {
  const { agent, model, ran } = choosing((_, at) => call("save", { at }), { toolChoice: "none" });
  const { end } = await agent.run("tell me");
  expect([ran, end?.reason, end?.rule, model.calls]).toEqual([[], "no_progress", "repeats", 6]);
  expect(model.requests[3]?.messages.map((message) => textOf(message)).join("\n")).toContain(
    "3 answers have called save, and their requests did not allow it. Do without it.",
  );
});

// An agent's own way with models and tools holds for each of them, whoever brings it, and makes no other of it.

import { calls, fail, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions, type Model, modelFace, type Tool, textOf } from "../src/index.ts";
import { steerableSession } from "../src/presets.ts";
import { toolWith } from "../src/tool/derive.ts";
import { wordsOf } from "./refused.ts";
import { echo, quick } from "./support.ts";

/** Says which models were asked, and marks what tools say. */
function marking(): { asked: string[]; adapt: NonNullable<AgentOptions["adapt"]> } {
  const asked: string[] = [];
  return {
    asked,
    adapt: {
      model: (model: Model) => ({
        ...modelFace(model),
        call(request, io) {
          asked.push(model.id);
          return model.call(request, io);
        },
      }),
      tool: (one: Tool) =>
        toolWith(one, { execute: async (args: never, context) => `<${await one.execute(args, context)}>` }),
    },
  };
}

const named = (id: string): Model => scripted([calls([["look"]]), say("done")], { id });

describe("a tool under another name", () => {
  test("is declared and called under that name, and does the same", async () => {
    const model = scripted([calls([["far_look"]]), say("done")]);
    const { messages } = await new Agent({
      model,
      tools: [toolWith(echo("look"), { name: "far_look" })],
    }).run("go");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toContain("far_look");
    expect(messages[2]).toMatchObject({ role: "tool", name: "far_look", isError: false });
  });

  test("that is still declared under the old name is refused, with what to do", () => {
    const half = { ...echo("look"), name: "far_look" };
    expect(wordsOf(() => new Agent({ model: named("main"), tools: [half] }))).toBe(
      'option tools[0]: it is declared as "look" and named "far_look": toolWith(tool, { name }) gives it another name',
    );
  });
});

describe("a change of a tool", () => {
  test.each<[Record<string, unknown>, string]>([
    [{ permision: "ask" }, "option permision: there is no such option; did you mean permission?"],
    [{ permission: "always" }, "option permission: one of allow, ask, deny is needed"],
    [{ execute: "look" }, "option execute: a function is needed"],
    [
      { description: "Looks far" },
      "option description: there is no such option; here it is definition: { ...tool.definition, description }",
    ],
    [
      { inputSchema: { type: "object" } },
      "option inputSchema: there is no such option; tool({ … }) makes a tool with another schema, and a check that goes with it",
    ],
  ])("that no tool has is refused, for the tool would stay as it was: %j", (change, words) => {
    expect(wordsOf(() => toolWith(echo("look"), change as Partial<Tool>))).toContain(
      `toolWith(tool "look"): ${words}`,
    );
  });

  test("may set members to undefined, and take over all of another tool", () => {
    const ask = toolWith(echo("look"), { permission: "ask" });
    expect(toolWith(echo("look"), { ...ask, effect: "read" })).toMatchObject({
      permission: "ask",
      effect: "read",
    });
  });
});

describe("option adapt", () => {
  test("applies to the model, to a fallback that prepareStep chooses, and to a fork's model, and is called once for each", async () => {
    const { asked, adapt } = marking();
    const [main, spare, other] = [named("main"), named("spare"), named("other")];
    const agent = new Agent({
      model: main,
      fallback: [spare],
      tools: [echo("look")],
      adapt,
      hooks: { prepareStep: ({ step }) => (step === 2 ? { model: spare } : undefined) },
    });
    const session = await agent.open("s");
    await session.send("go");
    expect(asked).toEqual(["main", "spare", "main"]);
    const fork = await session.fork("f", { model: other, agent: { hooks: {} } });
    await (await fork.fork("g")).send("go on");
    expect(asked.slice(3)).toEqual(["other", "other"]);
  });

  test("applies to the model that summarises", async () => {
    const { asked, adapt } = marking();
    const own = scripted([say("<summary>What was said before.</summary>")], { id: "cheap" });
    const context = { compaction: { model: own } };
    const session = await new Agent({ model: named("main"), tools: [echo("look")], adapt, context }).open(
      "s",
    );
    await session.send("go");
    await session.compact();
    expect(asked).toEqual(["main", "main", "cheap"]);
  });

  test("applies to the tools of the agent, of a run, and of a session opened with others, but not to the reader tools", async () => {
    const { adapt } = marking();
    const adapted: string[] = [];
    const agent = (): Agent =>
      new Agent({
        model: named("main"),
        tools: [echo("look")],
        adapt: {
          tool(one) {
            adapted.push(one.name);
            return adapt.tool?.(one) ?? one;
          },
        },
      });
    const own = [echo("look", { execute: () => "my own" })];
    const told = [
      await agent().run("go"),
      await agent().run("go", { tools: own }),
      await (await agent().open("s", { tools: own })).send("go"),
    ].map(({ messages }) => messages.flatMap((one) => (one.role === "tool" ? [textOf(one)] : [])).join());
    expect(told).toEqual(["<look ran>", "<my own>", "<my own>"]);
    expect(new Set(adapted)).toEqual(new Set(["look"]));
  });

  test("leaves the records as they are: a session continues under an agent without it, and the other way round", async () => {
    const { asked, adapt } = marking();
    const options = { tools: [echo("look")] };
    const session = await new Agent({ model: named("main"), ...options, adapt }).open("s");
    await session.send("go");
    const plain = await new Agent({ model: named("main"), ...options }).open("s");
    await plain.send("go");
    expect(plain.state.options).toEqual(session.state.options);
    expect((await session.replay()).firstDifference).toBeUndefined();
    expect(asked).toEqual(["main", "main"]);
  });

  test.each<[string, AgentOptions["adapt"], string]>([
    ["a list", [] as never, "option adapt: an object is needed"],
    ["a word it does not have", { models: (one: Model) => one } as never, "did you mean model?"],
    ["what is no function", { tool: echo("look") } as never, "option adapt.tool: a function is needed"],
    [
      "a model that became none",
      { model: (async (one: Model) => one) as never },
      "option adapt.model: what it gives: a Model, e.g. offline() of @rondo/models, is needed",
    ],
    [
      "a model that became another",
      { model: (one) => ({ ...modelFace(one), id: "mine", call: one.call }) },
      "option adapt.model: it made another model of main: its id and its origin must stay as they are",
    ],
    [
      "a tool that became none",
      { tool: () => undefined as never },
      "option adapt.tool: what it gives: a tool, as tool() makes it, is needed, not undefined",
    ],
    [
      "a tool that became another",
      { tool: (one) => toolWith(one, { name: "see" }) },
      "option adapt.tool: it made another tool of look: its name must stay as it is",
    ],
  ])("refuses %s", (_what, adapt, words) => {
    const options = { model: named("main"), tools: [echo("look")], adapt };
    expect(wordsOf(() => new Agent(options as AgentOptions))).toContain(words);
  });

  test("applies in a steerable session, which asks for messages around it, and in its forks", async () => {
    const { asked, adapt } = marking();
    const waiting = ["more"];
    const session = await steerableSession("s", {
      model: scripted([fail("auth")], { id: "main", repeatLast: true }),
      getFollowUpMessages: () => waiting.splice(0),
      agent: {
        adapt,
        fallback: [scripted([say("a"), say("b"), say("c"), say("d")], { id: "spare" })],
        ...quick,
      },
    });
    await session.send("go");
    const fork = await session.fork("f");
    waiting.push("and then");
    await fork.send("on");
    expect(fork.messages.flatMap((one) => (one.role === "user" ? [textOf(one)] : []))).toEqual([
      "go",
      "more",
      "on",
      "and then",
    ]);
    expect(asked.filter((id) => id === "spare")).toHaveLength(4);
  });
});

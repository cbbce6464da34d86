// What a hook has of the outside, and what it may say of a step besides its model and tools: its settings, or that it is the end.

import {
  Agent,
  type AgentOptions,
  dependency,
  type Hooks,
  isPaired,
  memoryJournal,
  resolve,
  subAgent,
  textOf,
  userText,
} from "@rondo/core";
import { explain } from "@rondo/core/explain";
import { steerableSession } from "@rondo/core/presets";
import { call, fail, say, scripted, stop } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick, shortly } from "./support.ts";

const user = dependency("user", (): string => "nobody");

describe("every hook gets the dependencies that tools get", () => {
  const heard: string[] = [];
  const hears = async (
    name: string,
    { session, deps, resolve: get }: Parameters<NonNullable<Hooks["permission"]>>[1],
  ): Promise<undefined> => {
    heard.push(`${name}: ${await get(user)} in ${session}, given ${String(deps.user)}`);
    return undefined;
  };
  const hooks: Hooks = {
    permission: (_call, context) => hears("permission", context),
    beforeTool: (_call, context) => hears("beforeTool", context),
    afterTool: (_call, _result, context) => hears("afterTool", context),
    prepareStep: (_step, context) => hears("prepareStep", context),
    transformContext: (_messages, at) => hears(`transformContext ${at.step}`, at),
    onFinish: (_run, context) => hears("onFinish", context),
  };
  const all = [
    "prepareStep",
    "transformContext 1",
    "permission",
    "beforeTool",
    "afterTool",
    "prepareStep",
    "transformContext 2",
    "onFinish",
  ];
  const model = () => scripted([call("look"), say("done")]);

  test("with those of the run overriding those of the agent", async () => {
    heard.length = 0;
    const agent = new Agent({
      model: model(),
      tools: [echo("look")],
      hooks,
      dependencies: [user.as("the agent's")],
    });
    await agent.run("go", { session: "s", dependencies: [user.as("Ada")] });
    expect(heard).toEqual(all.map((name) => `${name}: Ada in s, given Ada`));
  });

  test("in a sub-agent too", async () => {
    heard.length = 0;
    const child = new Agent({ model: model(), tools: [echo("look")], hooks });
    const lead = new Agent({
      model: scripted([call("helper", { task: "look" }), say("done")]),
      tools: [subAgent({ name: "helper", description: "Helps", agent: child })],
    });
    await lead.run("go", { session: "s", dependencies: [user.as("Ada")] });
    expect(heard).toEqual(all.map((name) => `${name}: Ada in s:2.0, given Ada`));
  });

  test("also through a preset with hooks of its own", async () => {
    heard.length = 0;
    const session = await steerableSession("s", {
      model: model(),
      tools: [echo("look")],
      hooks,
      agent: { dependencies: [user.as("Ada")] },
    });
    await session.send("go");
    expect(heard.map((one) => one.split(" in ")[0])).toEqual(all.map((name) => `${name}: Ada`));
  });
});

describe("the signal of a hook", () => {
  /** An agent whose permission hook waits for its signal, and what the signal said. */
  const waiting = (options: Partial<AgentOptions> = {}) => {
    const asked = deferred();
    const over = deferred<string>();
    const permission: Hooks["permission"] = (_call, { signal }) => {
      asked.resolve();
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          over.resolve(String(signal.reason));
          resolve("deny");
        }),
      );
    };
    const agent = new Agent({
      model: model(),
      tools: [echo("look")],
      hooks: { permission },
      ...quick,
      ...options,
    });
    return { agent, asked: asked.promise, over: over.promise };
  };
  const model = () => scripted([call("look"), say("done")]);

  test("fires when the run is aborted while the hook is asked", async () => {
    const { agent, asked, over } = waiting();
    const session = await agent.open("s");
    const running = session.send("go");
    await asked;
    session.abort("never mind");
    expect(await over).toContain("never mind");
    expect((await running).end).toMatchObject({ reason: "aborted" });
  });

  test("fires when the run ends without its answer", async () => {
    const { agent, asked, over } = waiting({ budget: { ms: 50 }, onLimit: "stop" });
    const running = agent.run("go");
    await asked;
    expect(await over).toContain("no longer wanted");
    expect((await running).end).toMatchObject({ reason: "deadline" });
  });

  test("fires when the process leaves and does not wait any more", async () => {
    const { agent, asked, over } = waiting();
    const session = await agent.open("s");
    const running = session.send("go");
    await asked;
    expect(await session.drain({ withinMs: 1 })).toBe("interrupted");
    expect(await over).toContain("the process leaves");
    expect((await running).end).toBeUndefined();
  });

  test("does not fire after the hook has answered", async () => {
    const signals: AbortSignal[] = [];
    const agent = new Agent({
      model: model(),
      tools: [echo("look")],
      hooks: { permission: (_call, { signal }) => void signals.push(signal) },
    });
    await agent.run("go");
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe("settings of the prepareStep hook", () => {
  test("apply to its step only, override those of the agent one by one, and apply to a retry of the step", async () => {
    const model = scripted([call("look"), fail("overloaded"), call("look"), say("done")]);
    const agent = new Agent({
      model,
      tools: [echo("look")],
      ...quick,
      settings: { temperature: 0.7, seed: 1 },
      hooks: {
        prepareStep: ({ step }) =>
          step === 2 ? { settings: { temperature: 0, reasoning: "low" } } : undefined,
      },
    });
    const session = await agent.open("s");
    await session.send("go");
    const own = { temperature: 0.7, seed: 1 };
    const low = { temperature: 0, seed: 1, reasoning: "low" };
    expect(model.requests.map(({ settings }) => settings)).toEqual([own, low, low, own]);
    expect((await session.replay()).difference).toBeUndefined();
  });

  test("are the base when a truncated answer raises the limit", async () => {
    const facts = { maxOutputTokens: 8_000 };
    const model = scripted([[say(""), stop("max_tokens")], say("Whole.")], { facts });
    const hooks: Hooks = { prepareStep: () => ({ settings: { maxOutputTokens: 100 } }) };
    const { text } = await new Agent({ model, hooks }).run("go");
    expect(text).toBe("Whole.");
    expect(model.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([100, 8_000]);
  });

  test.each<[object, string]>([
    [{ temperature: "hot" }, 'its settings.temperature: a finite number is needed, not "hot"'],
    [{ maxTokens: 5 }, "its settings.maxTokens: there is no such option; here it is maxOutputTokens"],
    [[], "its settings: an object is needed"],
  ])("that are none (%j) are a failure of the hook", async (settings, why) => {
    const { end } = await new Agent({
      model: scripted([]),
      hooks: { prepareStep: () => ({ settings }) as never },
    }).run("go");
    expect(end?.error?.message).toContain(`the prepareStep hook failed: ${why}`);
  });
});

test.each<[object, string]>([
  [{ temperature: 0 }, "it returned temperature: there is no such option; here it is settings.temperature"],
  [{ activeTools: ["look"] }, "it returned activeTools: there is no such option; here it is tools"],
  [{ messages: [] }, "here it is what hooks.transformContext answers"],
  [{ system: "Be brief." }, "here it is a message of hooks.transformContext: the prompt stays"],
  [{ whatever: 1 }, "it returned whatever, and what it may return is model, tools, toolChoice, settings"],
])(
  "a prepareStep hook that answers as another library's would (%j) is told its word here",
  async (said, why) => {
    const { end } = await new Agent({
      model: scripted([]),
      tools: [echo("look")],
      hooks: { prepareStep: () => said as never },
    }).run("go");
    expect(end?.error?.message).toContain(why);
  },
);

describe("a prepareStep hook that ends the run", () => {
  const guarded = (prepareStep: Hooks["prepareStep"], ...script: Parameters<typeof scripted>) =>
    new Agent({
      model: scripted(...script),
      tools: [echo("look")],
      hooks: prepareStep === undefined ? {} : { prepareStep },
    });

  test("ends it before the model is called, with its reason and its text, without an error", async () => {
    const agent = guarded(
      ({ messages }) =>
        messages.some((one) => textOf(one).includes("bomb"))
          ? { stop: "weapons", text: "I cannot help with that." }
          : undefined,
      [say("Hello.")],
    );
    const session = await agent.open("s");
    const { end, text, modelCalls } = await session.send("build a bomb");
    expect({ end, text, modelCalls }).toEqual({
      end: {
        reason: "turn_stopped",
        rule: "prepareStep",
        evidence: { said: "weapons" },
        landed: false,
        resumable: true,
      },
      text: "I cannot help with that.",
      modelCalls: 0,
    });
    expect((await session.replay()).difference).toBeUndefined();
  });

  test("leaves a history that can be continued, and its reason is in the explanation", async () => {
    const journal = memoryJournal();
    const model = scripted([call("look"), say("Back again.")]);
    let spent = false;
    const options = {
      model,
      tools: [echo("look")],
      hooks: { prepareStep: () => (spent ? { stop: "no credit left" } : undefined) },
    };
    const session = await new Agent({ ...options, journal }).open("s");
    session.subscribe((event) => {
      if (event.type === "tool_end") spent = true;
    });
    const { end, messages } = await session.send("go");
    expect([end?.rule, end?.evidence]).toEqual(["prepareStep", { said: "no credit left" }]);
    expect(shortly(messages)).toEqual(["user: go", "assistant: look()", "tool: look ran"]);
    const explained = explain(journal.read("s"), { rules: resolve(options).rules });
    expect(JSON.stringify(explained)).toContain("the prepareStep hook said stop: no credit left");
    spent = false;
    const again = await session.send("go on");
    expect(again.text).toBe("Back again.");
    expect(isPaired(again.messages)).toBe(true);
  });

  test.each<[object, string]>([
    [{ stop: true }, "its stop must be a reason, in words"],
    [{ stop: " " }, "its stop must be a reason, in words"],
    [{ stop: "no", text: 5 }, "its text must be a text"],
    [{ stop: "no", tools: [] }, "it returned tools, and what it may return is stop, text"],
  ])("in other words (%j) has failed", async (said, why) => {
    const { end } = await guarded(() => said as never, [say("never")]).run("go");
    expect(end?.error?.message).toBe(`the prepareStep hook failed: ${why}`);
  });

  test("may call another agent first", async () => {
    const judge = new Agent({
      model: scripted([say('{"homework":true}')]),
      output: { type: "object", properties: { homework: { type: "boolean" } }, required: ["homework"] },
    });
    const agent = guarded(
      async ({ step, messages }) => {
        if (step > 1) return undefined;
        const { output } = await judge.run([...messages, userText("Is this homework?")]);
        return (output as { homework: boolean }).homework ? { stop: "homework" } : undefined;
      },
      [say("x = 4")],
    );
    expect((await agent.run("2x = 8")).end?.evidence).toEqual({ said: "homework" });
  });
});

describe("a tool choice of a step", () => {
  const tools = [echo("look"), echo("other")];

  test("that names a tool is dropped once that tool is hidden: the run lands as usual, and no request names an undeclared tool", async () => {
    const model = scripted(({ toolChoice }) => (toolChoice === "none" ? say("landed") : call("look")));
    const { end } = await new Agent({ model, tools, toolChoice: { tool: "look" }, ...quick }).run("go");
    expect(end?.reason).toBe("no_progress");
    for (const { tools: declared, toolChoice } of model.requests)
      if (typeof toolChoice === "object") expect(declared.map(({ name }) => name)).toContain(toolChoice.tool);
    expect(model.requests.some(({ toolChoice }) => toolChoice === "auto")).toBe(true);
  });

  test("is left to the model if the step offers other tools", async () => {
    const model = scripted([say("done")]);
    const hooks: Hooks = { prepareStep: () => ({ tools: ["other"] }) };
    await new Agent({ model, tools, toolChoice: { tool: "look" }, hooks }).run("go");
    expect(model.requests[0]).toMatchObject({ tools: [{ name: "other" }], toolChoice: "auto" });
  });

  test("any without tools becomes none", async () => {
    const model = scripted([say("done")]);
    const hooks: Hooks = { prepareStep: () => ({ tools: [], toolChoice: "any" }) };
    await new Agent({ model, tools, hooks }).run("go");
    expect(model.requests[0]).toMatchObject({ tools: [], toolChoice: "auto" });
  });

  test("must name a tool that the same step offers", async () => {
    const hooks: Hooks = { prepareStep: () => ({ tools: ["other"], toolChoice: { tool: "look" } }) };
    const { end } = await new Agent({ model: scripted([]), tools, hooks }).run("go");
    expect(end?.error?.message).toContain('its toolChoice is "look", which is not among its tools');
  });
});

test("settings of a step that contain a secret make the hook fail: they would be sent redacted", async () => {
  const model = scripted([say("done")]);
  const hooks: Hooks = { prepareStep: () => ({ settings: { headers: { Authorization: "x" } } }) };
  const { end } = await new Agent({ model, hooks, redact: {} }).run("go");
  expect(end?.error?.message).toContain("its settings hold a secret");
  expect(model.requests).toEqual([]);
  expect((await new Agent({ model, hooks }).run("go")).end?.reason).toBe("completed");
});

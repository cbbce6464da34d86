// Tools that are there once a result has offered them.

import {
  Agent,
  type Message,
  memoryJournal,
  type Tool,
  textOf,
  tool,
  toolResult,
  toolWith,
  userText,
} from "@rondo/core";
import { call, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";

const named = (name: string, execute: () => unknown = () => `${name} ran`): Tool =>
  tool({ name, description: name, inputSchema: { type: "object" }, effect: "read", execute });

const deploy = toolWith(named("deploy"), { when: "offered" });
const rollBack = tool({
  name: "roll_back",
  description: "Takes a deployment back",
  inputSchema: { type: "object" },
  when: "offered",
  execute: () => "rolled back",
});
const skill = named("load_skill", () =>
  toolResult("You can deploy now.", { offers: ["deploy", "roll_back"] }),
);

const offeredIn = (model: ReturnType<typeof scripted>): string[] =>
  model.requests.map(({ tools }) => tools.map(({ name }) => name).join(" "));

describe("a tool that waits to be offered", () => {
  const tools = [deploy, skill, rollBack];
  const model = (...turns: Turn[]): ReturnType<typeof scripted> => scripted([...turns, say("done")]);

  test("is there from the next request on after a result has offered it, and can be called", async () => {
    const mind = model(call("load_skill"), call("deploy"));
    const { messages } = await new Agent({ model: mind, tools }).run("go");
    expect(offeredIn(mind)).toEqual([
      "load_skill",
      "load_skill deploy roll_back",
      "load_skill deploy roll_back",
    ]);
    expect(messages.filter(({ role }) => role === "tool").map(textOf)).toEqual([
      "You can deploy now.",
      "deploy ran",
    ]);
  });

  test("cannot be called in the answer that made the offer, nor before", async () => {
    const { messages } = await new Agent({
      model: model([call("load_skill"), call("deploy")] as unknown as Turn),
      tools,
    }).run("go");
    expect(messages.map((one) => one.role === "tool" && one.isError)).toEqual([
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  test("is offered by a result that somebody else gives, and stays so if a hook changes what the model reads", async () => {
    const asking = { ...skill, permission: "ask" as const };
    const mind = model(call("load_skill"));
    const session = await new Agent({ model: mind, tools: [deploy, asking] }).open("s");
    const { parked } = await session.send("go");
    await session.answer(parked?.pending[0]?.id ?? "", toolResult("By hand.", { offers: ["deploy"] }));
    expect(offeredIn(mind)).toEqual(["load_skill", "load_skill deploy"]);
    const hooked = model(call("load_skill"));
    const hooks = { afterTool: () => ({ content: "Changed." }) };
    await new Agent({ model: hooked, tools, hooks }).run("go");
    expect(offeredIn(hooked)[1]).toBe("load_skill deploy roll_back");
  });

  test("is not offered by a call that failed, unless it says so", async () => {
    const failing = named("load_skill", () => {
      throw new Error("no such skill");
    });
    const mind = model(call("load_skill"));
    await new Agent({ model: mind, tools: [deploy, failing] }).run("go");
    expect(offeredIn(mind)).toEqual(["load_skill", "load_skill"]);
  });

  test("is gone with the code, and back with it", async () => {
    const journal = memoryJournal();
    await (await new Agent({ model: model(call("load_skill")), tools, journal }).open("s")).send("go");
    const [without, back] = [model(), model()];
    await (await new Agent({ model: without, tools: [skill, rollBack], journal }).open("s")).send("a");
    await (await new Agent({ model: back, tools, journal }).open("s")).send("b");
    expect([...offeredIn(without), ...offeredIn(back)]).toEqual([
      "load_skill roll_back",
      "load_skill deploy roll_back",
    ]);
  });

  test("is offered by name, in a list", () => {
    expect(() => toolResult("a", { offers: "deploy" } as never)).toThrow("toolResult: option offers");
    expect(() => tool({ ...deploy, inputSchema: {}, description: "d", when: "later" } as never)).toThrow(
      'tool "deploy": option when',
    );
    expect(() => tool({ ...skill, inputSchema: {}, description: "d", deferLoading: true } as never)).toThrow(
      'when: "offered"',
    );
  });

  test("is waiting until then, and named by the result from then on, even if its text is trimmed away", async () => {
    const mind = model(call("load_skill"), call("read"), call("read"));
    const read = named("read", () => "x".repeat(20_000));
    const context = { window: 100_000, trim: { budgetTokens: 6_000 }, compaction: null };
    const long = {
      ...skill,
      execute: () => toolResult("y".repeat(20_000), { offers: ["deploy", "read", "fly"] }),
    };
    const { messages } = await new Agent({ model: mind, tools: [deploy, long, rollBack, read], context }).run(
      "go",
    );
    expect(mind.requests.map(({ waiting }) => waiting?.map(({ name }) => name).join(" "))).toEqual([
      "deploy roll_back",
      ...["roll_back", "roll_back", "roll_back"],
    ]);
    const results = messages.flatMap((one) => (one.role === "tool" ? [one] : []));
    expect(results.map(({ offers }) => offers)).toEqual([["deploy"], undefined, undefined]);
    expect(results.map((one) => textOf(one).slice(0, 12))[0]).toBe("[tool output");
  });

  test("is not waiting if a hook chose it for the step, nor in a landing without tools", async () => {
    const chosen = model(call("load_skill"));
    const prepareStep = ({ step }: { step: number }) =>
      step === 1 ? { tools: ["load_skill", "roll_back"] } : undefined;
    await new Agent({ model: chosen, tools, hooks: { prepareStep } }).run("go");
    expect(chosen.requests.map(({ waiting }) => waiting?.map(({ name }) => name))).toEqual([
      ["deploy"],
      undefined,
    ]);
    const landing = model(call("load_skill"));
    await new Agent({ model: landing, tools, maxSteps: 1, landing: { tools: "omitted" } }).run("go");
    expect(landing.requests.map(({ waiting }) => waiting?.length)).toEqual([2, undefined]);
  });

  test("is there if the history of a run was kept elsewhere, whatever else its results say they offer", async () => {
    const { messages } = await new Agent({ model: model(call("load_skill")), tools }).run("go");
    const mind = model();
    const strange = messages.map((one) =>
      one.role === "assistant" ? one : { ...one, offers: one.role === "tool" ? one.offers : "deploy" },
    );
    await new Agent({ model: mind, tools }).run([...strange, userText("again")] as Message[]);
    expect(offeredIn(mind)).toEqual(["load_skill deploy roll_back"]);
    const garbled = model();
    const broken = messages.map((one) => (one.role === "tool" ? { ...one, offers: "deploy" } : one));
    await new Agent({ model: garbled, tools }).run([...broken, userText("again")] as Message[]);
    expect(offeredIn(garbled)).toEqual(["load_skill"]);
  });

  test("breaks the front of a request, unless its model is told of it in place", async () => {
    const broke = async (facts: object): Promise<unknown[]> => {
      const mind = scripted([call("load_skill"), call("deploy"), say("done")], { facts });
      const told: unknown[] = [];
      const prepareStep = ({ step }: { step: number }): object =>
        step === 3 ? { tools: ["deploy", "roll_back"] } : {};
      await new Agent({ model: mind, tools, hooks: { prepareStep } }).run("go", {
        onEvent: (event) => void (event.type === "request" && told.push(event.broke)),
      });
      return told;
    };
    const front = "system or tools";
    expect(await broke({})).toEqual([undefined, front, front]);
    expect(await broke({ offersInPlace: true })).toEqual([undefined, undefined, front]);
  });
});

// A model that the prepareStep hook chose for a step: what it costs, how much fits into it, and what happens where it fails.

import { Agent, type AgentOptions, type Hooks, memoryJournal, type RondoEvent, textOf } from "@rondo/core";
import { call, fail, hold, say, scripted, stop, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick } from "./support.ts";

const tools = [echo("look")];
/** Chooses a model for some steps. */
const choosing = (model: AgentOptions["model"], ...steps: number[]): Hooks => ({
  prepareStep: ({ step }) => (steps.includes(step) ? { model } : undefined),
});
const priced = (input: number) => ({ facts: { price: { input, output: 0 } } });
const counted = usage({ inputTokens: 1_000_000, outputTokens: 0 });

test("the cost of a chosen model's answer uses that model's price", async () => {
  const dear = scripted([[say("Done."), counted]], { id: "test/dear", ...priced(7) });
  const cheap = scripted([[call("look"), counted]], { id: "test/cheap", ...priced(2) });
  const agent = new Agent({ model: cheap, fallback: [dear], tools, hooks: choosing(dear, 2) });
  expect((await agent.run("go")).usd).toBe(9);
});

test.each<[unknown, string]>([
  [
    scripted([], { id: "test/other" }),
    "it chose test/other, which is not among the agent's models (model, fallback, models)",
  ],
  ["test/cheap", "it chose a string, and one of the agent's models is needed (model, fallback, models)"],
  [null, "it chose null, and one of the agent's models is needed (model, fallback, models)"],
])(
  "a chosen model that is none of the agent's fails the hook, which is told what it chose",
  async (model, words) => {
    const cheap = scripted([say("Done.")], { id: "test/cheap" });
    const { end } = await new Agent({ model: cheap, hooks: choosing(model as never, 1) }).run("go");
    expect(end?.error?.message).toBe(`the prepareStep hook failed: ${words}`);
  },
);

describe("a chosen model that fails for good", () => {
  const failing = () => scripted([fail("server_error"), fail("server_error")], { id: "test/chosen" });
  const run = async (options: Partial<AgentOptions> & Pick<AgentOptions, "model">) => {
    const heard: RondoEvent[] = [];
    const agent = new Agent({ ...quick, retry: { attempts: 2, baseMs: 1 }, tools, ...options });
    const result = await agent.run("go", { onEvent: (event) => void heard.push(event) });
    const falls = heard.flatMap((event) =>
      event.type === "fallback" ? [`${event.from} -> ${event.to}`] : [],
    );
    return { ...result, falls };
  };

  test("is called no more often than allowed; then the run's own model is called", async () => {
    const chosen = failing();
    const model = scripted([say("Mine.")], { id: "test/own" });
    const { text, falls } = await run({ model, fallback: [chosen], hooks: choosing(chosen, 1) });
    expect({ text, falls }).toEqual({ text: "Mine.", falls: ["test/chosen -> test/own"] });
    expect(chosen.requests).toHaveLength(2);
  });

  test("does not change the run's own model: the next step calls that one, and may choose again", async () => {
    const chosen = scripted([fail("auth"), say("Chosen.")], { id: "test/chosen" });
    const model = scripted([call("look"), call("look")], { id: "test/own" });
    const { text, falls } = await run({ model, fallback: [chosen], hooks: choosing(chosen, 1, 3) });
    expect({ text, falls }).toEqual({ text: "Chosen.", falls: ["test/chosen -> test/own"] });
  });

  test("is followed by the run's own model and, if that fails too, by the fallbacks", async () => {
    const chosen = failing();
    const model = scripted([fail("auth")], { id: "test/own" });
    const third = scripted([say("Third.")], { id: "test/third" });
    const { text, falls } = await run({ model, fallback: [third, chosen], hooks: choosing(chosen, 1) });
    expect(text).toBe("Third.");
    expect(falls).toEqual(["test/chosen -> test/own", "test/own -> test/third"]);
  });

  test("is followed by them without retries too", async () => {
    const chosen = failing();
    const model = scripted([say("Mine.")], { id: "test/own" });
    const { text } = await run({ model, fallback: [chosen], hooks: choosing(chosen, 1), retry: null });
    expect(text).toBe("Mine.");
    expect(chosen.requests).toHaveLength(1);
  });
});

test("a history that does not fit a chosen model's window is summarised by the run's own model, in one part, before the call", async () => {
  const facts = { contextWindow: 4_000, price: { input: 1_000, output: 1_000 } };
  const small = scripted([[say("Small."), usage({ inputTokens: 1_000, outputTokens: 0 })]], {
    id: "test/small",
    facts,
  });
  const large = scripted([[say("A summary of it all."), counted]], {
    id: "test/large",
    facts: { contextWindow: 1_000_000, price: { input: 3, output: 0 } },
  });
  const history = Array.from({ length: 40 }, (_, at) => [
    {
      role: "user" as const,
      content: [{ type: "text" as const, text: `question ${at} ${"word ".repeat(80)}` }],
    },
    {
      role: "assistant" as const,
      content: [{ type: "text" as const, text: `answer ${at} ${"word ".repeat(80)}` }],
      origin: large.origin,
      stop: { kind: "end_turn" as const, wire: "end_turn" as const },
    },
  ]).flat();
  const last = { role: "user" as const, content: [{ type: "text" as const, text: "and now?" }] };
  const agent = new Agent({
    model: large,
    fallback: [small],
    hooks: choosing(small, 1),
  });
  const spent: number[] = [];
  const { text, usd } = await agent.run([...history, last], {
    onEvent: (event) => event.type === "compaction_end" && spent.push(large.requests.length),
  });
  expect({ text, usd }).toEqual({ text: "Small.", usd: 3 + 1 });
  expect(spent).toEqual([1]);
  const asked = small.requests[0]?.messages.map(textOf).join("\n") ?? "";
  expect(asked.length).toBeLessThan(16_000);
  expect(asked).toContain("and now?");
});

test("a truncated answer of a chosen model raises that model's own output limit", async () => {
  const facts = { maxOutputTokens: 9_000 };
  const chosen = scripted([[say(""), stop("max_tokens")], say("Whole.")], {
    id: "test/chosen",
    facts,
  });
  const model = scripted([], { id: "test/own", facts: { maxOutputTokens: 500 } });
  const agent = new Agent({
    model,
    fallback: [chosen],
    hooks: choosing(chosen, 1, 2),
    settings: { maxOutputTokens: 400 },
  });
  await agent.run("go");
  expect(chosen.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([400, 9_000]);
});

test("a step that was prepared with other models is prepared again after a takeover", async () => {
  const journal = memoryJournal();
  const held = hold(say("never"));
  const chosen = scripted([held], { id: "test/chosen" });
  const own = scripted([say("Mine.")], { id: "test/own" });
  const first = new Agent({ model: own, fallback: [chosen], hooks: choosing(chosen, 1), journal });
  const session = await first.open("s");
  const running = session.send("go");
  await held.reached;
  await session.drain({ withinMs: 1 });
  await running;
  const other = scripted([say("Another.")], { id: "test/other" });
  const hooks = choosing(other, 1);
  const again = await new Agent({ model: own, fallback: [other], hooks, journal }).open("s");
  expect((await again.resume()).text).toBe("Another.");
  expect((await again.replay()).difference).toBeUndefined();
});

describe("models that can be chosen", () => {
  test("are called when chosen, and are not fallbacks", async () => {
    const chosen = scripted([call("look")], { id: "test/chosen" });
    const own = scripted([fail("auth")], { id: "test/own" });
    const agent = new Agent({ model: own, models: [chosen], tools, hooks: choosing(chosen, 1) });
    const { end } = await agent.run("go");
    expect(end).toMatchObject({ reason: "error", error: { kind: "auth" } });
    expect([chosen.requests.length, own.requests.length]).toEqual([1, 1]);
  });

  test.each<[string, Partial<AgentOptions>]>([
    ["with retries", {}],
    ["without", { retry: null }],
  ])("fail for the run's own to be asked, %s, and then for those to fall back to", async (_name, options) => {
    const chosen = scripted([fail("auth")], { id: "test/chosen" });
    const own = scripted([fail("auth")], { id: "test/own" });
    const next = scripted([say("Next.")], { id: "test/next" });
    const hooks = choosing(chosen, 1);
    const agent = new Agent({ model: own, fallback: [next], models: [chosen], hooks, ...options });
    expect((await agent.run("go")).text).toBe("Next.");
    const alone = new Agent({
      model: scripted([say("Mine.")]),
      models: [scripted([fail("auth")], { id: "test/chosen" })],
      hooks: {},
      ...options,
    });
    expect((await alone.run("go")).text).toBe("Mine.");
  });

  test("are adapted like the others, and must be models", async () => {
    const chosen = scripted([say("Chosen.")], { id: "test/chosen" });
    const seen: string[] = [];
    const adapt = {
      model: (model: AgentOptions["model"]) => {
        seen.push(model.id);
        return model;
      },
    };
    const agent = new Agent({ model: scripted([]), models: [chosen], hooks: choosing(chosen, 1), adapt });
    expect((await agent.run("go")).text).toBe("Chosen.");
    expect(seen).toContain("test/chosen");
    expect(() => new Agent({ model: chosen, models: ["test/chosen" as never] })).toThrow("option models[0]");
  });
});

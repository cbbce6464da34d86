// Limits over a session: all its runs together spend no more than it was given, whoever continues it.

import { Agent, type Budget, memoryJournal, resolve, subAgent } from "@rondo/core";
import { explain } from "@rondo/core/explain";
import { call, calls, say, scripted, usage } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { echo } from "./support.ts";

const cost = usage({ inputTokens: 30, outputTokens: 10 });
/** Answers each message at once, for 40 tokens. */
const answering = () => scripted(() => [say("yes"), cost]);

describe("a budget of the session", () => {
  test("covers all its runs: the one that uses it up lands, and later ones call no model", async () => {
    const model = scripted((request) => [
      request.toolChoice === "none" ? say("so far") : request.messages.length > 2 ? call("look") : say("yes"),
      cost,
    ]);
    const agent = new Agent({ model, tools: [echo("look")], budget: { session: { tokens: 100 } } });
    const session = await agent.open("s");
    expect((await session.send("one")).end?.reason).toBe("completed");
    expect(session.spent).toMatchObject({ tokens: 40, modelCalls: 1 });
    const second = await session.send("two");
    expect([second.end?.reason, second.end?.landed, second.text]).toEqual(["token_budget", true, "so far"]);
    expect(second.end?.evidence).toEqual({ tokens: 120, max: 100, uncountedCalls: 0, session: true });
    expect(session.spent).toMatchObject({ tokens: 160, usage: { inputTokens: 120, outputTokens: 40 } });
    const third = await session.send("three");
    expect([third.end?.reason, third.end?.landed, third.modelCalls]).toEqual(["token_budget", false, 0]);
    expect(model.calls).toBe(4);
  });

  test("is counted from the records, in whichever process the session goes on", async () => {
    const journal = memoryJournal();
    const agent = () => new Agent({ model: answering(), journal, budget: { session: { modelCalls: 2 } } });
    for (const [message, modelCalls] of [
      ["one", 1],
      ["two", 2],
      ["three", 2],
    ] as const) {
      const session = await agent().open("s");
      await session.send(message);
      expect(session.spent.modelCalls).toBe(modelCalls);
    }
    const { rules } = resolve({ model: answering(), budget: { session: { modelCalls: 2 } } });
    const records = journal.read("s");
    expect(explain(records, { rules }).end?.remedy).toMatchObject({
      option: "budget.session.modelCalls",
      value: 2,
    });
  });

  test("may be raised: the message that was not answered is answered then", async () => {
    const journal = memoryJournal();
    const agent = (tokens: number) =>
      new Agent({ model: answering(), journal, budget: { session: { tokens } } });
    await (await agent(40).open("s")).send("one");
    const spentUp = await (await agent(40).open("s")).send("two");
    expect([spentUp.end?.reason, spentUp.end?.resumable, spentUp.text]).toEqual(["token_budget", true, ""]);
    const raised = await (await agent(90).open("s")).continue();
    expect([raised.end?.reason, raised.text]).toEqual(["completed", "yes"]);
    expect(raised.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("asks for no summary once nothing is left, and lets the session be cleared", async () => {
    const compaction = { keepTurns: 1, keepShare: 0.01, minGain: 0, minSummaryCharacters: 1 };
    for (const [tokens, summaries] of [
      [200, 1],
      [120, 0],
    ] as const) {
      const model = answering();
      const context = { window: 1_000, compaction };
      const session = await new Agent({ model, context, budget: { session: { tokens } } }).open("s");
      for (const message of ["one ".repeat(99), "two ".repeat(99), "three"]) await session.send(message);
      await session.compact();
      expect(model.calls).toBe(3 + summaries);
      await session.clear();
      expect(session.messages).toEqual([]);
      expect(session.spent.modelCalls).toBe(3 + summaries);
    }
  });

  test("covers what sub-agents spend, and a fork starts with what it shares", async () => {
    const child = new Agent({ model: scripted(() => [say("done"), cost]) });
    const model = scripted((request) => [
      request.messages.at(-1)?.role === "user" ? call("helper", { task: "help" }) : say("ok"),
      cost,
    ]);
    const helper = subAgent({ name: "helper", description: "Helps", agent: child });
    const agent = new Agent({ model, tools: [helper], budget: { session: { tokens: 1_000 } } });
    const session = await agent.open("s");
    await session.send("one");
    expect(session.spent).toMatchObject({ tokens: 120, modelCalls: 3, agents: 1 });
    const fork = await session.fork("t");
    expect(fork.spent).toEqual(session.spent);
    await fork.send("two");
    expect([fork.spent.tokens, session.spent.tokens]).toEqual([240, 120]);
  });

  test("is no limit of another session, and nothing is spent before the first run", async () => {
    const agent = new Agent({ model: answering(), budget: { session: { modelCalls: 1 } } });
    const session = await agent.open("a");
    expect(session.spent).toEqual({ usage: {}, tokens: 0, usd: 0, uncounted: 0, modelCalls: 0, agents: 0 });
    for (const id of ["b", "c"]) expect((await (await agent.open(id)).send("hi")).text).toBe("yes");
  });

  test("is never exceeded in model calls, whatever the runs do", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 6 }),
        async (modelCalls, looks, sends) => {
          let at = 0;
          const model = scripted((request) =>
            request.toolChoice !== "none" && looks[at++ % looks.length] === true
              ? call("look", { at })
              : say("yes"),
          );
          const budget: Budget = { session: { modelCalls } };
          const session = await new Agent({ model, tools: [echo("look")], budget }).open("s");
          for (let sent = 0; sent < sends; sent += 1) {
            const { end } = await session.send("go on");
            expect(["completed", "max_steps"]).toContain(end?.reason);
          }
          expect(session.spent.modelCalls).toBe(model.calls);
          expect(model.calls).toBeLessThanOrEqual(modelCalls);
          expect(model.calls).toBeGreaterThanOrEqual(Math.min(modelCalls, sends));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("is never exceeded in model calls by a tree of agents over several runs", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 14 }),
        fc.array(fc.nat(3), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        async (modelCalls, choices, sends) => {
          let at = 0;
          let asked = 0;
          const mind = (name: string) =>
            scripted(({ toolChoice }) => {
              asked += 1;
              const choice = choices[at++ % choices.length] ?? 0;
              if (toolChoice === "none" || choice === 0) return say(`${name} done`);
              return calls(
                Array.from({ length: choice }, () => [name === "top" ? "helper" : "look", { task: "t", at }]),
              );
            });
          const inner = new Agent({ model: mind("inner"), tools: [echo("look")], repeats: null });
          const helper = subAgent({ name: "helper", description: "Helps", agent: inner });
          const budget: Budget = { session: { modelCalls } };
          const agent = new Agent({ model: mind("top"), tools: [helper], budget, repeats: null });
          const session = await agent.open("s");
          for (let sent = 0; sent < sends; sent += 1) await session.send("go on");
          expect(session.spent.modelCalls).toBe(asked);
          expect(asked).toBeLessThanOrEqual(modelCalls);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("a budget in tokens, of a model that reports no usage", () => {
  /** Asks for a page of 4,000 characters at a time, as long as it may. */
  const reader = () =>
    scripted((request) => (request.toolChoice === "none" ? say("so far") : call("read", { at: chance() })));
  let asked = 0;
  const chance = (): number => {
    asked += 1;
    return asked;
  };
  const read = echo("read", {
    effect: "read",
    execute: (args) => JSON.stringify(args).repeat(500),
  });

  test("lands the run by an estimate, which the evidence tells", async () => {
    const model = reader();
    const { end, usage: counted } = await new Agent({
      model,
      tools: [read],
      budget: { tokens: 10_000 },
    }).run("Read on.");
    expect([end?.reason, end?.landed, counted]).toEqual(["token_budget", true, {}]);
    expect(end?.evidence).toMatchObject({ tokens: 0, max: 10_000, uncountedCalls: model.calls - 1 });
    expect(end?.evidence.estimated).toBeGreaterThanOrEqual(10_000);
    expect(model.calls).toBeGreaterThan(2);
    expect(model.calls).toBeLessThan(12);
  });

  test("covers sub-agents and later runs, which were not counted either", async () => {
    const child = new Agent({ model: reader(), tools: [read] });
    const helper = subAgent({ name: "helper", description: "Helps.", agent: child });
    const model = scripted([call("helper", { task: "Read on." }), say("done")]);
    const agent = new Agent({ model, tools: [helper], budget: { session: { tokens: 10_000 } } });
    const session = await agent.open("s");
    const first = await session.send("one");
    expect(first.end?.reason).toBe("token_budget");
    expect(session.spent).toMatchObject({ tokens: 0, usage: {} });
    expect(session.spent.estimated).toBeGreaterThanOrEqual(10_000);
    const second = await session.send("two");
    expect([second.end?.reason, second.modelCalls]).toEqual(["token_budget", 0]);
  });
});

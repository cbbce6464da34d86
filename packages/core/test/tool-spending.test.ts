// What a tool spent counts in its run, as what a sub-agent spent does.

import { Agent, type AgentOptions, type RunResult, type Tool, tool, toolResult } from "@rondo/core";
import { call, say, scripted, type Turn, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";

type Spent = NonNullable<NonNullable<Parameters<typeof toolResult>[1]>["spent"]>;

const facts = { price: { input: 1_000_000, output: 1_000_000 } };
const once = usage({ inputTokens: 1, outputTokens: 1 });

const costly = (spent: Spent, more: Partial<Tool> = {}): Tool => ({
  ...tool({
    name: "ask",
    description: "Asks another model",
    inputSchema: { type: "object" },
    execute: () => toolResult("42", { spent }),
  }),
  ...more,
});

const running = (
  tools: Tool[],
  options: Partial<AgentOptions> = {},
  script?: readonly Turn[],
): Promise<RunResult> =>
  new Agent({
    model: scripted(script ?? [[call("ask"), once] as Turn, [say("done"), once] as Turn], { facts }),
    tools,
    ...options,
  }).run("go");

describe("what a tool spent", () => {
  test("counts in the run's usage and cost", async () => {
    const run = await running([costly({ usage: { inputTokens: 100, outputTokens: 10 }, usd: 5 })]);
    expect(run.usage).toMatchObject({ inputTokens: 102, outputTokens: 12 });
    expect([run.usd, run.text]).toEqual([9, "done"]);
  });

  test("ends a run that has a budget for it, but not for its own model calls alone", async () => {
    const tools = [costly({ usage: { inputTokens: 100 }, usd: 5 })];
    expect((await running(tools, { budget: { tokens: 50 } })).end).toMatchObject({
      reason: "token_budget",
      evidence: { tokens: 102, max: 50 },
    });
    expect((await running(tools, { budget: { usd: 6 } })).end?.reason).toBe("cost_budget");
    expect((await running(tools, { budget: { modelCalls: 3 } })).end?.reason).toBe("max_steps");
    expect((await running(tools, { budget: { own: { tokens: 50 } } })).end?.reason).toBe("completed");
  });

  test("makes the cost unknown where it has tokens and no price, and leaves it known without tokens", async () => {
    expect((await running([costly({ usage: { inputTokens: 100 } })])).usd).toBeUndefined();
    expect((await running([costly({ modelCalls: 1 })])).usd).toBe(4);
    expect((await running([costly({ usd: 5 })], { budget: { modelCalls: 3 } })).end?.reason).toBe(
      "completed",
    );
  });

  test("counts where somebody answers in the tool's place", async () => {
    const model = scripted([[call("ask"), once] as Turn, [say("done"), once] as Turn], { facts });
    const session = await new Agent({ model, tools: [costly({ usd: 1 }, { permission: "ask" })] }).open("s");
    const { parked } = await session.send("go");
    const run = await session.answer(parked?.pending[0]?.id ?? "", toolResult("42", { spent: { usd: 5 } }));
    expect(run.usd).toBe(9);
  });
});

test.each<[object, string]>([
  [
    { spent: { usage: { inputTokens: -1 } } },
    "toolResult: option spent.usage.inputTokens: a finite number of at least 0",
  ],
  [{ spent: { usage: { input: 1 } } }, "toolResult: option spent.usage.input: there is no such option"],
  [{ spent: { usd: Number.NaN } }, "toolResult: option spent.usd: "],
  [{ spent: { modelCalls: 1.5 } }, "toolResult: option spent.modelCalls: "],
  [{ spent: {} }, "toolResult: option spent: usage, usd or modelCalls is needed, and nothing is given"],
  [
    { usage: { inputTokens: 1 } },
    "toolResult: option usage: there is no such option; here it is spent: { usage, usd }",
  ],
])("a spending that is none is refused: %j", (options, words) => {
  expect(() => toolResult("x", options as never)).toThrow(words);
});

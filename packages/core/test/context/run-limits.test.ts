// Summaries and the limits of a run: one is a model call like any other.

import { type AgentOptions, budget, maxSteps, type Rule, textOf } from "@rondo/core";
import { call, fail, hold, type SeenRequest, say, scripted, type Turn, usage } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { orderlyClock } from "../support.ts";
import { isSummary, opened, reader, recordsOf, words } from "./run-support.ts";
import { answer, text as textPart, user } from "./support.ts";

const summary = "The pages were read; nothing in them matters for the task any more.";
const context = { window: 10_000, trim: null } as const;

/** A conversation of so many thousand tokens, that ends with a question. */
const talk = (thousands: number) => [
  ...Array.from({ length: thousands }, (_, at) => [
    user(words(500, `question ${at}`)),
    answer(textPart(words(500, `answer ${at}`))),
  ]).flat(),
  user("And now?"),
];

/** Reads on until nobody lets it. */
const reading = (request: SeenRequest): Turn => {
  if (isSummary(request)) return say(summary);
  return request.toolChoice === "none" ? say("as far as I came") : call("read");
};

/** A run over this conversation under these limits, in which somebody asks for a compaction while its first call is under way. */
async function asked(talked: number, rules: Rule[], costs: Turn = []) {
  const gate = hold();
  const model = scripted((request, nth) => [nth === 1 ? [gate, call("read")] : reading(request), costs]);
  const { session } = await opened({ model, context, tools: [reader(500)], rules });
  const running = session.send(talk(talked));
  await gate.reached;
  const compacted = session.compact();
  gate.release();
  await compacted;
  return { end: (await running).end, calls: model.calls, summaries: model.requests.filter(isSummary).length };
}

describe("a limit on model calls", () => {
  test("counts summaries, and none is made with the call that is kept for the landing", async () => {
    for (const modelCalls of [1, 2, 3]) {
      const model = scripted(reading);
      const tools = [reader(500)];
      const { session } = await opened({ model, context, tools, rules: [budget({ modelCalls })] });
      const { end, text } = await session.send(talk(9));
      expect([model.calls, end?.reason, text], `${modelCalls} calls`).toEqual([
        modelCalls,
        "max_steps",
        "as far as I came",
      ]);
    }
  });

  test("applies to a compaction that is requested during the run", async () => {
    const { end, calls } = await asked(6, [budget({ modelCalls: 2 })]);
    expect(end).toMatchObject({ reason: "max_steps", landed: true });
    expect(calls).toBe(2);
  });

  test("lets a run that only compacts make its one call, and no second one", async () => {
    const gate = hold();
    const model = scripted((request, nth) => {
      if (nth === 2) return [gate, say("")];
      return isSummary(request) ? say(summary) : say("an answer");
    });
    const { session, records } = await opened({ model, context, budget: { modelCalls: 1 } });
    await session.send(talk(6));
    const compacting = session.compact();
    await gate.reached;
    gate.release();
    await compacting;
    expect(recordsOf(records(), "summary_finished")).toHaveLength(1);
  });

  test("differs from a limit on steps, which leaves room for its landing", async () => {
    const model = scripted(reading);
    const { session } = await opened({ model, context, tools: [reader(2_500)], rules: [maxSteps(1)] });
    expect((await session.send(talk(6))).end).toMatchObject({ reason: "max_steps", landed: true });
    expect(model.requests.map(isSummary)).toContain(true);
  });
});

test("lets a requested compaction cost nothing more once the tokens are spent", async () => {
  const costs = usage({ inputTokens: 5_000, outputTokens: 10 });
  const { end, summaries } = await asked(6, [budget({ tokens: 5_000 })], costs);
  expect(end).toMatchObject({ reason: "token_budget", landed: true });
  expect(summaries).toBe(0);
});

describe("a summary that is in flight when the time is up", () => {
  /** A run that must compact after its first request was refused, and whose summaries never come. */
  async function refused(options: Partial<AgentOptions>, more: (request: SeenRequest, nth: number) => Turn) {
    const clock = orderlyClock();
    const model = scripted((request, nth) =>
      isSummary(request) ? hold() : nth === 1 ? fail("context_overflow") : more(request, nth),
    );
    const rules = [budget({ ms: 1_000 })];
    const { session } = await opened({ model, clock, context, rules, ...options });
    const result = await session.send(talk(6));
    return { result, model, waited: clock.now() };
  }

  test("is cancelled, and the run lands with what fits without it", async () => {
    const { result, model, waited } = await refused({}, () => say("as far as I came"));
    expect([result.text, result.end?.reason, result.end?.landed]).toEqual([
      "as far as I came",
      "deadline",
      true,
    ]);
    expect(model.lastRequest.messages.map(textOf).join()).toContain("Summary unavailable");
    expect(waited).toBe(1_000);
  });

  test("is cancelled, and the end is still the deadline's if no request fits", async () => {
    const { result } = await refused({}, () => fail("context_overflow"));
    expect(result.end).toMatchObject({
      reason: "deadline",
      rule: "budget",
      landed: false,
      evidence: { max: 1_000 },
      error: { kind: "context_overflow" },
    });
  });

  test("is cancelled even if the run lands already, for another reason", async () => {
    const clock = orderlyClock();
    const model = scripted((request) => (isSummary(request) ? hold() : reading(request)));
    const rules = [maxSteps(1), budget({ ms: 1_000 })];
    const { session } = await opened({ model, clock, context, tools: [reader(2_500)], rules });
    const { end, text } = await session.send(talk(6));
    expect([text, end?.reason, end?.landed]).toEqual(["as far as I came", "max_steps", true]);
    expect(clock.now()).toBe(1_000);
  });
});

test("a landing whose request cannot be made to fit ends for its own reason", async () => {
  const model = scripted((_request, nth) => (nth === 1 ? call("read") : fail("context_overflow")));
  const { session } = await opened({
    model,
    tools: [reader(5)],
    rules: [maxSteps(1)],
    context: { window: 10_000, compaction: null },
  });
  const { end } = await session.send("Go.");
  expect(end).toMatchObject({
    reason: "max_steps",
    rule: "max_steps",
    landed: false,
    error: { kind: "context_overflow" },
  });
});

// A limit is met while the model is at work, and its answer comes all the same, before it was given up.

import { Agent, type AgentOptions, budget, maxSteps, type Rule, type RunResult } from "@rondo/core";
import {
  call,
  empty,
  fail,
  hold,
  type ScriptedModel,
  say,
  scripted,
  stop,
  type Turn,
  think,
  usage,
} from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, jumpingClock, orderlyClock, shortly } from "./support.ts";

/** A run whose time is up while this answer is on its way. */
async function late(
  turn: Turn,
  options: Partial<AgentOptions> = {},
): Promise<{ result: RunResult; model: ScriptedModel }> {
  const gate = hold();
  const model = scripted([[gate, turn], say('{"so":"far"}')], { ignoreSignal: true });
  const rules = [budget({ ms: 1_000 })];
  const clock = jumpingClock(0.5);
  const agent = new Agent({ model, tools: [echo("look")], rules, clock, ...options });
  const result = await agent.run("Look.", {
    onEvent: ({ type }) => type === "limit" && gate.release(),
  });
  return { result, model };
}

describe("an answer that arrives while its run lands", () => {
  test("is the run's answer if it is only text", async () => {
    const { result, model } = await late(say("It rains."));
    expect([result.text, result.end?.reason, model.calls]).toEqual(["It rains.", "deadline", 1]);
  });

  test.each([
    [
      "calls a tool",
      [say("I look."), call("look")],
      ["assistant: I look. look()", "tool: look was not executed: the run has reached its limit (deadline)."],
    ],
    ["says nothing", empty(), []],
    ["only thinks", think("hm"), []],
  ] as const)(
    "is not if it %s: the model is called once more, without tools",
    async (_what, turn, between) => {
      const { result, model } = await late(turn as Turn);
      expect([result.text, result.end?.reason, result.end?.landed]).toEqual([
        '{"so":"far"}',
        "deadline",
        true,
      ]);
      expect([model.calls, model.lastRequest.toolChoice]).toEqual([2, "none"]);
      expect(shortly(result.messages)).toEqual(["user: Look.", ...between, 'assistant: {"so":"far"}']);
    },
  );

  test("is not if a typed output is wanted, because it was not requested with one", async () => {
    const output = { type: "object", properties: { so: { type: "string" } }, required: ["so"] } as const;
    const { result, model } = await late(say("It rains."), { output });
    expect([result.output, result.end?.reason, model.calls]).toEqual([{ so: "far" }, "deadline", 2]);
  });
});

describe("the answer of a landing that is not stored", () => {
  const landing = { store: false } as const;
  const output = { type: "object", properties: { so: { type: "string" } }, required: ["so"] } as const;
  const look = echo("look", { effect: "read" });

  test("is still the run's text", async () => {
    const model = scripted([[say("I look."), call("look")], say("It rains.")]);
    const { text, end, messages } = await new Agent({ model, tools: [look], maxSteps: 1, landing }).run(
      "Look.",
    );
    expect([text, end?.landed, messages.length]).toEqual(["It rains.", true, 3]);
  });

  test("is still its typed output", async () => {
    const model = scripted([call("look"), say('{"so":"far"}')]);
    const agent = new Agent({ model, tools: [look], maxSteps: 1, landing, output });
    const result = await agent.run("Look.");
    expect([result.output, result.end?.reason, result.messages.length]).toEqual([
      { so: "far" },
      "max_steps",
      3,
    ]);
  });
});

test("a landing's typed output is not reworded, as other landings may be", async () => {
  const output = { type: "object", properties: { so: { type: "string" } }, required: ["so"] } as const;
  const model = scripted([call("look"), say('{"so":"far"}')]);
  const texts = { landed: (reason: string, said = "") => `[${reason}] ${said}` };
  const agent = new Agent({ model, tools: [echo("look", { effect: "read" })], maxSteps: 1, output, texts });
  const result = await agent.run("Look.");
  expect([result.output, result.text, result.end?.landed]).toEqual([{ so: "far" }, '{"so":"far"}', true]);
});

test("an answer that is requested again is not the run's text, even if a landing's answer is not stored", async () => {
  const again: Rule<number> = {
    name: "again",
    version: 1,
    init: () => 0,
    fold: { turn_judged: (count, { rule }) => (rule === "again" ? count + 1 : count) },
    judge: (count, { run }) =>
      count === 0 && run?.turn !== undefined ? { follows: { do: "ask_again" }, evidence: {} } : undefined,
  };
  const model = scripted([say("I promise it."), fail("auth")]);
  const { text, end } = await new Agent({ model, rules: [again], landing: { store: false } }).run("Look.");
  expect([text, end?.reason]).toEqual(["", "error"]);
});

test("an unreadable landing answer leaves the run its last text", async () => {
  const model = scripted([
    [say("I look."), call("look")],
    [say("half a call"), stop("malformed_call")],
  ]);
  const agent = new Agent({ model, tools: [echo("look", { effect: "read" })], maxSteps: 1 });
  const { text, end } = await agent.run("Look.");
  expect([text, end?.reason, end?.landed]).toEqual(["I look.", "max_steps", true]);
});

describe("a run whose time is up while a retry waits", () => {
  const after = (retryAfterMs: number): Turn => fail("rate_limit", { retryAfterMs });
  async function timed(script: Turn[]): Promise<{ result: RunResult; calls: number; waited: number }> {
    const model = scripted(script);
    const clock = jumpingClock(0);
    const began = clock.now();
    const result = await new Agent({ model, clock, rules: [budget({ ms: 1_000 })] }).run("Look.");
    return { result, calls: model.calls, waited: clock.now() - began };
  }

  test("ends then, if the retry would be due much later", async () => {
    const { result, calls, waited } = await timed([after(30_000), say("too late")]);
    expect([result.end?.reason, result.end?.rule, result.end?.landed]).toEqual(["deadline", "budget", false]);
    expect(result.end?.error?.kind).toBe("timeout");
    expect(result.end?.evidence).toMatchObject({ max: 1_000, waitMs: 29_000 });
    expect([calls, waited]).toEqual([1, 1_000]);
  });

  test("still lands, if it is due within the time that an abort has", async () => {
    const { result, calls, waited } = await timed([after(2_500), say("so far")]);
    expect([result.text, result.end?.reason, result.end?.landed]).toEqual(["so far", "deadline", true]);
    expect([calls, waited]).toEqual([2, 2_500]);
  });

  test("does not wait long for its last answer either", async () => {
    const { result, calls, waited } = await timed([after(2_500), after(20_000), say("too late")]);
    expect([result.end?.reason, result.end?.error?.kind]).toEqual(["deadline", "rate_limit"]);
    expect([calls, waited]).toEqual([2, 2_500]);
  });
});

describe("the last answer of a run whose time is up", () => {
  async function hanging(
    options: Partial<AgentOptions>,
    script: Turn[] = [hold(), hold(), hold()],
  ): Promise<{ result: RunResult; calls: number; waited: number }> {
    const model = scripted(script, { ignoreSignal: options.abortGraceMs !== undefined });
    const clock = orderlyClock();
    const agent = new Agent({ model, clock, tools: [echo("look", { effect: "read" })], ...options });
    const result = await agent.run("Look.");
    return { result, calls: model.calls, waited: clock.now() };
  }
  const rules = [budget({ ms: 1_000 })];

  test("is not waited for longer than a minute", async () => {
    const { result, calls, waited } = await hanging({ rules });
    expect([result.end?.reason, result.end?.rule, result.end?.landed]).toEqual(["deadline", "budget", false]);
    expect(result.end?.error).toMatchObject({ kind: "timeout", retryable: true });
    expect(result.end?.error?.message).toContain("landing.timeoutMs");
    expect(result.end?.evidence).toMatchObject({ max: 1_000, answerMs: 60_000 });
    expect([result.end?.resumable, calls, waited]).toEqual([true, 2, 61_000]);
  });

  test("is not waited for longer than landing.timeoutMs", async () => {
    const { calls, waited } = await hanging({ rules, landing: { timeoutMs: 5_000 } });
    expect([calls, waited]).toEqual([2, 6_000]);
  });

  test("is given up if its model ignores that it is cancelled", async () => {
    const { result, calls, waited } = await hanging({ rules, abortGraceMs: 100 });
    expect([result.end?.reason, result.end?.error?.kind]).toEqual(["deadline", "timeout"]);
    expect([calls, waited]).toEqual([2, 61_200]);
  });

  test("counts from when the time is up, if the run lands for another reason before that", async () => {
    const limits = [maxSteps(1), budget({ ms: 1_000 })];
    const { result, calls, waited } = await hanging({ rules: limits }, [call("look"), hold()]);
    expect([result.end?.reason, result.end?.error?.kind]).toEqual(["max_steps", "timeout"]);
    expect([calls, waited]).toEqual([2, 61_000]);
  });

  test("is not asked for again long after the time is up, if the run lands for another reason", async () => {
    const retried = async (retryAfterMs: number): Promise<unknown[]> => {
      const script = [call("look"), fail("rate_limit", { retryAfterMs }), say("so far")];
      const { result, calls, waited } = await hanging({ rules: [maxSteps(1), ...rules] }, script);
      return [result.end?.reason, result.end?.error?.kind, calls, waited];
    };
    // Until the time is up, and as long as an abort has.
    expect(await retried(3_000)).toEqual(["max_steps", undefined, 3, 3_000]);
    expect(await retried(3_001)).toEqual(["max_steps", "rate_limit", 2, 0]);
  });

  test("has only its clocks in a run whose time is not limited", async () => {
    const { calls, waited } = await hanging({ rules: [maxSteps(1)], retry: null }, [call("look"), hold()]);
    expect([calls, waited]).toEqual([2, 120_000]);
  });

  const said = (...turn: Turn[]): Turn[] => [hold(), [say("It rains, and"), ...turn]];

  test("is the run's text as far as it came, and stays in the history", async () => {
    const { result } = await hanging({ rules, landing: { timeoutMs: 5_000 } }, said(hold()));
    expect([result.text, result.end?.landed, result.end?.error?.kind]).toEqual([
      "It rains, and",
      false,
      "timeout",
    ]);
    expect(shortly(result.messages)).toEqual(["user: Look.", "assistant: It rains, and"]);
    expect(result.messages.at(-1)).toMatchObject({ stop: { kind: "aborted" } });
  });

  test("is the run's text as far as it came, if it failed", async () => {
    const { result } = await hanging({ rules: [maxSteps(1)] }, [
      [say("I look."), call("look")],
      [say("It rains, and"), fail("overloaded")],
      fail("auth"),
    ]);
    expect([result.text, result.end?.reason, result.end?.error?.kind]).toEqual([
      "It rains, and",
      "max_steps",
      "auth",
    ]);
  });

  test("is the run's text as far as it came, and not stored, if it was not to be", async () => {
    const landing = { store: false, timeoutMs: 5_000 } as const;
    const { result } = await hanging({ rules, landing }, said(hold()));
    expect([result.text, shortly(result.messages)]).toEqual(["It rains, and", ["user: Look."]]);
  });

  test("is only what came of it last, if that is whole", async () => {
    const { result } = await hanging({ rules: [maxSteps(1)] }, [
      call("look"),
      [say("It rains, and"), fail("overloaded")],
      say("It rains."),
    ]);
    expect([result.text, result.messages.length]).toEqual(["It rains.", 4]);
  });

  test("is not what had arrived before the landing", async () => {
    const { result } = await hanging({ rules }, [[say("Before,"), hold()], fail("auth")]);
    expect([result.text, result.end?.error?.kind, result.messages.length]).toEqual(["", "auth", 1]);
  });

  test.each([
    ["outside a landing", 1, [[say("It rains, and"), hold()]], 2],
    ["in a landing", 2, [call("look"), [say("It rains, and"), fail("overloaded")], hold()], 3],
  ] as const)("is what an abort %s leaves of it", async (_where, at, script, stored) => {
    const model = scripted(script as unknown as Turn[]);
    const landing = { store: false } as const;
    const agent = new Agent({ model, tools: [echo("look")], maxSteps: 1, landing, retry: { baseMs: 0 } });
    const session = await agent.open("s");
    let requests = 0;
    session.subscribe(({ type }) => {
      if (type === "request") requests += 1;
      if (type === (at === 1 ? "text_delta" : "request") && (at === 1 || requests === 3)) session.abort();
    });
    const { text } = await session.send("Look.");
    expect(text).toBe("It rains, and");
    expect(session.messages).toHaveLength(stored);
  });

  test("takes nothing from the text before it, if nothing of it came", async () => {
    const { result } = await hanging({ rules: [maxSteps(1), ...rules] }, [
      [say("I look."), call("look")],
      [say(" "), hold()],
    ]);
    expect([result.text, result.messages.length]).toEqual(["I look.", 3]);
  });
});

describe("a tool that is running when the time is up", () => {
  test.each<[string, { usage?: number; rule?: true }]>([
    ["tokens are spent as well", { usage: 20 }],
    ["run lands already", { rule: true }],
  ])("is cancelled then, even if the %s", async (_what, { usage: tokens = 1, rule }) => {
    const early: Rule = {
      name: "early",
      version: 1,
      wakeAt: (_memory, { run }) => (run?.startedAt ?? 0) + 500,
      decide: (_memory, { run, now }) =>
        rule === true && now >= (run?.startedAt ?? 0) + 500
          ? { do: "land", reason: "no_progress", evidence: {} }
          : undefined,
    };
    const clock = orderlyClock();
    const tools = [echo("wait", { execute: () => new Promise(() => {}), timeoutMs: 100_000 })];
    const model = scripted([[call("wait"), usage({ inputTokens: tokens, outputTokens: 0 })], say("so far")]);
    const rules = [early, budget({ tokens: 10, ms: 1_000 })];
    const { end, text } = await new Agent({ model, clock, tools, rules, abortGraceMs: 100 }).run("Go.");
    expect([text, end?.landed, end?.reason]).toEqual([
      "so far",
      true,
      rule === true ? "no_progress" : "deadline",
    ]);
    expect(clock.now()).toBe(1_000);
  });
});

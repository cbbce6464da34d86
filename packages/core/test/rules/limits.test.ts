// Limits: when a run has used what it may, and what it may still give away. Asked of the rules by themselves.

import {
  Agent,
  type Amounts,
  budget,
  deadline,
  emptyState,
  maxSteps,
  type OnLimit,
  RondoError,
  type Rule,
  type Run,
  type RunOptions,
  type RunView,
  resolve,
  type Spent,
  type State,
  type StopRule,
  stopWhen,
  userText,
} from "@rondo/core";
import { call, say, scripted, usage } from "@rondo/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { meantAsDuration, overspent, underWord } from "../../src/rules/limits.ts";
import { tree } from "../../src/rules/tree.ts";
import { acting, callOf, options, recordOf, stateOf, toolOf } from "../loop/support.ts";
import { echo } from "../support.ts";
import { afterAll, afterOne, judgementOf, stopOf, texts, turnOf } from "./support.ts";

const spend = (change: Partial<Run["spend"]> = {}): Run["spend"] => ({
  usage: {},
  tokens: 0,
  usd: 0,
  uncounted: 0,
  ...change,
});
const spent = (change: Partial<Spent> = {}): Spent => ({
  usage: {},
  tokens: 0,
  usd: 0,
  uncounted: 0,
  modelCalls: 0,
  agents: 0,
  ...change,
});
const startedAt = 1_000;
/** A run that started at 1,000, looked at so much later. */
const after = (ms: number, run: Partial<Run> = {}): State =>
  stateOf({ startedAt, ...run }, { now: startedAt + ms });

describe("the step limit", () => {
  const decided = (steps: number, ...given: Parameters<typeof maxSteps>): unknown =>
    maxSteps(...given).decide?.(undefined, stateOf({ steps }));

  test("lands the run after its last answer", () => {
    expect(decided(2, 3)).toBeUndefined();
    const landing = { do: "land", reason: "max_steps" };
    expect(decided(3, 3)).toStrictEqual({ ...landing, evidence: { steps: 3, max: 3 } });
    expect(decided(4, 3)).toStrictEqual({ ...landing, evidence: { steps: 4, max: 3 } });
    expect(maxSteps(1).decide?.(undefined, emptyState)).toBeUndefined();
    expect(maxSteps(3)).toMatchObject({ name: "max_steps", version: 1 });
  });

  test("ends the run at once if set so, or with an error with the given text", () => {
    const evidence = { steps: 3, max: 3 };
    const end = { do: "stop", reason: "max_steps", evidence };
    const error = { kind: "loop_detected", retryable: false };
    expect(decided(3, 3, { onLimit: "stop" })).toStrictEqual(end);
    expect(decided(3, 3, { onLimit: "refuse_tools" })).toStrictEqual(end);
    expect(decided(3, 3, { onLimit: "land" })).toMatchObject({ do: "land" });
    expect(decided(3, 3, { onLimit: "error" })).toStrictEqual({
      ...end,
      error: { ...error, message: "the run reached its limit of 3 steps without completing" },
    });
    expect(decided(3, 3, { onLimit: "error", message: "no more" })).toStrictEqual({
      ...end,
      error: { ...error, message: "no more" },
    });
  });

  test("refuses the calls of the last answer if set so", () => {
    const turn = turnOf(stopOf("tool_use"), [], [callOf("5.0")]);
    const rule = maxSteps(3, { onLimit: "refuse_tools" });
    const judged = judgementOf(rule, { turn, steps: 2 });
    expect(judged).toStrictEqual({
      follows: { do: "stop", reason: "max_steps" },
      evidence: { steps: 3, max: 3 },
      answerAll: { code: "limit", text: expect.any(Function) },
    });
    expect(judged?.answerAll?.text(callOf("5.0"))).toBe(texts.limitRefusal("write", "at most 3 steps"));
    expect(judgementOf(rule, { turn, steps: 1 })).toBeUndefined();
    expect(judgementOf(rule, { steps: 2 })).toBeUndefined();
    expect(judgementOf(rule, { turn: turnOf(stopOf("end_turn")), steps: 2 })).toBeUndefined();
    expect(rule.judge?.(undefined, emptyState, texts)).toBeUndefined();
    expect(judgementOf(maxSteps(3), { turn, steps: 2 })).toBeUndefined();
  });

  test("is a whole number of at least 1, or 0 if no model may be called", () => {
    for (const onLimit of ["error", "stop"] as const) {
      expect(decided(0, 0, { onLimit })).toMatchObject({ do: "stop" });
      expect(() => maxSteps(-1, { onLimit })).toThrow(
        "maxSteps: option max: a whole number above 0, or 0 where onLimit is error or stop, is needed, not -1",
      );
    }
    for (const onLimit of ["land", "refuse_tools"] as const)
      expect(() => maxSteps(0, { onLimit })).toThrow(
        /a whole number above 0, or 0 where onLimit is error or stop, is needed, not 0/,
      );
    expect(() => maxSteps(1.5)).toThrow(/not 1.5/);
    expect(maxSteps(1)).toBeDefined();
  });
});

describe("spending", () => {
  test("lands the run if the tokens are used up", () => {
    expect(overspent(spent({ tokens: 9 }), { tokens: 10 })).toBeUndefined();
    for (const tokens of [10, 11])
      expect(overspent(spent({ tokens, uncounted: 2 }), { tokens: 10 })).toStrictEqual({
        do: "land",
        reason: "token_budget",
        evidence: { tokens, max: 10, uncountedCalls: 2 },
      });
  });

  test("lands the run if the money is used up, or if the cost is unknown", () => {
    const { usd: _usd, ...unknown } = spent({ uncounted: 3 });
    expect(overspent(spent({ usd: 0.9 }), { usd: 1 })).toBeUndefined();
    expect(overspent(unknown, {})).toBeUndefined();
    for (const usd of [1, 2])
      expect(overspent(spent({ usd }), { usd: 1 })).toStrictEqual({
        do: "land",
        reason: "cost_budget",
        evidence: { usd, max: 1 },
      });
    expect(overspent(unknown, { usd: 1 })).toStrictEqual({
      do: "land",
      reason: "cost_budget",
      evidence: { usd: "unknown", max: 1, uncountedCalls: 3 },
    });
  });

  test("lands the run while one model call is left to land with", () => {
    expect(overspent(spent({ modelCalls: 3 }), { modelCalls: 5 })).toBeUndefined();
    for (const modelCalls of [4, 5])
      expect(overspent(spent({ modelCalls }), { modelCalls: 5 })).toStrictEqual({
        do: "land",
        reason: "max_steps",
        evidence: { modelCalls, max: 5 },
      });
    expect(overspent(spent({ tokens: 99, usd: 99, modelCalls: 99 }), {})).toBeUndefined();
  });
});

describe("a budget", () => {
  const decided = (limits: Parameters<typeof budget>[0], state: State): unknown =>
    budget(limits).decide?.(undefined, state);
  const below = spent({ tokens: 60, usd: 6, modelCalls: 3, agents: 1 });

  test("counts sub-agents' spending with the run's own", () => {
    const state = stateOf({ spend: spend({ tokens: 100, usd: 10 }), modelCalls: 2, below });
    expect(decided({ tokens: 101, usd: 11, modelCalls: 7 }, state)).toBeUndefined();
    expect(decided({ tokens: 100 }, state)).toMatchObject({ reason: "token_budget" });
    expect(decided({ usd: 10 }, state)).toMatchObject({ reason: "cost_budget" });
    expect(decided({ modelCalls: 6 }, state)).toMatchObject({ evidence: { modelCalls: 5, max: 6 } });
    expect(decided({ tokens: 1 }, emptyState)).toBeUndefined();
    expect(budget({ tokens: 5 })).toMatchObject({ name: "budget", version: 1 });
  });

  test("on the run's own calls does not count sub-agents", () => {
    const state = stateOf({ spend: spend({ tokens: 100, usd: 10 }), modelCalls: 2, below });
    expect(decided({ own: { tokens: 41, usd: 4.5 } }, state)).toBeUndefined();
    expect(decided({ own: { tokens: 40 } }, state)).toMatchObject({ evidence: { tokens: 40, max: 40 } });
    expect(decided({ own: { usd: 4 } }, state)).toMatchObject({ evidence: { usd: 4, max: 4 } });
    const alone = stateOf({ spend: spend({ tokens: 100, usd: 10, uncounted: 1 }) });
    expect(decided({ own: { tokens: 100 } }, alone)).toMatchObject({
      evidence: { tokens: 100, uncountedCalls: 1 },
    });
    expect(decided({ own: { usd: 10 } }, alone)).toMatchObject({ evidence: { usd: 10 } });
    const unknown = stateOf({ spend: spend({ usd: undefined }) });
    expect(decided({ own: { usd: 10 } }, unknown)).toMatchObject({ evidence: { usd: "unknown" } });
    expect(decided({ tokens: 100, own: { usd: 1 } }, alone)).toMatchObject({ reason: "token_budget" });
  });

  test("of the session counts all its runs, and lands the run that uses it up", () => {
    const before = spent({ tokens: 100, usd: 1, modelCalls: 4 });
    const state = (run: Partial<Run>): State => stateOf(run, { spentBefore: before });
    const second = { spend: spend({ tokens: 20, usd: 0.5 }), modelCalls: 2 };
    expect(decided({ session: { tokens: 121, usd: 1.6, modelCalls: 8 } }, state(second))).toBeUndefined();
    expect(decided({ session: { tokens: 120 } }, state(second))).toStrictEqual({
      do: "land",
      reason: "token_budget",
      evidence: { tokens: 120, max: 120, uncountedCalls: 0, session: true },
    });
    expect(decided({ session: { usd: 1.5 } }, state(second))).toStrictEqual({
      do: "land",
      reason: "cost_budget",
      evidence: { usd: 1.5, max: 1.5, session: true },
    });
    expect(decided({ session: { modelCalls: 7 } }, state(second))).toStrictEqual({
      do: "land",
      reason: "max_steps",
      evidence: { modelCalls: 6, max: 7, session: true },
    });
    const first = stateOf({ spend: spend({ tokens: 20 }), modelCalls: 1 });
    expect(decided({ session: { tokens: 20 } }, first)).toMatchObject({ do: "land" });
    expect(decided({ tokens: 20, session: { tokens: 20 } }, first)).toMatchObject({
      evidence: { tokens: 20, max: 20, uncountedCalls: 0 },
    });
  });

  test("of the session ends a run that has called no model at once if nothing is left, and lands it with the last call", () => {
    const fresh = (change: Partial<Spent>): State => stateOf({}, { spentBefore: spent(change) });
    expect(decided({ session: { tokens: 100 } }, fresh({ tokens: 99 }))).toBeUndefined();
    expect(decided({ session: { tokens: 100 } }, fresh({ tokens: 100 }))).toStrictEqual({
      do: "stop",
      reason: "token_budget",
      evidence: { tokens: 100, max: 100, uncountedCalls: 0, session: true },
    });
    expect(decided({ session: { modelCalls: 5 } }, fresh({ modelCalls: 3 }))).toBeUndefined();
    expect(decided({ session: { modelCalls: 5 } }, fresh({ modelCalls: 4 }))).toMatchObject({ do: "land" });
    expect(decided({ session: { modelCalls: 5 } }, fresh({ modelCalls: 5 }))).toMatchObject({ do: "stop" });
  });

  test("of the session leaves to sub-agents what neither the run's nor the session's limit takes", () => {
    const state = stateOf(
      { spend: spend({ tokens: 20, usd: 0.5 }), modelCalls: 2 },
      { spentBefore: spent({ tokens: 100, usd: 1, modelCalls: 4 }) },
    );
    const left = (limits: Parameters<typeof budget>[0]): unknown => budget(limits).left?.(undefined, state);
    expect(left({ session: { tokens: 150, usd: 2, modelCalls: 9 } })).toStrictEqual({
      tokens: 30,
      usd: 0.5,
      modelCalls: 2,
    });
    expect(left({ tokens: 40, session: { tokens: 150 } })).toStrictEqual({ tokens: 20 });
    expect(left({ tokens: 90, modelCalls: 5, session: { tokens: 150 } })).toStrictEqual({
      tokens: 30,
      modelCalls: 2,
    });
  });

  test("of time lands the run when it has passed, and cancels what is in flight", () => {
    expect(decided({ ms: 500 }, after(499))).toBeUndefined();
    for (const ms of [500, 501])
      expect(decided({ ms: 500 }, after(ms))).toStrictEqual({
        do: "land",
        reason: "deadline",
        evidence: { ms, max: 500 },
        cancel: true,
      });
    expect(decided({ tokens: 1 }, after(9_999))).toBeUndefined();
    expect(budget({ ms: 500 }).wakeAt?.(undefined, after(0))).toBe(1_500);
    expect(budget({ ms: 500 }).wakeAt?.(undefined, emptyState)).toBeUndefined();
    expect(budget({ tokens: 1 }).wakeAt?.(undefined, after(0))).toBeUndefined();
  });

  test("passes on what is not spent, and keeps a model call to land with", () => {
    const state = after(7, { spend: spend({ tokens: 100, usd: 10 }), modelCalls: 2, below });
    const left = (limits: Parameters<typeof budget>[0]): unknown => budget(limits).left?.(undefined, state);
    expect(left({ tokens: 150, usd: 12, ms: 500, modelCalls: 9 })).toStrictEqual({
      tokens: 50,
      usd: 2,
      modelCalls: 3,
      until: 1_500,
    });
    expect(left({ tokens: 150 })).toStrictEqual({ tokens: 50 });
    expect(left({ own: { tokens: 5 } })).toStrictEqual({});
  });

  test("in money is refused before the run if a model has no price", () => {
    const facts = (...prices: boolean[]): RunOptions =>
      options({
        models: prices.map((known, at) => ({
          id: `m${at}`,
          origin: { api: "a", provider: "p", model: "m" },
          facts: known ? { price: { input: 1, output: 1 } } : {},
        })) as RunOptions["models"],
      });
    expect(budget({ usd: 1 }).verify?.(facts(true, false, false))).toMatch(/none is known for m1, m2:/);
    expect(budget({ own: { usd: 1 } }).verify?.(facts(false))).toMatch(/for m0:/);
    expect(budget({ session: { usd: 1 } }).verify?.(facts(false))).toMatch(/for m0:/);
    expect(budget({ usd: 1 }).verify?.(facts(true))).toBeUndefined();
    expect(budget({ tokens: 1, own: { tokens: 1 } }).verify?.(facts(false))).toBeUndefined();
  });

  test("has numbers above 0", () => {
    expect(() => budget({ tokens: 0 })).toThrow("budget: option tokens: a number above 0 is needed, not 0");
    expect(() => budget({ own: { usd: -1 } })).toThrow(
      "budget: option own.usd: a number above 0 is needed, not -1",
    );
    expect(() => budget({ ms: "5" as never })).toThrow(
      'budget: option ms: a number above 0 is needed, not "5"',
    );
    expect(() => budget({ modelCalls: Number.NaN })).toThrow(RondoError);
    expect(() => budget({ token: 5 } as never)).toThrow(
      "option token: there is no such option; did you mean tokens?",
    );
    expect(budget({ usd: 0.001 })).toBeDefined();
  });
});

describe("a deadline", () => {
  test("lands the run when it has passed, and cancels what is in flight", () => {
    for (const rule of [deadline(2_000), deadline(new Date(2_000))]) {
      expect(rule).toMatchObject({ name: "deadline", version: 1 });
      expect(rule.decide?.(undefined, stateOf({}, { now: 1_999 }))).toBeUndefined();
      for (const now of [2_000, 2_001])
        expect(rule.decide?.(undefined, stateOf({}, { now }))).toStrictEqual({
          do: "land",
          reason: "deadline",
          evidence: { now, at: 2_000 },
          cancel: true,
        });
      expect(rule.wakeAt?.(undefined, emptyState)).toBe(2_000);
      expect(rule.left?.(undefined, emptyState)).toStrictEqual({ until: 2_000 });
    }
    for (const never of [new Date("never"), Number.POSITIVE_INFINITY, "tomorrow" as never])
      expect(() => deadline(never)).toThrow(/deadline: option when: a Date, or milliseconds since 1970, is/);
  });

  test("in the first years from 1970 on was meant as a duration", () => {
    expect(meantAsDuration(deadline(60_000))).toMatch(/^deadline\(60000\) counts from 1970/);
    expect(meantAsDuration(deadline(1e11 - 1))).toBeDefined();
    expect(meantAsDuration(deadline(1e11))).toBeUndefined();
    expect(meantAsDuration(maxSteps(3))).toBeUndefined();
  });
});

describe("a stop rule that is a function", () => {
  const seen: RunView[] = [];
  const state = stateOf(
    { startedAt, steps: 2, toolCalls: 3, lastText: "so", spend: spend({ tokens: 5, usd: 0.5 }) },
    { now: 1_400 },
  );
  const decided = (said: string | boolean | undefined, of: State = state): unknown =>
    stopWhen((run) => {
      seen.push(run);
      return said;
    }, "mine").decide?.(undefined, of);

  test("lands the run when it returns so, with what it returned", () => {
    for (const said of ["enough", true, ""])
      expect(decided(said)).toStrictEqual({
        do: "land",
        reason: "turn_stopped",
        evidence: { steps: 2, said },
      });
    expect(decided(false)).toBeUndefined();
    expect(decided(undefined)).toBeUndefined();
  });

  test("gets the run's progress", () => {
    decided(true);
    const { messages, ...view } = seen.at(-1) as RunView;
    expect(view).toStrictEqual({
      steps: 2,
      toolCalls: 3,
      tokens: 5,
      usage: {},
      usd: 0.5,
      ms: 400,
      lastText: "so",
    });
    expect([...messages]).toStrictEqual([userText("task")]);
  });

  test("may limit what the model writes, whatever it reads", async () => {
    const written = usage({ inputTokens: 1_000, outputTokens: 40 });
    const model = scripted((request) =>
      request.toolChoice === "none" ? say("so far") : [call("look"), written],
    );
    const wordy: StopRule = ({ usage }) => (usage.outputTokens ?? 0) >= 80;
    const { end, text } = await new Agent({
      model,
      tools: [echo("look")],
      repeats: null,
      rules: [wordy],
    }).run("go");
    expect([end?.rule, end?.evidence, text]).toEqual(["wordy", { steps: 2, said: true }, "so far"]);
  });

  test("is called from the first answer on", () => {
    const before = seen.length;
    expect(decided(true, stateOf({ steps: 0 }))).toBeUndefined();
    expect(decided(true, emptyState)).toBeUndefined();
    expect(seen).toHaveLength(before);
    expect(decided(true, stateOf({ steps: 1 }))).toMatchObject({ do: "land" });
  });

  test("ends the run at once if it says stop, and lands otherwise", () => {
    expect(stopWhen(() => "enough", { onLimit: "stop" }).decide?.(undefined, stateOf({ steps: 1 }))).toEqual({
      do: "stop",
      reason: "turn_stopped",
      evidence: { steps: 1, said: "enough" },
    });
    expect(stopWhen(() => true, { name: "mine" })).toMatchObject({ name: "mine" });
    expect(() => stopWhen(() => true, { onLimit: "error" as never })).toThrow(
      'stopWhen: option onLimit: one of land, stop is needed, not "error"',
    );
  });

  test("must not be a condition of the AI SDK, which gets a list of steps", () => {
    const listed: ((run: never) => unknown)[] = [
      ({ steps }: { steps: unknown[] & number }) => steps.toFixed(0) === "0" && steps.at(-1) === "done",
      ({ lastText, messages, steps }: { lastText: string; messages: unknown[]; steps: unknown[] }) =>
        lastText === "" && messages.length === 0 && steps.length > 2,
      async ({ steps }: { steps: unknown[] }) => steps.some(() => true),
    ];
    for (const stop of listed) expect(() => stopWhen(stop as never)).toThrow(/looks for a list of them/);
    expect(stopWhen(({ steps }) => steps.toFixed(0) === "3").name).toBe("stop_rule");
    expect(() => stopWhen((({ steps }: { steps: unknown[] }) => steps.length === 5) as never)).toThrow(
      "stopWhen: options: a stop rule is told how many steps there were, and this function looks for a list of them",
    );
  });

  test("is accepted whatever it does with the number of steps, even if it fails on a run that has not begun", () => {
    const rules: StopRule[] = [
      ({ steps }) => steps >= 5 || steps === 7 || `${steps}` === "9",
      ({ steps }) => steps.toFixed(1) === "5.0" || steps.valueOf() > 3,
      ({ steps, messages }) => [...messages].length > steps && [...messages][0]?.role === "user",
      ({ steps }) => {
        if (steps < 1) throw new Error("it has not begun");
        return true;
      },
      (async ({ steps }: { steps: number }) => Promise.reject(new Error(String(steps)))) as never,
    ];
    for (const rule of rules) expect(stopWhen(rule).name).toBe("stop_rule");
  });

  test("has the given name, or its own", () => {
    const enough = (): boolean => true;
    expect(stopWhen(enough)).toMatchObject({ name: "enough", version: 1 });
    expect(stopWhen(enough, "mine").name).toBe("mine");
    expect(stopWhen(() => true).name).toBe("stop_rule");
    for (const none of [undefined, null, {}])
      expect(() => stopWhen(none as never)).toThrow("stopWhen: options: a function is needed");
  });
});

describe("in a tree of agents", () => {
  const given = (amounts: Amounts, run: Partial<Run> = {}, now: number = 1_000): State =>
    stateOf({ parent: { session: "p", call: "1.0", depth: 1, budget: amounts }, ...run }, { now });
  const none = { refused: 0, turn: -1 };
  let rule = tree(4);
  beforeEach(() => {
    rule = tree(4);
  });

  test("a run lands if its share is spent, or its time has passed", () => {
    const decided = (state: State): unknown => rule.decide?.(none, state);
    expect(rule).toMatchObject({ name: "tree", version: 1 });
    expect(decided(emptyState)).toBeUndefined();
    expect(decided(stateOf())).toBeUndefined();
    expect(decided(given({}))).toBeUndefined();
    expect(
      decided(given({ tokens: 5, until: 2_000 }, { spend: spend({ tokens: 4 }) }, 1_999)),
    ).toBeUndefined();
    expect(decided(given({ tokens: 5 }, { spend: spend({ tokens: 5 }) }))).toStrictEqual({
      do: "land",
      reason: "token_budget",
      evidence: { tokens: 5, max: 5, uncountedCalls: 0, given: true },
    });
    for (const now of [2_000, 2_001])
      expect(decided(given({ until: 2_000 }, {}, now))).toStrictEqual({
        do: "land",
        reason: "deadline",
        evidence: { now, at: 2_000, given: true },
        cancel: true,
      });
    expect(rule.wakeAt?.(none, given({ until: 2_000 }))).toBe(2_000);
    for (const state of [emptyState, stateOf(), given({})])
      expect(rule.wakeAt?.(none, state)).toBeUndefined();
  });

  test("a run leaves its sub-agents its unspent share, and a limited number of them", () => {
    const left = (state: State): unknown => rule.left?.(none, state);
    const below = spent({ agents: 1, modelCalls: 3 });
    expect(left(stateOf())).toStrictEqual({ agents: 4 });
    expect(left(stateOf({ below }))).toStrictEqual({ agents: 3 });
    expect(left(given({}))).toStrictEqual({ agents: 4 });
    expect(left(given({ agents: 9 }))).toStrictEqual({ agents: 4 });
    expect(
      left(
        given(
          { agents: 3, modelCalls: 9, tokens: 50, usd: 2, until: 2_000 },
          { below, modelCalls: 2, spend: spend({ tokens: 20, usd: 0.5 }) },
        ),
      ),
    ).toStrictEqual({ agents: 2, modelCalls: 3, tokens: 30, usd: 1.5, until: 2_000 });
  });

  test("a run that requests sub-agents in vain in a second answer lands", () => {
    const agent = callOf("5.0", { tool: toolOf("write", { agent: { maxDepth: 1 } }) });
    const open = (seq: number, ...calls: (typeof agent)[]): State => {
      const state = acting(calls);
      return {
        ...state,
        run: { ...(state.run as Run), turn: { ...(state.run?.turn as NonNullable<Run["turn"]>), seq } },
      };
    };
    const ended = (code?: string, call: string = "5.0"): object => ({
      type: "tool_finished",
      call,
      result: { content: [], isError: true, ...(code === undefined ? {} : { code }) },
    });
    const first = afterAll(rule, [ended("limit"), ended("limit")], open(5, agent));
    expect(first).toStrictEqual({ refused: 1, turn: 5 });
    expect(rule.decide?.(first, stateOf())).toBeUndefined();
    const second = afterAll(rule, [ended("limit")], open(7, agent), first);
    expect(rule.decide?.(second, stateOf())).toStrictEqual({
      do: "land",
      reason: "tool_call_limit",
      evidence: { refusedTurns: 2, max: 2 },
    });
    const unmoved = (fact: object, before: State): unknown => afterOne(rule, none, recordOf(fact), before);
    expect(rule.init?.(emptyState)).toStrictEqual(none);
    expect(unmoved(ended("threw"), open(5, agent))).toBe(none);
    expect(unmoved(ended(), open(5, agent))).toBe(none);
    expect(unmoved(ended("limit", "5.1"), open(5, agent))).toBe(none);
    expect(unmoved(ended("limit"), open(5, callOf("5.0")))).toBe(none);
    expect(unmoved(ended("limit", "5.1"), open(5, callOf("5.0"), { ...agent, key: "5.1" }))).toStrictEqual({
      refused: 1,
      turn: 5,
    });
    const { tool: _tool, ...unknown } = agent;
    expect(unmoved(ended("limit"), open(5, unknown as typeof agent))).toBe(none);
    expect(unmoved(ended("limit"), open(5, { ...agent, child: {} as never }))).toBe(none);
    expect(unmoved(ended("limit"), stateOf())).toBe(none);
    expect(unmoved(ended("limit"), emptyState)).toBe(none);
    expect(unmoved({ type: "tool_started", call: "5.0", idempotencyKey: "k" }, open(5, agent))).toBe(none);
  });
});

test("a maxSteps among the rules uses its own onLimit, else the agent's, else it lands", () => {
  const doing = (rule: Rule, word?: OnLimit): unknown => {
    const { list } = resolve({
      model: scripted([]),
      rules: [rule],
      ...(word === undefined ? {} : { onLimit: word }),
    }).rules;
    const limits = list.filter(({ name }) => name === "max_steps");
    return limits.map((one) =>
      [1, 2].map((steps) => {
        const said = one.decide?.(undefined, stateOf({ steps }));
        return said?.do === "stop" ? (said.error?.message ?? "stop") : said?.do;
      }),
    );
  };
  expect(doing(maxSteps(2), "stop")).toStrictEqual([[undefined, "stop"]]);
  expect(doing(maxSteps(2, { message: "so far" }), "error")).toStrictEqual([[undefined, "so far"]]);
  expect(doing(maxSteps(2, { onLimit: "land" }), "stop")).toStrictEqual([[undefined, "land"]]);
  expect(doing(maxSteps(2))).toStrictEqual([[undefined, "land"]]);
  const mine = maxSteps(2);
  expect(underWord(mine, undefined)).toBe(mine);
});

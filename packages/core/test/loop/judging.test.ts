// How a turn is judged, which tools are offered, what a call costs: the pure rooms, on states made by hand.

import type { Message, Rule, Rules, Run, Usage } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { judgeTurn } from "../../src/loop/deciding/judge.ts";
import { isSameModel, placeOf } from "../../src/loop/folding/same-model.ts";
import { spendMore } from "../../src/loop/folding/spend.ts";
import { Log } from "../../src/loop/log.ts";
import { definitionsOf, knownTools, offeredTools } from "../../src/loop/offered-tools.ts";
import type { Spend } from "../../src/loop/state.ts";
import { tokensOf } from "../../src/message.ts";
import { answerOf, callOf, options, rules, stateOf, toolOf, unknownCall } from "./support.ts";

type Bare = Omit<Rule, "version">;
const withRules = (...list: Bare[]): Rules => ({
  ...rules,
  list: list.map((rule) => ({ version: 1, ...rule })),
});
const none = withRules();
const { texts } = rules;
const error = { kind: "internal", message: "it broke", retryable: false } as const;
const failure = { error, at: 1, rand: 0.5 };
const words = (text: string): ReturnType<typeof answerOf> => answerOf([{ type: "text", text }]);
const turn = (change: Partial<NonNullable<Run["turn"]>> = {}): Run["turn"] => ({
  seq: 5,
  message: words("so"),
  calls: [callOf("5.0"), callOf("5.1")],
  ...change,
});

/** A rule that judges so; with the memory it was given where it is asked for that. */
const judging = (judgement: object | undefined, name: string = "judge"): Bare => ({
  name,
  judge: () => judgement as never,
});
const because = { evidence: { seen: 1 } };

describe("a turn is judged", () => {
  test("by the first rule that decides, with its own memory and the texts", () => {
    const asked: unknown[] = [];
    const speaking: Bare = {
      name: "second",
      judge: (...given) => {
        asked.push(given[0], given[2]);
        return { follows: { do: "act" }, ...because };
      },
    };
    const judged = judgeTurn(
      stateOf({ turn: turn() }, { memories: ["a", "b", "c", "d"] }),
      withRules(
        { name: "mute" },
        judging(undefined),
        speaking,
        judging({ follows: { do: "finish" }, ...because }),
      ),
    );
    expect(judged).toStrictEqual({
      type: "turn_judged",
      verdicts: [{ do: "run" }, { do: "run" }],
      follows: { do: "act" },
      store: true,
      rule: "second",
      ...because,
    });
    expect(asked).toStrictEqual(["c", texts]);
  });

  test("as final if no rule decides, or as the end if it failed", () => {
    expect(judgeTurn(stateOf({ turn: turn({ calls: [] }) }), none)).toStrictEqual({
      type: "turn_judged",
      verdicts: [],
      follows: { do: "finish" },
      store: true,
      rule: "default",
      evidence: {},
    });
    expect(judgeTurn(stateOf({ failure }), none)).toStrictEqual({
      type: "turn_judged",
      verdicts: [],
      follows: { do: "stop", reason: "error", error },
      store: false,
      rule: "default",
      evidence: {},
    });
  });

  test("and none of its calls runs if the run stops or finishes there", () => {
    const not = { do: "answer", code: "not_executed", text: texts.notExecuted("write") };
    for (const follows of [{ do: "finish" }, { do: "stop", reason: "refused" }]) {
      const judged = judgeTurn(stateOf({ turn: turn() }), withRules(judging({ follows, ...because })));
      expect(judged.verdicts).toStrictEqual([not, not]);
    }
  });

  test("and its calls run if the answer is kept and the model is not asked again", () => {
    const runs = (judgement: object): unknown[] =>
      judgeTurn(stateOf({ turn: turn() }), withRules(judging({ ...because, ...judgement }))).verdicts.map(
        (verdict) => verdict.do,
      );
    expect(runs({ follows: { do: "act" } })).toStrictEqual(["run", "run"]);
    expect(runs({ follows: { do: "act" }, store: false })).toStrictEqual(["run", "run"]);
    expect(runs({ follows: { do: "ask_again" }, store: true })).toStrictEqual(["run", "run"]);
    expect(runs({ follows: { do: "ask_again" } })).toStrictEqual(["answer", "answer"]);
  });

  test("and all its calls get the result that the rule gives", () => {
    const answerAll = { code: "truncated_args", text: ({ key }: { key: string }) => `no ${key}` };
    const judged = judgeTurn(
      stateOf({ turn: turn() }),
      withRules(judging({ follows: { do: "act" }, answerAll, ...because })),
    );
    expect(judged.verdicts).toStrictEqual([
      { do: "answer", code: "truncated_args", text: "no 5.0" },
      { do: "answer", code: "truncated_args", text: "no 5.1" },
    ]);
  });

  test("and is stored, unless the model is asked again, or the rule says otherwise", () => {
    const stored = (judgement: object, run: object = { turn: turn() }): boolean =>
      judgeTurn(stateOf(run), withRules(judging({ ...because, ...judgement }))).store;
    expect(stored({ follows: { do: "act" } })).toBe(true);
    expect(stored({ follows: { do: "ask_again" } })).toBe(false);
    expect(stored({ follows: { do: "ask_again" }, store: true })).toBe(true);
    expect(stored({ follows: { do: "act" }, store: false })).toBe(false);
    expect(stored({ follows: { do: "ask_again" }, store: true }, { failure })).toBe(false);
  });

  test("and its calls are left to the caller if tools do not run by themselves", () => {
    const act = judging({ follows: { do: "act" }, ...because });
    const auto = (autoExecuteTools: boolean, rule = act): object =>
      judgeTurn(stateOf({ turn: turn() }, {}, { autoExecuteTools }), withRules(rule));
    expect(auto(false)).toMatchObject({
      follows: { do: "stop", reason: "requires_action" },
      rule: "auto_execute_tools",
      ...because,
    });
    expect(auto(true)).toMatchObject({ follows: { do: "act" }, rule: "judge" });
    expect(auto(false, judging({ follows: { do: "finish" }, ...because }))).toMatchObject({
      follows: { do: "finish" },
      rule: "judge",
    });
    const answerAll = { code: "truncated_args", text: () => "no" };
    expect(auto(false, judging({ follows: { do: "act" }, answerAll, ...because }))).toMatchObject({
      follows: { do: "act" },
      rule: "judge",
    });
  });
});

describe("a landing turn", () => {
  const landing = { reason: "max_steps" as const, rule: "steps", evidence: { limit: 3 } };
  const limit = { do: "answer", code: "limit", text: texts.limitRefusal("write", "max_steps") };
  const landed = (run: object, by: Rules = none, change: object = {}): object =>
    judgeTurn(stateOf({ landing, ...run }, {}, change), by);

  test("is the last one, whatever is in it: its calls are refused", () => {
    const act = withRules(judging({ follows: { do: "act" }, ...because }));
    expect(landed({ turn: turn({ lands: true }) }, act)).toStrictEqual({
      type: "turn_judged",
      verdicts: [limit, limit],
      follows: { do: "stop", reason: "max_steps" },
      store: true,
      rule: "steps",
      evidence: { limit: 3 },
    });
  });

  test("differs from one that was requested before: that is the last one if it is an answer", () => {
    const before = (change: object, more: object = {}): unknown => landed({ turn: turn(change) }, none, more);
    const goesOn = { follows: { do: "act" }, store: true, rule: "steps" };
    expect(before({})).toMatchObject({ ...goesOn, verdicts: [limit, limit] });
    expect(before({ message: words(" "), calls: [] })).toMatchObject({ ...goesOn, store: false });
    const last = { follows: { do: "stop", reason: "max_steps" } };
    expect(before({ calls: [] })).toMatchObject(last);
    expect(
      before({ message: answerOf([], { stop: { kind: "refusal" } as never }), calls: [] }),
    ).toMatchObject(last);
    expect(before({ calls: [] }, { output: { schema: {}, decodeRetries: 0 } })).toMatchObject(goesOn);
    expect(before({}, { landing: { keepOut: true } })).toMatchObject(goesOn);
    expect(before({ calls: [] }, { landing: { keepOut: true } })).toMatchObject({ ...last, store: true });
  });

  test("is stored if it has text that may be in the history", () => {
    const stored = (message: object, change: object = {}): unknown =>
      (
        landed({ turn: turn({ message: message as never, calls: [], lands: true }) }, none, change) as {
          store: boolean;
        }
      ).store;
    expect(stored(words("so"))).toBe(true);
    expect(stored(words(" \n"))).toBe(false);
    expect(stored(answerOf([]))).toBe(false);
    expect(stored(answerOf([{ type: "reasoning", text: "hm" } as never]))).toBe(false);
    const call = { type: "tool_call", id: "1", name: "write", args: {}, rawArgs: "{}" };
    expect(stored(answerOf([{ type: "text", text: " " }, call as never]))).toBe(true);
    for (const kind of ["refusal", "content_filter", "malformed_call"] as const)
      expect(stored(answerOf([{ type: "text", text: "so" }], { stop: { kind } as never }))).toBe(false);
    expect(stored(words("so"), { landing: { keepOut: true } })).toBe(false);
    expect(stored(words("so"), { landing: { keepOut: false } })).toBe(true);
    expect(judgeTurn(stateOf({ landing }), none).store).toBe(false);
  });

  test("whose answer a rule withholds has the text for that, or else that of the answer before", () => {
    const withholding = withRules(judging({ follows: { do: "ask_again" }, store: false, ...because }));
    const text = (landed: (reason: string, said?: string) => string | undefined): unknown =>
      judgeTurn(stateOf({ landing, lastText: "before", turn: turn({ calls: [], lands: true }) }), {
        ...withholding,
        texts: { ...texts, landed },
      });
    expect(text(() => undefined)).toMatchObject({
      follows: { text: "before" },
      store: false,
      withheld: true,
    });
    expect(text((_reason, said) => said ?? "out of steps")).toMatchObject({
      follows: { text: "out of steps" },
    });
  });

  test("that failed is retried as the rules say, but not for ever", () => {
    const again = judging({ follows: { do: "ask_again", until: 5 }, ...because }, "retry");
    const act = judging({ follows: { do: "act" }, ...because }, "act");
    const retried = (failures: number, ...list: Bare[]): object =>
      landed({ failure, failures }, withRules(...list));
    expect(retried(0, { name: "mute" }, act, again)).toMatchObject({
      follows: { do: "ask_again", until: 5 },
      rule: "retry",
      store: false,
      ...because,
    });
    expect(retried(1, again)).toMatchObject({ follows: { do: "ask_again" } });
    expect(retried(2, again)).toMatchObject({ follows: { do: "stop", reason: "max_steps" } });
    expect(retried(0, act)).toMatchObject({ follows: { do: "stop", reason: "max_steps" }, rule: "steps" });
  });

  test("that failed ends with the failure, or with the text for it", () => {
    const quiet = { ...none, texts: { ...texts, landed: () => undefined } };
    const worded = {
      ...none,
      texts: { ...texts, landed: (_reason: string, said?: string) => said ?? "out of steps" },
    };
    expect(landed({ failure }, quiet)).toMatchObject({
      follows: { do: "stop", reason: "max_steps", error },
      rule: "steps",
      evidence: { limit: 3 },
      store: false,
    });
    expect(landed({ failure }, worded)).toMatchObject({
      follows: { do: "stop", reason: "max_steps", text: "out of steps" },
      evidence: { limit: 3, error: "it broke" },
    });
    expect(landed({ failure }, worded)).not.toHaveProperty("follows.error");
    const aborted = { ...failure, error: { ...error, kind: "aborted" } };
    expect(landed({ failure: aborted }, worded)).toMatchObject({ follows: { error: { kind: "aborted" } } });
    expect(landed({ turn: turn({ calls: [] }) }, worded)).toMatchObject({ follows: { text: "so" } });
    expect(landed({ turn: turn({ calls: [] }) }, quiet)).not.toHaveProperty("follows.text");
  });
});

describe("a call is judged", () => {
  const act = judging({ follows: { do: "act" }, ...because });
  const verdict = (call: ReturnType<typeof callOf>, change: object = {}, ...list: Bare[]): unknown =>
    judgeTurn(
      stateOf({ turn: turn({ calls: [call] }) }, { memories: [0, 1, 2, 3] }, change),
      withRules(act, ...list),
    ).verdicts[0];
  const answer = (code: string, text: string): object => ({ do: "answer", code, text });
  const bad = { ok: false, error: "at is missing", code: "invalid_args" } as const;

  test("to run, if nothing prevents it", () => {
    expect(verdict(callOf("5.0"))).toStrictEqual({ do: "run" });
  });

  test("as not allowed, if the request's tool choice was another, unless such calls are to run", () => {
    for (const toolChoice of ["none", { tool: "read" }]) {
      expect(verdict(callOf("5.0"), { toolChoice })).toMatchObject({ do: "answer" });
      expect(verdict(callOf("5.0"), { toolChoice, disallowedCalls: "run" })).toStrictEqual({ do: "run" });
    }
  });

  test("as one too many, by its position in the answer", () => {
    const calls = (["5.0", "5.1", "5.2", "5.3", "5.4"] as const).map((key) => callOf(key));
    const state = stateOf({ turn: turn({ calls }) }, { memories: [0] }, { maxCallsPerTurn: 3 });
    const tooMany = answer("too_many_calls", texts.tooManyCalls("write", 3));
    const run = { do: "run" };
    expect(judgeTurn(state, withRules(act)).verdicts).toStrictEqual([run, run, run, tooMany, tooMany]);
  });

  test("as one of an unknown tool, with the known ones", () => {
    const unknown = { ok: false, error: "no such tool", code: "unknown_tool" } as const;
    const said = answer("unknown_tool", texts.unknownTool("nobody", ["read", "write", "guarded"], undefined));
    expect(verdict(unknownCall("5.0", { check: unknown }))).toStrictEqual(said);
    expect(verdict(unknownCall("5.0", { check: unknown, argsError: "cut off" }))).toStrictEqual(said);
  });

  test("as unreadable, or as not fitting", () => {
    expect(verdict(callOf("5.0", { check: bad, argsError: "cut off", rawArgs: '{"at' }))).toStrictEqual(
      answer("invalid_args", texts.badJson("write", "cut off", '{"at')),
    );
    expect(verdict(callOf("5.0", { check: bad }))).toStrictEqual(
      answer("invalid_args", texts.invalidArgs("write", "at is missing")),
    );
    expect(verdict(callOf("5.0", { argsError: "cut off" }))).toStrictEqual({ do: "run" });
  });

  test("by the first rule that decides, with its own memory", () => {
    const says = (name: string, code: string): Bare => ({
      name,
      judgeCall: (memory, call) =>
        call.key === "5.0" ? ({ do: "answer", code, text: String(memory) } as never) : undefined,
    });
    expect(
      verdict(callOf("5.0"), {}, { name: "mute" }, says("one", "limit"), says("two", "denied")),
    ).toStrictEqual({
      rule: "one",
      ...answer("limit", "2"),
    });
    expect(verdict(callOf("5.1"), {}, says("one", "limit"))).toStrictEqual({ do: "run" });
  });
});

describe("the tools offered to a model", () => {
  const names = (run: object, change: object = {}, more: object = {}): string[] =>
    offeredTools(stateOf(run, more, change)).map(({ definition }) => definition.name);

  test("are all, without the hidden ones, or only the chosen ones", () => {
    expect(names({})).toStrictEqual(["read", "write", "guarded"]);
    expect(names({ hidden: ["write"] })).toStrictEqual(["read", "guarded"]);
    expect(names({ prepared: { step: 1 } })).toStrictEqual(["read", "write", "guarded"]);
    expect(names({ prepared: { step: 1, tools: ["guarded", "read"] } })).toStrictEqual(["read", "guarded"]);
    expect(names({ prepared: { step: 1, tools: [] } })).toStrictEqual([]);
    expect(names({ prepared: { step: 2, tools: ["read"] } })).toStrictEqual(["read", "write", "guarded"]);
    expect(names({ hidden: ["read"], prepared: { step: 1, tools: ["guarded", "read"] } })).toStrictEqual([
      "guarded",
    ]);
    const { options: _options, ...bare } = stateOf();
    expect(knownTools(bare)).toStrictEqual([]);
  });

  test("in a landing, about which no hook is asked, are those that were chosen last", () => {
    const landing = { rule: "budget", reason: "no money", text: "t", at: 1 };
    const prepared = { step: 1, tools: ["read"] };
    expect(names({ steps: 1, prepared })).toStrictEqual(["read", "write", "guarded"]);
    expect(names({ steps: 1, prepared, landing })).toStrictEqual(["read"]);
  });

  test("include the reader tools once there is a full text to read", () => {
    const tools = [toolOf("read"), toolOf("reader", { when: "capped" })];
    expect(names({}, { tools })).toStrictEqual(["read"]);
    expect(names({}, { tools }, { readable: true })).toStrictEqual(["read", "reader"]);
  });

  test("include those that results have offered, after all others and in that order", () => {
    const offered = { when: "offered" } as const;
    const late = [
      toolOf("a", offered),
      toolOf("read"),
      toolOf("b", offered),
      toolOf("reader", { when: "capped" }),
    ];
    expect(names({}, { tools: late })).toStrictEqual(["read"]);
    expect(names({}, { tools: late }, { readable: true })).toStrictEqual(["read", "reader"]);
    // A name of no tool, and one of a tool that waits for something else, are no offers.
    const state = { offered: ["b", "gone", "reader", "read", "a"] };
    expect(names({}, { tools: late }, state)).toStrictEqual(["read", "b", "a"]);
    expect(names({}, { tools: late }, { ...state, readable: true })).toStrictEqual([
      "read",
      "reader",
      "b",
      "a",
    ]);
    expect(names({ hidden: ["b"] }, { tools: late }, state)).toStrictEqual(["read", "a"]);
    expect(names({ hidden: ["read"] }, { tools: late })).toStrictEqual([]);
    const prepared = { step: 1, tools: ["a", "reader", "read"] };
    expect(names({ prepared }, { tools: late })).toStrictEqual(["read", "a"]);
    expect(names({ prepared, hidden: ["a"] }, { tools: late })).toStrictEqual(["read"]);
    expect(names({ prepared }, { tools: late }, state)).toStrictEqual(["read", "a"]);
    const once = stateOf({}, state, { tools: late });
    expect(knownTools({ ...once, readable: true })).toBe(knownTools({ ...once, readable: true }));
    expect(knownTools(once)).toBe(knownTools({ ...once, seq: 99 }));
  });

  test("are the same list as long as the options are, so that identity can be compared", () => {
    const { tools } = options();
    expect(offeredTools(stateOf({}, {}, { tools }))).toBe(tools);
    expect(knownTools(stateOf({}, {}, { tools }))).toBe(tools);
    const mixed = [toolOf("read"), toolOf("reader", { when: "capped" })];
    expect(knownTools(stateOf({}, {}, { tools: mixed }))).toBe(knownTools(stateOf({}, {}, { tools: mixed })));
    expect(definitionsOf(tools)).toBe(definitionsOf(tools));
    expect(definitionsOf(tools)).toStrictEqual(tools.map(({ definition }) => definition));
  });
});

describe("the cost of a model call", () => {
  const price = { input: 2, output: 10, cachedInput: 1, cacheWrite: 4 };
  const priced = (facts: object): object => ({ models: [{ id: "m", origin: words("").origin, facts }] });
  const spend = { usage: { inputTokens: 1 }, tokens: 3, usd: 0.5, uncounted: 1 };
  const more = (
    usage: Usage | undefined,
    facts: object = { price },
    failed?: boolean,
    before: object = spend,
  ): object => {
    const state = stateOf({ spend: before as never }, {}, priced(facts));
    return spendMore(state, state.run as Run, failed === true ? { usage } : said(usage));
  };
  const said = (usage: Usage | undefined) =>
    answerOf([{ type: "text", text: "word ".repeat(80) }], usage === undefined ? {} : { usage });
  /** The spending after an answer that nobody counted. */
  const uncounted = { ...spend, uncounted: 2, estimated: expect.any(Number) };

  test("is added to the spending, each kind of token at its price", () => {
    const usage = {
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      cachedInputTokens: 300_000,
      cacheWriteTokens: 200_000,
    };
    expect(more(usage)).toStrictEqual({
      usage: {
        inputTokens: 1_000_001,
        outputTokens: 100_000,
        cachedInputTokens: 300_000,
        cacheWriteTokens: 200_000,
      },
      tokens: 1_100_003,
      usd: 0.5 + 1 + 0.3 + 0.8 + 1,
      uncounted: 1,
    });
    expect(more(usage, { price: { input: 2, output: 10 } })).toMatchObject({ usd: 0.5 + 2 + 1 });
    expect(more({ inputTokens: 1_000_000 })).toMatchObject({ tokens: 1_000_003, usd: 2.5 });
    expect(more({ outputTokens: 1_000_000 }, { price }, true)).toMatchObject({
      tokens: 1_000_003,
      usd: 10.5,
    });
    expect(more({ inputTokens: 10, cachedInputTokens: 1_000_000 })).toMatchObject({ usd: 1.5 });
  });

  test("has the price of its request's length, for all of its tokens", () => {
    const longPrompts = [
      { above: 300_000, input: 6, output: 30, cachedInput: 3, cacheWrite: 12 },
      { above: 100_000, input: 4, output: 20 },
    ];
    const of = (usage: Usage): number | undefined =>
      (more(usage, { price: { ...price, longPrompts } }, false, { ...spend, usd: 0 }) as Spend).usd;
    expect(of({ inputTokens: 100_000, outputTokens: 100_000 })).toBeCloseTo(0.2 + 1);
    expect(of({ inputTokens: 100_001, outputTokens: 100_000 })).toBeCloseTo(0.4 + 2);
    // What the cache held counts for the length. Without a price of its own it has that of the input.
    expect(of({ inputTokens: 200_000, cachedInputTokens: 150_000 })).toBeCloseTo(0.8);
    expect(of({ inputTokens: 400_000, cachedInputTokens: 300_000, cacheWriteTokens: 100_000 })).toBeCloseTo(
      0.9 + 1.2,
    );
  });

  test("has the price of an hour for what is cached for one, as far as the provider says so", () => {
    const of = (usage: Usage, its: object): number | undefined =>
      (more(usage, { price: its }, false, { ...spend, usd: 0 }) as Spend).usd;
    const mixed = { inputTokens: 1_000_000, cacheWriteTokens: 1_000_000, cacheWrite1hTokens: 400_000 };
    expect(of(mixed, { ...price, cacheWrite1h: 6 })).toBeCloseTo(0.6 * 4 + 0.4 * 6);
    expect(of(mixed, price)).toBeCloseTo(4);
    expect(of(mixed, { input: 2, output: 10 })).toBeCloseTo(2);
    // A count that is more than all that was written is no more than that.
    expect(of({ ...mixed, cacheWrite1hTokens: 2_000_000 }, { ...price, cacheWrite1h: 6 })).toBeCloseTo(6);
  });

  test("is not zero for a model that is free only for short prompts", () => {
    const longPrompts = [{ above: 100_000, input: 1, output: 1 }];
    expect(more(undefined, { price: { input: 0, output: 0, longPrompts } })).toMatchObject({
      usd: undefined,
    });
    expect(
      more(undefined, { price: { input: 0, output: 0, longPrompts: [{ above: 9, input: 0, output: 0 }] } }),
    ).toMatchObject({ usd: spend.usd });
  });

  test("is unknown from the first call on that has no price, or no count", () => {
    expect(more({ inputTokens: 1 }, {})).toMatchObject({ tokens: 4, usd: undefined, uncounted: 1 });
    expect(more({ inputTokens: 1 }, { price }, false, { ...spend, usd: undefined })).toMatchObject({
      usd: undefined,
    });
    expect(more(undefined)).toStrictEqual({ ...uncounted, usd: undefined });
    expect(more({})).toStrictEqual({ ...uncounted, usd: undefined });
    expect(more({ cachedInputTokens: 5 })).toStrictEqual({ ...uncounted, usd: undefined });
  });

  test("is unknown if its request had no tokens, as servers say that did not count; the rest is estimated", () => {
    expect(more({ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 })).toStrictEqual({
      ...uncounted,
      usd: undefined,
    });
    const { estimated } = more({ inputTokens: 0, outputTokens: 0 }) as Spend;
    for (const usage of [{ outputTokens: 50 }, { inputTokens: 0, outputTokens: 50, reasoningTokens: 0 }]) {
      const told = more(usage) as Spend;
      expect(told).toStrictEqual({
        ...uncounted,
        usage: { ...spend.usage, outputTokens: 50 },
        tokens: spend.tokens + 50,
        usd: undefined,
      });
      expect(told.estimated).toBeLessThan(estimated ?? 0);
    }
    expect(more({ inputTokens: 0, outputTokens: 50 }, { price: { input: 0, output: 0 } })).toMatchObject({
      usd: 0.5,
    });
  });

  test("is zero for a free model, even without a count", () => {
    expect(more(undefined, { price: { input: 0, output: 0 } })).toStrictEqual(uncounted);
    expect(more(undefined, { price: { input: 0, output: 1 } })).toMatchObject({ usd: undefined });
    expect(more(undefined, { price: { input: 1, output: 0 } })).toMatchObject({ usd: undefined });
    expect(more(undefined, {})).toMatchObject({ usd: undefined });
  });

  test("is zero for a failed call without a count, and counts with one", () => {
    expect(more(undefined, { price }, true)).toStrictEqual(spend);
    expect(more({ inputTokens: 1_000_000 }, { price }, true)).toMatchObject({ usd: 2.5 });
  });

  describe("of a call that broke off", () => {
    const partial = answerOf([{ type: "text", text: "word ".repeat(8_004) }]);
    const history = Log.of<Message>([
      { role: "user", content: [{ type: "text", text: "word ".repeat(4_000) }] },
    ]);
    const free = { usage: {}, tokens: 0, usd: 0, uncounted: 0 };
    const broken = (
      usage: Usage | undefined,
      facts: object = { price },
      came: object = { partial },
    ): Spend => {
      const state = stateOf({ spend: free }, { history }, priced(facts));
      return spendMore(state, state.run as Run, { usage, ...came });
    };

    test("is estimated as far as nobody counted what had arrived", () => {
      const { tokens, estimated = 0, usd, uncounted, usage } = broken(undefined);
      expect({ tokens, uncounted, usage }).toStrictEqual({ tokens: 0, uncounted: 1, usage: {} });
      expect(estimated).toBeGreaterThan(10_000);
      expect(estimated).toBeLessThan(20_000);
      // Between the prices of input and of output.
      expect(usd).toBeGreaterThan((estimated * price.input) / 1_000_000);
      expect(usd).toBeLessThan((estimated * price.output) / 1_000_000);
    });

    test("has the request's count, where the stream began with it, and an estimate of the answer", () => {
      const {
        tokens,
        estimated = 0,
        usd,
        uncounted,
        usage,
      } = broken({ inputTokens: 5_000, outputTokens: 1 });
      expect({ tokens, uncounted, usage }).toStrictEqual({
        tokens: 5_001,
        uncounted: 1,
        usage: { inputTokens: 5_000, outputTokens: 1 },
      });
      expect(estimated).toBeGreaterThan(7_000);
      expect(estimated).toBeLessThan(12_000);
      expect(usd).toBeCloseTo((5_000 * price.input + (estimated + 1) * price.output) / 1_000_000);
    });

    test("is estimated up to what was counted, unless that is half of it or more", () => {
      const at = (outputTokens: number): number | undefined =>
        broken({ inputTokens: 5_000, outputTokens }).estimated;
      const arrived = at(0) ?? 0;
      expect(at(1)).toBe(arrived - 1);
      const half = Math.ceil(arrived / 2);
      expect(arrived % 2).toBe(0);
      expect(at(half)).toBeUndefined();
      expect(at(half - 1)).toBe(arrived - half + 1);
    });

    test("is what the provider counted, if it counted what had arrived", () => {
      const usage = { inputTokens: 5_000, outputTokens: 6_000 };
      expect(broken(usage)).toStrictEqual({ ...free, usage, tokens: 11_000, usd: 0.07 });
    });

    test("has an estimate of the request, if only the answer was counted", () => {
      const { estimated } = broken({ outputTokens: 9_000 });
      expect(estimated).toBeGreaterThan(3_500);
      expect(estimated).toBeLessThan(7_000);
    });

    test("has an estimate of the request, if only thoughts had arrived, which are not kept", () => {
      const { estimated = 0, usd } = broken(undefined, { price }, { shown: true });
      expect(estimated).toBeGreaterThan(3_500);
      expect(estimated).toBeLessThan(7_000);
      expect(usd).toBeCloseTo((estimated * price.input) / 1_000_000);
      const usage = { inputTokens: 5_000 };
      expect(broken(usage, { price }, { shown: true })).toMatchObject({ tokens: 5_000, uncounted: 0 });
    });

    test("is nothing if nothing had arrived, and unknown in money without a price", () => {
      expect(broken(undefined, { price }, {})).toStrictEqual(free);
      expect(broken({ cachedInputTokens: 5 }, { price }, {})).toStrictEqual(free);
      expect(broken(undefined, { price }, { partial: answerOf([]) })).toStrictEqual(free);
      expect(broken(undefined, {})).toMatchObject({ usd: undefined, uncounted: 1 });
    });
  });

  test("of an unknown model is in tokens only", () => {
    const state = stateOf({ spend, model: 7 });
    expect(spendMore(state, state.run as Run, said({ inputTokens: 5 }))).toMatchObject({
      tokens: 8,
      usd: undefined,
    });
    expect(spendMore(state, state.run as Run, said(undefined))).toMatchObject({
      uncounted: 2,
      usd: undefined,
    });
  });

  test("is estimated in tokens if nobody counted them: the history that was sent, and the answer", () => {
    const text = "word ".repeat(4_000);
    const history = Log.of<Message>([{ role: "user", content: [{ type: "text", text }] }]);
    const estimatedAfter = (change: object, before: object = spend): number | undefined => {
      const state = stateOf({ spend: before as never }, change, priced({}));
      return spendMore(state, state.run as Run, said(undefined)).estimated;
    };
    const short = estimatedAfter({ history: Log.of<Message>([]) }) ?? 0;
    const long = estimatedAfter({ history }) ?? 0;
    expect(short).toBeGreaterThan(80);
    expect(long - short).toBeGreaterThan(3_500);
    expect(long - short).toBeLessThan(7_000);
    expect(estimatedAfter({ history }, { ...spend, estimated: 10 })).toBe(long + 10);
    expect(more({ inputTokens: 5 }, { price }, false, { ...spend, estimated: 10 })).toMatchObject({
      tokens: 8,
      estimated: 10,
    });
  });

  test("in tokens is known if either side was counted", () => {
    expect(tokensOf({ inputTokens: 2, outputTokens: 3 })).toBe(5);
    expect(tokensOf({ inputTokens: 2 })).toBe(2);
    expect(tokensOf({ outputTokens: 3 })).toBe(3);
    expect(tokensOf({})).toBeUndefined();
    expect(tokensOf(undefined)).toBeUndefined();
  });
});

describe("which model is which", () => {
  const model = (
    id: string,
    change: object = {},
  ): { id: string; origin: { api: string; provider: string; model: string } } => ({
    id,
    origin: { api: "a", provider: "p", model: "m", ...change },
  });

  test("is determined by its id and its origin", () => {
    expect(isSameModel(model("x"), model("x"))).toBe(true);
    expect(isSameModel(model("x"), model("y"))).toBe(false);
    for (const other of [{ api: "b" }, { provider: "q" }, { model: "n" }])
      expect(isSameModel(model("x"), model("x", other))).toBe(false);
  });

  test("is looked up at its index first, and then anywhere", () => {
    const list = [model("x"), model("y"), model("x")];
    expect(placeOf(list, model("x"), 2)).toBe(2);
    expect(placeOf(list, model("x"), 1)).toBe(0);
    expect(placeOf(list, model("y"), 9)).toBe(1);
    expect(placeOf(list, model("z"), 0)).toBe(-1);
    expect(placeOf(list, undefined, 0)).toBe(-1);
  });
});

// What a run gives its sub-agents to spend, and what it knows of them: the pure rooms, on states made by hand.

import type { Amounts, Call, Rule, Rules, Spent } from "@rondo/core";
import { describe, expect, test } from "vitest";
import {
  addSpent,
  freeAmounts,
  leftOf,
  nothingSpent,
  sharesOf,
  spentBy,
  spentSince,
  tighter,
  waitingInside,
} from "../../src/loop/children.ts";
import { countChild, parkChild, passAnswer, rollUp, startChild } from "../../src/loop/folding/children.ts";
import type { Run } from "../../src/loop/state.ts";
import { acting, callOf, finished, recordOf, rules, stateOf, toolOf } from "./support.ts";

const leaving = (...left: (Amounts | undefined)[]): Rules => ({
  ...rules,
  list: left.map((amounts, at): Rule => ({ name: `rule ${at}`, version: 1, left: () => amounts })),
});
const spent = (change: Partial<Spent> = {}): Spent => ({ ...nothingSpent, ...change });
const all = {
  usage: { inputTokens: 3, outputTokens: 1 },
  tokens: 4,
  usd: 0.5,
  uncounted: 1,
  modelCalls: 2,
  agents: 3,
};
const agent = (change: object = {}, key: Call["key"] = "5.0", more: Partial<Call> = {}): Call =>
  callOf(key, { tool: toolOf("write", { agent: { maxDepth: 2, ...change } }), ...more });
type Child = NonNullable<Call["child"]>;
const child = (change: Partial<Child> = {}): Child => ({
  session: "c",
  reserved: {},
  spent: nothingSpent,
  parked: false,
  waiting: [],
  answers: [],
  told: 0,
  ...change,
});

describe("spending", () => {
  test("is added up by kind; money is unknown if either is", () => {
    expect(addSpent(spent(all), spent(all))).toStrictEqual({
      usage: { inputTokens: 6, outputTokens: 2 },
      tokens: 8,
      usd: 1,
      uncounted: 2,
      modelCalls: 4,
      agents: 6,
    });
    const { usd: _usd, ...unknown } = all;
    expect(addSpent(unknown, all)).not.toHaveProperty("usd");
    expect(addSpent(all, unknown)).not.toHaveProperty("usd");
  });

  test("since the last report is the difference", () => {
    const more = {
      usage: { inputTokens: 9, cachedInputTokens: 1 },
      tokens: 9,
      usd: 2,
      uncounted: 3,
      modelCalls: 7,
      agents: 8,
    };
    expect(spentSince(more, all)).toStrictEqual({
      usage: { inputTokens: 6, cachedInputTokens: 1 },
      tokens: 5,
      usd: 1.5,
      uncounted: 2,
      modelCalls: 5,
      agents: 5,
    });
    const { usd: _usd, ...unknown } = all;
    expect(spentSince(unknown, all)).not.toHaveProperty("usd");
    expect(spentSince(all, unknown)).not.toHaveProperty("usd");
  });

  test("of a run includes everything below it", () => {
    const spend = { usage: { inputTokens: 1 }, tokens: 1, usd: 2, uncounted: 3 };
    expect(
      spentBy(stateOf({ spend, modelCalls: 4, below: spent({ modelCalls: 5, agents: 6 }) })),
    ).toStrictEqual({
      ...spend,
      modelCalls: 9,
      agents: 6,
    });
    expect(spentBy(stateOf({ spend: { ...spend, usd: undefined }, modelCalls: 4 }))).toStrictEqual({
      usage: spend.usage,
      tokens: 1,
      uncounted: 3,
      modelCalls: 4,
      agents: 0,
    });
  });

  test("that was estimated is added, reported and counted beside the tokens", () => {
    const guessed = { ...all, estimated: 7 };
    expect(addSpent(guessed, guessed).estimated).toBe(14);
    expect(addSpent(guessed, all).estimated).toBe(7);
    expect(spentSince({ ...all, estimated: 10 }, guessed).estimated).toBe(3);
    expect(spentSince({ ...all, estimated: 10 }, all).estimated).toBe(10);
    expect(spentSince(guessed, guessed)).not.toHaveProperty("estimated");
    const spend = { usage: {}, tokens: 1, usd: 1, uncounted: 1, estimated: 2 };
    expect(rollUp(stateOf({ spend }).run as Run, guessed).spend.estimated).toBe(9);
    expect(spentBy(stateOf({ spend })).estimated).toBe(2);
    expect(leftOf({ tokens: 20 }, guessed)).toStrictEqual({ tokens: 9 });
    expect(leftOf({ tokens: 5 }, guessed)).toStrictEqual({ tokens: 0 });
  });

  test("of a sub-agent is added to the run's, and is also counted separately", () => {
    const run = stateOf({ spend: { usage: { inputTokens: 1 }, tokens: 1, usd: 1, uncounted: 0 } }).run as Run;
    expect(rollUp(run, undefined)).toBe(run);
    const after = rollUp(run, all);
    expect(after.spend).toStrictEqual({
      usage: { inputTokens: 4, outputTokens: 1 },
      tokens: 5,
      usd: 1.5,
      uncounted: 1,
    });
    expect(after.below).toStrictEqual(all);
    expect(rollUp(after, all).below).toMatchObject({ tokens: 8, modelCalls: 4, agents: 6 });
    const { usd: _usd, ...unknown } = all;
    expect(rollUp(run, unknown).spend.usd).toBeUndefined();
    expect(rollUp({ ...run, spend: { ...run.spend, usd: undefined } }, all).spend.usd).toBeUndefined();
  });
});

describe("limits", () => {
  test("that are infinite or no numbers do not apply, because no record could hold them", () => {
    const endless = { tokens: Number.POSITIVE_INFINITY, usd: Number.NaN, until: Number.POSITIVE_INFINITY };
    expect(tighter({}, { ...endless, agents: 2 })).toStrictEqual({ agents: 2 });
    expect(tighter({ tokens: 5 }, endless)).toStrictEqual({ tokens: 5 });
  });

  test("of two lists are the tighter ones, one by one", () => {
    expect(
      tighter({ tokens: 5, usd: 1, until: 9 }, { tokens: 7, usd: 0.5, modelCalls: 3, agents: 2, until: 8 }),
    ).toStrictEqual({
      tokens: 5,
      usd: 0.5,
      modelCalls: 3,
      agents: 2,
      until: 8,
    });
  });

  test("minus what was spent are never below zero, and are zero if that is unknown", () => {
    const { usd: _usd, ...unpriced } = all;
    expect(leftOf({ tokens: 10, usd: 1, modelCalls: 1, agents: 3, until: 5 }, all)).toStrictEqual({
      tokens: 6,
      usd: 0.5,
      modelCalls: 0,
      agents: 0,
      until: 5,
    });
    expect(leftOf({ usd: 1 }, unpriced)).toStrictEqual({ usd: 0 });
    expect(leftOf({}, all)).toStrictEqual({});
  });

  test("of a run are those of its rules, minus what is reserved for working sub-agents", () => {
    const held = agent({}, "5.0", {
      child: child({ reserved: { tokens: 30, usd: 1 }, spent: spent({ tokens: 10 }) }),
    });
    const unpriced = spent({ tokens: 10 });
    const { usd: _usd, ...unknown } = unpriced;
    const unheld = agent({}, "5.1", { child: child({ reserved: { usd: 1 }, spent: unknown }) });
    const over = finished("5.2", { child: child({ reserved: { tokens: 50 } }) });
    const by = leaving({ tokens: 100 }, undefined, { tokens: 200, usd: 5, agents: 1 });
    expect(freeAmounts(acting([held, unheld, over]), by)).toStrictEqual({ tokens: 80, usd: 4, agents: 1 });
    expect(freeAmounts(acting([]), by)).toStrictEqual({ tokens: 100, usd: 5, agents: 1 });
    expect(freeAmounts(stateOf(), leaving())).toStrictEqual({});
    const spentMore = agent({}, "5.0", {
      child: child({ reserved: { tokens: 5 }, spent: spent({ tokens: 10 }) }),
    });
    expect(freeAmounts(acting([spentMore]), leaving({ tokens: 100 }))).toStrictEqual({ tokens: 100 });
  });

  test("of a rule come from its own memory", () => {
    const remembering: Rule = { name: "r", version: 1, left: (memory) => ({ tokens: memory as number }) };
    const state = stateOf({}, { memories: [0, 7] });
    expect(freeAmounts(state, { ...rules, list: [{ name: "mute", version: 1 }, remembering] })).toStrictEqual(
      { tokens: 7 },
    );
  });
});

describe("a sub-agent is given", () => {
  const shares = (calls: Call[], by: Rules = leaving(), run: object = {}, more: object = {}): object =>
    Object.fromEntries(sharesOf(acting(calls, run, more), by));
  const reserved = (amounts: Amounts): object => ({ reserved: amounts });

  test("an equal share of the remaining tokens and money", () => {
    const by = leaving({ tokens: 11, usd: 1, modelCalls: 5, agents: 7 });
    expect(shares([agent({}, "5.0"), agent({}, "5.1")], by)).toStrictEqual({
      // One of the seven is it.
      "5.0": reserved({ tokens: 5, usd: 0.5, modelCalls: 2, agents: 2 }),
      "5.1": reserved({ tokens: 6, usd: 0.5, modelCalls: 3, agents: 3 }),
    });
    expect(shares([agent()], leaving())).toStrictEqual({ "5.0": reserved({}) });
  });

  test("an equal share of what is limited, and all of the time", () => {
    const by = leaving({ tokens: 10, until: 150 });
    expect(shares([agent({}, "5.0"), agent({}, "5.1")], by, {}, { now: 100 })).toStrictEqual({
      "5.0": reserved({ tokens: 5, until: 150 }),
      "5.1": reserved({ tokens: 5, until: 150 }),
    });
  });

  test("at most what its tool asks for, even if nothing is limited", () => {
    const most = { tokens: 3, usd: 0.25, modelCalls: 9 };
    expect(shares([agent({ most })], leaving({ tokens: 10, usd: 1, modelCalls: 2 }))).toStrictEqual({
      "5.0": reserved({ tokens: 3, usd: 0.25, modelCalls: 2 }),
    });
    expect(shares([agent({ most })])).toStrictEqual({ "5.0": reserved(most) });
    expect(shares([agent({ most: { agents: 1 } })], leaving({ agents: 9 }))).toStrictEqual({
      "5.0": reserved({ agents: 1 }),
    });
    expect(shares([agent({ most: { agents: 20 } })], leaving({ agents: 9 }))).toStrictEqual({
      "5.0": reserved({ agents: 8 }),
    });
  });

  test("at least one of each counted thing, as long as there is one", () => {
    const by = leaving({ modelCalls: 1 });
    expect(shares([agent({}, "5.0"), agent({}, "5.1")], by)).toMatchObject({
      "5.0": reserved({ modelCalls: 1 }),
      "5.1": { refused: expect.stringContaining("model calls") },
    });
    expect(shares([agent()], leaving({ tokens: 0.5 }))).toMatchObject({
      "5.0": { refused: expect.stringContaining("tokens") },
    });
  });

  test("nothing if nothing is left, with what is used up", () => {
    for (const [amounts, word] of [
      [{ tokens: 0 }, "tokens"],
      [{ usd: 0 }, "money"],
      [{ modelCalls: 0 }, "model calls"],
      [{ agents: 0 }, "sub-agents"],
    ] as const)
      expect(shares([agent()], leaving(amounts))).toMatchObject({
        "5.0": { refused: expect.stringMatching(`: ${word}$`) },
      });
  });

  test("the remaining time, at most what its tool asks for from now on", () => {
    const at = (by: Rules, most?: object): object =>
      shares([agent(most === undefined ? {} : { most })], by, {}, { now: 100 });
    expect(at(leaving({ until: 150 }))).toStrictEqual({ "5.0": reserved({ until: 150 }) });
    expect(at(leaving({ until: 150 }), { ms: 20 })).toStrictEqual({ "5.0": reserved({ until: 120 }) });
    expect(at(leaving({ until: 150 }), { ms: 90 })).toStrictEqual({ "5.0": reserved({ until: 150 }) });
    expect(at(leaving(), { ms: 90 })).toStrictEqual({ "5.0": reserved({ until: 190 }) });
    expect(at(leaving({ until: 100 }))).toMatchObject({
      "5.0": { refused: expect.stringContaining("time") },
    });
    expect(at(leaving({ until: 101 }))).toStrictEqual({ "5.0": reserved({ until: 101 }) });
  });

  test("nothing if it would be nested too deeply", () => {
    const deep = { refused: expect.stringMatching(/at most 2 deep.* 3 deep/) };
    const parent = { session: "p", call: "1.0", depth: 1, budget: {} };
    expect(shares([agent()], leaving(), { parent })).toStrictEqual({ "5.0": reserved({}) });
    expect(shares([agent()], leaving(), { parent: { ...parent, depth: 2 } })).toMatchObject({ "5.0": deep });
    expect(shares([agent({ maxDepth: 0 })])).toMatchObject({
      "5.0": { refused: expect.stringContaining("1 deep") },
    });
  });

  test("only if it has not begun, was judged to run and may start", () => {
    const none: Call[] = [
      callOf("5.0"),
      agent({}, "5.0", { child: child() }),
      agent({}, "5.0", { result: { content: [], isError: true } }),
      agent({}, "5.0", { startedAt: 1 }),
      agent({}, "5.0", { verdict: { do: "answer", code: "limit", text: "no" } }),
      agent({}, "5.0", { permission: { answer: "deny" } }),
      agent({}, "5.0", { permission: { answer: "stop" } }),
      (({ verdict: _verdict, ...call }) => call)(agent()),
      (({ tool: _tool, ...call }) => call)(agent()),
    ];
    for (const call of none) expect(shares([call])).toStrictEqual({});
    expect(shares([agent({}, "5.0", { permission: { answer: "ask" } })])).toStrictEqual({
      "5.0": reserved({}),
    });
    expect(sharesOf(stateOf(), leaving()).size).toBe(0);
  });
});

describe("the state of a sub-agent", () => {
  const started = (change: object): never =>
    recordOf({ type: "tool_started", call: "5.0", ...change }) as never;

  test("begins with its start, and is reset by the next start", () => {
    expect(startChild(agent(), started({}))).toStrictEqual({});
    expect(startChild(agent(), started({ child: "s", reserved: { tokens: 1 } }))).toStrictEqual({
      child: child({ session: "s", reserved: { tokens: 1 } }),
    });
    expect(startChild(agent(), started({ child: "s" }))).toStrictEqual({ child: child({ session: "s" }) });
    const answers = [{ inside: "a", said: { answer: "approve" as const } }];
    const waiting = [{ id: "b", name: "n", args: {}, session: "s", agents: [] }];
    const before = child({ reserved: { tokens: 2 }, spent: all, parked: true, waiting, answers });
    expect(startChild(agent({}, "5.0", { child: before }), started({ child: "s" }))).toStrictEqual({
      child: { ...before, session: "s", parked: false, told: 1 },
    });
  });

  test("counts as one more agent the first time", () => {
    const run = (calls: Call[], below?: Spent): Run =>
      acting(calls, below === undefined ? {} : { below }).run as Run;
    expect(countChild(run([agent()]), started({ child: "s" })).below).toStrictEqual(spent({ agents: 1 }));
    expect(countChild(run([agent()], all), started({ child: "s" })).below).toMatchObject({
      agents: 4,
      tokens: 4,
    });
    const twice = run([agent({}, "5.0", { child: child() })]);
    expect(countChild(twice, started({ child: "s" }))).toBe(twice);
    const tool = run([agent()]);
    expect(countChild(tool, started({}))).toBe(tool);
    const other = run([agent({}, "5.1")]);
    expect(countChild(other, started({ child: "s" }))).toBe(other);
    const idle = stateOf().run as Run;
    expect(countChild(idle, started({ child: "s" }))).toBe(idle);
  });

  const pending = [{ id: "w", name: "n", args: {}, session: "s", agents: [] }];
  const waits = (change: object): never =>
    recordOf({ type: "child_waits", call: "5.0", pending, ...change }) as never;
  const yes = (inside: string): Child["answers"][number] => ({ inside, said: { answer: "approve" } });

  test("has the calls that wait while it works", () => {
    const call = agent({}, "5.0", { startedAt: 1, child: child({ answers: [yes("x")], told: 1 }) });
    expect(parkChild(call, waits({ parked: false }))).toStrictEqual({
      ...call,
      child: { ...call.child, waiting: pending },
    });
    expect(parkChild(agent(), waits({ parked: true }))).toStrictEqual(agent());
    const over = agent({}, "5.0", { child: child(), result: { content: [], isError: false } });
    expect(parkChild(over, waits({ parked: true }))).toBe(over);
  });

  test("stops its call when it parks, and keeps the answers that it has not got", () => {
    const before = child({ answers: [yes("w"), yes("w"), yes("gone")], told: 1, spent: all });
    const after = parkChild(
      agent({}, "5.0", { startedAt: 1, child: before }),
      waits({ parked: true, spent: all }),
    );
    expect(after).not.toHaveProperty("startedAt");
    expect(after.child).toStrictEqual({
      ...before,
      parked: true,
      waiting: pending,
      answers: [yes("w")],
      told: 0,
      spent: addSpent(all, all),
    });
    const more = [...pending, { id: "gone", name: "n", args: {}, session: "s", agents: [] }];
    const both = parkChild(agent({}, "5.0", { child: before }), waits({ parked: true, pending: more })).child;
    expect(both?.answers).toStrictEqual([yes("w"), yes("gone")]);
    const left = parkChild(agent({}, "5.0", { child: before }), waits({ parked: true, left: true })).child;
    expect(left).toMatchObject({ parked: false, spent: all });
  });

  test("has one answer for each of its calls", () => {
    const passed = (inside: string): never =>
      recordOf({ type: "approval_passed", call: "5.0", inside, said: { answer: "approve" } }) as never;
    const call = agent({}, "5.0", { child: child({ answers: [yes("a")] }) });
    expect(passAnswer(call, passed("b")).child?.answers).toStrictEqual([yes("a"), yes("b")]);
    expect(passAnswer(call, passed("a"))).toBe(call);
    const none = agent();
    expect(passAnswer(none, passed("a"))).toBe(none);
  });

  test("says which calls inside it still wait for an approval", () => {
    const waiting = ["a", "b"].map((id) => ({ id, name: "n", args: {}, session: "s", agents: [] }));
    const call = agent({}, "5.0", { child: child({ waiting, answers: [yes("a")] }) });
    expect(waitingInside(acting([callOf("5.1"), call]))).toStrictEqual([{ call, inside: waiting[1] }]);
    const over = { ...call, result: { content: [], isError: false } };
    expect(waitingInside(acting([over]))).toStrictEqual([]);
    expect(waitingInside(stateOf())).toStrictEqual([]);
    expect(waitingInside(acting([call], { end: { reason: "completed" } as never }))).toStrictEqual([]);
    const { run: _run, ...idle } = stateOf();
    expect(waitingInside(idle)).toStrictEqual([]);
  });
});

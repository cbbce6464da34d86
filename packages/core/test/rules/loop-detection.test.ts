// Calls that go in circles: the window, what is seen in it, and what is done about that. Asked of the rule by itself.

import { type Call, type CallResult, emptyState, loopDetection, type State } from "@rondo/core";
import { beforeEach, describe, expect, test } from "vitest";
import { detect, detectorNames, type Thresholds, type Watched } from "../../src/rules/repeats/detectors.ts";
import {
  alternation,
  type Entry,
  entryOf,
  nameOf,
  sameOutcomes,
  timesOf,
  unknownInRow,
} from "../../src/rules/repeats/window.ts";
import { acting, callOf, finished, recordOf, stateOf } from "../loop/support.ts";
import { afterAll, afterOne, ended, judgementOf, look, peek, saying, texts } from "./support.ts";

const entry = (call: string, outcome: string = "o", change: Partial<Entry> = {}): Entry => ({
  call,
  tool: call,
  outcome,
  unknown: false,
  poll: false,
  ...change,
});
const of = (...all: string[]): Entry[] => all.map((one) => entry(one[0] as string, one[1]));

describe("the window of the last calls", () => {
  test("identifies a call by its arguments in any order, or by its text if it could not be parsed", () => {
    const named = (change: Partial<Call>): string => nameOf({ ...look, ...change });
    expect(named({ args: { a: 1, b: 2 } })).toBe(named({ args: { b: 2, a: 1 } }));
    expect(named({ args: { a: 1 } })).not.toBe(named({ args: { a: 2 } }));
    expect(named({ name: "peek" })).not.toBe(named({}));
    expect(named({ rawArgs: "x" })).toBe(named({ rawArgs: "y" }));
    expect(named({ argsError: "no", rawArgs: "x" })).not.toBe(named({ argsError: "no", rawArgs: "y" }));
    expect(named({})).toMatch(/^look:\d+$/);
  });

  test("has a call with what the model read of it", () => {
    const made = entryOf(look, saying("so"), true);
    expect(made).toStrictEqual({
      call: nameOf(look),
      tool: "look",
      outcome: expect.any(String),
      unknown: false,
      poll: true,
    });
    expect(entryOf(look, saying("so", { code: "unknown_tool" }), false)).toMatchObject({
      unknown: true,
      poll: false,
    });
    expect(entryOf(look, saying("other"), true).outcome).not.toBe(made.outcome);
    expect(entryOf(look, saying("so", { isError: true }), true).outcome).not.toBe(made.outcome);
    expect(entryOf(peek, saying("so"), true).outcome).toBe(made.outcome);
  });

  test("counts calls, and equal outcomes", () => {
    expect(timesOf(of("a1", "b1", "a2"), "a")).toBe(2);
    expect(sameOutcomes(of("a1", "b2", "a1"), "a")).toBe(2);
    expect(sameOutcomes(of("a1", "a2", "b1", "a1"), "a")).toBe(1);
    expect(sameOutcomes(of("a1"), "b")).toBe(0);
    const nowhere = (tool: string): Entry => entry(`${tool}:1`, "no", { tool, unknown: true });
    expect(unknownInRow([nowhere("x"), nowhere("x")], "x")).toBe(2);
    expect(unknownInRow([nowhere("x"), nowhere("y"), nowhere("x")], "x")).toBe(1);
    expect(unknownInRow([nowhere("x"), entry("x"), nowhere("x")], "x")).toBe(1);
    expect(unknownInRow([nowhere("x")], "y")).toBe(0);
  });

  test("finds two alternating calls at its end", () => {
    const stuck = true;
    expect(alternation(of("a1", "b2", "a1", "b2"))).toStrictEqual({ length: 4, last: "b", next: "a", stuck });
    expect(alternation(of("c1", "a1", "b2", "a1"))).toStrictEqual({ length: 3, last: "a", next: "b", stuck });
    expect(alternation(of("a1", "b1", "b1", "a1"))).toMatchObject({ length: 2 });
    expect(alternation(of("a9", "b2", "a1", "b2"))).toMatchObject({ length: 4, stuck: false });
    expect(alternation(of("a1", "b9", "a1", "b2"))).toMatchObject({ length: 4, stuck: false });
    expect(alternation(of("a1", "b2"))).toStrictEqual({ length: 2, last: "b", next: "a", stuck });
    for (const window of [[], of("a1"), of("a1", "a2"), of("b1", "a1", "a1")])
      expect(alternation(window)).toBeUndefined();
  });
});

describe("a detector", () => {
  const thresholds: Thresholds = { warnAt: 3, unknownToolAt: 3, criticalAt: 4, globalAt: 5 };
  const seen = (
    name: (typeof detectorNames)[number],
    window: readonly Entry[],
    watched: Partial<Watched> & { call: string },
  ): unknown => detect(window, { tool: watched.call, poll: false, ...watched }, thresholds, new Set([name]));
  const times = (count: number, ...one: string[]): Entry[] =>
    Array.from({ length: count }, () => of(...one)).flat();
  const found = (
    detector: string,
    level: "warning" | "critical",
    count: number,
    subject: string,
    words: string,
  ): object => ({
    detector,
    level,
    count,
    subject,
    text: expect.stringMatching(new RegExp(`^${level.toUpperCase()}: .*${words}`)),
  });

  test("of unknown tools is critical at its count, for the tool", () => {
    const nowhere = (count: number): Entry[] =>
      Array.from({ length: count }, (_, n) => entry(`x:${n}`, "no", { tool: "x", unknown: true }));
    const ask = { call: "x:9", tool: "x" };
    expect(seen("unknown_tool_repeat", nowhere(2), ask)).toBeUndefined();
    for (const count of [3, 4])
      expect(seen("unknown_tool_repeat", nowhere(count), ask)).toStrictEqual(
        found("unknown_tool_repeat", "critical", count, "x", `called x ${count} times`),
      );
  });

  test("of equal outcomes of any kind is critical at its count", () => {
    expect(seen("global_circuit_breaker", times(4, "a1"), { call: "a" })).toBeUndefined();
    for (const count of [5, 6])
      expect(seen("global_circuit_breaker", times(count, "a1"), { call: "a" })).toStrictEqual(
        found("global_circuit_breaker", "critical", count, "a", `same outcome ${count} times`),
      );
  });

  test("of polls finds those without progress, and no other calls", () => {
    const poll = { call: "a", poll: true };
    expect(seen("known_poll_no_progress", times(2, "a1"), poll)).toBeUndefined();
    expect(seen("known_poll_no_progress", times(9, "a1"), { call: "a" })).toBeUndefined();
    expect(seen("known_poll_no_progress", times(3, "a1"), poll)).toStrictEqual(
      found("known_poll_no_progress", "warning", 3, "a", "polled a 3 times"),
    );
    for (const count of [4, 5])
      expect(seen("known_poll_no_progress", times(count, "a1"), poll)).toStrictEqual(
        found("known_poll_no_progress", "critical", count, "a", `polled ${count} times`),
      );
  });

  test("of alternating calls names the pair, and blocks the call that would continue it", () => {
    const three = of("a1", "b1", "a1");
    expect(seen("ping_pong", of("a1", "b1"), { call: "a" })).toBeUndefined();
    expect(seen("ping_pong", three, { call: "c" })).toBeUndefined();
    expect(seen("ping_pong", [], { call: "c" })).toBeUndefined();
    for (const call of ["a", "b"])
      expect(seen("ping_pong", three, { call })).toStrictEqual(
        found("ping_pong", "warning", 3, "a b", "3 calls in a row"),
      );
    const four = times(2, "a1", "b1");
    expect(seen("ping_pong", four, { call: "a" })).toStrictEqual(
      found("ping_pong", "critical", 4, "a b", "same two calls 4 times"),
    );
    expect(seen("ping_pong", four, { call: "b" })).toMatchObject({ level: "warning", count: 4 });
    expect(seen("ping_pong", of("a1", "b1", "a2", "b1"), { call: "a" })).toMatchObject({ level: "warning" });
    expect(seen("ping_pong", times(3, "a1", "b1"), { call: "a" })).toMatchObject({ level: "critical" });
  });

  test("of equal calls warns of them, blocks those with equal outcomes, and ignores polls", () => {
    expect(seen("generic_repeat", times(2, "a1"), { call: "a" })).toBeUndefined();
    expect(seen("generic_repeat", of("a1", "a2", "a3"), { call: "a" })).toStrictEqual(
      found("generic_repeat", "warning", 3, "a", "called a 3 times"),
    );
    for (const count of [4, 5])
      expect(seen("generic_repeat", times(count, "a1"), { call: "a" })).toStrictEqual(
        found("generic_repeat", "critical", count, "a", `called a ${count} times`),
      );
    expect(seen("generic_repeat", of("a1", "a2", "a2", "a2"), { call: "a" })).toMatchObject({
      level: "warning",
      count: 4,
    });
    expect(seen("generic_repeat", times(9, "a1"), { call: "a", poll: true })).toBeUndefined();
  });

  test("is asked before later ones, if it is on", () => {
    const all = new Set(detectorNames);
    const window = times(6, "a1");
    const watched = { call: "a", tool: "a", poll: true };
    expect(detect(window, watched, thresholds, all)).toMatchObject({ detector: "global_circuit_breaker" });
    all.delete("global_circuit_breaker");
    expect(detect(window, watched, thresholds, all)).toMatchObject({ detector: "known_poll_no_progress" });
    expect(detect(window, watched, thresholds, new Set())).toBeUndefined();
  });
});

describe("loop detection", () => {
  const small = { window: 6, warnAt: 2, unknownToolAt: 3, criticalAt: 3, globalAt: 6 };
  let rule = loopDetection(small);
  type Memory = Parameters<NonNullable<typeof rule.decide>>[0];
  let start = rule.init?.(emptyState) as Memory;
  beforeEach(() => {
    rule = loopDetection(small);
    start = rule.init?.(emptyState) as Memory;
  });
  const made = (
    count: number,
    call: Call = look,
    result: CallResult = saying("so"),
    from: Memory = start,
  ): Memory =>
    Array.from({ length: count }).reduce<Memory>(
      (memory) => afterAll(rule, [ended(result)], acting([call]), memory),
      from,
    );
  const noted = (evidence: object, name: string = "loop_detection"): object => ({
    type: "noted",
    rule: name,
    text: "",
    evidence,
  });
  const told = (memory: Memory, subject: string, count: number): Memory =>
    afterAll(rule, [noted({ subject, count })], stateOf(), memory);
  const decided = (memory: Memory): unknown => rule.decide?.(memory, stateOf());

  test("remembers the last calls, up to the size of its window", () => {
    expect(rule).toMatchObject({ name: "loop_detection", version: 1 });
    expect(start).toStrictEqual({ window: [], warned: new Map() });
    expect(made(6).window).toHaveLength(6);
    expect(made(1, peek, saying("so"), made(6)).window.map(({ tool }) => tool)).toStrictEqual([
      ...Array.from({ length: 5 }, () => "look"),
      "peek",
    ]);
  });

  test("counts calls that ran, and calls of unknown tools", () => {
    const still = (fact: object, before: State): void =>
      expect(afterOne(rule, start, recordOf(fact), before)).toBe(start);
    still(ended(saying("no", { code: "repeated" })), acting([look]));
    still(ended(saying("no", { code: "skipped" })), acting([callOf("5.0")]));
    still(ended(), acting([finished("5.0")]));
    still(ended(saying("so"), "5.1"), acting([look]));
    still(ended(), stateOf());
    still(ended(), emptyState);
    still({ type: "tool_started", call: "5.0", idempotencyKey: "k" }, acting([look]));
    still(noted({ subject: "x", count: 3 }, "repeats"), stateOf());
    still({ ...noted({ subject: "x", count: 3 }), type: "mode" }, stateOf());
    const none = callOf("5.0");
    expect(made(1, none, saying("no", { code: "unknown_tool" })).window).toHaveLength(1);
    expect(made(1, look, saying("no", { code: "timeout" })).window).toHaveLength(1);
  });

  test("warns of what it finds, and again for every ten more, or if the count fell", () => {
    const { call: subject } = entryOf(look, saying("so"), false);
    const warned = (count: number): Memory => told(made(2), subject, count);
    expect(decided(start)).toBeUndefined();
    expect(decided(made(1))).toBeUndefined();
    const equal = loopDetection({ ...small, detectors: ["generic_repeat"] });
    expect(equal.decide?.(made(1, peek, saying("so"), made(2)), stateOf())).toBeUndefined();
    expect(decided(made(2))).toStrictEqual({
      do: "nudge",
      text: expect.stringMatching(/^WARNING: You have called look 2 times/),
      evidence: { detector: "generic_repeat", level: "warning", count: 2, subject, tool: "look" },
    });
    for (const count of [1, 2]) expect(decided(warned(count))).toBeUndefined();
    for (const count of [3, -8]) expect(decided(warned(count))).toMatchObject({ do: "nudge" });
    expect(decided(warned(-7))).toBeUndefined();
    expect(decided(told(made(2), "other", 2))).toMatchObject({ do: "nudge" });
  });

  test("does not warn of what will be blocked, except for an unknown tool", () => {
    expect(decided(made(3))).toBeUndefined();
    const nowhere = made(3, callOf("5.0", { name: "nowhere" }), saying("no", { code: "unknown_tool" }));
    expect(decided(nowhere)).toMatchObject({
      do: "nudge",
      evidence: { detector: "unknown_tool_repeat", level: "critical", subject: "nowhere", count: 3 },
    });
  });

  test("forgets a warning when its calls have left the window", () => {
    const { call: looked } = entryOf(look, saying("so"), false);
    const { call: peeked } = entryOf(peek, saying("so"), false);
    const both = told(told(told(made(1), looked, 2), "look", 2), `${looked} ${peeked}`, 2);
    const others = made(5, peek, saying("so"), both);
    expect([...others.warned.keys()]).toStrictEqual([looked, "look", `${looked} ${peeked}`]);
    const gone = made(1, peek, saying("so"), others);
    expect([...gone.warned.keys()]).toStrictEqual([`${looked} ${peeked}`]);
    expect(made(1, look, saying("so"), told(start, "elsewhere", 2)).warned.size).toBe(0);
    // A call whose name ends as another's does is another call.
    const { call: overlooked } = entryOf({ ...look, name: "overlook" }, saying("so"), false);
    for (const subject of [overlooked, `${overlooked} ${peeked}`, `${peeked} ${overlooked}`])
      expect([...made(1, look, saying("so"), told(start, subject, 2)).warned.keys()]).toStrictEqual([]);
    for (const subject of [`${looked} ${overlooked}`, `${overlooked} ${looked}`])
      expect([...made(1, look, saying("so"), told(start, subject, 2)).warned.keys()]).toStrictEqual([
        subject,
      ]);
  });

  test("gives a call a result that would continue it, and no other", () => {
    const three = made(3);
    const text = expect.stringMatching(/^CRITICAL: You have called look 3 times/);
    expect(rule.judgeCall?.(three, look, emptyState, texts)).toStrictEqual({
      do: "answer",
      code: "repeated",
      text,
      evidence: { detector: "generic_repeat", count: 3, tool: "look" },
    });
    expect(rule.judgeStart?.(three, look, stateOf())).toStrictEqual({
      code: "repeated",
      text,
      evidence: { detector: "generic_repeat", count: 3, tool: "look" },
    });
    for (const [memory, call] of [
      [three, peek],
      [made(2), look],
      [start, look],
    ] as const) {
      expect(rule.judgeCall?.(memory, call, emptyState, texts)).toBeUndefined();
      expect(rule.judgeStart?.(memory, call, stateOf())).toBeUndefined();
    }
  });

  test("waits in sequence for the call before, and checks then", () => {
    const three = made(3);
    const second = { ...look, key: "5.1" as const };
    const open = (first: Call, toolOrder: "sequential" | "by_effect" = "sequential"): State =>
      acting([first, second], {}, {}, { toolOrder });
    expect(rule.judgeStart?.(three, second, open(peek))).toBeUndefined();
    expect(rule.judgeStart?.(three, second, open(finished("5.0")))).toMatchObject({ code: "repeated" });
    expect(rule.judgeStart?.(three, second, open(peek, "by_effect"))).toMatchObject({ code: "repeated" });
    expect(rule.judgeStart?.(three, look, open(look))).toMatchObject({ code: "repeated" });
    expect(rule.judgeStart?.(three, second, stateOf({}, {}, { toolOrder: "sequential" }))).toMatchObject({
      code: "repeated",
    });
    const { run: _run, ...idle } = stateOf({}, {}, { toolOrder: "sequential" });
    expect(rule.judgeStart?.(three, second, idle)).toMatchObject({ code: "repeated" });
  });

  test("lands or stops the run if set so, and gives all calls of that answer results", () => {
    const calls = [peek, { ...look, key: "5.1" as const }];
    const turn = { seq: 5, message: {} as never, calls };
    for (const onCritical of ["land", "stop"] as const) {
      const ending = loopDetection({ ...small, onCritical });
      const judged = judgementOf(ending, { turn }, made(3));
      expect(judged).toStrictEqual({
        follows: { do: onCritical, reason: "no_progress" },
        evidence: { detector: "generic_repeat", count: 3, tool: "look" },
        answerAll: { code: "repeated", text: expect.any(Function) },
      });
      expect(calls.map((call) => judged?.answerAll?.text(call))).toStrictEqual([
        texts.notExecuted("peek"),
        expect.stringMatching(/^CRITICAL/),
      ]);
      expect(judgementOf(ending, { turn }, made(2))).toBeUndefined();
      expect(judgementOf(ending, {}, made(3))).toBeUndefined();
      expect(ending.judge?.(made(3), emptyState, texts)).toBeUndefined();
    }
    expect(judgementOf(rule, { turn }, made(3))).toBeUndefined();
  });

  test("asks which calls are polls, about existing calls", () => {
    const asked: string[] = [];
    const own = loopDetection({
      ...small,
      onCritical: "stop",
      isPoll: ({ name }) => {
        asked.push(name);
        return true;
      },
    });
    expect(own.judge?.(made(3), emptyState, texts)).toBeUndefined();
    expect(asked).toStrictEqual([]);
    expect(own.judgeCall?.(made(3), look, emptyState, texts)).toMatchObject({
      evidence: { detector: "known_poll_no_progress" },
    });
    expect(asked).toStrictEqual(["look"]);
  });

  test.each([
    ["command_status", {}, true],
    ["process", { action: "poll" }, true],
    ["process", { action: "log" }, true],
    ["process", { action: "kill" }, false],
    ["process", {}, false],
    ["look", { action: "poll" }, false],
  ])("counts %s with %j as a poll: %j", (name, args, poll) => {
    expect(made(1, { ...look, name, args }).window[0]?.poll).toBe(poll);
  });

  test("uses the detectors it is set to", () => {
    const only = loopDetection({ ...small, detectors: ["ping_pong"] });
    expect(only.judgeCall?.(made(3), look, emptyState, texts)).toBeUndefined();
    expect(only.decide?.(made(2), stateOf())).toBeUndefined();
  });

  test("has a window of 30, warns at 10 and blocks at 20 by default", () => {
    const usual = loopDetection();
    const entries = (count: number, change: Partial<Entry> = {}): Memory => ({
      window: Array.from({ length: count }, () => ({ ...entryOf(look, saying("so"), false), ...change })),
      warned: new Map(),
    });
    expect(usual.decide?.(entries(9), stateOf())).toBeUndefined();
    expect(usual.decide?.(entries(10), stateOf())).toMatchObject({ do: "nudge" });
    expect(usual.judgeCall?.(entries(19), look, emptyState, texts)).toBeUndefined();
    expect(usual.judgeCall?.(entries(20), look, emptyState, texts)).toMatchObject({
      evidence: { detector: "generic_repeat" },
    });
    expect(usual.judgeCall?.(entries(30), look, emptyState, texts)).toMatchObject({
      evidence: { detector: "global_circuit_breaker" },
    });
    expect(afterAll(usual, [ended()], acting([look]), entries(30)).window).toHaveLength(30);
    expect(afterAll(usual, [ended()], acting([look]), entries(29)).window).toHaveLength(30);
    expect(usual.judgeCall?.(entries(10, { unknown: true }), look, emptyState, texts)).toMatchObject({
      evidence: { detector: "unknown_tool_repeat" },
    });
  });

  test.each([
    [{ window: 0 }, /loopDetection: option window: a whole number above 0 is needed, not 0/],
    [{ warnAt: 1.5 }, /option warnAt: .* not 1.5/],
    [{ unknownToolAt: -1 }, /option unknownToolAt: /],
    [{ criticalAt: 31 }, /option criticalAt: 31 is more than the window of 30 calls can hold: raise window/],
    [{ window: 29 }, /option globalAt: 30 is more than the window of 29/],
  ])("refuses invalid numbers: %j", (given, said) => {
    expect(() => loopDetection(given)).toThrow(said);
  });

  test("accepts the smallest numbers, up to the size of its window", () => {
    expect(() =>
      loopDetection({ window: 1, warnAt: 1, unknownToolAt: 1, criticalAt: 1, globalAt: 1 }),
    ).not.toThrow();
  });
});

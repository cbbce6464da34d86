// What comes back when nobody waits for it any more is kept as what it is: late. Asked by hand.

import type { Fact, State } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { nothingSpent } from "../../src/loop/children.ts";
import {
  type Arriving,
  isOutcome,
  isOutsideFact,
  isVoid,
  outlivesRun,
  timely,
} from "../../src/loop/driving/late-results.ts";
import { acting, answerOf, callOf, finished, stateOf, textResult } from "./support.ts";

const { run: _run, ...idle } = stateOf();
const call = { startedAt: 1, step: 1, attempt: 1 };
const compacting = { rule: "full", evidence: {}, summaries: [], failures: 0 };
const summing = { ...compacting, call: { startedAt: 1 } };
const message = answerOf([{ type: "text", text: "so" }]);
const error = { kind: "network", message: "gone", retryable: true } as const;
const nothingComes = { type: "late_result", call: null };

test("messages and results of calls are kept if the run continues elsewhere, but not an abort of it", () => {
  const result = textResult;
  const kept: Fact[] = [
    { type: "withdrawn", id: "1" },
    { type: "tool_finished", call: "5.0", result: { ...result, content: [...result.content] } },
  ];
  expect(kept.map(outlivesRun)).toEqual([true, true]);
  expect(outlivesRun({ type: "abort_asked", reason: "enough" })).toBe(false);
});

describe("the outcome of a model call", () => {
  test.each<Fact>([
    { type: "model_finished", message, checks: [] },
    { type: "model_failed", error },
  ])("is itself while it is waited for, and late after: $type", (fact) => {
    expect(timely(fact, stateOf({ call }))).toBe(fact);
    for (const state of [stateOf(), stateOf({ compacting: summing }), idle])
      expect(timely(fact, state)).toStrictEqual(nothingComes);
  });

  test.each<Fact>([
    { type: "summary_finished", message },
    { type: "summary_failed", error },
  ])("is itself while a summary is waited for, and late after: $type", (fact) => {
    expect(timely(fact, stateOf({ compacting: summing }))).toBe(fact);
    for (const state of [stateOf({ compacting }), stateOf({ call }), idle])
      expect(timely(fact, state)).toStrictEqual(nothingComes);
  });
});

test("a model's answer that is late keeps what it cost, by the price of the model in use", () => {
  const price = { input: 1, output: 2 };
  const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
  const fact: Fact = { type: "model_finished", message: { ...message, usage }, checks: [] };
  const priced = stateOf({}, {}, { models: [{ id: "m", origin: message.origin, facts: { price } }] });
  expect(timely(fact, priced)).toStrictEqual({ ...nothingComes, usage, usd: 3 });
  expect(timely(fact, stateOf())).toStrictEqual({ ...nothingComes, usage });
  expect(timely(fact, idle)).toStrictEqual({ ...nothingComes, usage });
});

describe("the result of a call", () => {
  const result = { ...textResult, content: [...textResult.content] };
  const done: Fact = { type: "tool_finished", call: "5.0", result };
  const waits: Fact = { type: "child_waits", call: "5.0", pending: [], parked: true, spent: nothingSpent };
  const over: [string, State][] = [
    ["the call has its result", acting([callOf("5.1"), finished("5.0")])],
    ["the call is gone", acting([callOf("5.1")])],
    ["there is no turn", stateOf()],
    ["there is no run", idle],
  ];

  test("is unchanged while the call is open", () => {
    for (const fact of [done, waits]) expect(timely(fact, acting([callOf("5.1"), callOf("5.0")]))).toBe(fact);
  });

  test("is accepted from answer while the call waits, and is late once it was decided", () => {
    const brought: Fact = { ...done, result: { ...result, code: "answered" } };
    for (const open of [{}, { permission: { answer: "ask" as const } }])
      expect(timely(brought, acting([callOf("5.0", open)]))).toBe(brought);
    for (const decided of [{ startedAt: 1 }, { permission: { answer: "deny" as const } }]) {
      expect(timely(brought, acting([callOf("5.0", decided)]))).toMatchObject({ type: "late_result" });
      expect(timely(done, acting([callOf("5.0", decided)]))).toBe(done);
    }
  });

  test.each(over)("is late if %s, and so is a sub-agent's spending", (_what, state) => {
    expect(timely(done, state)).toStrictEqual({ type: "late_result", call: "5.0", result });
    const stopped = { content: [], isError: true };
    expect(timely(waits, state)).toStrictEqual({
      type: "late_result",
      call: "5.0",
      result: { ...stopped, spent: nothingSpent },
      open: true,
    });
    const { spent: _spent, ...silent } = waits;
    expect(timely(silent, state)).toStrictEqual({
      type: "late_result",
      call: "5.0",
      result: stopped,
      open: true,
    });
  });
});

test("a fact from outside is never late", () => {
  const fact: Fact = { type: "woke" };
  expect(timely(fact, idle)).toBe(fact);
  expect(timely({ type: "abort_asked", reason: "enough" }, acting([finished("5.0")]))).toStrictEqual({
    type: "abort_asked",
    reason: "enough",
  });
});

test("a hook's answer about the conversation is void if that has changed since the question; otherwise it is recorded as given", () => {
  const said: Fact = { type: "hook_answered", hook: "transformContext", step: 1 };
  const state = stateOf({}, { changedSeq: 7 });
  const of = (asked: number): Arriving => ({ ...said, asked });
  expect([said, of(6), of(7), of(8)].map((fact) => isVoid(fact, state))).toStrictEqual([
    false,
    true,
    false,
    false,
  ]);
  expect(timely(of(7), state)).toStrictEqual(said);
});

test("what the driver started has an outcome; what is sent to the session is a message, whatever happens to its run", () => {
  const of = (type: string): Fact => ({ type, result: { code: "timeout" } }) as never;
  const words = ["queued", "withdrawn", "allowed", "revoked"];
  const calls = ["tool_finished", "child_waits", "late_result"];
  const outcomes = [...calls, "model_finished", "model_failed", "summary_finished", "summary_failed"];
  const neither = ["abort_asked", "mode", "approval_given", "run_started", "woke"];
  const all = [...words, ...outcomes, ...neither];
  expect(all.filter((type) => isOutsideFact(of(type)))).toStrictEqual(words);
  expect(all.filter((type) => isOutcome(of(type)))).toStrictEqual(outcomes);
  expect(isOutcome({ type: "tool_finished", result: { code: "answered" } } as never)).toBe(false);
});

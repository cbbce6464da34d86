// Whether a run goes on: by what an answer holds, or by a policy. Asked of the rules by themselves.

import {
  byContent,
  byStopReasonPolicy,
  type CallHistory,
  composite,
  continueBy,
  continueWithThinking,
  continueWithTools,
  duplicateDetection,
  emptyState,
  type Policy,
  type PolicyDecision,
  type StopKind,
  standardPolicy,
  stepLimited,
  terminateImmediately,
  terminateWithOutput,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { Tally } from "../../src/loop/log.ts";
import { acting, callOf, recordOf, stateOf } from "../loop/support.ts";
import { afterAll, afterOne, judgedBy, judgementOf, stopOf, turnOf, words } from "./support.ts";

describe("the continue rule", () => {
  const judged = (...given: Parameters<typeof turnOf>): unknown =>
    judgementOf(byContent(), { turn: turnOf(...given) });

  test("continues with calls, and uses an answer without any as the final one, whatever the stop reason is", () => {
    expect(byContent()).toMatchObject({ name: "by_content", version: 3 });
    for (const kind of ["end_turn", "tool_use", "unknown", "max_tokens"] as const) {
      expect(judged(stopOf(kind), [], [callOf("5.0")])).toStrictEqual({
        follows: { do: "act" },
        evidence: { calls: 1, stop: kind },
      });
      expect(judged(stopOf(kind, { raw: "RAW" }))).toStrictEqual({
        follows: { do: "finish" },
        evidence: { calls: 0, stop: kind, raw: "RAW" },
      });
    }
    expect(judgementOf(byContent(), {})).toBeUndefined();
  });

  test("ends the run if the answer ended with an error, in the provider's words if there are any", () => {
    const end = (message: string): object => ({
      follows: {
        do: "stop",
        reason: "error",
        text: "half",
        error: { kind: "stream_error", message, retryable: false },
      },
      store: false,
    });
    const calls = [callOf("5.0")];
    expect(judged(stopOf("error"), [words("half")], calls)).toStrictEqual({
      ...end("the answer ended with an error (error)"),
      evidence: { calls: 1, stop: "error" },
    });
    expect(judged(stopOf("error", { raw: "oops" }), [words("half")])).toStrictEqual({
      ...end("the answer ended with an error (oops)"),
      evidence: { calls: 0, stop: "error", raw: "oops" },
    });
    expect(judged(stopOf("error", { detail: "it burnt" }), [words("half")])).toMatchObject(end("it burnt"));
  });

  test("ends the run as aborted if the answer was aborted", () => {
    const message = "the answer was broken off (aborted)";
    expect(judged(stopOf("aborted"), [words("half")])).toStrictEqual({
      follows: {
        do: "stop",
        reason: "aborted",
        text: "half",
        error: { kind: "stream_error", message, retryable: false },
      },
      store: false,
      evidence: { calls: 0, stop: "aborted", reason: message },
    });
  });
});

const none: CallHistory = { step: 1, named: () => 0, equal: () => 0 };
const answer = (wire: StopKind, text: string, calls: number = 0): Parameters<Policy>[0] => ({
  stop: stopOf("unknown", { wire }),
  text,
  calls: Array.from({ length: calls }, () => ({ name: "look", args: {}, rawArgs: "{}" })),
});
const immediately = terminateImmediately;

describe("a policy", () => {
  test.each([
    ["end_turn", "so", 1, terminateWithOutput("so")],
    ["end_turn", "", 0, terminateWithOutput("")],
    ["tool_use", "so", 0, terminateWithOutput("so")],
    ["tool_use", "so", 1, continueWithTools],
    ["max_tokens", "so", 1, continueWithTools],
  ] as const)("by stop reason: %s, %j, %i calls", (wire, text, calls, expected) => {
    expect(byStopReasonPolicy(answer(wire, text, calls), none)).toStrictEqual(expected);
  });

  test.each([
    ["tool_use", "so", 1, continueWithTools],
    ["tool_use", "so", 0, immediately({ reason: "unexpected_stop", stop: "tool_use without tool calls" })],
    ["end_turn", "so", 1, continueWithTools],
    ["end_turn", "so", 0, terminateWithOutput("so")],
    ["end_turn", "", 0, immediately({ reason: "completed" })],
    ["max_tokens", "so", 1, terminateWithOutput("so")],
    ["max_tokens", "", 1, immediately({ reason: "unexpected_stop", stop: "max_tokens" })],
    ["stop_sequence", "so", 1, terminateWithOutput("so")],
    ["stop_sequence", "", 1, immediately({ reason: "completed" })],
    ["unknown", "so", 1, continueWithTools],
    ["unknown", "so", 0, terminateWithOutput("so")],
    ["unknown", "", 0, immediately({ reason: "empty_response" })],
  ] as const)("the standard one: %s, %j, %i calls", (wire, text, calls, expected) => {
    expect(standardPolicy(answer(wire, text, calls), none)).toStrictEqual(expected);
  });

  test("with detection of duplicates ends the run at one call too many", () => {
    const many = (named: number, equal: number): CallHistory => ({
      step: 1,
      named: (tool) => (tool === "look" ? named : 0),
      equal: (tool, rawArgs) => (tool === "look" && rawArgs === "{}" ? equal : 0),
    });
    const decided = (
      history: CallHistory,
      ...limits: Parameters<typeof duplicateDetection>
    ): PolicyDecision => duplicateDetection(...limits)(answer("tool_use", "", 1), history);
    expect(decided(many(4, 1))).toBe(continueWithTools);
    expect(decided(many(4, 2))).toStrictEqual(
      immediately({ reason: "duplicate_call", tool: "look", count: 3 }),
    );
    expect(decided(many(5, 2))).toStrictEqual(
      immediately({ reason: "tool_call_limit", tool: "look", count: 6 }),
    );
    expect(decided(many(99, 0), standardPolicy, { maxToolCallsPerTool: null })).toBe(continueWithTools);
    expect(decided(many(1, 0), standardPolicy, { maxToolCallsPerTool: 1 })).toMatchObject({
      because: { reason: "tool_call_limit" },
    });
    expect(decided(many(1, 1), standardPolicy, { maxDuplicates: 1 })).toMatchObject({
      because: { reason: "duplicate_call", count: 2 },
    });
    expect(duplicateDetection()(answer("end_turn", "so"), many(9, 9))).toStrictEqual(
      terminateWithOutput("so"),
    );
    const thinking = duplicateDetection(() => continueWithThinking);
    expect(thinking(answer("tool_use", "", 1), many(9, 9))).toBe(continueWithThinking);
  });

  test("with a limit of steps ends the run with that answer, whatever it contains", () => {
    const limited = stepLimited(() => continueWithTools, 3);
    const at = (step: number): PolicyDecision => limited(answer("tool_use", "", 1), { ...none, step });
    expect(at(2)).toBe(continueWithTools);
    expect(at(3)).toStrictEqual(immediately({ reason: "max_steps", steps: 3 }));
    expect(at(4)).toStrictEqual(immediately({ reason: "max_steps", steps: 4 }));
  });

  test("made of several decides by the first that ends the run, or the last", () => {
    const go: Policy = () => continueWithTools;
    const think: Policy = () => continueWithThinking;
    const end: Policy = () => terminateWithOutput("so");
    const never: Policy = () => {
      throw new Error("nobody is asked behind an end");
    };
    const decided = (first: Policy, ...rest: Policy[]): PolicyDecision =>
      composite(first, ...rest)(answer("tool_use", ""), none);
    expect(decided(go)).toBe(continueWithTools);
    expect(decided(go, think)).toBe(continueWithThinking);
    expect(decided(think, go)).toBe(continueWithTools);
    expect(decided(go, end, never)).toStrictEqual(terminateWithOutput("so"));
    expect(decided(() => immediately({ reason: "completed" }), never)).toMatchObject({
      decision: "terminateImmediately",
    });
  });
});

describe("a rule made of a policy", () => {
  const look = callOf("5.0", { name: "look", rawArgs: '{"a":1}' });
  const twice = [look, callOf("5.1", { name: "look", rawArgs: '{"a":1}' }), callOf("5.2", { name: "peek" })];

  test("gives it the answer, and the calls that were allowed before it", () => {
    const seen: Parameters<Policy>[] = [];
    const rule = continueBy("mine", (...given) => {
      seen.push(given);
      return continueWithTools;
    });
    expect(rule).toMatchObject({ name: "mine", version: 1 });
    const counts = afterAll(rule, [judgedBy("mine", { do: "act" })], acting(twice));
    const stop = stopOf("tool_use");
    expect(judgementOf(rule, { turn: turnOf(stop, [words("so")], [look]), steps: 4 }, counts)).toStrictEqual({
      follows: { do: "act" },
      evidence: { decision: "continueWithTools", wire: "tool_use" },
    });
    const [said, history] = seen[0] as Parameters<Policy>;
    expect(said).toStrictEqual({ stop, text: "so", calls: [look] });
    expect(history.step).toBe(5);
    expect(["look", "peek", "read"].map((tool) => history.named(tool))).toStrictEqual([2, 1, 0]);
    expect(history.equal("look", '{"a":1}')).toBe(2);
    expect(history.equal("look", '{"a": 1}')).toBe(0);
    expect(history.equal("peek", '{"a":1}')).toBe(0);
    expect(judgementOf(rule, {})).toBeUndefined();
  });

  test("counts the calls of answers that are acted on, and no others", () => {
    const rule = continueBy("mine", standardPolicy);
    const counts = rule.init?.(emptyState);
    const before = acting(twice);
    for (const fact of [judgedBy("mine", { do: "finish" }), { type: "approval_asked", calls: [] }])
      expect(afterOne(rule, counts, recordOf(fact), before)).toBe(counts);
    const act = recordOf(judgedBy("mine", { do: "act" }));
    const one = Tally.empty().add("look");
    for (const state of [emptyState, stateOf()]) expect(afterOne(rule, one, act, state)).toBe(one);
    const more = afterOne(rule, one, act, before) as Tally;
    expect(["look", "peek"].map((tool) => more.of(tool))).toStrictEqual([3, 1]);
    expect(JSON.stringify(counts)).toBe("[]");
  });

  test.each([
    [continueWithTools, { do: "act" }, {}],
    [continueWithThinking, { do: "ask_again" }, {}],
    [terminateWithOutput(""), { do: "finish" }, {}],
    [terminateWithOutput("so"), { do: "finish", text: "so" }, {}],
    [
      immediately({ reason: "duplicate_call", tool: "look", count: 3 }),
      { do: "stop", reason: "duplicate_call", text: "" },
      { reason: "duplicate_call", tool: "look", count: 3 },
    ],
  ] as const)("does what it decides: %j", (decided, follows, evidence) => {
    const judged = judgementOf(
      continueBy("mine", () => decided),
      { turn: turnOf(stopOf("end_turn")) },
    );
    expect(judged).toStrictEqual({
      follows,
      ...(decided === continueWithThinking ? { store: true } : {}),
      evidence: { decision: decided.decision, wire: "end_turn", ...evidence },
    });
  });
});

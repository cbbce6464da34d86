// What keeps a step sequence from going round in circles, and what a watcher is told of how far it is.

import { memoryJournal } from "@rondo/core";
import { LoopState, sameCall, toolCallRecord } from "@rondo/core/presets";
import { call, calls, type Script, say } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { echo } from "../support.ts";
import { pulled, sequence } from "./step-sequence-support.ts";

const look = echo("look");
const tools = [look, echo("touch")];
const counting: Script = (_request, n) => call("look", { n });

describe("the step limit", () => {
  test("B4.29 leaves all its steps complete, and throws at the next request", async () => {
    const script: Script = [call("look"), say("done")];
    expect((await pulled(sequence(script, { tools, maxSteps: 2 }).agent)).steps.at(-1)).toBe("final done");
    const { steps, thrown } = await pulled(sequence(counting, { tools, maxSteps: 2 }).agent);
    expect([steps.length, (thrown as { code?: string }).code]).toEqual([4, "maxStepsExceeded"]);
  });

  test("B4.29 checked by the policy drops the last answer and ends without an error; only with 0 it throws", async () => {
    const option = { tools, stepLimit: "in_policy" } as const;
    const last = await pulled(sequence([call("look"), say("done")], { ...option, maxSteps: 2 }).agent);
    expect([last.steps, last.result?.end?.reason, last.result?.end?.evidence.steps]).toEqual([
      ["call look", "result look: look ran"],
      "max_steps",
      2,
    ]);
    const earlier = await pulled(sequence([call("look"), say("done")], { ...option, maxSteps: 3 }).agent);
    expect(earlier.steps.at(-1)).toBe("final done");
    const none = await pulled(sequence(counting, { ...option, maxSteps: 0 }).agent);
    expect([none.steps, (none.thrown as { code?: string }).code]).toEqual([[], "maxStepsExceeded"]);
  });
});

describe("the state of the loop", () => {
  test("B1.7 has each call with name, hash and time; calls are equal by name and hash", async () => {
    const journal = memoryJournal();
    const script: Script = [
      call("look", { a: 1, b: 2 }),
      call("look", { b: 2, a: 1 }),
      call("look", { a: 1, b: 2 }),
      say("x"),
    ];
    await sequence(script, { tools }, { journal }).agent.run("go", { session: "s" });
    const { history } = new LoopState(await journal.read("s"));
    const [first, second, third] = history;
    if (first === undefined || second === undefined || third === undefined) throw new Error("no history");
    expect(Object.keys(first)).toEqual(["name", "inputHash", "timestamp"]);
    expect([sameCall(first, second), sameCall(first, { ...third, timestamp: first.timestamp + 99 })]).toEqual(
      [false, true],
    );
    expect(sameCall(first, { ...first, name: "touch" })).toBe(false);
    expect(history.map(({ timestamp }) => timestamp)).toEqual(
      history.map(({ timestamp }) => timestamp).sort(),
    );
  });

  test("B5.36 says at any moment where the loop is: steps, limit, history, counts", async () => {
    const journal = memoryJournal();
    const { agent } = sequence(
      [calls([["look"], ["touch"], ["touch"]]), call("touch"), call("look"), say("x")],
      { tools, maxSteps: 4, maxDuplicateToolCalls: 9 },
      { journal },
    );
    await agent.run("go", { session: "s" });
    const { currentStep, remainingSteps, isAtLimit, canContinue } = new LoopState([]);
    expect([currentStep, remainingSteps, isAtLimit, canContinue]).toEqual([0, 10, false, true]);
    const records = await journal.read("s");
    const at = (step: number, type: string): LoopState => {
      const place = records.findIndex(
        (record, n) => record.type === type && new LoopState(records.slice(0, n + 1)).currentStep === step,
      );
      return new LoopState(records.slice(0, place + 1), 4);
    };
    const before = new LoopState(records.slice(0, 1), 4);
    expect([
      before.currentStep,
      before.remainingSteps,
      before.isAtLimit,
      before.canContinue,
      before.lastToolCall,
    ]).toEqual([0, 4, false, true, undefined]);
    expect(before.countConsecutiveSameToolCalls()).toBe(0);
    const second = at(2, "turn_judged");
    expect([
      second.currentStep,
      second.maxSteps,
      second.remainingSteps,
      second.isAtLimit,
      second.canContinue,
    ]).toEqual([2, 4, 2, false, true]);
    expect(second.history.map(({ name }) => name)).toEqual(["look", "touch", "touch", "touch"]);
    expect([
      second.countToolCalls("touch"),
      second.countToolCalls("look"),
      second.countToolCalls("none"),
    ]).toEqual([3, 1, 0]);
    const touch = toolCallRecord({ name: "touch", rawArgs: "{}" }, 0);
    expect([
      second.countDuplicateToolCalls(touch),
      second.countConsecutiveSameToolCalls(),
      second.lastToolCall?.name,
    ]).toEqual([3, 3, "touch"]);
    expect(second.countDuplicateToolCalls(toolCallRecord({ name: "touch", rawArgs: '{"n":1}' }, 0))).toBe(0);
    const third = at(3, "turn_judged");
    expect([third.countConsecutiveSameToolCalls(), third.lastToolCall?.name]).toEqual([1, "look"]);
    const limit = at(4, "model_started");
    expect([limit.remainingSteps, limit.isAtLimit, limit.canContinue]).toEqual([0, true, false]);
    // Over the limit there is never less than nothing left, and what is over cannot go on.
    expect(new LoopState(records, 2).remainingSteps).toBe(0);
    expect([new LoopState(records, 99).canContinue, new LoopState(records).phase.phase]).toEqual([
      false,
      "completed",
    ]);
  });

  test("B5.36 begins again with a new run, and the step past the limit is an error", async () => {
    const journal = memoryJournal();
    const { agent } = sequence([call("look"), call("look"), say("x")], { tools, maxSteps: 2 }, { journal });
    await expect(agent.run("go", { session: "s" })).rejects.toMatchObject({ code: "maxStepsExceeded" });
    await agent.run("again", { session: "s" });
    const state = new LoopState(await journal.read("s"));
    expect([state.currentStep, state.history.length]).toEqual([1, 0]);
    expect([state.maxSteps, state.remainingSteps]).toEqual([10, 9]);
  });
});

describe("the five guards", () => {
  const output = z.object({ a: z.number() });
  test.each<[string, Script, number, string]>([
    ["steps", (_request, n) => call(n % 2 ? "look" : "touch", { n }), 10, "maxStepsExceeded"],
    ["equal calls", () => call("look"), 3, "duplicate_call"],
    ["calls of one tool", counting, 6, "tool_call_limit"],
    ["the end of a turn", (_request, n) => (n === 1 ? say("done") : say('{"a":1}')), 2, "completed"],
    ["answers that cannot be decoded", () => say("never JSON"), 4, "outputDecodingFailed"],
  ])("B5.37 end a sequence by %s", async (_title, script, most, how) => {
    const options = { tools, output, ...(how === "maxStepsExceeded" ? { maxToolCallsPerTool: null } : {}) };
    const { agent, model } = sequence(script, options);
    const { thrown, result } = await pulled(agent);
    expect(model.calls).toBe(most);
    expect((thrown as { code?: string } | undefined)?.code ?? result?.end?.reason).toBe(how);
  });
});

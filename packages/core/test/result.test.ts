// What a run cost, as its result tells it.

import { Agent, subAgent } from "@rondo/core";
import { call, fail, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo } from "./support.ts";

test("a result has the number of model calls, including retries", async () => {
  const model = scripted([call("look"), fail("overloaded"), fail("overloaded"), say("done")]);
  const result = await new Agent({ model, tools: [echo("look")], retry: { baseMs: 0 } }).run("go");
  expect([result.steps, result.modelCalls, model.calls]).toEqual([2, 4, 4]);
});

test("a result counts a landing's last call, and those of summaries", async () => {
  const model = scripted([call("look"), say("as far as I came")]);
  const landed = await new Agent({ model, tools: [echo("look")], maxSteps: 1 }).run("go");
  expect([landed.end?.landed, landed.modelCalls]).toEqual([true, 2]);

  const talking = scripted(({ messages }) =>
    say(JSON.stringify(messages).includes("<summary>") ? "<summary>all of it</summary>" : "so ".repeat(500)),
  );
  const compaction = { auto: false, keepTurns: 1, keepShare: 0.1, minGain: null };
  const session = await new Agent({ model: talking, context: { window: 4_000, compaction } }).open("s");
  for (const task of ["one", "two", "three"]) await session.send(task);
  const asked = talking.calls;
  const { steps, modelCalls } = await session.compact();
  expect([steps, modelCalls]).toEqual([0, talking.calls - asked]);
  expect(modelCalls).toBeGreaterThan(0);
});

test("a result does not count sub-agents' model calls, and a parked one has its own so far", async () => {
  const helper = new Agent({ model: scripted([say("helped")], { repeatLast: true }) });
  const model = scripted([call("helper", { task: "h" }), call("press"), say("done")]);
  const session = await new Agent({
    model,
    tools: [
      subAgent({ name: "helper", description: "helps", agent: helper }),
      echo("press", { permission: "ask" }),
    ],
  }).open("s");
  const parked = await session.send("go");
  expect([parked.parked?.pending.length, parked.modelCalls]).toEqual([1, 2]);
  expect((await session.approve(parked.parked?.pending[0]?.key ?? "")).modelCalls).toBe(3);
});

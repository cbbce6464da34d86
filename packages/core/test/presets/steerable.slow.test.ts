// The ceiling of the steerable preset, really reached.

import { Agent, type RunResult } from "@rondo/core";
import { steerable } from "@rondo/core/presets";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo } from "../support.ts";

/** A run of so many answers with a call, and one without. */
function run(calls: number): Promise<RunResult> {
  const script = Array.from({ length: calls }, (_, at) => call("look", {}, { id: `c${at}` }));
  const model = scripted([...script, say("done")], { keepRequests: false });
  return new Agent(steerable({ model, tools: [echo("look")] })).run("go");
}

test("C1.11 a run may take ten thousand steps; one that would take more lands", async () => {
  const far = await run(9_999);
  expect([far.end?.reason, far.steps]).toEqual(["completed", 10_000]);
  const astray = await run(10_000);
  expect(astray.end).toMatchObject({ reason: "max_steps", landed: true, evidence: { max: 10_000 } });
});

// `maxCalls`: at most so many calls in a run, of one tool or of all.

import {
  Agent,
  type AgentOptions,
  maxCalls,
  memoryJournal,
  type RunResult,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { call, fail, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { quick } from "../support.ts";

const named = (name: string): Tool =>
  tool({ name, description: name, inputSchema: { type: "object" }, effect: "read", execute: () => "seen" });
const tools = [named("look"), named("read")];

const look = (at: number): Turn => call("look", { at });
const read = (at: number): Turn => call("read", { at });

const running = (
  max: Parameters<typeof maxCalls>[0],
  script: readonly Turn[],
  options: Partial<AgentOptions> = {},
): Promise<RunResult> =>
  new Agent({ model: scripted(script), tools, rules: [maxCalls(max)], ...options }).run("go");

const toldOf = ({ messages }: RunResult): string[] =>
  messages.flatMap((one) => (one.role === "tool" ? [textOf(one)] : []));

const lookedTwice = "look was not executed: the run has reached its limit (at most 2 calls of look).";

describe("maxCalls of a tool", () => {
  test("answers the calls above it, and leaves those of other tools alone", async () => {
    const run = await running({ look: 2 }, [look(1), look(2), look(3), read(1), say("done")]);
    expect(toldOf(run)).toEqual(["seen", "seen", lookedTwice, "seen"]);
    expect(run.end?.reason).toBe("completed");
  });

  test("counts the calls of one answer one after the other", async () => {
    const run = await running({ look: 2 }, [[look(1), read(1), look(2), look(3)] as Turn, say("done")]);
    expect(toldOf(run)).toEqual(["seen", "seen", "seen", lookedTwice]);
  });

  test("counts no call that does not run", async () => {
    const model = scripted([call("look", {}), [look(1), call("look", {}), look(2)] as Turn, say("done")]);
    const strict = tool({
      name: "look",
      description: "look",
      inputSchema: { type: "object", properties: { at: { type: "number" } }, required: ["at"] },
      execute: () => "seen",
    });
    const run = await new Agent({ model, tools: [strict], rules: [maxCalls({ look: 2 })] }).run("go");
    const misfit = expect.stringContaining("at");
    expect(toldOf(run)).toEqual([misfit, "seen", misfit, "seen"]);
  });

  test("lands a run whose model makes no other calls in two turns in a row", async () => {
    const run = await running({ look: 1 }, [look(1), look(2), [look(3), look(4)] as Turn, say("what I saw")]);
    expect(run.end).toMatchObject({
      reason: "tool_call_limit",
      rule: "max_calls",
      evidence: { tool: "look", max: 1, refusedTurns: 2 },
      landed: true,
    });
    expect([run.text, run.modelCalls]).toEqual(["what I saw", 4]);
  });

  test("lands it also if a model call failed between the two", async () => {
    const script = [look(1), look(2), fail("overloaded"), look(3), say("what I saw")];
    const run = await running({ look: 1 }, script, quick);
    expect(run.end).toMatchObject({ rule: "max_calls", evidence: { refusedTurns: 2 }, landed: true });
  });

  test("lets a run go on that does other things between", async () => {
    const run = await running({ look: 0 }, [
      look(1),
      read(1),
      look(2),
      [look(3), read(2)] as Turn,
      look(4),
      say("done"),
    ]);
    expect(run.end?.reason).toBe("completed");
  });

  test("lets a run go on that answers between", async () => {
    const more = ["go on"];
    const agent = new Agent({
      model: scripted([look(1), say("so far"), look(2), say("done")]),
      tools,
      rules: [maxCalls({ look: 0 })],
      hooks: { onFinish: () => more.shift() },
    });
    const run = await agent.run("go");
    expect([run.end?.reason, run.text]).toEqual(["completed", "done"]);
  });

  test("counts anew in the next run, and goes on counting in a run that was resumed", async () => {
    const asking: Tool = { ...named("look"), permission: "ask" };
    const journal = memoryJournal();
    const script = [look(1), look(2), say("done"), look(3), look(4), say("done")];
    const agent = new Agent({
      model: scripted(script),
      tools: [asking],
      rules: [maxCalls({ look: 1 })],
      journal,
    });
    const first = await agent.open("s");
    const { parked } = await first.send("go");
    const again = await agent.open("s");
    const run = await again.approve(parked?.pending[0]?.id ?? "");
    expect(toldOf(run)).toEqual(["seen", expect.stringContaining("at most 1 call of look")]);
    const { parked: next } = await again.send("again");
    const second = await again.approve(next?.pending[0]?.id ?? "");
    expect(toldOf(second).slice(-2)).toEqual(["seen", expect.stringContaining("at most 1 call of look")]);
  });
});

test("maxCalls of all tools counts them together", async () => {
  const run = await running(2, [look(1), read(1), look(2), read(2), say("what I saw")]);
  expect(toldOf(run)).toEqual([
    "seen",
    "seen",
    "look was not executed: the run has reached its limit (at most 2 calls).",
    "read was not executed: the run has reached its limit (at most 2 calls).",
  ]);
  expect(run.end).toMatchObject({ reason: "tool_call_limit", evidence: { max: 2, refusedTurns: 2 } });
});

test("the words of a refused call are the agent's", async () => {
  const agent = new Agent({
    model: scripted([look(1), say("done")]),
    tools,
    rules: [maxCalls({ look: 0 })],
    texts: { limitRefusal: (name: string) => `no more ${name}` },
  });
  expect(toldOf(await agent.run("go"))).toEqual(["no more look"]);
});

test.each<[unknown, string]>([
  [-1, "maxCalls: option max: "],
  [1.5, "maxCalls: option max: "],
  [{}, "maxCalls: option max: "],
  [{ look: "3" }, "maxCalls: option max"],
  [undefined, "maxCalls: option max: "],
])("what is no number of calls is refused: %j", (max, words) => {
  expect(() => maxCalls(max as never)).toThrow(words);
});

test("a tool that is not there is refused by name", () => {
  const limited = (given: readonly Tool[]) => (): unknown =>
    new Agent({ model: scripted([]), tools: given, rules: [maxCalls({ loook: 1 })] });
  expect(limited(tools)).toThrow('maxCalls limits "loook", and there is no such tool; did you mean look?');
  expect(limited([])).toThrow('maxCalls limits "loook", and there is no such tool; there are no tools');
});

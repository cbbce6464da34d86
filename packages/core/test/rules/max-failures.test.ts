// `maxFailures`: a run lands in which a tool keeps failing, whatever its errors say.

import {
  Agent,
  type AgentOptions,
  maxFailures,
  type RunResult,
  type Tool,
  tool,
  toolResult,
} from "@rondo/core";
import { call, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { callOf, recordOf, stateOf } from "../loop/support.ts";
import { afterAll, stopOf, turnOf } from "./support.ts";

/** Fails with another text each time, if it is called with `fails`. */
const named = (name: string): Tool =>
  tool({
    name,
    description: name,
    inputSchema: {
      type: "object",
      properties: { at: { type: "number" }, fails: { type: "boolean" } },
      required: ["at"],
    },
    effect: "read",
    execute: ({ at, fails }) => {
      if (fails === true) throw new Error(`${name} found nothing at ${at}`);
      return `seen at ${at}`;
    },
  });
const tools = [named("look"), named("read")];

let at = 0;
const fails = (name: string): Turn => call(name, { at: ++at, fails: true });
const works = (name: string): Turn => call(name, { at: ++at });
const misfits = (name: string): Turn => call(name, { [`place${++at}`]: at });
const both = (...turns: Turn[]): Turn => turns as unknown as Turn;

const running = (
  script: readonly Turn[],
  max: Parameters<typeof maxFailures>[0] = 3,
  options: Partial<AgentOptions> = {},
): Promise<RunResult> =>
  new Agent({
    model: scripted([...script, say("so far")]),
    tools,
    rules: [maxFailures(max)],
    ...options,
  }).run("go");

const endOf = async (...of: Parameters<typeof running>): Promise<unknown[]> => {
  const { end, modelCalls } = await running(...of);
  return [end?.reason, end?.rule, modelCalls];
};

describe("a tool that keeps failing", () => {
  test("lands the run, whatever its errors say and whatever else is called in between", async () => {
    const { end, text } = await running([fails("look"), works("read"), fails("look"), fails("look")]);
    expect(end).toMatchObject({
      reason: "no_progress",
      rule: "max_failures",
      evidence: { tool: "look", failures: 3, max: 3 },
      landed: true,
    });
    expect(text).toBe("so far");
  });

  test("begins anew after a success, also one of the same answer", async () => {
    const done = ["completed", "answer", 7];
    const [a, b, ok] = [fails("look"), fails("look"), works("look")];
    expect(await endOf([a, b, ok, fails("look"), fails("look"), ok])).toEqual(done);
    expect(await endOf([a, b, both(fails("look"), works("look")), fails("look"), fails("look"), ok])).toEqual(
      done,
    );
  });

  test("counts once for each answer", async () => {
    const many = both(fails("look"), fails("look"), fails("look"));
    expect(await endOf([many, many])).toEqual(["completed", "answer", 3]);
    expect(await endOf([many, many, many])).toEqual(["no_progress", "max_failures", 4]);
  });

  test("may fail in any way: by throwing, in time, with arguments that do not fit, or by saying so", async () => {
    const slow = tool({
      name: "slow",
      description: "Waits",
      inputSchema: { type: "object" },
      timeoutMs: 1,
      execute: () => new Promise(() => {}),
    });
    const saying = tool({
      name: "say",
      description: "Says that it failed",
      inputSchema: { type: "object" },
      execute: () => toolResult(`no ${++at}`, { isError: true }),
    });
    expect(await endOf([misfits("look"), fails("look")], 2)).toEqual(["no_progress", "max_failures", 3]);
    expect(await endOf([call("slow", { a: 1 }), call("slow", { a: 2 })], 2, { tools: [slow] })).toEqual([
      "no_progress",
      "max_failures",
      3,
    ]);
    expect(await endOf([call("say"), call("say")], 2, { tools: [saying] })).toEqual([
      "no_progress",
      "max_failures",
      3,
    ]);
  });

  test("has not failed if a call was denied, and has if a hook says so in its place", async () => {
    const denied = { permission: () => "deny" as const };
    expect(await endOf([fails("look"), fails("look")], 2, { hooks: denied })).toEqual([
      "completed",
      "answer",
      3,
    ]);
    const failed = { beforeTool: () => ({ result: `no ${++at}`, isError: true }) };
    expect(await endOf([works("look"), works("look")], 2, { hooks: failed })).toEqual([
      "no_progress",
      "max_failures",
      3,
    ]);
  });

  test("may have a number of its own, and others none", async () => {
    expect(await endOf([fails("read"), fails("read"), fails("look")], { look: 1 })).toEqual([
      "no_progress",
      "max_failures",
      4,
    ]);
    expect(await endOf([fails("read"), fails("look"), fails("read")], { look: 2 })).toEqual([
      "completed",
      "answer",
      4,
    ]);
  });

  test("is counted in each run anew", async () => {
    const model = scripted([fails("look"), say("one"), fails("look"), say("two")]);
    const session = await new Agent({ model, tools, rules: [maxFailures(2)] }).open("s");
    expect((await session.send("go")).end?.reason).toBe("completed");
    expect((await session.send("again")).end?.reason).toBe("completed");
  });

  test("changes nothing that is remembered by a result of a call that nobody knows, or by a success of one that never failed", () => {
    const rule = maxFailures(1);
    const memory = rule.init?.(stateOf());
    const stray = recordOf({ type: "tool_finished", call: "5.0", result: { content: [], isError: true } });
    expect(afterAll(rule, [stray as never], stateOf(), memory as never)).toBe(memory);
    const calling = stateOf({ turn: turnOf(stopOf("tool_use"), [], [callOf("5.0")]) });
    const success = recordOf({ type: "tool_finished", call: "5.0", result: { content: [], isError: false } });
    expect(afterAll(rule, [success as never], calling, memory as never)).toBe(memory);
  });

  test("is a tool that there is, and fails a whole number of times", () => {
    expect(() => running([], { lok: 1 })).toThrow(
      'maxFailures limits "lok", and there is no such tool; did you mean look?',
    );
    for (const max of [0, -1, 1.5, {}, { look: 0 }, "3", undefined] as never[])
      expect(() => maxFailures(max)).toThrow(/^maxFailures: option max/);
  });
});

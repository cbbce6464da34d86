// A process that leaves: where a driver stops, what it still does before that, and what it starts no more.

import {
  contextFacts,
  type Fact,
  type Hooks,
  RondoError,
  type Rule,
  type Tool,
  type ToolContext,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";
import { answer, begun, calling, driverOf, ended, queued, start } from "./drive-support.ts";
import { heldTool } from "./ongoing-support.ts";
import { come, rules, toolOf } from "./support.ts";

/** A tool of which each call comes back when the test says so. */
function reader(name: string): { tool: Tool; started: string[]; settle(at: number): Promise<void> } {
  const started: string[] = [];
  const settles: (() => void)[] = [];
  const execute = (_args: never, { callId }: ToolContext): Promise<string> => {
    started.push(callId);
    return new Promise((resolve) => settles.push(() => resolve("read")));
  };
  const settle = async (at: number): Promise<void> => {
    settles[at]?.();
    await come();
  };
  return { tool: { ...echo(name), execute }, started, settle };
}

/** Hooks that the test answers. */
function asking(...names: (keyof Hooks)[]): { shell: object; asked: string[]; answer(): Promise<void> } {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const hook = (name: string) => (): Promise<undefined> => {
    asked.push(name);
    return new Promise((resolve) => answers.push(() => resolve(undefined)));
  };
  const hooks = Object.fromEntries(names.map((name) => [name, hook(name)]));
  return {
    shell: { hooks: { hooks, tools: new Map(), modelIndex: () => undefined } },
    asked,
    answer: async () => {
      for (const one of answers.splice(0)) one();
      await come();
    },
  };
}

describe("a driver that drains", () => {
  test("waits for work in flight, records what follows from it, and starts nothing more", async () => {
    const { tool, contexts } = heldTool();
    const { driver, model, journal, end } = await begun({ with: [tool] });
    driver.leave();
    await come();
    expect(end.how).toBeUndefined();
    await model.answers(calling("write"));
    expect(end.how).toBe("left");
    expect(journal.types).toStrictEqual(["run_started", "model_started", "model_finished", "turn_judged"]);
    expect([driver.running, contexts.length]).toStrictEqual([false, 0]);
    driver.stay();
    ended(driver);
    await come();
    expect(contexts).toHaveLength(1);
  });

  test("stops before anything has begun, and continues if the drain is taken back", async () => {
    const { driver, model, journal } = driverOf();
    expect(() => driver.leave()).not.toThrow();
    driver.post(start());
    expect(await driver.run()).toBe("left");
    expect([model.heard.length, journal.types]).toStrictEqual([0, ["run_started"]]);
    driver.stay();
    ended(driver);
    await come();
    expect(model.heard).toHaveLength(1);
  });

  test("does not wait for a gate to open", async () => {
    const { driver, end } = await begun({ gate: { pass: () => false, open: undefined } });
    expect(end.how).toBeUndefined();
    driver.leave();
    await come();
    expect(end.how).toBe("left");
  });

  test("still requests approvals, and parks", async () => {
    const { driver, model, journal, end } = await begun({ with: [echo("guarded")] });
    driver.leave();
    await model.answers(calling("guarded"));
    expect([end.how, journal.types.at(-1)]).toStrictEqual(["parked", "approval_asked"]);
  });

  test("records messages that come while it writes its last records", async () => {
    const { driver, model, journal, end } = await begun({ with: [echo("write")] });
    driver.leave();
    journal.slow = true;
    await model.answers(calling("write"));
    expect(journal.types.at(-1)).toBe("turn_judged");
    driver.post(queued("more"));
    await journal.keeps();
    expect([end.how, journal.types.at(-1)]).toStrictEqual([undefined, "queued"]);
    await journal.keeps();
    expect(end.how).toBe("left");
  });

  test("starts none of the calls that wait for their turn", async () => {
    const { tool, started, settle } = reader("read");
    const { driver, model, end } = await begun({ with: [tool] });
    await model.answers(calling("read", "read", "read"));
    expect(started).toHaveLength(2);
    driver.leave();
    await settle(0);
    expect([end.how, started.length]).toStrictEqual([undefined, 2]);
    await settle(1);
    expect([end.how, started.length]).toStrictEqual(["left", 2]);
  });

  test("asks no hook about a call that finished while another one works", async () => {
    const { tool, settle } = reader("read");
    const { shell, asked } = asking("afterTool");
    const { driver, model, end } = await begun({ with: [tool], ...shell }, { hooks: ["afterTool"] });
    await model.answers(calling("read", "read"));
    driver.leave();
    await settle(0);
    expect([end.how, asked]).toStrictEqual([undefined, []]);
    await settle(1);
    expect([end.how, asked]).toStrictEqual(["left", []]);
  });

  test("waits for a hook that was asked, and calls no model meanwhile", async () => {
    const { shell, asked, answer: say } = asking("onFinish");
    const { driver, model, end } = await begun(shell, { hooks: ["onFinish"] });
    await model.answers(answer);
    expect([asked, end.how]).toStrictEqual([["onFinish"], undefined]);
    driver.leave();
    driver.post(queued("more"));
    await come();
    expect([end.how, model.heard.length]).toStrictEqual([undefined, 1]);
    await say();
    expect([end.how, model.heard.length]).toStrictEqual(["left", 1]);
  });

  test("checks no output, and requests no summary, while a hook was asked before", async () => {
    const checked: string[] = [];
    const checkOutput = (text: string): Promise<Fact & { type: "output_checked" }> => {
      checked.push(text);
      return Promise.resolve({ type: "output_checked", ok: true, value: text });
    };
    const output = { schema: { type: "string" }, decodeRetries: 0 };
    const context = contextFacts({ window: 2_000 });
    const { shell, answer: say } = asking("onFinish");
    const { driver, model, end, journal } = await begun(
      { ...shell, checkOutput },
      { hooks: ["onFinish"], output, context, tools: [] },
    );
    await model.answers(answer);
    driver.post(queued("more"));
    await come();
    expect([checked.length, model.heard.length]).toStrictEqual([1, 2]);
    driver.leave();
    await model.answers(answer);
    expect([checked.length, end.how]).toStrictEqual([1, undefined]);
    driver.post({ type: "mode", mode: "compacting", rule: "asked", evidence: {} });
    await come();
    expect(journal.types).not.toContain("summary_started");
    await say();
    expect([checked.length, model.heard.length, end.how]).toStrictEqual([1, 2, "left"]);
  });

  test("waits for a hook no longer than the run's time limit", async () => {
    const until: Rule = {
      name: "until",
      version: 1,
      wakeAt: () => 1_009,
      decide: (_memory, state) =>
        state.now < 1_009 ? undefined : { do: "stop", reason: "turn_stopped", evidence: {} },
    };
    const { shell, asked } = asking("permission");
    const timed = { ...rules, list: [until, ...rules.list] };
    const world = { ...shell, rules: timed, with: [echo("read")] };
    const { driver, model, clock, end, journal } = await begun(world, { hooks: ["permission"] });
    await model.answers(calling("read"));
    driver.leave();
    await come();
    expect([asked, end.how]).toStrictEqual([["permission"], undefined]);
    clock.pass(9);
    await come();
    expect(journal.types).toContain("woke");
    expect([end.how, driver.state.run?.end?.rule]).toStrictEqual(["done", "until"]);
  });
});

describe("a driver that drains at once", () => {
  test("abandons work in flight, and ignores its results", async () => {
    const { driver, model, journal, end } = await begun();
    driver.leaveNow();
    await come();
    expect(end.how).toBe("left");
    expect(model.signal.reason).toMatchObject({ message: "the process leaves" });
    await model.answers(answer);
    expect(journal.types).toStrictEqual(["run_started", "model_started"]);
  });

  test("does so too if it was already draining, or is told again", async () => {
    const { driver, end } = await begun();
    driver.leave();
    driver.leaveNow();
    driver.leave();
    await come();
    expect(end.how).toBe("left");
  });

  test("stops a run at once that begins later", async () => {
    const { driver, model, journal } = driverOf();
    expect(() => driver.leaveNow()).not.toThrow();
    driver.post(start());
    expect(await driver.run()).toBe("left");
    expect([model.heard.length, journal.types]).toStrictEqual([0, ["run_started"]]);
  });

  test("does not wait for messages that come meanwhile; they are recorded by the next drive", async () => {
    const { driver, model, journal } = driverOf();
    driver.post(start());
    journal.slow = true;
    const end = ended(driver);
    await come();
    driver.post(queued("first"));
    driver.leaveNow();
    await journal.keeps();
    expect(journal.types.at(-1)).toBe("queued");
    driver.post(queued("second"));
    await journal.keeps();
    expect([end.how, journal.records.length]).toStrictEqual(["left", 3]);
    driver.stay();
    ended(driver);
    await come();
    expect(journal.records[3]).toMatchObject({ type: "queued", id: "second" });
    expect(model.heard).toHaveLength(0);
  });

  test("does not wait for its own last wait to begin", async () => {
    const { tool, started, settle } = reader("read");
    const { driver, model, journal, end } = await begun({ with: [tool] });
    await model.answers(calling("read", "read"));
    expect(started).toHaveLength(2);
    journal.slow = true;
    await settle(0);
    expect(journal.types.at(-1)).toBe("tool_finished");
    driver.leaveNow();
    await journal.keeps();
    expect(end.how).toBe("left");
  });
});

describe("a sub-agent whose records are refused", () => {
  test("ends its parent's drive: what that does could not be stored either", async () => {
    const { tool, contexts } = heldTool({ agent: { maxDepth: 2 } });
    const agents = { tools: [toolOf("write", { effect: "idempotent", agent: { maxDepth: 2 } })] };
    const { driver, model, end } = await begun({ with: [tool] }, agents);
    await model.answers(calling("write"));
    contexts[0]?.child?.lose(new RondoError("conflict", "another writer has its session"));
    await come();
    expect(end).toMatchObject({ how: "rejected", thrown: { kind: "conflict" } });
    expect(driver.failed?.message).toBe("another writer has its session");
    expect(contexts[0]?.signal.reason).toBe(driver.failed);
  });
});

describe("a sub-agent of a drained driver", () => {
  const agents = { tools: [toolOf("write", { effect: "idempotent", agent: { maxDepth: 2 } })] };

  test("is told of the drain, until it is taken back", async () => {
    const { tool, contexts } = heldTool({ agent: { maxDepth: 2 } });
    const { driver, model } = await begun({ with: [tool] }, agents);
    await model.answers(calling("write"));
    const heard: boolean[] = [];
    const listen = (): void => contexts[0]?.child?.onLeave((now) => void heard.push(now));
    listen();
    driver.leave();
    expect(heard).toStrictEqual([false]);
    driver.leaveNow();
    expect(heard).toStrictEqual([false, true]);
    driver.stay();
    listen();
    expect(heard).toHaveLength(2);
  });

  test("gets the answers to its calls", async () => {
    const { tool, contexts } = heldTool({ agent: { maxDepth: 2 } });
    const { driver, model } = await begun({ with: [tool] }, agents);
    await model.answers(calling("write"));
    const heard: unknown[] = [];
    contexts[0]?.child?.onAnswer((one) => void heard.push(one));
    const [call] = driver.state.run?.turn?.calls ?? [];
    const said = { answer: "approve" } as const;
    driver.post({ type: "approval_passed", call: call?.key as "5.0", inside: "a", said });
    await come();
    expect(heard).toStrictEqual([{ inside: "a", said }]);
  });
});

// Questions that are being asked, by hand: to hooks, to schemas, to the tools of calls that a crash cut off.

import { type Fact, memoryBlobs, RondoError, type State, type ToolContext } from "@rondo/core";
import { describe, expect, test } from "vitest";
import type { HookAsk } from "../../src/loop/action.ts";
import { viewOf } from "../../src/loop/driving/announce.ts";
import { PendingCallbacks } from "../../src/loop/driving/pending-callbacks.ts";
import { echo } from "../support.ts";
import { idle, worldOf } from "./ongoing-support.ts";
import { acting, callOf, come, finished, options, stateOf } from "./support.ts";

describe("reconcile for an interrupted call", () => {
  const cut = callOf("5.0", { startedAt: 1, interrupted: true, args: { at: 1 } });
  const state = acting([callOf("5.1"), cut]);

  test("is called once at a time, and its outcome is returned", async () => {
    const asked: ToolContext[] = [];
    let say = (_found: { notDone: true }): void => {};
    const reconcile = (_key: string, _args: never, context: ToolContext): Promise<{ notDone: true }> => {
      asked.push(context);
      return new Promise((resolve) => {
        say = resolve;
      });
    };
    const world = worldOf(state, { with: [{ ...echo("write"), reconcile }] });
    expect(world.ongoing.isAsking).toBe(false);
    world.ongoing.reconcile("5.0");
    world.ongoing.reconcile("5.0");
    await come();
    expect(world.ongoing.isAsking).toBe(true);
    expect(asked).toHaveLength(1);
    const [{ signal, update }] = asked as [ToolContext];
    expect(asked[0]).toMatchObject({ idempotencyKey: "s:5.0", callId: "id-5.0" });
    update("looking");
    expect(signal.aborted).toBe(false);
    say({ notDone: true });
    await come();
    expect(world.posted).toStrictEqual([{ type: "reconciled", call: "5.0", found: "not_done" }]);
    expect(signal.reason).toMatchObject({
      kind: "aborted",
      message: "the result of write is no longer wanted",
    });
    update("still looking");
    expect(world.told).toMatchObject([{ type: "tool_update", progress: "looking" }]);
    expect(world.ongoing.isAsking).toBe(false);
    world.ongoing.reconcile("5.0");
    await come();
    expect(asked).toHaveLength(2);
  });

  test("that is called again after a drain is not affected by the earlier one", async () => {
    const contexts: ToolContext[] = [];
    const says: ((found: { notDone: true }) => void)[] = [];
    const reconcile = (_key: string, _args: never, context: ToolContext): Promise<{ notDone: true }> => {
      contexts.push(context);
      return new Promise((resolve) => says.push(resolve));
    };
    const { ongoing, told, posted } = worldOf(state, { with: [{ ...echo("write"), reconcile }] });
    ongoing.reconcile("5.0");
    await come();
    ongoing.leave("now");
    ongoing.reconcile("5.0");
    await come();
    says[0]?.({ notDone: true });
    await come();
    contexts[1]?.update("looking");
    expect([told.length, posted.length]).toStrictEqual([1, 0]);
    expect(contexts.map(({ signal }) => signal.aborted)).toStrictEqual([true, false]);
  });

  test("and for another call run in parallel", async () => {
    const asked: string[] = [];
    const reconcile = (key: string): Promise<never> => {
      asked.push(key);
      return new Promise(() => {});
    };
    const both = acting([cut, { ...cut, key: "5.1" }]);
    const world = worldOf(both, { with: [{ ...echo("write"), reconcile }] });
    world.ongoing.reconcile("5.0");
    world.ongoing.reconcile("5.1");
    await come();
    expect(asked).toStrictEqual(["s:5.0", "s:5.1"]);
  });

  test("is not called if the tool is gone", async () => {
    for (const at of [acting([callOf("5.1")]), stateOf(), idle]) {
      const world = worldOf(at);
      world.ongoing.reconcile("5.0");
      expect(world.ongoing.isAsking).toBe(false);
      await come();
      expect(world.posted).toStrictEqual([]);
    }
  });

  test("with a large result has it cut like any other", async () => {
    const cap = { mode: "lines", bytes: 40, exempt: [], keep: "cut", withFiles: "cut_text" } as never;
    const reconcile = (): { done: string } => ({ done: "line\n".repeat(100) });
    const at = { ...state, options: options({ context: { cap } }) };
    const world = worldOf(at, { with: [{ ...echo("write"), reconcile }], blobs: memoryBlobs() });
    world.ongoing.reconcile("5.0");
    await come();
    expect(world.posted).toMatchObject([{ found: "done", result: { capped: expect.anything() } }]);
  });
});

/** Questions asked in a state that the test holds, and what came of them. */
function questionsOf(first: State): { questions: PendingCallbacks; posted: Fact[]; is(state: State): void } {
  let state = first;
  const posted: Fact[] = [];
  const questions = new PendingCallbacks({ state: () => state, post: (fact) => void posted.push(fact) });
  return {
    questions,
    posted,
    is: (now) => {
      state = now;
    },
  };
}

describe("a question to a hook", () => {
  const answered: Fact = { type: "output_checked", ok: true };

  test("is asked once at a time in a run, and its answer is posted", async () => {
    const { promise, resolve: say } = Promise.withResolvers<Fact>();
    let times = 0;
    const ask = (): Promise<Fact> => {
      times += 1;
      return promise;
    };
    const { questions, posted, is } = questionsOf(stateOf());
    questions.ask("a", ask);
    questions.ask("a", ask);
    expect(times).toBe(1);
    questions.ask("b", ask);
    expect(times).toBe(2);
    is(stateOf({ number: 2 }));
    questions.ask("a", ask);
    expect(times).toBe(3);
    is(stateOf());
    say(answered);
    await come();
    expect(posted).toStrictEqual([answered, answered]);
    expect(questions.areOpen).toBe(false);
  });

  test("that fails ends the run with its error", async () => {
    const { questions, posted } = questionsOf(stateOf());
    questions.ask("a", () => Promise.reject(new RondoError("storage", "disk full")));
    await come();
    expect(posted).toStrictEqual([
      {
        type: "abort_asked",
        reason: "disk full",
        error: { kind: "storage", message: "disk full", retryable: false },
      },
    ]);
  });

  test.each([
    ["the run has ended", stateOf({ end: { reason: "completed" } as never })],
    ["another run has begun", stateOf({ number: 2 })],
    ["the run is gone", idle],
  ])("is no longer needed once %s", async (_what, later) => {
    const { questions, posted, is } = questionsOf(stateOf());
    questions.ask("a", () => Promise.resolve(answered));
    is(later);
    await come();
    expect(posted).toStrictEqual([]);
    expect(questions.areOpen).toBe(false);
  });

  test("that was asked before any run gets its answer accepted as long as there is none", async () => {
    const { questions, posted } = questionsOf(idle);
    questions.ask("a", () => Promise.resolve(answered));
    await come();
    expect(posted).toStrictEqual([answered]);
  });

  test.each([
    ["was cancelled", stateOf({ cancelledAt: 1_000 })],
    ["has ended", stateOf({ end: { reason: "completed" } as never })],
  ])("gets its signal once its run %s, and before that if its answer is no longer needed", (_what, later) => {
    const { questions, is } = questionsOf(stateOf());
    const signals: AbortSignal[] = [];
    const ask = (signal: AbortSignal): Promise<Fact> => {
      signals.push(signal);
      return new Promise(() => {});
    };
    questions.ask("a", ask);
    questions.ask("b", ask, ({ steps }) => steps === 0);
    const areOver = (): boolean[] => {
      questions.release(({ seq }) => new RondoError("aborted", `after ${seq} records`));
      return signals.map(({ aborted }) => aborted);
    };
    expect(areOver()).toStrictEqual([false, false]);
    is(stateOf({ steps: 1 }));
    expect(areOver()).toStrictEqual([false, true]);
    is(later);
    expect(areOver()).toStrictEqual([true, true]);
    expect(signals[0]?.reason).toMatchObject({ message: `after ${later.seq} records` });
  });

  const landing = { rule: "budget", reason: "no money", text: "t", at: 1 };
  const call = callOf("5.0");
  test.each<[string, HookAsk, boolean[]]>([
    ["about a step only until the run lands", { hook: "prepareStep", step: 1 }, [true, false, true, true]],
    [
      "about leave until the call has a result",
      { hook: "permission", call: "5.0" },
      [true, true, false, false],
    ],
    ["before a call until it has a result", { hook: "beforeTool", call: "5.0" }, [true, true, false, false]],
    [
      "about a result as long as the run goes on",
      { hook: "afterTool", call: "5.0" },
      [true, true, true, true],
    ],
  ])("to a hook is wanted %s", async (_what, ask, wanted) => {
    const later = [
      acting([call]),
      acting([call], { landing } as never),
      acting([finished("5.0")]),
      acting([finished("5.1")]),
    ];
    const stillAsked = later.map((state) => {
      let heard: AbortSignal | undefined;
      const hook = (...given: { signal: AbortSignal }[]): Promise<never> => {
        heard = given.at(-1)?.signal;
        return new Promise(() => {});
      };
      const hooks = {
        hooks: { [ask.hook]: hook } as never,
        tools: new Map(),
        modelIndex: () => undefined,
        session: "s",
        given: {},
      };
      const { ongoing, is } = worldOf(acting([ask.hook === "afterTool" ? finished("5.0") : call]), { hooks });
      ongoing.askHook(ask);
      is(state);
      ongoing.release();
      return heard?.aborted === false;
    });
    expect(stillAsked).toStrictEqual(wanted);
  });

  test("gets the state as it is", async () => {
    const seen: unknown[] = [];
    const hooks = {
      permission: (one: unknown): string => {
        seen.push(one);
        return "deny";
      },
    };
    const asked = {
      hooks: hooks as never,
      tools: new Map(),
      modelIndex: () => undefined,
      session: "s",
      given: {},
    };
    const { ongoing, posted } = worldOf(acting([callOf("5.0")]), { hooks: asked });
    const ask: HookAsk = { hook: "permission", call: "5.0" };
    ongoing.askHook(ask);
    ongoing.askHook(ask);
    await come();
    expect(seen).toStrictEqual([viewOf(callOf("5.0"))]);
    expect(posted).toStrictEqual([
      { type: "hook_answered", hook: "permission", call: "5.0", answer: "deny" },
    ]);
  });

  test("that returns a result has it redacted and cut, like a tool's", async () => {
    const cap = { mode: "lines", bytes: 40, exempt: [], keep: "cut", withFiles: "cut_text" } as never;
    const text = "hunter2\n".repeat(100);
    const hooks = {
      hooks: { beforeTool: () => ({ result: text }) } as never,
      tools: new Map(),
      modelIndex: () => undefined,
      session: "s",
      given: {},
    };
    const redact = ((fact: Fact) => JSON.parse(JSON.stringify(fact).replaceAll("hunter2", "***"))) as never;
    const at = { ...acting([callOf("5.0")]), options: options({ context: { cap } }) };
    const { ongoing, posted } = worldOf(at, { hooks, redact, blobs: memoryBlobs() });
    ongoing.askHook({ hook: "beforeTool", call: "5.0" });
    await come();
    expect(posted).toMatchObject([{ hook: "beforeTool", result: { capped: expect.anything() } }]);
    expect(JSON.stringify(posted)).not.toContain("hunter2");
  });
});

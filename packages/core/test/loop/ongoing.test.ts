// Calls of tools that are at work, by hand.

import {
  type CallResult,
  ChildWaits,
  type Fact,
  memoryBlobs,
  RondoError,
  type State,
  type Tool,
  type ToolContext,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import type { ChildCall } from "../../src/loop/child-facts.ts";
import { nothingSpent } from "../../src/loop/children.ts";
import { viewOf } from "../../src/loop/driving/announce.ts";
import type { Shell } from "../../src/loop/driving/shell.ts";
import { Log } from "../../src/loop/log.ts";
import { echo } from "../support.ts";
import { asks, call, heldTool, idle, type World, worldOf } from "./ongoing-support.ts";
import { acting, callOf, come, finished, options, recordOf, rules, stateOf } from "./support.ts";

type Checked = Fact & { type: "output_checked" };

const startedChild: ChildCall = {
  session: "s:5.0",
  reserved: {},
  spent: nothingSpent,
  parked: false,
  waiting: [],
  answers: [],
  told: 0,
};

const asSubAgent = (tool: Tool): Tool => ({ ...tool, agent: { maxDepth: 3 } });

describe("a call", () => {
  const running = callOf("5.0", { startedAt: 1, args: { at: 1 } });
  const state = acting([callOf("5.1"), running]);
  const begun = (tool: Tool, at: State = state, change: Partial<Shell> = {}): World => {
    const world = worldOf(at, { with: [tool], ...change });
    world.ongoing.act("5.0");
    return world;
  };
  const result = (text: string, more: Partial<CallResult> = {}): CallResult => ({
    content: [{ type: "text", text }],
    isError: false,
    ...more,
  });

  test("runs with its arguments, and its result is returned", async () => {
    const seen: unknown[] = [];
    const execute = (args: unknown): string => {
      seen.push(args);
      return "written";
    };
    const { posted } = begun({ ...echo("write"), execute });
    await come();
    expect(seen).toStrictEqual([{ at: 1 }]);
    expect(posted).toStrictEqual([{ type: "tool_finished", call: "5.0", result: result("written") }]);
  });

  test("does not run if it is gone, or has its result", async () => {
    for (const at of [acting([callOf("5.1")]), acting([finished("5.0")]), stateOf(), idle]) {
      const { tool, contexts } = heldTool();
      const { posted } = begun(tool, at);
      await come();
      expect([contexts, posted]).toStrictEqual([[], []]);
    }
  });

  test("does not run after an abort, and says so", () => {
    const { tool, contexts } = heldTool();
    const { posted } = begun(tool, acting([running], { cancelledAt: 2 }));
    expect(contexts).toStrictEqual([]);
    const text = "write was not started: the run was cancelled";
    expect(posted).toStrictEqual([
      { type: "tool_finished", call: "5.0", result: result(text, { isError: true, code: "aborted" }) },
    ]);
  });

  test("of a tool that is gone has a result that says so", () => {
    const { posted } = begun(echo("another"));
    const gone = result("Error: the tool write is not here any more.", {
      isError: true,
      code: "unknown_tool",
    });
    expect(posted).toStrictEqual([{ type: "tool_finished", call: "5.0", result: gone }]);
  });

  test("does not run if the tool of its name is a sub-agent now, or is none any more, and says so", async () => {
    const { tool, contexts } = heldTool();
    const was = begun(tool, acting([{ ...running, child: startedChild }]));
    const is = begun(asSubAgent(tool));
    await come();
    const refused = (why: string): unknown[] => {
      const text = `Error: the tool write ${why}: it was not run.`;
      return [
        { type: "tool_finished", call: "5.0", result: result(text, { isError: true, code: "unknown_tool" }) },
      ];
    };
    expect(contexts).toStrictEqual([]);
    expect(was.posted).toStrictEqual(refused("was a sub-agent when it was called, and is none any more"));
    expect(is.posted).toStrictEqual(refused("was no sub-agent when it was called, and is one now"));
  });

  test("that throws has the error as its result, or a fixed text and a warning", async () => {
    const execute = (): never => {
      throw new Error("secret");
    };
    const tool = { ...echo("write"), execute };
    const plain = begun(tool);
    const masked = begun(tool, state, { maskToolErrors: true });
    await come();
    expect(plain.posted).toMatchObject([{ result: result("Error: secret", { isError: true }) }]);
    expect(plain.told).toStrictEqual([]);
    expect(masked.posted).toMatchObject([{ result: result("Error: write failed.", { isError: true }) }]);
    expect(masked.told).toStrictEqual([
      { type: "warning", code: "tool_error", message: "write (id-5.0): secret" },
    ]);
  });

  test("that throws has a result even if the host's own text function throws", async () => {
    const execute = (): never => {
      throw new Error("secret");
    };
    const threw = (): never => {
      throw new Error("no words");
    };
    const { posted } = begun({ ...echo("write"), execute }, state, {
      rules: { ...rules, texts: { ...rules.texts, threw } },
    });
    await come();
    expect(posted).toMatchObject([{ result: result("Error: no words", { isError: true }) }]);
  });

  test("has access to the session's dependencies, and to earlier results", async () => {
    const blobs = memoryBlobs();
    const put = await blobs.put("s", "the whole text", { callId: "a", tool: "read", isError: false });
    const ref = put.ok ? put.ref : "";
    const { tool, contexts } = heldTool();
    const at = { ...state, outputs: Log.of<string>([ref]) };
    begun(tool, at, { blobs, given: { db: "here" } });
    begun(tool, at);
    await come();
    const [context, poor] = contexts as [ToolContext, ToolContext];
    expect(context).toMatchObject({ idempotencyKey: "s:5.0", callId: "id-5.0", deps: { db: "here" } });
    expect(context).not.toHaveProperty("child");
    expect(context.now()).toBe(1_000);
    expect(await context.resolve({ id: "db", create: () => "made", as: () => ({}) as never })).toBe("here");
    expect(context.outputs?.()).toStrictEqual([ref]);
    expect(context.messages()).toStrictEqual([...at.history]);
    expect(await context.output?.(ref)).toBe("the whole text");
    expect(await poor.output?.(ref)).toBeUndefined();
  });

  test("reports progress until it has returned", async () => {
    const { tool, contexts, settle } = heldTool();
    const { told } = begun(tool);
    await come();
    contexts[0]?.update("half");
    const update = { type: "tool_update", call: viewOf(running), progress: "half" };
    expect(told).toStrictEqual([update]);
    expect(() => contexts[0]?.update("half", { rows: 3n } as never)).toThrow("details.rows is a bigint");
    await settle("written");
    contexts[0]?.update("more than all");
    expect(told).toStrictEqual([update]);
  });

  test("has a result that is too large cut, by its model's window", async () => {
    const cap = { mode: "lines", bytes: 40, exempt: [], keep: "cut", withFiles: "cut_text" } as never;
    const large = "line\n".repeat(100);
    const refusing = { ...memoryBlobs(), put: () => ({ ok: false as const, reason: "no room" }) };
    const at = { ...state, options: options({ context: { cap } }) };
    const { posted, told } = begun({ ...echo("write"), execute: () => large }, at, { blobs: refusing });
    await come();
    const [fact] = posted as [Fact & { type: "tool_finished" }];
    expect(JSON.stringify(fact.result.content).length).toBeLessThan(large.length);
    expect(fact.result.capped).toBeDefined();
    expect(told).toMatchObject([
      {
        type: "warning",
        code: "blob_store",
        message: expect.stringMatching(
          /^the whole output of write \(call id-5\.0\) could not be kept: no room/,
        ),
      },
    ]);
    const exempt = {
      ...state,
      options: options({ context: { cap: { ...(cap as object), exempt: ["write"] } as never } }),
    };
    const whole = begun({ ...echo("write"), execute: () => large }, exempt);
    const uncapped = { ...state, options: options({ context: {} }) };
    const untouched = begun({ ...echo("write"), execute: () => large }, uncapped);
    await come();
    for (const {
      posted: [one],
    } of [whole, untouched])
      expect(one).toMatchObject({ result: result(large) });
  });

  test("that is a sub-agent returns waiting, for an approval or because of a drain", async () => {
    const pending = [{ id: "a", name: "write", args: {}, session: "s:5.0", agents: [] }];
    const fact = { type: "child_waits", call: "5.0", pending, parked: true, spent: nothingSpent };
    for (const [left, more] of [
      [false, {}],
      [true, { left: true }],
    ] as const) {
      const waits = new ChildWaits(pending, nothingSpent, left);
      const at = acting([{ ...running, child: startedChild }]);
      const { posted } = begun({ ...asSubAgent(echo("write")), execute: () => waits }, at);
      await come();
      expect(posted).toStrictEqual([{ ...fact, ...more }]);
    }
  });

  test("that is a sub-agent notifies its parent as long as it is wanted", async () => {
    const at = acting([{ ...running, child: startedChild }]);
    const { tool, contexts, settle } = heldTool();
    const { posted, told, ongoing, is } = begun(asSubAgent(tool), at);
    await come();
    const child = contexts[0]?.child;
    child?.emit({ type: "step_start", step: 1 });
    child?.waits([]);
    expect([told.length, posted.length]).toStrictEqual([1, 1]);
    is(acting([{ ...running, child: startedChild }], { cancelledAt: 2 }));
    ongoing.release();
    child?.emit({ type: "step_start", step: 2 });
    child?.waits([]);
    expect([told.length, posted.length]).toStrictEqual([1, 1]);
    await settle("late");
    child?.emit({ type: "step_start", step: 3 });
    expect(told).toHaveLength(1);
  });

  test("that is a sub-agent and has returned no longer notifies", async () => {
    const { tool, contexts, settle } = heldTool();
    const { told } = begun(asSubAgent(tool), acting([{ ...running, child: startedChild }]));
    await come();
    await settle("done");
    contexts[0]?.child?.emit({ type: "step_start", step: 1 });
    expect(told).toStrictEqual([]);
  });

  test("that is a sub-agent gets its answers, and is told of a drain or its end", async () => {
    const { tool, contexts } = heldTool();
    const at = acting([{ ...running, child: startedChild }]);
    const { ongoing } = begun(asSubAgent(tool), at);
    await come();
    const heard: unknown[] = [];
    contexts[0]?.child?.onAnswer((one) => heard.push(one));
    contexts[0]?.child?.onLeave((now) => heard.push([now, contexts[0]?.signal.aborted]));
    const said = { answer: "approve" } as const;
    ongoing.children.see(recordOf({ type: "approval_passed", call: "5.0", inside: "a", said }));
    ongoing.leave("soon");
    ongoing.leave("now");
    expect(heard).toStrictEqual([{ inside: "a", said }, [false, false], [true, false]]);
    expect(contexts[0]?.signal.aborted).toBe(true);
    ongoing.stay();
    contexts[0]?.child?.onLeave((now) => heard.push(now));
    expect(heard).toHaveLength(3);
  });

  test("gets its signal when it is aborted, or has its result, and not before; parallel calls continue", async () => {
    const { tool, contexts } = heldTool();
    const both = acting([running, { ...running, key: "5.1" }]);
    const { ongoing, is, told } = begun(tool, both);
    ongoing.act("5.1");
    await come();
    const [first, second] = contexts.map(({ signal }) => signal) as [AbortSignal, AbortSignal];
    ongoing.release();
    expect([first.aborted, second.aborted]).toStrictEqual([false, false]);
    is(acting([finished("5.0"), { ...running, key: "5.1" }]));
    ongoing.release();
    expect(first.reason).toMatchObject({
      kind: "aborted",
      message: "no longer wanted: its result is settled",
    });
    contexts[0]?.update("too late");
    expect(told).toStrictEqual([]);
    expect(second.aborted).toBe(false);
    is(
      acting([finished("5.0"), { ...running, key: "5.1" }], {
        cancelledAt: 2,
        abort: { at: 2, reason: "enough" },
      }),
    );
    ongoing.release();
    const { reason } = second;
    expect(reason).toMatchObject({ message: "no longer wanted: enough" });
    is(stateOf());
    ongoing.release();
    expect(second.reason).toBe(reason);
  });

  test("is not waited for after an abort if its tool only reads and never looked at its signal", async () => {
    for (const [effect, looks, given] of [
      ["read", false, 1],
      [undefined, false, 0],
      ["read", true, 0],
      ["idempotent", false, 0],
      ["write", false, 0],
    ] as const) {
      const { tool: facts, ...bare } = running;
      const at = effect === undefined || facts === undefined ? bare : { ...bare, tool: { ...facts, effect } };
      const { tool, contexts } = heldTool();
      const { ongoing, is, posted } = begun(tool, acting([at]));
      await come();
      expect(looks ? contexts[0]?.signal.aborted : contexts[0]?.callId).toBe(looks ? false : "id-5.0");
      is(acting([at], { cancelledAt: 2 }));
      ongoing.release();
      ongoing.release();
      expect(posted, effect).toHaveLength(given);
    }
  });

  test("whose result answer gave does not count as running", () => {
    const given = { content: [{ type: "text" as const, text: "Blue." }], isError: false };
    for (const key of ["5.0", "9.9"] as const)
      expect(worldOf(state).ongoing.brought(key, given)).toStrictEqual({
        type: "tool_finished",
        call: key,
        result: { ...given, code: "answered" },
      });
  });

  test("that was running elsewhere is reported like one that was running here", () => {
    const returned = result("Blue.");
    expect(worldOf(state).ongoing.returned("9.9", returned)).toBe(returned);
    const failed = worldOf(state).ongoing.returned("5.0", returned, { message: "no paint", why: "no paint" });
    expect(failed).toMatchObject({ isError: true, code: "threw" });
    expect(JSON.stringify(failed)).toContain("no paint");
    expect(worldOf(state).ongoing.returned("5.0", returned)).toMatchObject({
      content: [{ text: "Blue." }],
      isError: false,
    });
  });

  test.each([
    ["turn", stateOf()],
    ["run", idle],
  ])("gets its signal when its %s is gone", async (_what, gone) => {
    const { tool, contexts } = heldTool();
    const { ongoing, is } = begun(tool);
    await come();
    is(gone);
    ongoing.release();
    expect(contexts[0]?.signal.aborted).toBe(true);
  });

  test("that returns after it was started again does not affect the new one", async () => {
    const { tool, contexts } = heldTool();
    const settles: ((value: unknown) => void)[] = [];
    const slow: Tool = {
      ...tool,
      execute: (_args: never, context) => {
        contexts.push(context);
        return new Promise((settle) => settles.push(settle));
      },
    };
    const { ongoing, told } = begun(slow);
    ongoing.act("5.0");
    await come();
    settles[0]?.("old");
    await come();
    contexts[0]?.update("old");
    expect(told).toStrictEqual([]);
    contexts[1]?.update("new");
    expect(told).toMatchObject([{ progress: "new" }]);
    ongoing.stopAll(new RondoError("aborted", "bye"));
    expect(contexts[1]?.signal.reason).toMatchObject({ message: "bye" });
  });
});

describe("a drain at once", () => {
  test("fires the signal of all work in flight, and ignores its results", async () => {
    const { tool, contexts, settle } = heldTool();
    const state = acting([callOf("5.0", { startedAt: 1 })], { call });
    const { promise, resolve: say } = Promise.withResolvers<Checked>();
    const checkOutput = (): Promise<Checked> => promise;
    const { ongoing, model, posted, told } = worldOf(state, { with: [tool], checkOutput });
    ongoing.think(asks);
    ongoing.act("5.0");
    ongoing.checkOutput("{}");
    await come();
    ongoing.leave("now");
    for (const signal of [model.signal, contexts[0]?.signal])
      expect(signal?.reason).toMatchObject({ kind: "aborted", message: "the process leaves" });
    expect(ongoing.isAsking).toBe(false);
    contexts[0]?.update("too late");
    expect(told).toStrictEqual([]);
    say({ type: "output_checked", ok: true });
    await model.fails(new Error("gone"));
    await settle("late");
    expect(posted).toStrictEqual([]);
  });

  test("lets questions be asked again, and the new answer counts", async () => {
    const [first, second] = [Promise.withResolvers<Checked>(), Promise.withResolvers<Checked>()];
    const answers = [first.promise, second.promise];
    const checkOutput = (): Promise<Checked> => answers.shift() as Promise<Checked>;
    const { ongoing, posted } = worldOf(stateOf(), { checkOutput });
    ongoing.checkOutput("{}");
    ongoing.leave("now");
    ongoing.checkOutput("{}");
    first.resolve({ type: "output_checked", ok: false });
    await come();
    expect(ongoing.isAsking).toBe(true);
    second.resolve({ type: "output_checked", ok: true });
    await come();
    expect(posted).toStrictEqual([{ type: "output_checked", ok: true, asked: stateOf().seq }]);
  });

  test("and another one ignore everything that was asked before", async () => {
    const { promise, resolve: say } = Promise.withResolvers<Checked>();
    const { ongoing, posted } = worldOf(stateOf(), { checkOutput: () => promise });
    ongoing.checkOutput("{}");
    ongoing.leave("now");
    ongoing.leave("now");
    say({ type: "output_checked", ok: true });
    await come();
    expect(posted).toStrictEqual([]);
  });

  test("with time lets work in flight return", async () => {
    const { tool, settle, contexts } = heldTool();
    const { ongoing, posted } = worldOf(acting([callOf("5.0", { startedAt: 1 })]), { with: [tool] });
    ongoing.act("5.0");
    await come();
    ongoing.leave("soon");
    expect(contexts[0]?.signal.aborted).toBe(false);
    await settle("written");
    expect(posted).toMatchObject([{ type: "tool_finished", result: { isError: false } }]);
  });
});

describe("an abandoned sub-agent", () => {
  const one = { name: "write", session: "s:5.0", told: nothingSpent, until: 9 };
  const left = [
    { ...one, call: "5.0" as const },
    { ...one, call: "5.1" as const, session: "s:5.1" },
  ];
  const state: State = { ...acting([callOf("5.0", { startedAt: 1 })]), left };
  const begun = () => {
    const ended: string[] = [];
    const settled = Promise.withResolvers<undefined>();
    const endChild: NonNullable<Tool["endChild"]> = ({ session }) => {
      ended.push(session);
      return settled.promise;
    };
    const held = heldTool({ endChild });
    return { ...held, ...worldOf(state, { with: [held.tool] }), ended, settled };
  };

  test("is ended once, each by itself; without any, nothing happens", async () => {
    const { ongoing, ended, posted, settled, is } = begun();
    for (const key of ["5.0", "5.1", "5.0", "5.9"] as const) ongoing.endChild(key);
    expect(ended).toStrictEqual(["s:5.0", "s:5.1"]);
    settled.resolve(undefined);
    await come();
    expect(posted).toStrictEqual([
      { type: "late_result", call: "5.0" },
      { type: "late_result", call: "5.1" },
    ]);
    is(acting([]));
    ongoing.endChild("5.0");
    expect(ended).toHaveLength(2);
  });

  test("is not ended while its tool has not returned: it got its signal", async () => {
    const { ongoing, ended, settle } = begun();
    ongoing.act("5.0");
    await come();
    ongoing.endChild("5.0");
    expect(ended).toStrictEqual([]);
    await settle("late");
    ongoing.endChild("5.0");
    expect(ended).toStrictEqual(["s:5.0"]);
  });

  test("is ended by the next driver, whatever the earlier tool returns", async () => {
    const { ongoing, ended, settle } = begun();
    ongoing.act("5.0");
    await come();
    ongoing.leave("now");
    ongoing.stay();
    ongoing.endChild("5.0");
    expect(ended).toStrictEqual(["s:5.0"]);
    await settle("late");
  });

  test("that works again is not ended, even if the earlier tool returns", async () => {
    const ended: string[] = [];
    const settles: ((value: string) => void)[] = [];
    const tool: Tool = {
      ...echo("write"),
      execute: () => new Promise((settle) => settles.push(settle)),
      endChild: ({ session }) => {
        ended.push(session);
        return Promise.resolve(undefined);
      },
    };
    const { ongoing } = worldOf(state, { with: [tool] });
    ongoing.act("5.0");
    await come();
    ongoing.leave("now");
    ongoing.stay();
    ongoing.act("5.0");
    await come();
    settles[0]?.("late");
    await come();
    ongoing.endChild("5.0");
    expect([settles.length, ended]).toStrictEqual([2, []]);
  });
});

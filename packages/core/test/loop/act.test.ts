// A tool is run once and comes to exactly one result; arguments are checked before. Asked by hand.

import {
  type AssistantMessage,
  type Call,
  type CallCheck,
  type CallResult,
  ChildWaits,
  DoneSignal,
  defaultTexts,
  TaskComplete,
  type Tool,
  type ToolCallPart,
  type ToolContext,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { nothingSpent } from "../../src/loop/children.ts";
import { act, checkArgs, checkCalls, type Failures } from "../../src/loop/driving/act.ts";
import type { ChildStart } from "../../src/tool.ts";
import { echo } from "../support.ts";
import { answerOf, callOf, toolOf } from "./support.ts";

const text = (words: string, change: Partial<CallResult> = {}): CallResult => ({
  content: [{ type: "text", text: words }],
  isError: false,
  ...change,
});
const failed = (words: string, code: CallResult["code"] = "threw"): CallResult =>
  text(words, { isError: true, code: code as "threw" });

function run(
  change: Partial<Tool>,
  call: Partial<Call> = {},
  {
    aborted = false,
    signal,
    child,
    ...how
  }: { aborted?: boolean; signal?: AbortSignal; child?: ToolContext["child"] } & Partial<Failures> = {},
): ReturnType<typeof act> {
  const context = {
    signal: signal ?? (aborted ? AbortSignal.abort() : new AbortController().signal),
    ...(child === undefined ? {} : { child }),
  } as ToolContext;
  const report = (why: string): never => {
    throw new Error(`${why} was reported`);
  };
  const failures = { texts: defaultTexts, masked: false, report, ...how };
  return act({ ...echo("look"), ...change }, callOf("5.0", call), context, failures);
}

describe("a tool", () => {
  test("is not started if the run was cancelled while its arguments were checked", async () => {
    const check: Tool["check"] = async (args) => ({ ok: true, args, value: args });
    const result = await run({ check, execute: () => "ran" }, {}, { aborted: true });
    expect(result).toStrictEqual(failed("look was not started: the run was cancelled", "aborted"));
    expect(await run({ check, execute: () => "ran" })).toStrictEqual(text("ran"));
  });

  test("has thrown if it throws nothing, and nobody aborted it", async () => {
    const nothing = (): Promise<never> => Promise.reject(undefined);
    expect(await run({ execute: nothing }, {}, { report: () => {} })).toMatchObject({ code: "threw" });
  });

  test("gets its validated value, and what it returns is the result", async () => {
    const seen: unknown[] = [];
    const result = await run(
      {
        check: (args) => ({ ok: true, args, value: { ...args, more: 1 } }),
        execute: (value) => {
          seen.push(value);
          return "seen";
        },
      },
      { args: { at: 1 } },
    );
    expect(result).toStrictEqual(text("seen"));
    expect(seen).toStrictEqual([{ at: 1, more: 1 }]);
  });

  test("does not run with arguments that no longer fit, also with an asynchronous check", async () => {
    const execute = (): never => {
      throw new Error("it ran");
    };
    const check = (): Promise<{ ok: false; error: string }> =>
      Promise.resolve({ ok: false, error: "no such place" });
    expect(await run({ check, execute })).toStrictEqual(
      failed("Error: the arguments of look do not fit its schema: no such place"),
    );
  });

  const raw: CallCheck = { ok: true, args: { _raw: "{" }, keys: null, raw: true };
  const asItIs = {
    executeRaw: (written: string) => `raw ${written}`,
    execute: () => "whole",
  };
  test("gets arguments as text if it has executeRaw, and if they are passed", async () => {
    const call = { rawArgs: '{"a":' };
    expect(await run(asItIs, { ...call, check: raw })).toStrictEqual(text('raw {"a":'));
    expect(await run(asItIs, call)).toStrictEqual(text("whole"));
    const no: CallCheck = { ok: false, error: "no", code: "invalid_args" };
    expect(await run(asItIs, { ...call, check: no })).toStrictEqual(text("whole"));
    expect(await run({ execute: () => "whole" }, { ...call, check: raw })).toStrictEqual(text("whole"));
  });

  test("that is a sub-agent and waits has no result", async () => {
    const waits = new ChildWaits([], nothingSpent, false);
    expect(await run({ execute: () => waits }, {}, { child: {} as ChildStart })).toBe(waits);
  });

  test("that is no sub-agent and returns that one waits has failed: nobody would ever answer it", async () => {
    const waits = new ChildWaits([], nothingSpent, false);
    expect(await run({ execute: () => waits })).toMatchObject({
      content: [{ text: expect.stringContaining("Error: the tool returned a ChildWaits") }],
      isError: true,
      code: "threw",
    });
  });

  test.each([DoneSignal, TaskComplete])(
    "that throws %o has completed the task, also after an abort",
    async (Done) => {
      const execute = (): never => {
        throw new Done("all of it");
      };
      const done = text("Task complete", { done: "all of it" });
      expect(await run({ execute })).toStrictEqual(done);
      expect(await run({ execute }, {}, { aborted: true, masked: true })).toStrictEqual(done);
    },
  );

  test("that throws or rejects has its error text as the result, which says so if its signal had fired", async () => {
    const execute = (): never => {
      throw new Error("boom");
    };
    expect(await run({ execute })).toStrictEqual(failed("Error: boom"));
    expect(await run({ execute: () => Promise.reject(new Error("boom")) })).toStrictEqual(
      failed("Error: boom"),
    );
    expect(await run({ execute }, {}, { aborted: true })).toStrictEqual(failed("Error: boom", "aborted"));
    expect(await run({ execute: () => "late" }, {}, { aborted: true })).toStrictEqual(text("late"));
  });

  test("that only throws the abort's reason has the usual result of an aborted call", async () => {
    const signal = AbortSignal.abort(new Error("no longer wanted"));
    const nodes = Object.assign(new Error("The operation was aborted", { cause: signal.reason }), {
      name: "AbortError",
    });
    const cutOff = failed(defaultTexts.aborted("look", "read"), "aborted");
    const passedOn = [
      () => signal.throwIfAborted(),
      () => Promise.reject(signal.reason),
      () => Promise.reject(nodes),
    ];
    for (const execute of passedOn)
      expect(await run({ execute }, {}, { signal, masked: true })).toStrictEqual(cutOff);
    // What it says of its own is kept, whatever it says it with.
    const words = "3 of 5 are written";
    const own = [
      new Error(words, { cause: signal.reason }),
      Object.assign(new Error(words), { name: "AbortError" }),
      Object.assign(new Error(words, { cause: new Error("the disk is slow") }), { name: "AbortError" }),
    ];
    for (const said of own) {
      const execute = (): Promise<never> => Promise.reject(said);
      expect(await run({ execute }, {}, { signal, report: () => {} })).toStrictEqual(
        failed(`Error: ${words}`, "aborted"),
      );
    }
  });

  test("that returns an error has failed like one that throws it", async () => {
    expect(await run({ execute: () => new RangeError("boom") })).toStrictEqual(failed("Error: boom"));
  });

  test("that throws has a fixed text as the result if errors are masked, and its own text is reported", async () => {
    const heard: string[] = [];
    const how = { masked: true, report: (why: string) => void heard.push(why) };
    const execute = (): never => {
      throw new Error("secret");
    };
    expect(await run({ execute }, {}, how)).toStrictEqual(failed("Error: look failed."));
    expect(heard).toStrictEqual(["secret"]);
    expect(await run({}, {}, how)).toStrictEqual(text("look ran"));
    expect(heard).toHaveLength(1);
  });

  test("that throws an error with a cause has its own text as the result, and the cause is reported", async () => {
    const heard: string[] = [];
    const report = (why: string): void => void heard.push(why);
    const cause = new AggregateError([new Error("connect ECONNREFUSED ::1:80")], "all failed");
    const execute = (): never => {
      throw new TypeError("fetch failed", { cause });
    };
    expect(await run({ execute }, {}, { report })).toStrictEqual(failed("Error: fetch failed"));
    expect(heard).toStrictEqual(["fetch failed: all failed: connect ECONNREFUSED ::1:80"]);
    expect(await run({ execute }, {}, { report, masked: true })).toStrictEqual(failed("Error: look failed."));
    expect(heard).toHaveLength(2);
  });

  test.each<[string, unknown]>([
    ["the same words", new Error("no route")],
    ["a part of them", "no"],
    ["itself", undefined],
  ])("that throws what is caused by %s reports nothing", async (_what, cause) => {
    const thrown = new Error("no route", { cause });
    thrown.cause ??= thrown;
    expect(await run({ execute: () => Promise.reject(thrown) })).toStrictEqual(failed("Error: no route"));
  });

  test("that throws an error caused by a string reports that string", async () => {
    const heard: string[] = [];
    const thrown = new Error("no route", { cause: "the cable is cut" });
    await run({ execute: () => Promise.reject(thrown) }, {}, { report: (why) => void heard.push(why) });
    expect(heard).toStrictEqual(["no route: the cable is cut"]);
  });

  test("that throws an error with a list of issues, which are no errors, reports nothing", async () => {
    const thrown = Object.assign(new Error("no route"), { errors: [{ code: "too_small" }] });
    expect(await run({ execute: () => Promise.reject(thrown) })).toStrictEqual(failed("Error: no route"));
  });

  test("that throws an error with an unreadable cause still has a result", async () => {
    const thrown = new Error("boom");
    Object.defineProperty(thrown, "cause", {
      get: () => {
        throw new Error("hidden");
      },
    });
    expect(await run({ execute: () => Promise.reject(thrown) })).toStrictEqual(failed("Error: boom"));
  });

  test("that throws a long chain reports the first eight of it", async () => {
    const heard: string[] = [];
    let thrown = new Error("10.");
    for (let at = 9; at > 0; at -= 1) thrown = new Error(`${at}.`, { cause: thrown });
    await run({ execute: () => Promise.reject(thrown) }, {}, { report: (why) => void heard.push(why) });
    expect(heard).toStrictEqual(["1.: 2.: 3.: 4.: 5.: 6.: 7.: 8."]);
  });
});

describe("the calls of an answer", () => {
  const part = (name: string, change: Partial<ToolCallPart> = {}): ToolCallPart => ({
    type: "tool_call",
    id: name,
    name,
    args: {},
    rawArgs: "{",
    ...change,
  });
  const tools = (...list: Tool[]): ReadonlyMap<string, Tool> => new Map(list.map((one) => [one.name, one]));
  const look = echo("look");
  const later: Tool = {
    ...echo("later"),
    check: (args) => Promise.resolve({ ok: true, args, value: args }),
  };
  const offered = [toolOf("look"), toolOf("later"), toolOf("lost")];
  const check = (
    content: AssistantMessage["content"],
    known = tools(look, later),
    change: Partial<AssistantMessage> = {},
  ): CallCheck[] | Promise<CallCheck[]> =>
    checkCalls(
      answerOf(content, { stop: { kind: "tool_use", wire: "tool_use" }, ...change }),
      offered,
      known,
    );
  const fits = { ok: true, args: {}, keys: null };
  const unknown = (name: string): CallCheck => ({
    ok: false,
    code: "unknown_tool",
    error: `unknown tool "${name}"`,
  });

  test("are checked in their order, synchronously if no schema is asynchronous", async () => {
    const content = [part("look"), { type: "text" as const, text: "and" }, part("nobody"), part("lost")];
    expect(check(content)).toStrictEqual([fits, unknown("nobody"), unknown("lost")]);
    expect(check([])).toStrictEqual([]);
    const slow = check([part("look"), part("later"), part("nobody")]);
    expect(slow).toBeInstanceOf(Promise);
    expect(await slow).toStrictEqual([fits, fits, unknown("nobody")]);
  });

  test("of a tool that was not offered count as calls of an unknown tool", () => {
    expect(checkCalls(answerOf([part("look")]), [toolOf("later")], tools(look))).toStrictEqual([
      unknown("look"),
    ]);
  });

  const broken = part("look", { argsError: "it ends too soon" });
  const invalid = { ok: false, code: "invalid_args", error: "it ends too soon" };
  test("with unreadable arguments fail, unless the tool has executeRaw", () => {
    expect(check([broken])).toStrictEqual([invalid]);
    const takes = tools({ ...look, executeRaw: () => "raw" });
    expect(check([broken], takes)).toStrictEqual([{ ok: true, args: { _raw: "{" }, keys: null, raw: true }]);
    expect(check([part("look")], takes)).toStrictEqual([fits]);
  });

  test.each([
    ["tool_use", "tool_use", true],
    ["end_turn", "stop_sequence", true],
    ["unknown", "unknown", true],
    ["stop_sequence", "end_turn", true],
    ["max_tokens", "tool_use", false],
    ["tool_use", "max_tokens", false],
    ["refusal", "refusal", false],
    ["", "tool_use", false],
  ])("with the stop reason %s (%s) are complete: %s", (kind, wire, whole) => {
    const takes = tools({ ...look, executeRaw: () => "raw" });
    const stop = { kind, wire } as AssistantMessage["stop"];
    expect(check([broken], takes, { stop })).toMatchObject([{ ok: whole }]);
  });
});

describe("arguments", () => {
  const args = { at: 1 };
  const value = { at: 1, more: 2 };
  const fitting: Partial<Tool> = { check: () => ({ ok: true, args, value }) };
  const checked = (change: Partial<Tool>): ReturnType<typeof checkArgs> =>
    checkArgs({ ...echo("look"), ...change }, args);

  test("that fit are returned with the keys that the call touches, computed from the tool's own value", async () => {
    expect(checked(fitting)).toStrictEqual({ ok: true, args, keys: null });
    const keys = (seen: object): string[] => Object.keys(seen);
    expect(checked({ ...fitting, keys })).toStrictEqual({ ok: true, args, keys: ["at", "more"] });
    const check = (): Promise<{ ok: true; args: typeof args; value: typeof value }> =>
      Promise.resolve({ ok: true, args, value });
    expect(await checked({ check, keys })).toStrictEqual({ ok: true, args, keys: ["at", "more"] });
    // Words that are none, some or all of them, say nothing.
    for (const odd of [
      ["at", 1],
      [1, 2],
    ])
      expect(checked({ ...fitting, keys: () => odd as never })).toStrictEqual({ ok: true, args, keys: null });
  });

  test("of a tool whose keys throw may touch anything", () => {
    const keys = (): never => {
      throw new Error("boom");
    };
    expect(checked({ ...fitting, keys })).toStrictEqual({ ok: true, args, keys: null });
  });

  test("say whether the call may run, if its tool decides that from them; a failure says that it may not", () => {
    const said = (permissionOf: unknown): unknown =>
      checked({ ...fitting, permissionOf: permissionOf as never });
    const whole = { ok: true, args, keys: null };
    expect(said(() => "ask")).toStrictEqual({ ...whole, permission: "ask" });
    expect(said(() => "maybe")).toMatchObject({ permission: "deny", permissionError: expect.any(String) });
    const throwing = (): never => {
      throw new Error("boom");
    };
    expect(said(throwing)).toStrictEqual({ ...whole, permission: "deny", permissionError: "boom" });
    expect(said(undefined)).toStrictEqual(whole);
  });

  const invalid = (error: string): CallCheck => ({ ok: false, error, code: "invalid_args" });
  test("that do not fit are returned with what is wrong, also if the check itself fails", async () => {
    expect(checked({ check: () => ({ ok: false, error: "too far" }) })).toStrictEqual(invalid("too far"));
    const throwing = (): never => {
      throw new Error("boom");
    };
    expect(checked({ check: throwing })).toStrictEqual(invalid("boom"));
    expect(await checked({ check: () => Promise.reject(new Error("boom")) })).toStrictEqual(invalid("boom"));
  });
});

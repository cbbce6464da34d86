// Which calls may start now: the pure question, on calls made by hand.

import type { Call } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { askable, permissionOf, startable } from "../../src/loop/batch.ts";
import { callOf, finished, options, toolOf, unknownCall } from "./support.ts";

const keyed = (key: Call["key"], keys: string[] | null, change: Partial<Call> = {}): Call =>
  callOf(key, { check: { ok: true, args: {}, keys }, ...change });
const reader = toolOf("look", { effect: "read" });
const question = (key: Call["key"], change: Partial<Call> = {}): Call =>
  keyed(key, [], { tool: toolOf("guess", { effect: "read", permission: "ask" }), ...change });

describe("a call may not start", () => {
  const cases: [why: string, call: Call][] = [
    ["when it has a result", finished("5.0")],
    ["when it runs", callOf("5.0", { startedAt: 1 })],
    ["when it was cut off and nobody wants it again", callOf("5.0", { interrupted: true })],
    ["before it was judged", (({ verdict: _verdict, ...call }) => call)(callOf("5.0"))],
    [
      "when it was judged not to run",
      callOf("5.0", { verdict: { do: "answer", code: "limit", text: "no" } }),
    ],
    ["when it was denied", callOf("5.0", { permission: { answer: "deny" } })],
    ["when it may stop the run", callOf("5.0", { permission: { answer: "stop" } })],
    ["when somebody is to be asked", callOf("5.0", { tool: toolOf("write", { permission: "ask" }) })],
    ["when its tool says no", callOf("5.0", { tool: toolOf("write", { permission: "deny" }) })],
  ];
  test.each(cases)("%s", (_why, call) => {
    expect(startable([call], options())).toStrictEqual([]);
  });

  test("as long as the beforeTool hook was not asked about it", () => {
    const hooks = options({ hooks: ["beforeTool"] });
    expect(startable([callOf("5.0")], hooks)).toStrictEqual([]);
    expect(startable([callOf("5.0", { prepared: true })], hooks)).toStrictEqual(["5.0"]);
  });

  test("if its sub-agent is parked and has no new answer", () => {
    const child = (answers: number, told: number, parked = true): Call =>
      callOf("5.0", {
        child: {
          session: "child",
          reserved: {},
          spent: { usage: {}, tokens: 0, uncounted: 0, modelCalls: 0, agents: 0 },
          parked,
          waiting: [],
          answers: Array.from({ length: answers }, (_, at) => ({
            inside: String(at),
            said: { answer: "approve" },
          })),
          told,
        },
      });
    expect(startable([child(0, 0)], options())).toStrictEqual([]);
    expect(startable([child(1, 1)], options())).toStrictEqual([]);
    expect(startable([child(2, 1)], options())).toStrictEqual(["5.0"]);
    expect(startable([child(0, 0, false)], options())).toStrictEqual(["5.0"]);
  });
});

describe("a call may start", () => {
  test("if nothing prevents it", () => {
    expect(startable([callOf("5.0")], options())).toStrictEqual(["5.0"]);
  });

  test("again after it was interrupted, if somebody decided so", () => {
    expect(startable([callOf("5.0", { interrupted: true, again: true })], options())).toStrictEqual(["5.0"]);
  });

  test("even if its tool is unknown, if it was judged to run", () => {
    expect(startable([unknownCall("5.0")], options())).toStrictEqual(["5.0"]);
    expect(
      startable([unknownCall("5.0"), unknownCall("5.1")], options({ toolOrder: "parallel" })),
    ).toStrictEqual(["5.0", "5.1"]);
    expect(startable([unknownCall("5.0"), unknownCall("5.1")], options())).toStrictEqual(["5.0"]);
    expect(startable([unknownCall("5.0"), callOf("5.1", { tool: reader })], options())).toStrictEqual([
      "5.0",
    ]);
  });

  test("as long as fewer calls run than allowed", () => {
    const reads = [0, 1, 2, 3].map((at) => keyed(`5.${at}`, [], { tool: reader }));
    expect(startable(reads, options({ maxConcurrentTools: 2 }))).toStrictEqual(["5.0", "5.1"]);
    const [first, ...rest] = reads as [Call, ...Call[]];
    const running = { ...first, startedAt: 1 };
    expect(startable([running, ...rest], options({ maxConcurrentTools: 2 }))).toStrictEqual(["5.1"]);
    expect(startable([running, ...rest], options({ maxConcurrentTools: 1 }))).toStrictEqual([]);
  });
});

describe("a call waits for another", () => {
  const cases: [string, Call[], Partial<Parameters<typeof options>[0]>, string[]][] = [
    [
      "in sequence, for any before it",
      [keyed("5.0", []), keyed("5.1", [])],
      { toolOrder: "sequential" },
      ["5.0"],
    ],
    [
      "in sequence, for one whose result the afterTool hook has yet to see",
      [finished("5.0", { settled: false }), callOf("5.1")],
      { toolOrder: "sequential" },
      [],
    ],
    [
      "in sequence, for none that is done",
      [finished("5.0"), callOf("5.1")],
      { toolOrder: "sequential" },
      ["5.1"],
    ],
    ["by effect, a write for a write before it", [callOf("5.0"), callOf("5.1")], {}, ["5.0"]],
    [
      "by effect, a write for a read before it",
      [callOf("5.0", { tool: reader }), callOf("5.1")],
      {},
      ["5.0"],
    ],
    [
      "by effect, a read for a write before it",
      [callOf("5.0"), callOf("5.1", { tool: reader })],
      {},
      ["5.0"],
    ],
    [
      "by effect, no read for a read",
      [callOf("5.0", { tool: reader }), callOf("5.1", { tool: reader })],
      {},
      ["5.0", "5.1"],
    ],
    ["never for what it shares no key with", [keyed("5.0", ["a"]), keyed("5.1", ["b"])], {}, ["5.0", "5.1"]],
    ["for what it shares a key with", [keyed("5.0", ["a", "b"]), keyed("5.1", ["c", "b"])], {}, ["5.0"]],
    [
      "for what it shares a key with, also in parallel",
      [keyed("5.0", ["a"]), keyed("5.1", ["a"])],
      { toolOrder: "parallel" },
      ["5.0"],
    ],
    [
      "by effect, when the one before may touch anything",
      [keyed("5.0", null), keyed("5.1", ["a"])],
      {},
      ["5.0"],
    ],
    ["by effect, when it may itself touch anything", [keyed("5.0", ["a"]), keyed("5.1", null)], {}, ["5.0"]],
    [
      "in parallel, not when either may touch anything",
      [keyed("5.0", null), keyed("5.1", ["a"])],
      { toolOrder: "parallel" },
      ["5.0", "5.1"],
    ],
    ["for a later one that runs already", [callOf("5.0"), callOf("5.1", { startedAt: 1 })], {}, []],
    [
      "not for a later one that only could run",
      [callOf("5.0"), callOf("5.1", { interrupted: true })],
      {},
      ["5.0"],
    ],
    ["not for a later one that is done", [callOf("5.0"), finished("5.1")], {}, ["5.0"]],
    [
      "not for one that will be answered without running",
      [callOf("5.0", { verdict: { do: "answer", code: "limit", text: "no" } }), callOf("5.1")],
      {},
      ["5.1"],
    ],
    [
      "but for one that nobody has judged",
      [(({ verdict: _verdict, ...call }) => call)(callOf("5.0")), callOf("5.1")],
      {},
      [],
    ],
  ];
  test.each(cases)("%s", (_why, calls, change, started) => {
    expect(startable(calls, options(change))).toStrictEqual(started);
  });

  test("but not for a question to a person, and the question does not wait either", () => {
    expect(startable([question("5.0"), callOf("5.1")], options({ toolOrder: "sequential" }))).toStrictEqual([
      "5.1",
    ]);
    const answered = question("5.1", { permission: { answer: "allow" } });
    expect(startable([callOf("5.0"), answered], options({ toolOrder: "sequential" }))).toStrictEqual([
      "5.0",
      "5.1",
    ]);
  });

  const asked = toolOf("guess", { effect: "read", permission: "ask" });
  const noQuestions: [string, Call][] = [
    ["that writes", question("5.0", { tool: { ...asked, effect: "write" } })],
    [
      "that asks nobody",
      question("5.0", { tool: { ...asked, permission: "allow" }, permission: { answer: "ask" } }),
    ],
    ["that touches something", question("5.0", { check: { ok: true, args: {}, keys: ["a"] } })],
    ["that may touch anything", question("5.0", { check: { ok: true, args: {}, keys: null } })],
    ["that does not fit", question("5.0", { check: { ok: false, error: "no", code: "invalid_args" } })],
  ];
  test.each(noQuestions)("for a call %s, because that does more than ask a person", (_why, call) => {
    expect(startable([call, callOf("5.1")], options({ toolOrder: "sequential" }))).toStrictEqual([]);
  });
});

describe("the calls that hooks and people may be asked about", () => {
  const calls = [finished("5.0"), question("5.1"), callOf("5.2"), callOf("5.3")];
  const keys = (order: "sequential" | "parallel", some: Call[] = calls): string[] =>
    askable(some, options({ toolOrder: order })).map(({ key }) => key);

  test("are all open ones, if calls need no order", () => {
    expect(keys("parallel")).toStrictEqual(["5.1", "5.2", "5.3"]);
  });

  test("are in sequence the first one that does more than ask a person", () => {
    expect(keys("sequential")).toStrictEqual(["5.2"]);
  });

  test("are in sequence the first question to a person, if there is nothing else", () => {
    expect(keys("sequential", [question("5.0"), question("5.1")])).toStrictEqual(["5.0"]);
    expect(keys("sequential", [finished("5.0")])).toStrictEqual([]);
  });

  test("include a call whose result the afterTool hook has not seen", () => {
    expect(keys("sequential", [finished("5.0", { settled: false }), callOf("5.1")])).toStrictEqual(["5.0"]);
    expect(keys("parallel", [callOf("5.0", { settled: false })])).toStrictEqual(["5.0"]);
  });
});

describe("permission to run", () => {
  const hook = { hooks: ["permission" as const] };
  test.each([
    [
      "what was answered outranks everything",
      callOf("5.0", { permission: { answer: "stop" }, asked: true }),
      hook,
      "stop",
    ],
    [
      "a tool that denies is not asked about",
      callOf("5.0", { tool: toolOf("write", { permission: "deny" }) }),
      hook,
      "deny",
    ],
    ["somebody who was asked is to answer", callOf("5.0", { asked: true }), hook, "ask"],
    ["the hook comes first", callOf("5.0"), hook, "unasked"],
    ["the hook comes first for an unknown tool", unknownCall("5.0"), hook, "unasked"],
    [
      "without a hook the tool's word counts",
      callOf("5.0", { tool: toolOf("write", { permission: "ask" }) }),
      {},
      "ask",
    ],
    ["an unknown tool has no word", unknownCall("5.0"), {}, "allow"],
    [
      "what a tool said of this call outranks its general word",
      callOf("5.0", {
        tool: toolOf("write", { permission: "ask" }),
        check: { ok: true, args: {}, keys: null, permission: "allow" },
      }),
      {},
      "allow",
    ],
    [
      "but not its denial",
      callOf("5.0", {
        tool: toolOf("write", { permission: "deny" }),
        check: { ok: true, args: {}, keys: null, permission: "allow" },
      }),
      {},
      "deny",
    ],
    [
      "arguments that do not fit say nothing",
      callOf("5.0", {
        tool: toolOf("write", { permission: "ask" }),
        check: { ok: false, error: "no", code: "invalid_args", permission: "allow" } as never,
      }),
      {},
      "ask",
    ],
  ] as const)("%s", (_why, call, change, wanted) => {
    expect(
      permissionOf(call, options({ ...change, hooks: [...("hooks" in change ? change.hooks : [])] })),
    ).toBe(wanted);
  });
});

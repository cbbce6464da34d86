// What a user's hook answers, and what becomes of one that fails: asked by hand.

import { type Call, type Fact, isPaired, type Message, type State, tool } from "@rondo/core";
import { scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { applyEdit } from "../../src/context/edit.ts";
import type { HookAsk } from "../../src/loop/action.ts";
import { viewOf } from "../../src/loop/driving/announce.ts";
import { type Asked, askHook, askKey } from "../../src/loop/driving/ask-hooks.ts";
import { Log } from "../../src/loop/log.ts";
import { acting, callOf, finished, stateOf, toolOf, unknownCall } from "./support.ts";

const model = scripted([]);
const write = tool({
  name: "write",
  description: "write",
  inputSchema: { type: "object", properties: { at: { type: "number" } }, required: ["at"] },
  execute: () => "written",
});
const ask = (hooks: object, about: HookAsk, state: State): Promise<Fact> =>
  askHook(about, state, {
    hooks: hooks as Asked["hooks"],
    tools: new Map([["write", write]]),
    modelIndex: (one) => (one === model ? 1 : undefined),
    session: "s",
    given: {},
    signal: new AbortController().signal,
  });
/** What each hook is given last. */
const outside = {
  session: "s",
  signal: expect.any(AbortSignal),
  deps: {},
  resolve: expect.any(Function),
};
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const type = "hook_answered";

test("a question is identified by its hook and what it is about", () => {
  expect(askKey({ hook: "permission", call: "5.0" })).toBe("permission:5.0");
  expect(askKey({ hook: "prepareStep", step: 3 })).toBe("prepareStep:3");
  expect(askKey({ hook: "onFinish" })).toBe("onFinish:");
});

describe("the permission hook", () => {
  const permission = (said: unknown, call: Call = callOf("5.0")): Promise<Fact> =>
    ask({ permission: () => said }, { hook: "permission", call: "5.0" }, acting([call]));
  const fact = { type, hook: "permission", call: "5.0" };

  test("gets the call, and its answer counts, else the tool's own, else the call may run", async () => {
    const shown: unknown[] = [];
    const seeing = { permission: (call: unknown) => void shown.push(call) };
    await ask(seeing, { hook: "permission", call: "5.0" }, acting([callOf("5.0")]));
    expect(shown).toStrictEqual([viewOf(callOf("5.0"))]);
    expect(await permission("deny")).toStrictEqual({ ...fact, answer: "deny" });
    expect(await permission({ answer: "stop", text: "bye" })).toStrictEqual({
      ...fact,
      answer: "stop",
      text: "bye",
    });
    expect(await permission({ answer: "allow", note: undefined })).toStrictEqual({
      ...fact,
      answer: "allow",
    });
    expect(await permission({ answer: "allow", note: "so" })).toMatchObject({ answer: "deny" });
    expect(
      await permission(undefined, callOf("5.0", { tool: toolOf("write", { permission: "ask" }) })),
    ).toMatchObject({ answer: "ask" });
    expect(await permission(undefined, unknownCall("5.0"))).toMatchObject({ answer: "allow" });
    expect(await ask({}, { hook: "permission", call: "5.0" }, acting([callOf("5.0")]))).toMatchObject({
      answer: "allow",
    });
    for (const answer of ["allow", "deny", "ask", "stop"])
      expect(await permission(answer)).toMatchObject({ answer });
  });

  test("denies if it fails, or returns something unknown", async () => {
    const throwing = { permission: () => Promise.reject(new Error("boom")) };
    expect(await ask(throwing, { hook: "permission", call: "5.0" }, acting([callOf("5.0")]))).toStrictEqual({
      ...fact,
      error: "boom",
      answer: "deny",
      reason: "boom",
    });
    expect(await permission("perhaps")).toMatchObject({
      answer: "deny",
      error: expect.stringContaining('"perhaps", and allow'),
    });
    for (const name of ["reason", "text"])
      expect(await permission({ answer: "stop", [name]: { so: 1 } })).toMatchObject({
        answer: "deny",
        error: `its ${name} must be a text`,
      });
    const gone = { error: "the call 5.0 is no longer open" };
    expect(await ask({}, { hook: "permission", call: "5.0" }, acting([callOf("5.1")]))).toMatchObject(gone);
    expect(await ask({}, { hook: "permission", call: "5.0" }, stateOf())).toMatchObject(gone);
    const { run: _run, ...idle } = stateOf();
    expect(await ask({}, { hook: "permission", call: "5.0" }, idle)).toMatchObject(gone);
  });
});

describe("the beforeTool hook", () => {
  const about: HookAsk = { hook: "beforeTool", call: "5.0" };
  const before = (said: unknown, call: Call = callOf("5.0")): Promise<Fact> =>
    ask({ beforeTool: () => said }, about, acting([call]));
  const fact = { type, ...about };

  test("may return nothing, a result for the call, or other arguments, which are validated", async () => {
    expect(await before(undefined)).toStrictEqual(fact);
    expect(await ask({}, about, acting([callOf("5.0")]))).toStrictEqual(fact);
    const content = [{ type: "text", text: "known" }];
    expect(await before({ result: "known" })).toStrictEqual({ ...fact, result: { content, isError: false } });
    expect(await before({ result: "known", isError: true })).toStrictEqual({
      ...fact,
      result: { content, isError: true },
    });
    expect(await before({ args: { at: 2 } })).toMatchObject({
      ...fact,
      args: { at: 2 },
      check: { ok: true, args: { at: 2 } },
    });
    expect(await before({ args: { at: "x" } })).toMatchObject({ check: { ok: false, code: "invalid_args" } });
    expect(await before({ args: {} }, unknownCall("5.0"))).toStrictEqual({
      ...fact,
      args: {},
      check: { ok: false, error: 'unknown tool "nobody"', code: "unknown_tool" },
    });
  });

  test("makes its call an error if it fails", async () => {
    const throwing = { beforeTool: () => Promise.reject(new Error("boom")) };
    expect(await ask(throwing, about, acting([callOf("5.0")]))).toStrictEqual({
      ...fact,
      error: "boom",
      result: {
        content: [{ type: "text", text: "Error: the beforeTool hook failed: boom" }],
        isError: true,
        code: "hook_failed",
      },
    });
  });
});

describe("the afterTool hook", () => {
  const about: HookAsk = { hook: "afterTool", call: "5.0" };
  const fact = { type, ...about };
  const done = finished("5.0", {
    settled: false,
    result: { content: [{ type: "text", text: "a" }], isError: true, ref: "r" },
  });
  const after = (said: unknown, call: Call = done): Promise<Fact> =>
    ask({ afterTool: () => said }, about, acting([call]));

  test("gets the result, and may change it", async () => {
    const shown: unknown[] = [];
    const seeing = { afterTool: (...given: unknown[]) => void shown.push(given) };
    expect(await ask(seeing, about, acting([done]))).toStrictEqual(fact);
    expect(shown).toStrictEqual([[viewOf(done), done.result, outside]]);
    expect(await ask({}, about, acting([done]))).toStrictEqual(fact);
    expect(await after({ content: "b" })).toStrictEqual({
      ...fact,
      result: { content: [{ type: "text", text: "b" }], isError: true, ref: "r" },
    });
    expect(await after({ content: "b", isError: false })).toMatchObject({ result: { isError: false } });
    expect(await after({ content: "b" }, callOf("5.0"))).toStrictEqual(fact);
  });

  test("makes its call an error if it fails", async () => {
    const throwing = { afterTool: () => Promise.reject(new Error("boom")) };
    expect(await ask(throwing, about, acting([done]))).toMatchObject({
      ...fact,
      error: "boom",
      result: { isError: true, code: "hook_failed" },
    });
  });
});

describe("the hooks of a step", () => {
  const state = stateOf({}, { history: Log.of([user("a"), user("b")]) });

  test("prepare it: the model, the tools, the tool choice", async () => {
    const about: HookAsk = { hook: "prepareStep", step: 2 };
    const shown: unknown[] = [];
    const prepare = (said: unknown): Promise<Fact> =>
      ask(
        { prepareStep: (...given: unknown[]) => (shown.push(...given) > 0 ? said : undefined) },
        about,
        state,
      );
    expect(await prepare(undefined)).toStrictEqual({ type, ...about });
    expect(shown).toStrictEqual([{ step: 2, messages: [user("a"), user("b")] }, outside]);
    expect(await ask({}, about, state)).toStrictEqual({ type, ...about });
    expect(await prepare({ model, tools: ["write"], toolChoice: "none" })).toStrictEqual({
      type,
      ...about,
      model: 1,
      tools: ["write"],
      toolChoice: "none",
    });
    expect(await prepare({ toolChoice: { tool: "write" } })).toStrictEqual({
      type,
      ...about,
      toolChoice: { tool: "write" },
    });
    for (const more of [{ settings: { topK: 1 } }, { stop: "no" }, { stop: "no", text: "bye" }])
      expect(await prepare(more)).toStrictEqual({ type, ...about, ...more });
    const other = await prepare({ model: scripted([]) });
    expect(other).toStrictEqual({
      type,
      ...about,
      error: expect.stringContaining("not among the agent's models"),
    });
  });

  test("may return messages of every role, and unknown kinds are refused with an error", async () => {
    const about: HookAsk = { hook: "transformContext", step: 2 };
    const change = (said: unknown): Promise<Fact> => ask({ transformContext: () => said }, about, state);
    for (const role of ["system", "user", "assistant"])
      expect(await change([{ role, content: [] }])).toStrictEqual({
        type,
        ...about,
        edit: [{ put: { role, content: [] } }],
      });
    // What no journal has a word for is left out.
    expect(await change([{ role: "user", content: [], seen: () => 1 }])).toMatchObject({
      edit: [{ put: { role: "user", content: [] } }],
    });
    const needed = "a list of messages or nothing is needed";
    for (const [said, what] of [
      [{}, "an object"],
      [null, "null"],
      ["so", "a string"],
    ])
      expect(await change(said)).toMatchObject({ error: `it returned ${what}, and ${needed}` });
    const wrong = "item 1 of what it returned is no message: a role and a list of parts are needed";
    for (const odd of [null, {}, { role: "nobody", content: [] }, { role: "user" }])
      expect(await change([user("a"), odd])).toMatchObject({ error: wrong });
  });

  test("may cut the messages anywhere: no call is separated from its result, and something remains to be sent", async () => {
    const turns = (count: number): Message[] => [
      user("go"),
      ...Array.from({ length: count }, (_, at) => [
        {
          role: "assistant" as const,
          content: ["a", "b"].map((name) => ({
            type: "tool_call" as const,
            id: `${name}${at}`,
            name,
            args: {},
            rawArgs: "{}",
          })),
          origin: { api: "a", provider: "p", model: "m" },
          stop: { kind: "tool_use" as const, wire: "tool_use" as const },
        },
        ...["a", "b"].map((name) => ({
          role: "tool" as const,
          callId: `${name}${at}`,
          name,
          content: [{ type: "text" as const, text: "seen" }],
          isError: false,
        })),
      ]).flat(),
    ];
    const history = Log.of<Message>(turns(3));
    const sent = async (cut: (messages: readonly Message[]) => unknown): Promise<readonly Message[]> => {
      const fact = await ask(
        { transformContext: cut as never },
        { hook: "transformContext", step: 2 },
        {
          ...state,
          history,
        },
      );
      if (!("edit" in fact) || fact.edit === undefined) throw new Error(JSON.stringify(fact));
      return applyEdit(history, fact.edit);
    };
    for (let kept = 1; kept <= history.length; kept += 1) {
      const messages = await sent((all) => all.slice(-kept));
      expect(isPaired(messages)).toBe(true);
      // What was kept is there, and the same.
      for (const message of [...history].slice(-kept)) expect(messages).toContain(message);
    }
    const without = await sent((all) => all.filter(({ role }) => role !== "tool"));
    expect(isPaired(without)).toBe(true);
    expect(JSON.stringify(without)).toContain("There is no result for this call");
    expect(await sent((all) => all)).toEqual([...history]);
    for (const nothing of [[], [{ role: "tool", callId: "x", name: "a", content: [], isError: false }]])
      await expect(sent(() => nothing)).rejects.toThrow("it returned no message that could be sent");
  });

  test("change what is sent, recorded as kept ranges and new messages", async () => {
    const about: HookAsk = { hook: "transformContext", step: 2 };
    const change = (said: (messages: Message[]) => unknown): Promise<Fact> =>
      ask({ transformContext: said }, about, state);
    expect(await change(() => undefined)).toStrictEqual({ type, ...about });
    expect(await ask({}, about, state)).toStrictEqual({ type, ...about });
    expect(await change(([, b]) => [user("x"), b])).toStrictEqual({
      type,
      ...about,
      edit: [{ put: user("x") }, { keep: [1, 2] }],
    });
    expect(await change(() => Promise.reject(new Error("boom")))).toStrictEqual({
      type,
      ...about,
      error: "boom",
    });
    const shown: unknown[] = [];
    await ask({ transformContext: (...given: unknown[]) => void shown.push(...given) }, about, state);
    expect(shown).toStrictEqual([[user("a"), user("b")], { step: 2, ...outside }]);
  });
});

test("the onFinish hook may return more work, as a text or as messages", async () => {
  const about: HookAsk = { hook: "onFinish" };
  const shown: unknown[] = [];
  const finish = (said: unknown, state: State = stateOf({ answer: { text: "so" } })): Promise<Fact> =>
    ask({ onFinish: (run: unknown) => (shown.push(run) > 0 ? said : undefined) }, about, state);
  const fact = { type, hook: "onFinish" };
  expect(await finish(undefined)).toStrictEqual({ ...fact, messages: [] });
  expect(shown).toStrictEqual([{ text: "so", messages: [user("task")] }]);
  expect(await finish("")).toStrictEqual({ ...fact, messages: [] });
  expect(await finish("more")).toStrictEqual({ ...fact, messages: [user("more")] });
  expect(await finish([user("a")])).toStrictEqual({ ...fact, messages: [user("a")] });
  const partly = { role: "user", content: [{ type: "text", text: " " }, ...user("b").content] };
  expect(await finish([partly, user(" ")])).toStrictEqual({ ...fact, messages: [partly] });
  expect(await ask({}, about, stateOf())).toStrictEqual({ ...fact, messages: [] });
  const { run: _run, ...idle } = stateOf();
  await finish(undefined, idle);
  expect(shown.at(-1)).toMatchObject({ text: "" });
  const throwing = { onFinish: () => Promise.reject(new Error("boom")) };
  expect(await ask(throwing, about, stateOf())).toStrictEqual({ ...fact, error: "boom", messages: [] });
});

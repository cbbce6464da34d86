// Tools that do what no tool should: whatever it is, the call gets one result and the records stay what they were.

import { runInNewContext } from "node:vm";
import {
  Agent,
  DoneSignal,
  type Hooks,
  type Message,
  memoryJournal,
  TaskComplete,
  ToolResult,
  tool,
} from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick } from "../support.ts";

/** A session in which one tool is called once with `{ list: [1] }`. */
async function called(
  execute: (args: never) => unknown,
  options: Partial<ConstructorParameters<typeof Agent>[0]> = {},
) {
  const journal = memoryJournal();
  const model = scripted([call("odd", { list: [1] }), say("done")]);
  const session = await new Agent({
    model,
    tools: [echo("odd", { execute: execute as (args: unknown) => unknown })],
    journal,
    ...quick,
    ...options,
  }).open("s");
  const result = await session.send("go");
  return { journal, model, result, session };
}

const read = (messages: readonly Message[]): unknown => messages.find((one) => one.role === "tool")?.content;

describe("a tool that throws", () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  test.each([
    ["an error whose message is a number", Object.assign(new Error("x"), { message: 42 }), "Error: 42"],
    [
      "an error whose message is a symbol",
      Object.assign(new Error("x"), { message: Symbol("m") }),
      "Error: Symbol(m)",
    ],
    ["a proxy that was revoked", revoked.proxy, "Error: something that cannot be put into words was thrown"],
  ])("%s is answered", async (_name, thrown, text) => {
    const { result, session } = await called(() => {
      throw thrown;
    });
    expect(result.end?.reason).toBe("completed");
    expect(read(session.messages)).toEqual([{ type: "text", text }]);
  });
});

describe("a tool that returns", () => {
  const never = (): Promise<never> => Promise.reject(new Error("nobody waits for this"));

  test("an error has failed, like one that throws it", async () => {
    const warned: string[] = [];
    const { session } = await called(() => new Error("no such file"));
    expect(session.messages[2]).toMatchObject({ isError: true, content: [{ text: "Error: no such file" }] });
    const masked = await new Agent({
      model: scripted([call("odd"), say("done")]),
      tools: [echo("odd", { execute: () => new TypeError("the password is 1234") })],
      toolErrors: "masked",
    }).run("go", {
      onEvent: (event) => {
        if (event.type === "warning") warned.push(event.message);
      },
    });
    expect(JSON.stringify(masked.messages)).not.toContain("1234");
    expect(warned).toEqual([expect.stringContaining("1234")]);
  });

  const circle: Record<string, unknown> = {};
  circle.self = circle;
  test.each<[string, unknown, string]>([
    ["a number", 5, "5"],
    ["a bigint", 10n, "10"],
    ["an object", { sum: 3 }, '{"sum":3}'],
    ["a circle", circle, '{"self":"[Circular]"}'],
    ["nothing", null, ""],
  ])(
    "a signal that it is done, with %s for a last word, ends the run with that in words",
    async (_name, word, text) => {
      for (const signal of [new DoneSignal(word as string), new TaskComplete(word as string)]) {
        const { journal, result } = await called(() => signal);
        expect([result.end?.reason, result.text]).toEqual(["done_tool", text]);
        // A journal on a disk would refuse what is no JSON.
        const records = journal.read("s");
        expect(JSON.parse(JSON.stringify(records))).toEqual(records);
      }
    },
  );

  test.each<[string, unknown[], string]>([
    ["its parts alone", [[{ type: "text", text: "hi" }]], "hi"],
    ["a text", ["hi"], "hi"],
    ["a number", [5], "5"],
  ])("a result that was made by hand of %s has no error, and ends nothing", async (_name, given, text) => {
    const made = Reflect.construct(ToolResult, given) as ToolResult;
    const { result, session } = await called(() => made);
    expect(result.end?.reason).toBe("completed");
    expect(session.messages[2]).toEqual({
      role: "tool",
      callId: expect.any(String),
      name: "odd",
      content: [{ type: "text", text }],
      isError: false,
    });
  });

  // A rejection that nobody hears fails the test's file.
  test("promises instead of values gets an error that says so, or its other values are used; and their rejections end no process", async () => {
    const { session } = await called(() => ["a", "b"].map(never));
    expect(session.messages[2]).toMatchObject({
      isError: true,
      content: [
        { text: expect.stringContaining("the tool returned a list of promises, which nobody reads") },
      ],
    });
    const beside = await called(() => ({ found: 2, rest: never() }));
    expect(read(beside.session.messages)).toEqual([{ type: "text", text: '{"found":2,"rest":"[Promise]"}' }]);
  });
});

describe("the records do not change if", () => {
  const change = (args: { list: unknown[]; more?: boolean }): void => {
    args.list.push("changed");
    args.more = true;
  };

  test("a tool writes into its arguments", async () => {
    const { journal, model, session } = await called((args) => change(args));
    expect(model.requests[1]?.messages[1]?.content).toMatchObject([{ args: { list: [1] } }]);
    expect(JSON.stringify(journal.read("s"))).not.toContain("changed");
    expect((await session.replay()).requests.map((one) => one.same)).toEqual([true, true]);
  });

  test.each(["permission", "beforeTool", "afterTool"] as const)(
    "the %s hook changes what it is shown",
    async (name) => {
      const seen: unknown[] = [];
      const hook = (view: { args: never }, result?: { content: { text?: string }[] }): undefined => {
        change(view.args);
        for (const part of result?.content ?? []) part.text = "changed";
      };
      const { journal, result } = await called((args) => void seen.push(args), {
        hooks: { [name]: hook } as Hooks,
      });
      expect(result.end?.reason).toBe("completed");
      expect(seen).toEqual([{ list: [1] }]);
      expect(JSON.stringify(journal.read("s"))).not.toContain("changed");
    },
  );

  test("a tool uses the part it returned again", async () => {
    const part = { type: "text" as const, text: "first" };
    const { journal } = await called(() => [part]);
    part.text = "changed";
    expect(JSON.stringify(journal.read("s"))).not.toContain("changed");
  });
});

test("what is not JSON in a part that a tool returned is described in words, and the part stays a part", async () => {
  const { result, session } = await called(() => [{ type: "text", text: "hi", size: 10n, cause: () => {} }]);
  expect(result.end?.reason).toBe("completed");
  expect(read(session.messages)).toEqual([{ type: "text", text: "hi", size: "10", cause: "[function]" }]);
});

test("a schema with a foreign promise is waited for, and refuses", async () => {
  const validate = (): unknown => runInNewContext('Promise.resolve({ issues: [{ message: "never" }] })');
  const inputSchema = {
    "~standard": { version: 1, vendor: "other", validate, jsonSchema: { input: () => ({ type: "object" }) } },
  };
  let ran = false;
  const odd = tool({
    name: "odd",
    description: "odd",
    inputSchema: inputSchema as never,
    execute: () => {
      ran = true;
    },
  });
  const { messages } = await new Agent({ model: scripted([call("odd"), say("done")]), tools: [odd] }).run(
    "go",
  );
  expect(ran).toBe(false);
  expect(read(messages)).toMatchObject([{ text: expect.stringContaining("never") }]);
});

test("a permission hook decides about the call it was asked about, and about no other", async () => {
  const permission = (): never => ({ answer: "deny", reason: "no", call: "9.9", hook: "onFinish" }) as never;
  const { result, session } = await called(() => "ran", { hooks: { permission } });
  expect(result.end?.reason).toBe("completed");
  expect(read(session.messages)).toMatchObject([
    { text: "Permission check failed: it returned call, and what it may return is answer, reason, text" },
  ]);
});

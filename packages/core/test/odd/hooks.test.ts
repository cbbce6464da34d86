// Hooks that answer what no hook should: it is their failure, by name, and the session can always go on.

import { Agent, type Hooks, isPaired, type Message, memoryJournal, textOf, userText } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo } from "../support.ts";

const circle: { itself?: unknown } = {};
circle.itself = circle;
const noParts = "part 0 of the message cannot be used: one is";
const oneOf = (role: string) => [{ role, content: [{ type: "text", text: "x" }] }];

test.each([
  ["onFinish", [null], "item 0 of what it returned is no message: a role and a list of parts are needed"],
  [
    "onFinish",
    [{ role: "user", content: "text" }],
    "item 0 of what it returned is no message: a role and a list of parts are needed",
  ],
  ...["assistant", "system", "tool"].map(
    (role) =>
      [
        "onFinish",
        oneOf(role),
        `item 0 of what it returned is no user's message: its role is ${role}`,
      ] as const,
  ),
  ["onFinish", [{ role: "user", content: [null] }], noParts],
  [
    "onFinish",
    [{ role: "user", content: [{ type: "text", text: "x", n: 5n }] }],
    "part 0 cannot be used: n is a bigint",
  ],
  ["transformContext", [{ role: "user", content: [circle] }], "edit[0].put.content[0].itself is a circle"],
  ["prepareStep", { tools: "look" }, "its tools must be a list of names of tools"],
  ["prepareStep", { tools: ["look", 5] }, "its tools must be a list of names of tools"],
  ["prepareStep", { toolChoice: "look" }, 'its toolChoice must be "auto", "any", "none" or { tool }'],
  ["prepareStep", { toolChoice: { tool: 5 } }, 'its toolChoice must be "auto", "any", "none" or { tool }'],
  [
    "prepareStep",
    null,
    "it returned null, and { model, tools, toolChoice, settings }, { stop } or nothing is needed",
  ],
  [
    "prepareStep",
    [],
    "it returned a list, and { model, tools, toolChoice, settings }, { stop } or nothing is needed",
  ],
  ["onFinish", 5, "it returned a number, and a text, a list of messages or nothing is needed"],
  ["onFinish", null, "it returned null, and a text, a list of messages or nothing is needed"],
  [
    "transformContext",
    [null],
    "item 0 of what it returned is no message: a role and a list of parts are needed",
  ],
  ["transformContext", "text", "it returned a string, and a list of messages or nothing is needed"],
  ["transformContext", null, "it returned null, and a list of messages or nothing is needed"],
] as readonly (readonly [string, unknown, string])[])(
  "%s that answers what it should not (%#) has failed, and the next run is as good as any",
  async (name, answer, why) => {
    const hooks: Record<string, unknown> = { [name]: () => answer };
    const model = scripted([call("look"), say("done")], { repeatLast: true });
    const session = await new Agent({ model, tools: [echo("look")], hooks: hooks as Hooks }).open("s");
    const { end } = await session.send("go");
    expect(end?.error?.message).toContain(`the ${name} hook failed: ${why}`);
    expect(isPaired(session.messages)).toBe(true);
    delete hooks[name];
    expect((await session.send("again")).end?.reason).toBe("completed");
  },
);

test.each<[keyof Hooks, unknown, string]>([
  [
    "beforeTool",
    { args: { a: 5n } },
    "Error: the beforeTool hook failed: args.a is a bigint, and JSON has no such value",
  ],
  [
    "beforeTool",
    { args: circle },
    "Error: the beforeTool hook failed: args.itself is a circle, and JSON has no such value",
  ],
  [
    "beforeTool",
    "no",
    "Error: the beforeTool hook failed: it returned a string, and { args }, { result } or nothing is needed",
  ],
  [
    "beforeTool",
    null,
    "Error: the beforeTool hook failed: it returned null, and { args }, { result } or nothing is needed",
  ],
  [
    "beforeTool",
    {},
    "Error: the beforeTool hook failed: it returned an object, and { args }, { result } or nothing is needed",
  ],
  [
    "beforeTool",
    [{ a: 1 }],
    "Error: the beforeTool hook failed: it returned a list, and { args }, { result } or nothing is needed",
  ],
  [
    "beforeTool",
    { args: null },
    "Error: the beforeTool hook failed: its args are null, and an object is needed",
  ],
  [
    "beforeTool",
    { args: "a" },
    "Error: the beforeTool hook failed: its args are a string, and an object is needed",
  ],
  [
    "beforeTool",
    { args: [] },
    "Error: the beforeTool hook failed: its args are a list, and an object is needed",
  ],
  [
    "beforeTool",
    { args: undefined },
    "Error: the beforeTool hook failed: its args are nothing, and an object is needed",
  ],
  [
    "beforeTool",
    { result: "no", isError: "yes" },
    "Error: the beforeTool hook failed: its isError must be true or false",
  ],
  [
    "afterTool",
    { content: 5 },
    "Error: the afterTool hook failed: its content is a number, and a text or a list of parts is needed",
  ],
  [
    "afterTool",
    { content: "no", isError: null },
    "Error: the afterTool hook failed: its isError must be true or false",
  ],
  [
    "beforeTool",
    { result: 5 },
    "Error: the beforeTool hook failed: its result is a number, and a text or a list of parts is needed",
  ],
  [
    "afterTool",
    {},
    "Error: the afterTool hook failed: it returned an object, and { content } or nothing is needed",
  ],
  [
    "afterTool",
    null,
    "Error: the afterTool hook failed: it returned null, and { content } or nothing is needed",
  ],
  [
    "afterTool",
    "text",
    "Error: the afterTool hook failed: it returned a string, and { content } or nothing is needed",
  ],
  ...(
    [
      [null, "null"],
      [true, "true"],
      ["yes", '"yes"'],
      [() => "allow", "a function"],
      [5n, "a bigint"],
      [[], "a list"],
      [{ decision: "allow" }, "{ decision }"],
      [{ answer: null }, "{ answer: null }"],
      [{ answer: "yes" }, '{ answer: "yes" }'],
    ] as const
  ).map(
    ([answer, what]) =>
      [
        "permission",
        answer,
        `Permission check failed: it returned ${what}, and allow, deny, ask or stop, { answer } or nothing is needed`,
      ] as [keyof Hooks, unknown, string],
  ),
  ["permission", { answer: "deny", reason: circle }, "Permission check failed: its reason must be a text"],
  [
    "permission",
    { answer: "allow", why: 5n },
    "Permission check failed: it returned why, and what it may return is answer, reason, text",
  ],
])(
  "%s that answers what it should not (%#) makes its call an error, and no journal is given what it cannot hold",
  async (name, answer, why) => {
    const hooks: Hooks = { [name]: () => answer };
    const journal = memoryJournal();
    const model = scripted([call("look"), say("done")]);
    const session = await new Agent({ model, tools: [echo("look")], hooks, journal }).open("s");
    const { end, messages } = await session.send("go");
    expect(end?.reason).toBe("completed");
    expect(textOf(messages[2] as Message)).toContain(why);
    expect(() => JSON.stringify(journal.read("s"))).not.toThrow();
  },
);

describe("what a hook has returned does not change later, whatever the hook does with it", () => {
  test("a message of transformContext", async () => {
    const own = userText("as given");
    const hooks: Hooks = {
      transformContext(messages) {
        own.content.push({ type: "text", text: "!" });
        return [...messages, own];
      },
    };
    const model = scripted([call("look"), call("look"), say("done")]);
    const session = await new Agent({ model, tools: [echo("look")], hooks }).open("s");
    expect((await session.send("go")).end?.reason).toBe("completed");
    expect((await session.replay()).firstDifference).toBeUndefined();
  });

  test("a message of onFinish, which stays the hook's own and may contain bytes", async () => {
    const own = {
      role: "user",
      content: [{ type: "file", mediaType: "image/png", data: new Uint8Array([1]) }],
    };
    let asked = 0;
    const onFinish = (): never => (asked++ === 0 ? [own] : []) as never;
    const model = scripted([say("done"), say("more")]);
    const session = await new Agent({ model, hooks: { onFinish } }).open("s");
    await session.send("go");
    own.content = [];
    expect(session.messages[2]?.content).toEqual([{ type: "file", mediaType: "image/png", data: "AQ==" }]);
  });

  test("arguments of beforeTool", async () => {
    const own = { a: 1 };
    const seen: unknown[] = [];
    const hooks: Hooks = {
      beforeTool: () => ({ args: own }),
      afterTool: ({ args }) => {
        own.a = 2;
        seen.push(args);
        return undefined;
      },
    };
    const model = scripted([call("look"), say("done")]);
    const session = await new Agent({ model, tools: [echo("look")], hooks }).open("s");
    await session.send("go");
    expect(seen).toEqual([{ a: 1 }]);
  });
});

test.each([
  " ",
  "",
  [{ role: "user", content: [] }],
  [{ role: "user", content: [{ type: "text", text: " " }] }],
])("onFinish that returns nothing (%j) has no more work", async (nothing) => {
  const model = scripted([say("done")]);
  const session = await new Agent({ model, hooks: { onFinish: () => nothing as string } }).open("s");
  expect((await session.send("go")).end?.reason).toBe("completed");
  expect(session.messages).toHaveLength(2);
});

// A hook may say of a result that it ends the run, as a tool may.

import { Agent, composeHooks, type Hooks, memoryJournal, replay, resolve, textOf } from "@rondo/core";
import { calls, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo } from "./support.ts";

/** A run whose first answer calls `look`, then `press`, under the hooks. */
async function run(hooks: Hooks) {
  const model = scripted([calls([["look"], ["press"]]), say("never asked")]);
  const journal = memoryJournal();
  const ran: string[] = [];
  const execute = (name: string) => () => {
    ran.push(name);
    return `${name} said`;
  };
  const tools = [
    echo("look", { execute: execute("look") }),
    echo("press", { effect: "write", execute: execute("press") }),
  ];
  const options = { model, tools, hooks, toolOrder: "sequential", journal } as const;
  const result = await new Agent(options).run("go", { session: "s" });
  const read = [...journal.read("s")];
  expect(replay(read, resolve(options).rules).firstDifference).toBeUndefined();
  const told = result.messages.filter(({ role }) => role === "tool").map((message) => textOf(message));
  return { ...result, ran, told, model };
}

test("a result of the afterTool hook may end the run, with a text", async () => {
  const { end, text, ran, told, model } = await run({
    afterTool: ({ name }, { content }) => (name === "look" ? { content, done: "Seen enough." } : undefined),
  });
  expect([end?.reason, end?.evidence.tool, text]).toEqual(["done_tool", "look", "Seen enough."]);
  expect([ran, model.calls]).toEqual([["look"], 1]);
  expect(told).toEqual(["look said", "press was skipped: the run ended before it."]);
});

test("a result that the beforeTool hook gives in place of running a call may end the run", async () => {
  const { end, ran, told } = await run({
    beforeTool: ({ name }) =>
      name === "look" ? { result: "not here", isError: true, done: true } : undefined,
  });
  expect([end?.reason, ran]).toEqual(["done_tool", []]);
  expect(told[0]).toBe("not here");
});

test("a result that says it ends nothing ends nothing", async () => {
  const { end, ran } = await run({ afterTool: (_, { content }) => ({ content, done: false }) });
  expect([end?.reason, ran]).toEqual(["completed", ["look", "press"]]);
});

test("composed hooks keep that a result ends the run, whatever the next makes of its content", async () => {
  const { end, text, told } = await run(
    composeHooks(
      { afterTool: () => ({ content: "first", done: "Enough." }) },
      {
        afterTool: (_, { content, done }) => ({ content: [...content, { type: "text", text: ` ${done}` }] }),
      },
    ),
  );
  expect([end?.reason, text, told[0]]).toEqual(["done_tool", "Enough.", "first Enough."]);
});

test("anything but true, false or a text is a failure of the hook, and ends nothing", async () => {
  const { end, told } = await run({ afterTool: () => ({ content: "x", done: 1 as never }) });
  expect(end?.reason).toBe("completed");
  expect(told[0]).toContain("its done must be true, false or a text");
  const { told: others } = await run({ beforeTool: () => ({ args: {}, done: true }) as never });
  expect(others[0]).toContain("it returned done, and what it may return is args");
});

// Hooks that answer what no hook should: it is their failure, by name, and the session can always go on.

import { Agent, type Hooks, isPaired } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo } from "./support.ts";

test.each([
  ["onFinish", [null], "item 0 of what it returned is no message: a role and a list of parts are needed"],
  [
    "onFinish",
    [{ role: "user", content: "text" }],
    "item 0 of what it returned is no message: a role and a list of parts are needed",
  ],
  ["onFinish", 5, "it returned a number, and a list of messages is needed"],
  [
    "transformContext",
    [null],
    "item 0 of what it returned is no message: a role and a list of parts are needed",
  ],
  ["transformContext", "text", "it returned a string, and a list of messages is needed"],
  ["transformContext", null, "it returned null, and a list of messages is needed"],
] as const)(
  "%s that answers %j has failed, and the next run is as good as any",
  async (name, answer, why) => {
    const hooks: Record<string, unknown> = { [name]: () => answer };
    const model = scripted([call("look"), say("done")], { repeatLast: true });
    const session = await new Agent({ model, tools: [echo("look")], hooks: hooks as Hooks }).open("s");
    const { end } = await session.send("go");
    expect(end?.error?.message).toBe(`the ${name} hook failed: ${why}`);
    expect(isPaired(session.messages)).toBe(true);
    delete hooks[name];
    expect((await session.send("again")).end?.reason).toBe("completed");
  },
);

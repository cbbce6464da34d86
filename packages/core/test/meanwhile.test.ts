// What is said while something else is under way: no word of it is passed over, and no answer is taken for another's.

import { Agent } from "@rondo/core";
import { call, hold, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, shortly } from "./support.ts";

describe("a listener that hears of a result", () => {
  const dones = [call("look"), say("done")];
  const tools = [echo("look")];

  test("says a word that the very next request has", async () => {
    const session = await new Agent({ model: scripted(dones), tools }).open("s");
    session.subscribe((event) => {
      if (event.type === "tool_end") session.steer("look closer");
    });
    expect(shortly((await session.send("go")).messages)).toEqual([
      "user: go",
      "assistant: look()",
      "tool: look ran",
      "user: look closer",
      "assistant: done",
    ]);
  });

  test("takes a word back that is not delivered then", async () => {
    const held = hold(call("look"));
    const session = await new Agent({ model: scripted([held, say("done")]), tools }).open("s");
    const did: boolean[] = [];
    session.subscribe((event) => {
      if (event.type === "tool_end") did.push(session.withdraw("w"));
    });
    const running = session.send("go");
    await held.reached;
    session.steer("look closer", "w");
    held.release();
    expect(shortly((await running).messages)).toEqual([
      "user: go",
      "assistant: look()",
      "tool: look ran",
      "assistant: done",
    ]);
    expect(did).toEqual([true]);
  });
});

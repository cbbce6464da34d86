// `stopAfter`: a run ends once one of certain tools has done its work.

import {
  Agent,
  type AgentOptions,
  emptyState,
  type RunResult,
  stopAfter,
  type Tool,
  tool,
} from "@rondo/core";
import { call, calls, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";

const named = (name: string, execute: () => unknown = () => "done"): Tool =>
  tool({ name, description: name, inputSchema: { type: "object" }, effect: "read", execute });
const tools = [named("look"), named("book")];

const running = async (
  script: readonly Turn[],
  rule = stopAfter("book"),
  options: Partial<AgentOptions> = {},
): Promise<[RunResult, number]> => {
  const model = scripted(script);
  return [await new Agent({ model, tools, rules: [rule], ...options }).run("go"), model.calls];
};

describe("a call that ends the run", () => {
  test("ends it with what the model said last, and the model is not asked again", async () => {
    const [{ end, text, messages }, asked] = await running([call("look"), [say("I book it."), call("book")]]);
    expect(end).toStrictEqual({
      reason: "turn_stopped",
      rule: "stop_after",
      evidence: { tool: "book", steps: 2 },
      landed: false,
      resumable: true,
    });
    expect([text, asked, messages.at(-1)?.role]).toEqual(["I book it.", 2, "tool"]);
    const [told] = await running([call("book")], stopAfter("book", { onLimit: "stop" }));
    expect(told.end?.landed).toBe(false);
  });

  test("ends it after the other calls of its answer have their results", async () => {
    const [{ toolCalls, messages }] = await running([calls([["book"], ["look"]])]);
    expect([toolCalls, messages.length]).toEqual([2, 4]);
  });

  test("is any of several", async () => {
    const [{ end }] = await running([call("look")], stopAfter(["book", "look"]));
    expect(end?.evidence).toEqual({ tool: "look", steps: 1 });
  });

  test("does not end it by a result that is an error: the model reads that, and goes on", async () => {
    let tried = 0;
    const book = named("book", () => {
      tried += 1;
      if (tried === 1) throw new Error("no table is free at 7");
      return "table 4";
    });
    const [{ end }, asked] = await running([call("book"), call("book", { at: 8 })], undefined, {
      tools: [book],
    });
    expect([end?.rule, tried, asked]).toEqual(["stop_after", 2, 2]);
  });

  test("may be answered by a hook in place of running it", async () => {
    const hooks = { beforeTool: () => ({ result: "table 4" }) };
    const [{ end }] = await running([call("book")], undefined, { hooks });
    expect(end?.rule).toBe("stop_after");
  });

  test("lands the run where that is asked for: one more answer, without tools", async () => {
    const [{ end, text }, asked] = await running(
      [call("book"), say("Table 4 is yours.")],
      stopAfter("book", { onLimit: "land" }),
    );
    expect([end?.reason, end?.landed, text, asked]).toEqual(["turn_stopped", true, "Table 4 is yours.", 2]);
  });

  test("is one of this run: what an earlier run of the session called says nothing", async () => {
    const model = scripted([call("book"), call("look"), say("looked"), call("book")]);
    const session = await new Agent({ model, tools, rules: [stopAfter("book")] }).open("s");
    expect((await session.send("book")).end?.rule).toBe("stop_after");
    expect((await session.send("look")).text).toBe("looked");
    expect((await session.send("book again")).end?.rule).toBe("stop_after");
  });

  test("says nothing of a run that there is not", () => {
    expect(stopAfter("book").decide?.(undefined as never, emptyState)).toBeUndefined();
    expect(stopAfter("book").decide?.("book" as never, emptyState)).toMatchObject({
      evidence: { tool: "book", steps: 0 },
    });
  });

  test("is of a tool that there is", async () => {
    expect(() => new Agent({ model: scripted([]), tools, rules: [stopAfter("boook")] })).toThrow(
      'stopAfter waits for a call of "boook", and there is no such tool; did you mean book?',
    );
    for (const wrong of ["", [], [3], ["look", 3], undefined, 3])
      expect(() => stopAfter(wrong as never)).toThrow(/stopAfter: option tools: .*the name of a tool/);
    expect(() => stopAfter("a", { onLimit: "end" } as never)).toThrow(/stopAfter: option onLimit: /);
    expect(() => stopAfter("a", { max: 3 } as never)).toThrow(
      /stopAfter: option max: there is no such option/,
    );
  });
});

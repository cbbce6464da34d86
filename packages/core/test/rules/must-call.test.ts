// `mustCall`: a run is not complete before certain tools were called with success.

import {
  Agent,
  type AgentOptions,
  defaultTexts,
  emptyState,
  maxSteps,
  mustCall,
  type RunResult,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { call, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { recordOf, stateOf } from "../loop/support.ts";
import { afterAll } from "./support.ts";

const named = (name: string, execute: () => unknown = () => "done"): Tool =>
  tool({ name, description: name, inputSchema: { type: "object" }, execute });
const tools = [named("look"), named("submit")];

const running = (
  script: readonly Turn[],
  rule = mustCall("submit"),
  options: Partial<AgentOptions> = {},
): { model: ReturnType<typeof scripted>; run: Promise<RunResult> } => {
  const model = scripted(script);
  return { model, run: new Agent({ model, tools, rules: [rule], ...options }).run("go") };
};

const missing = "This cannot be the final answer yet: submit has not been called with success.";

describe("a call that must come", () => {
  test("is asked for if the model would end the run without it; the answer before it stays in the history", async () => {
    const { model, run } = running([call("look"), say("all looked at"), call("submit"), say("handed in")]);
    const { end, text, messages } = await run;
    expect([end?.reason, text, model.calls]).toEqual(["completed", "handed in", 4]);
    expect(messages.filter(({ role }) => role === "assistant").map(textOf)).toEqual([
      "",
      "all looked at",
      "",
      "handed in",
    ]);
    expect(JSON.stringify(messages)).not.toContain(missing);
  });

  test("is asked for with a note that the model reads in that request alone", async () => {
    const notes: number[] = [];
    const model = scripted(({ messages }) => {
      notes.push(messages.filter((one) => textOf(one) === missing).length);
      return notes.length === 2 ? call("submit") : say("there");
    });
    await new Agent({ model, tools, rules: [mustCall("submit")] }).run("go");
    expect(notes).toEqual([0, 1, 0]);
  });

  test("is asked for in words of one's own", async () => {
    const last: string[] = [];
    const model = scripted(({ messages }, n) => {
      last.push(textOf(messages.at(-1) as never));
      return n === 2 ? call("submit") : say("there");
    });
    const rule = mustCall("submit", { note: "Hand it in with submit." });
    await new Agent({ model, tools, rules: [rule] }).run("go");
    expect(last[1]).toBe("Hand it in with submit.");
  });

  test("ends the run as no_progress if it does not come after the model was asked so often", async () => {
    const { model, run } = running([say("a"), say("b"), say("c")]);
    const { end, text } = await run;
    expect(end).toMatchObject({
      reason: "no_progress",
      rule: "must_call",
      evidence: { missing: ["submit"], asked: 2, max: 2 },
      landed: false,
      resumable: true,
    });
    expect([text, model.calls]).toEqual(["c", 3]);
    const none = await running([say("a")], mustCall("submit", { max: 0 })).run;
    expect([none.end?.reason, none.text]).toEqual(["no_progress", "a"]);
  });

  test("does not count if it fails, and counts if a hook or a person answers it", async () => {
    const failing = named("submit", () => {
      throw new Error("full");
    });
    const failed = await running([call("submit"), say("a"), say("b"), say("c")], undefined, {
      tools: [failing],
    }).run;
    expect([failed.end?.reason, failed.modelCalls]).toEqual(["no_progress", 4]);
    const hooks = { beforeTool: () => ({ result: "kept elsewhere" }) };
    expect((await running([call("submit"), say("done")], undefined, { hooks }).run).end?.reason).toBe(
      "completed",
    );
    const asking = { ...named("submit"), permission: "ask" as const };
    const model = scripted([call("submit"), say("done")]);
    const session = await new Agent({ model, tools: [asking], rules: [mustCall("submit")] }).open("s");
    const parked = await session.send("go");
    const { end } = await session.answer(parked.parked?.pending[0]?.id ?? "", "handed in by hand");
    expect([end?.reason, model.calls]).toEqual(["completed", 2]);
  });

  test("counts by what its tool returned, and not by what a hook made of that", async () => {
    const failing = named("submit", () => {
      throw new Error("full");
    });
    const hooks = {
      beforeTool: () => undefined,
      afterTool: () => ({ content: "handed in", isError: false }),
    };
    const script = [call("submit"), say("a"), say("b"), say("c")];
    const { end } = await running(script, undefined, { tools: [failing], hooks }).run;
    expect([end?.reason, end?.rule]).toEqual(["no_progress", "must_call"]);
    const well = await running([call("submit"), say("done")], undefined, { hooks }).run;
    expect(well.end?.reason).toBe("completed");
  });

  test("may be several: each must come, and only those that have not are named", async () => {
    const rule = mustCall(["look", "submit", "look"]);
    const texts: string[] = [];
    const model = scripted(({ messages }, n) => {
      texts.push(textOf(messages.at(-1) as never));
      return [say("a"), call("look"), say("b"), call("submit"), say("c")][n - 1] ?? say("d");
    });
    const { end } = await new Agent({ model, tools, rules: [rule] }).run("go");
    expect(end?.reason).toBe("completed");
    expect(texts[1]).toBe(
      "This cannot be the final answer yet: look and submit have not been called with success.",
    );
    expect(texts[3]).toBe(missing);
  });

  test("holds up no landing, no refusal and no answer that its provider broke off", async () => {
    const landed = await running([call("look"), say("so far")], undefined, {
      rules: [maxSteps(1), mustCall("submit")],
    }).run;
    expect([landed.end?.reason, landed.end?.landed]).toEqual(["max_steps", true]);
    for (const [kind, reason, rule] of [
      ["refusal", "refused", "refusals"],
      ["error", "error", "by_content"],
      ["aborted", "aborted", "by_content"],
    ] as const) {
      const { end } = await running([[say("no"), stop(kind)] as Turn]).run;
      expect([end?.reason, end?.rule]).toEqual([reason, rule]);
    }
    const rule = mustCall("submit");
    expect(rule.judge?.(rule.init?.(emptyState) as never, emptyState, defaultTexts)).toBeUndefined();
  });

  test("is asked for after an empty answer as well, which does not stay", async () => {
    for (const blank of ["", " \n"]) {
      const script = [say(blank), call("submit"), say("done")];
      const { end, messages } = await running(script, undefined, { emptyNudges: null }).run;
      expect(end?.reason).toBe("completed");
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    }
  });

  test("must come in each run anew", async () => {
    const model = scripted([call("submit"), say("one"), say("two"), call("submit"), say("three")]);
    const session = await new Agent({ model, tools, rules: [mustCall("submit")] }).open("s");
    expect((await session.send("go")).text).toBe("one");
    expect((await session.send("again")).text).toBe("three");
    expect(model.calls).toBe(5);
  });

  test("has no result of a call that nobody knows", () => {
    const rule = mustCall("submit");
    const record = recordOf({ type: "tool_finished", call: "5.0", result: { content: [], isError: false } });
    const memory = rule.init?.(stateOf());
    expect(afterAll(rule, [record as never], stateOf(), memory as never)).toEqual(memory);
  });

  test("is of a tool that there is, and asked for a whole number of times", async () => {
    expect(() => running([], mustCall("sumbit"))).toThrow(
      'mustCall waits for a call of "sumbit", and there is no such tool; did you mean submit?',
    );
    expect(() => new Agent({ model: scripted([]), rules: [mustCall("submit")] })).toThrow(
      /there is no such tool; there are no tools/,
    );
    for (const wrong of ["", [], [3], ["look", 3], undefined, 3])
      expect(() => mustCall(wrong as never)).toThrow(/mustCall: option tools: .*the name of a tool/);
    expect(() => mustCall("a", { max: -1 })).toThrow(/mustCall: option max: /);
    expect(() => mustCall("a", { times: 3 } as never)).toThrow(
      /mustCall: option times: there is no such option/,
    );
  });
});

// Termination policies, through the Agent: what each says of an answer, and what the run then does.

import {
  Agent,
  type AgentOptions,
  byStopReasonPolicy,
  composite,
  continueBy,
  continueWithThinking,
  continueWithTools,
  duplicateDetection,
  emptyState,
  isPaired,
  type LogRecord,
  type Policy,
  type RunResult,
  type State,
  type StopKind,
  standardPolicy,
  terminateImmediately,
  terminateWithOutput,
} from "@rondo/core";
import { call, calls, empty, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { foldOf } from "./rules/support.ts";
import { echo } from "./support.ts";

/** A run under one policy alone: no rule for odd answers comes before it. */
function run(policy: Policy, script: readonly Turn[], more: Partial<AgentOptions> = {}): Promise<RunResult> {
  const bare = {
    maxTruncations: null,
    malformedRetries: null,
    pauseResumes: null,
    emptyNudges: null,
    repeats: null,
  };
  const model = scripted(script);
  return new Agent({
    model,
    tools: [echo("look")],
    continueRule: continueBy("policy", policy),
    ...bare,
    ...more,
  }).run("go");
}

const ends = (stopKind: StopKind | undefined, ...turn: Turn[]): Turn => [
  ...turn,
  stop(stopKind ?? "unknown"),
];

describe("the stop-reason policy", () => {
  test("A2.8 ends on end_turn whatever the answer contains, with the text or an empty one", async () => {
    const over = await run(byStopReasonPolicy, [ends("end_turn", say("that is it"), call("look"))]);
    expect([over.end?.reason, over.text, over.toolCalls]).toEqual(["completed", "that is it", 0]);
    expect(isPaired(over.messages)).toBe(true);
    expect((await run(byStopReasonPolicy, [ends("end_turn", empty())])).text).toBe("");
  });

  test("A2.9 ends without calls whatever the stop reason is", async () => {
    for (const word of ["tool_use", "max_tokens", "unknown"] as const)
      expect((await run(byStopReasonPolicy, [ends(word, say("text"))])).text).toBe("text");
  });

  test("A2.12 continues with calls for any other reason", async () => {
    for (const word of ["tool_use", "max_tokens", "unknown"] as const) {
      const { toolCalls, text } = await run(byStopReasonPolicy, [ends(word, call("look")), say("done")]);
      expect([toolCalls, text]).toEqual([1, "done"]);
    }
  });
});

describe("the standard policy", () => {
  test("B4.24 with tool use runs the calls, and without any ends as unexpected", async () => {
    expect((await run(standardPolicy, [ends("tool_use", call("look")), say("done")])).toolCalls).toBe(1);
    const { end } = await run(standardPolicy, [ends("tool_use", say("no call"))]);
    expect([end?.reason, end?.evidence.stop]).toEqual(["unexpected_stop", "tool_use without tool calls"]);
  });

  test("B4.25 with end_turn runs calls first, then takes the text, and ends as completed without either", async () => {
    expect((await run(standardPolicy, [ends("end_turn", call("look")), say("done")])).toolCalls).toBe(1);
    expect((await run(standardPolicy, [ends("end_turn", say("done"))])).text).toBe("done");
    expect((await run(standardPolicy, [ends("end_turn", empty())])).end?.reason).toBe("completed");
  });

  test("B4.26 with max_tokens takes the text, ignores calls, and is unexpected without text", async () => {
    const cut = await run(standardPolicy, [ends("max_tokens", say("so far"), call("look"))]);
    expect([cut.text, cut.toolCalls]).toEqual(["so far", 0]);
    const { end } = await run(standardPolicy, [ends("max_tokens", call("look"))]);
    expect([end?.reason, end?.evidence.stop]).toEqual(["unexpected_stop", "max_tokens"]);
  });

  test("B4.27 with a stop sequence takes the text, or ends as completed", async () => {
    expect((await run(standardPolicy, [ends("stop_sequence", say("text"))])).text).toBe("text");
    expect((await run(standardPolicy, [ends("stop_sequence", empty())])).end?.reason).toBe("completed");
  });

  test("B4.28 without a reason looks for calls, then for text, and is empty without either", async () => {
    expect((await run(standardPolicy, [ends(undefined, call("look")), say("done")])).toolCalls).toBe(1);
    expect((await run(standardPolicy, [ends(undefined, say("text"))])).text).toBe("text");
    expect((await run(standardPolicy, [ends(undefined, empty())])).end?.reason).toBe("empty_response");
  });
});

describe("a user's own policy", () => {
  test("B2.13 may let the run continue: the answer is kept, and the model is called again", async () => {
    const thinkTwice: Policy = ({ text }) =>
      text === "hm" ? continueWithThinking : terminateWithOutput(text);
    const { text, steps, messages } = await run(thinkTwice, [say("hm"), say("yes")]);
    expect([text, steps]).toEqual(["yes", 2]);
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "assistant"]);
  });
});

describe("duplicate detection", () => {
  const same = call("look", { a: 1 });
  const other = (n: number): Turn => call("look", { n });

  test("B5.30 changes no decision except to continue with tools", () => {
    const answer = { stop: { kind: "end_turn", wire: "end_turn" } as const, text: "x", calls: [] };
    const history = { step: 1, named: () => 99, equal: () => 99 };
    expect(duplicateDetection()(answer, history)).toEqual(terminateWithOutput("x"));
  });

  test("B5.31 lets an equal call run twice, and ends the run at the third, with its count", async () => {
    const { end, toolCalls, messages } = await run(duplicateDetection(), [same, same, same]);
    expect([end?.reason, end?.evidence.count, toolCalls]).toEqual(["duplicate_call", 3, 2]);
    expect(isPaired(messages)).toBe(true);
  });

  test("B5.32 ends the run at the sixth call of one tool, before it looks for equal ones; null means no limit", async () => {
    const many = [1, 2, 3, 4, 5, 6].map(other);
    const { end, toolCalls } = await run(duplicateDetection(), many);
    expect([end?.reason, end?.evidence.count, toolCalls]).toEqual(["tool_call_limit", 6, 5]);
    const both = await run(duplicateDetection(standardPolicy, { maxToolCallsPerTool: 2 }), [
      same,
      same,
      same,
    ]);
    expect(both.end?.reason).toBe("tool_call_limit");
    const free = await run(duplicateDetection(standardPolicy, { maxToolCallsPerTool: null }), [
      ...many,
      say("done"),
    ]);
    expect(free.text).toBe("done");
  });

  test("B5.32 counts calls of a tool whatever its name is", async () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      const script = Array.from({ length: 6 }, (_, n) => call(name, { n }));
      const { end } = await run(duplicateDetection(), [...script, say("done")], { tools: [echo(name)] });
      expect([name, end?.reason, end?.evidence.count]).toEqual([name, "tool_call_limit", 6]);
    }
  });

  test("B5.33 does not count equal calls of one answer against each other, and runs no call of an answer that exceeds the limit", async () => {
    const three = calls([
      ["look", { a: 1 }],
      ["look", { a: 1 }],
      ["look", { a: 1 }],
    ]);
    expect((await run(duplicateDetection(), [three, say("done")])).toolCalls).toBe(3);
    const { toolCalls } = await run(duplicateDetection(), [same, same, [other(1), same]]);
    expect(toolCalls).toBe(2);
  });

  test("B5.34 compares the bytes of arguments: the order of keys matters", async () => {
    const ab = call("look", { a: 1, b: 2 });
    const ba = call("look", { b: 2, a: 1 });
    expect((await run(duplicateDetection(), [ab, ba, ab, say("done")])).text).toBe("done");
  });

  test("B5.35 composite: the first policy that ends the run wins, otherwise the last one's answer", async () => {
    const never: Policy = () => continueWithTools;
    const always: Policy = () => terminateImmediately({ reason: "completed" });
    expect((await run(composite(always, never), [call("look")])).end?.reason).toBe("completed");
    expect((await run(composite(never, standardPolicy), [say("text")])).text).toBe("text");
  });
});

test("the cost of a policy's knowledge of earlier calls depends on new calls only (P9)", () => {
  const rule = continueBy("policy", standardPolicy);
  const fold = foldOf(rule, "turn_judged");
  const judged = { type: "turn_judged", follows: { do: "act" } } as LogRecord;
  const answer = (rawArgs: string) =>
    ({ run: { turn: { calls: [{ name: "look", rawArgs }] } } }) as unknown as State;
  const { set } = Map.prototype;
  let kept = 0;
  const perAnswer: number[] = [];
  Map.prototype.set = function (this: Map<unknown, unknown>, ...entry) {
    kept += 1;
    return set.apply(this, entry);
  };
  try {
    let made = rule.init?.(emptyState);
    for (let n = 0; n < 1_000; n += 1) {
      made = fold(made, judged, answer(`{"n":${n}}`));
      perAnswer.push(kept);
      kept = 0;
    }
  } finally {
    Map.prototype.set = set;
  }
  expect(Math.max(...perAnswer)).toBeLessThanOrEqual(2);
});

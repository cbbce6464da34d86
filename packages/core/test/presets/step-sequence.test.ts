// The step sequence: its defaults, what each pull gives, and how it ends.

import {
  Agent,
  continueWithThinking,
  continueWithTools,
  isPaired,
  memoryJournal,
  type Policy,
  RondoError,
  type StepEvent,
  standardPolicy,
  subAgent,
  terminateImmediately,
  textOf,
  tool,
  toolResult,
} from "@rondo/core";
import { StepSequenceError, stepSequence, toolError } from "@rondo/core/presets";
import {
  badArgs,
  call,
  calls,
  empty,
  fail,
  part,
  refuse,
  type Script,
  say,
  scripted,
  stop,
  think,
  throwing,
} from "@rondo/testkit";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { echo } from "../support.ts";
import { pulled, sequence } from "./step-sequence-support.ts";

const output = z.object({ city: z.string() });
const rome = '{"city":"Rome"}';
const look = echo("look");
const counting: Script = (_request, n) => call("look", { n });

describe("a step sequence", () => {
  test("B1.1 is an async sequence; several at once of one agent keep their steps, calls and messages apart", async () => {
    const model = scripted(({ messages }) =>
      messages.length < 5 ? call("look", { at: messages.length }) : say(textOf(messages[0] as never)),
    );
    const agent = new Agent(stepSequence({ model, tools: [look] }));
    expect(Symbol.asyncIterator in agent.steps("unpulled")).toBe(true);
    const ends = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const seen: StepEvent[] = [];
        for await (const step of agent.steps(`task ${n}`)) seen.push(step);
        return seen;
      }),
    );
    ends.forEach((seen, n) => {
      expect(seen.map((step) => step.type)).toEqual([
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "final_response",
      ]);
      expect(seen.at(-1)).toMatchObject({ text: `task ${n}` });
    });
  });

  test("B1.1 uses a policy that may be the user's own, around which repeats are counted", async () => {
    const stubborn: Policy = (answer, history) =>
      answer.text === "stop"
        ? terminateImmediately({ reason: "completed" })
        : standardPolicy(answer, history);
    const own = await pulled(
      sequence([[say("stop"), call("look")]], { tools: [look], policy: stubborn }).agent,
    );
    expect([own.steps, own.result?.end?.reason]).toEqual([[], "completed"]);
    const same = sequence(() => call("look"), { tools: [look], policy: stubborn }).agent;
    expect((await pulled(same)).result?.end?.reason).toBe("duplicate_call");
  });

  test("B1.2 yields thinking with the answer, calls, results, and the final response with its value", async () => {
    const { agent } = sequence([call("look"), say("It is Rome."), say(rome)], { tools: [look], output });
    const seen: StepEvent<{ city: string }>[] = [];
    for await (const step of agent.steps("go")) seen.push(step as StepEvent<{ city: string }>);
    expect(seen.map(({ type }) => type)).toEqual(["tool_call", "tool_result", "thinking", "final_response"]);
    const [first, second, thought, last] = seen;
    if (first?.type !== "tool_call" || second?.type !== "tool_result") throw new Error("no call");
    expect([first.call.name, second.call.key, second.isError]).toEqual(["look", first.call.key, false]);
    expect(thought?.type === "thinking" && textOf(thought.message)).toBe("It is Rome.");
    if (last?.type !== "final_response") throw new Error("no answer");
    expectTypeOf(last.output).toEqualTypeOf<{ city: string } | undefined>();
    expect(last.output).toEqual({ city: "Rome" });
  });

  test("B1.3 allows 10 steps, runs tools, and lets an equal call run twice and one tool five times, or any number", async () => {
    const ten = await pulled(sequence(counting, { tools: [look], maxToolCallsPerTool: null }).agent);
    expect(ten.steps.filter((step) => step === "call look")).toHaveLength(10);
    expect(ten.thrown).toMatchObject({ code: "maxStepsExceeded" });
    const five = await pulled(sequence(counting, { tools: [look] }).agent);
    expect(five.steps.filter((step) => step === "call look")).toHaveLength(5);
    const twice = await pulled(sequence(() => call("look"), { tools: [look] }).agent);
    expect(twice.steps.filter((step) => step === "call look")).toHaveLength(2);
    const three = await pulled(sequence(counting, { tools: [look], maxSteps: 3 }).agent);
    expect(three.steps.filter((step) => step === "call look")).toHaveLength(3);
    const once = sequence(() => call("look"), { tools: [look], maxDuplicateToolCalls: 1 }).agent;
    expect((await pulled(once)).steps).toHaveLength(2);
  });

  test("B1.5 makes one of four decisions about each answer, which the journal contains", async () => {
    const twice: Policy = (answer, history) =>
      answer.text === "hm" ? { decision: "continueWithThinking" } : standardPolicy(answer, history);
    const decided = async (script: Script): Promise<unknown[]> => {
      const journal = memoryJournal();
      await sequence(script, { tools: [look], policy: twice }, { journal }).agent.run("go", { session: "s" });
      const judged = (await journal.read("s")).filter((record) => record.type === "turn_judged");
      return judged.map(({ follows, evidence }) => [evidence.decision, follows.do]);
    };
    expect(await decided([call("look"), say("hm"), say("x")])).toEqual([
      ["continueWithTools", "act"],
      ["continueWithThinking", "ask_again"],
      ["terminateWithOutput", "finish"],
    ]);
    expect(await decided([empty()])).toEqual([["terminateImmediately", "stop"]]);
  });
});

describe("the reasons of an end", () => {
  test.each<[string, Script, object, object]>([
    ["completed", [empty()], {}, {}],
    ["max_steps", [[say("x"), stop("end_turn")]], { maxSteps: 1, stepLimit: "in_policy" }, { steps: 1 }],
    ["duplicate_call", () => call("look"), {}, { tool: "look", count: 3 }],
    ["tool_call_limit", counting, {}, { tool: "look", count: 6 }],
    ["unexpected_stop", [[say("x"), stop("tool_use")]], {}, { stop: "tool_use without tool calls" }],
    ["empty_response", [[stop("unknown")]], {}, {}],
  ])("B1.6 name %s, with what it was about", async (reason, script, options, evidence) => {
    const { steps, result, thrown } = await pulled(sequence(script, { tools: [look], ...options }).agent);
    expect(thrown).toBeUndefined();
    expect(result?.end).toMatchObject({
      reason,
      evidence: { decision: "terminateImmediately", reason, ...evidence },
    });
    expect(steps.some((step) => step.startsWith("final"))).toBe(false);
  });
});

describe("the errors", () => {
  const limit = sequence(counting, { tools: [look], maxSteps: 2 });
  const invalid = sequence([say("Rome")], { output });
  const broken = sequence([fail("invalid_request", { message: "no such model" })]);
  const hooked = sequence(
    [say("x")],
    {},
    {
      hooks: {
        prepareStep: () => {
          throw new Error("lost");
        },
      },
    },
  );
  const foreign = sequence([throwing(new TypeError("no window"))]);
  const once = sequence([throwing(new TypeError("no window"))], { retry: "disabled" });
  const refusing = sequence([say("x")], {
    policy: () => {
      throw new RondoError("auth", "who are you?");
    },
  });
  test.each([
    ["maxStepsExceeded", limit.agent, "Agent exceeded maximum steps limit (2)"],
    ["outputDecodingFailed", invalid.agent, "Failed to decode output: the text is not JSON"],
    ["llmError", broken.agent, "LLM error: no such model"],
    ["llmError", foreign.agent, "LLM error: no window"],
    ["llmError", once.agent, "LLM error: no window"],
    [
      "invalidState",
      refusing.agent,
      "Invalid agent state: the rule step_sequence failed in judge: who are you?",
    ],
    ["invalidState", hooked.agent, "Invalid agent state: the prepareStep hook failed: lost"],
  ] as const)(
    "B1.8 %s is thrown at the reader, and by the result, with its text",
    async (code, agent, message) => {
      const stream = agent.steps("go");
      const thrown = await (async () => {
        for await (const _ of stream);
      })().catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(StepSequenceError);
      expect(thrown).toMatchObject({ code, message });
      await expect(stream.result).rejects.toBe(thrown);
    },
  );

  test("B1.8 have the original failure as their cause, with all its members", async () => {
    const known = { status: 402, raw: { code: "no_credit" }, retryAfterMs: 60_000 };
    const { agent } = sequence([fail("quota_exhausted", known)]);
    const cause = expect.objectContaining({ kind: "quota_exhausted", ...known });
    await expect(agent.run("go")).rejects.toMatchObject({ code: "llmError", cause });
  });

  test("B1.8 of tools go to the model, and a step says which one: not found, or execution failed", async () => {
    const failing = echo("failing", {
      execute: () => {
        throw new Error("disk full");
      },
    });
    const { agent } = sequence([calls([["nowhere"], ["failing"], ["look"]]), say("done")], {
      tools: [failing, look],
    });
    const errors: unknown[] = [];
    for await (const step of agent.steps("go")) {
      const error = toolError(step);
      if (error !== undefined) errors.push([error.code, error.message]);
    }
    expect(errors).toEqual([
      ["toolNotFound", "Tool not found: nowhere"],
      ["toolExecutionFailed", "Tool execution failed (failing): disk full"],
    ]);
  });
});

describe("each pull", () => {
  test("B2.9 yields what is pending first, calls the model only then, and yields nothing once it is over", async () => {
    const { agent, model } = sequence([calls([["look"], ["look", { n: 2 }]]), say("done")], {
      tools: [look],
    });
    const steps = agent.steps("go")[Symbol.asyncIterator]();
    const asked: [string | undefined, number][] = [];
    for (let at = 0; at < 7; at += 1) {
      const { value } = await steps.next();
      await new Promise((settle) => setImmediate(settle));
      asked.push([value?.type, model.calls]);
    }
    expect(asked).toEqual([
      ["tool_call", 1],
      ["tool_result", 1],
      ["tool_call", 1],
      ["tool_result", 1],
      ["final_response", 2],
      [undefined, 2],
      [undefined, 2],
    ]);
  });

  test("B2.9 counts a step before the request, and throws in place of the one past the limit", async () => {
    for (const maxSteps of [0, 1, 2]) {
      const { agent, model } = sequence(counting, { tools: [look], maxSteps });
      const { steps, thrown } = await pulled(agent);
      expect([model.calls, steps.length]).toEqual([maxSteps, 2 * maxSteps]);
      expect(thrown).toMatchObject({ message: `Agent exceeded maximum steps limit (${maxSteps})` });
    }
  });

  test("B2.9 B2.13 yields the last step's thought before it throws, and none for an answer whose calls ran", async () => {
    const policy: Policy = ({ calls }) => (calls.length > 0 ? continueWithTools : continueWithThinking);
    const { agent } = sequence([call("look"), say("hm"), say("yes")], { tools: [look], policy, maxSteps: 2 });
    const { steps, thrown } = await pulled(agent);
    expect(steps).toEqual(["call look", "result look: look ran", "thinking hm"]);
    expect(thrown).toMatchObject({ code: "maxStepsExceeded" });
    const ran = await pulled(sequence(counting, { tools: [look], maxSteps: 1 }).agent);
    expect(ran.steps.some((step) => step.startsWith("thinking"))).toBe(false);
  });

  test("B2.9 B2.13 counts a paused answer after which the policy continues", async () => {
    const { agent, model } = sequence((_request, n) => (n > 20 ? say("late") : [say("hm"), stop("pause")]), {
      policy: () => continueWithThinking,
      maxSteps: 3,
    });
    const { steps, thrown } = await pulled(agent);
    expect([model.calls, steps]).toEqual([3, ["thinking hm", "thinking hm", "thinking hm"]]);
    expect(thrown).toMatchObject({ code: "maxStepsExceeded" });
  });

  test("B2.9 B3.18 yields the thought of an answer whose calls were ignored, even if no step is left", async () => {
    const cutOff = [say("so far"), call("look"), stop("max_tokens")];
    const output = { type: "object", properties: { a: { type: "number" } } } as const;
    const { agent } = sequence([cutOff], { tools: [look], output, maxSteps: 1 });
    const { steps, thrown } = await pulled(agent);
    expect(steps).toEqual(["thinking so far"]);
    expect(thrown).toMatchObject({ code: "maxStepsExceeded" });
  });

  test("B2.9 has the answer in the conversation before the policy is asked about it", async () => {
    const { agent } = sequence([call("look"), [say("and"), call("look")]], {
      tools: [look],
      maxToolCallsPerTool: 1,
    });
    const { result } = await pulled(agent);
    expect(result?.end?.reason).toBe("tool_call_limit");
    expect(result?.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
    expect(isPaired(result?.messages ?? [])).toBe(true);
  });

  test("B2.10 after a cancellation yields nothing more: what was pending is dropped", async () => {
    for (const cancel of ["abort", "signal"] as const) {
      const controller = new AbortController();
      const { agent, model } = sequence([calls([["look"], ["look", { n: 2 }]]), say("done")], {
        tools: [look],
      });
      const stream = agent.steps("go", { signal: controller.signal });
      const steps = stream[Symbol.asyncIterator]();
      expect((await steps.next()).value?.type).toBe("tool_call");
      if (cancel === "abort") stream.abort("enough");
      else controller.abort("enough");
      expect((await steps.next()).done).toBe(true);
      expect((await steps.next()).done).toBe(true);
      await expect(stream.result).rejects.toMatchObject({ kind: "aborted" });
      expect(model.calls).toBe(1);
    }
    const early = sequence([say("x")]);
    const never = early.agent.steps("go", { signal: AbortSignal.abort("no") });
    for await (const step of never) expect(step).toBeUndefined();
    expect(early.model.calls).toBe(0);
  });

  test("B2.11 comes after the whole batch has run, in order: call, result, call, result, then the next request", async () => {
    const ran: unknown[] = [];
    const note = echo("note", {
      effect: "write",
      inputSchema: { type: "object", properties: { n: { type: "integer" } } },
      execute: (args) => {
        const { n } = args as { n: number };
        ran.push(n);
        return `noted ${n}`;
      },
    });
    const { agent, model } = sequence(
      [
        calls([
          ["note", { n: 1 }],
          ["note", { n: 2 }],
        ]),
        say("done"),
      ],
      {
        tools: [note],
      },
    );
    const seen: [string, unknown[]][] = [];
    for await (const step of agent.steps("go")) seen.push([step.type, [...ran]]);
    expect(seen).toEqual([
      ["tool_call", [1, 2]],
      ["tool_result", [1, 2]],
      ["tool_call", [1, 2]],
      ["tool_result", [1, 2]],
      ["final_response", [1, 2]],
    ]);
    expect(model.lastRequest.messages.slice(2).map(textOf)).toEqual(["noted 1", "noted 2"]);
  });

  test("B2.12 without running tools ends at the first calls and yields no step; the calls are in the result", async () => {
    let ran = 0;
    const write = echo("write", { execute: () => (ran += 1) });
    const { agent, model } = sequence([[say("let me"), call("write", { a: 1 })]], {
      tools: [write],
      autoExecuteTools: false,
    });
    const { steps, result } = await pulled(agent);
    expect([steps, ran, model.calls]).toEqual([[], 0, 1]);
    expect(result?.pending).toMatchObject([{ name: "write", args: { a: 1 } }]);
    const said = result?.messages.find((message) => message.role === "assistant");
    expect(said?.content).toMatchObject([{ text: "let me" }, { name: "write" }]);
  });

  test.each(["content_filter", "refusal", "error"] as const)(
    "B4.28 B6.38 the word %s counts as none: calls run, a text is the output, without either it is empty",
    async (word) => {
      const last = stop(word);
      const acts = await pulled(sequence([[call("look"), last], say("x")], { tools: [look] }).agent);
      expect(acts.steps).toEqual(["call look", "result look: look ran", "final x"]);
      expect((await pulled(sequence([[say("half"), last]]).agent)).steps).toEqual(["final half"]);
      const nothing = await pulled(sequence([[empty(), last].flat()]).agent);
      expect([nothing.steps, nothing.result?.end?.reason]).toEqual([[], "empty_response"]);
    },
  );

  test("B4.25 a model's refusal is a text", async () => {
    expect((await pulled(sequence([refuse("I will not.")]).agent)).steps).toEqual(["final I will not."]);
  });

  test("B2.14 yields nothing more if the policy ends the sequence, and throws nothing", async () => {
    const same = await pulled(sequence(() => call("look"), { tools: [look] }).agent);
    expect([same.steps.length, same.thrown, same.result?.end?.reason]).toEqual([
      4,
      undefined,
      "duplicate_call",
    ]);
    const blank = await pulled(sequence([empty()], { output }).agent);
    expect([blank.steps, blank.thrown, blank.result?.end?.reason]).toEqual([[], undefined, "completed"]);
  });

  test("an error result of a sub-agent has its prefix once, also on Restate", async () => {
    const child = new Agent({ model: scripted([fail("auth")]) });
    const helper = subAgent({ name: "helper", description: "Helps", agent: child });
    const { messages } = await new Agent(
      stepSequence({ model: scripted([call("helper", { task: "t" }), say("so be it")]), tools: [helper] }),
    ).run("go");
    expect(messages.map(textOf)[2]).toMatch(/^Error: helper did not finish \(error\)/);
  });

  test("B2.15 tells the model what went wrong in a tool, as an error, and continues", async () => {
    const throwing = echo("throwing", {
      execute: () => {
        throw new Error("Error: disk full");
      },
    });
    const saying = echo("saying", { execute: () => toolResult("not today", { isError: true }) });
    const typed = tool({
      name: "typed",
      description: "typed",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      execute: () => "fine",
    });
    const { agent, model } = sequence(
      [calls([["nowhere"], ["throwing"], ["saying"], ["typed"]]), badArgs("typed", '{"n":'), say("done")],
      { tools: [throwing, saying, typed] },
    );
    const errors: [boolean, string][] = [];
    for await (const step of agent.steps("go"))
      if (step.type === "tool_result")
        errors.push([step.isError, step.content.map((one) => ("text" in one ? one.text : "")).join("")]);
    expect(errors).toEqual([
      [true, "Error: Tool not found: nowhere"],
      [true, "Error: Error: disk full"],
      [true, "Error: not today"],
      [true, expect.stringMatching(/^Error: .*\bn\b/)],
      [true, expect.stringMatching(/^Error: /)],
    ]);
    expect(model.requests[1]?.messages.slice(2).map(textOf)).toEqual(
      errors.slice(0, 4).map(([, text]) => text),
    );
  });

  test("B2.16 stores no empty text, no empty answer, and no generated file", async () => {
    const image = part({ type: "file", mediaType: "image/png", data: "AAAA" });
    const { agent } = sequence(
      [
        [say(""), say("one, "), image, call("look")],
        [say(""), say("two "), say("parts")],
      ],
      { tools: [look] },
    );
    const { steps, result } = await pulled(agent);
    expect(steps.at(-1)).toBe("final two parts");
    expect(
      result?.messages
        .filter(({ role }) => role === "assistant")
        .map(({ content }) => content.map(({ type }) => type)),
    ).toEqual([
      ["text", "tool_call"],
      ["text", "text"],
    ]);
    for (const nothing of [say(""), image, empty()]) {
      const { messages } = await sequence([nothing]).agent.run("go");
      expect(messages.map(({ role }) => role)).toEqual(["user"]);
    }
    // What only its own provider understands is no empty text.
    const signed = sequence(
      [[think("hm"), say("", { opaque: { signature: "s" } }), call("look")], say("x")],
      { tools: [look] },
    );
    expect((await signed.agent.run("go")).messages[1]?.content).toHaveLength(3);
  });
});

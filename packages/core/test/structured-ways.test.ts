// Typed output: how a model is held to a schema, what each request carries, and what a limit comes to.

import {
  Agent,
  type AgentOptions,
  isPaired,
  type ModelFacts,
  maxSteps,
  type SchemaLike,
  textOf,
} from "@rondo/core";
import { badArgs, call, calls, fail, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { echo, quick } from "./support.ts";

const output = z.object({ city: z.string() });
const rome = '{"city":"Rome"}';

function asked(facts: ModelFacts | undefined, script: readonly Turn[], more: Partial<AgentOptions> = {}) {
  const model = scripted(script, facts === undefined ? {} : { facts });
  const agent = new Agent({ model, tools: [echo("look")], output, ...more });
  return { model, agent };
}

/** What the last request carried: the schema, the tools by name, the choice, the last words. */
function carried(model: ReturnType<typeof scripted>): unknown[] {
  const { outputSchema, tools, toolChoice, messages } = model.lastRequest;
  const words = messages.at(-1);
  return [
    outputSchema !== undefined,
    tools.map((tool) => tool.name),
    toolChoice,
    words !== undefined && /"city"/.test(textOf(words)),
  ];
}

describe("the way to the output", () => {
  test.each<[string, ModelFacts | undefined, unknown[], Turn]>([
    ["native where nothing else is known", undefined, [true, ["look"], "none", false], say(rome)],
    ["native where the model can", { output: "native" }, [true, ["look"], "none", false], say(rome)],
    [
      "native and alone where it can without tools",
      { output: "native_without_tools" },
      [true, [], "none", false],
      say(rome),
    ],
    [
      "a tool where it cannot but calls tools",
      { output: "none" },
      [false, ["look", "final_output"], { tool: "final_output" }, false],
      call("final_output", { city: "Rome" }),
    ],
    [
      "words where it can neither",
      { output: "none", tools: false },
      [false, ["look"], "none", true],
      say(rome),
    ],
  ])("is %s", async (_title, facts, request, answer) => {
    const { agent, model } = asked(facts, [say("It is Rome."), answer]);
    const { output: value, messages } = await agent.run("where?");
    expect(value).toEqual({ city: "Rome" });
    expect(carried(model)).toEqual(request);
    expect(model.requests[0]).toMatchObject({ toolChoice: "auto", tools: [{ name: "look" }] });
    expect(model.requests[0]?.outputSchema).toBeUndefined();
    expect(isPaired(messages)).toBe(true);
  });

  // https://platform.claude.com/docs/en/build-with-claude/structured-outputs: recursive schemas are not supported
  const leaf = { type: "object", properties: { name: { type: "string" } } };
  const nodeOf = (kid: object) => ({
    type: "object",
    properties: { name: { type: "string" }, kids: { type: "array", items: kid } },
  });
  test.each<[string, boolean, object]>([
    [
      "a tree by a place",
      true,
      { ...nodeOf({ $ref: "#/$defs/n" }), $defs: { n: nodeOf({ $ref: "#/$defs/n" }) } },
    ],
    ["a tree by its root", true, nodeOf({ $ref: "#" })],
    [
      "a tree by a name",
      true,
      { type: "object", properties: { top: { $id: "N", ...nodeOf({ $ref: "N" }) } } },
    ],
    [
      "two that contain each other",
      true,
      {
        ...nodeOf({ $ref: "#/$defs/a" }),
        $defs: { a: nodeOf({ $ref: "#/$defs/b" }), b: nodeOf({ $ref: "#/$defs/a" }) },
      },
    ],
    [
      "one definition used twice",
      false,
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/l" }, b: { $ref: "#/$defs/l" } },
        $defs: { l: leaf },
      },
    ],
    ["a reference that is data", false, { ...leaf, properties: { name: { enum: [{ $ref: "#" }] } } }],
    ["a reference to nothing", false, nodeOf({ $ref: "#/$defs/none" })],
  ])("is a tool for %s: %s, where schemas are closed", async (_title, isTool, schema) => {
    for (const closedOutput of [true, false]) {
      const answer = isTool && closedOutput ? call("final_output", { name: "a" }) : say('{"name":"a"}');
      const { agent, model } = asked({ output: "native", closedOutput }, [say("A."), answer], {
        output: schema as SchemaLike,
      });
      await agent.run("where?");
      expect(carried(model).slice(0, 2)).toEqual(
        isTool && closedOutput ? [false, ["look", "final_output"]] : [true, ["look"]],
      );
    }
  });

  test("may be set explicitly, and follows the model if another one takes over", async () => {
    const told = asked({ output: "native" }, [say("x"), say(rome)], { outputWay: "prompted" });
    expect((await told.agent.run("where?")).output).toEqual({ city: "Rome" });
    expect(carried(told.model)).toEqual([false, ["look"], "none", true]);
    const second = scripted([call("final_output", { city: "Oslo" })], {
      id: "second",
      facts: { output: "none" },
    });
    const first = asked({ output: "native" }, [say("x"), fail("auth")], { fallback: [second], ...quick });
    expect((await first.agent.run("where?")).output).toEqual({ city: "Oslo" });
    expect(second.lastRequest.outputSchema).toBeUndefined();
  });

  test("removes the tools if set so, and asks with a stored message if set so", async () => {
    const { agent, model } = asked(undefined, [say("It is Rome."), say("hm"), say(rome)], {
      outputTools: "none",
      outputRequest: "stored",
    });
    const { messages } = await agent.run("where?");
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 0]);
    expect(messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    // What was asked and answered is what the next request begins with.
    expect(model.requests[2]?.messages.slice(0, 4)).toEqual(
      model.requests[1]?.messages.concat(messages[3] as never),
    );
  });

  test("without tools is used from the first request on", async () => {
    const facts = { output: "none" } as const;
    const byTool = asked(facts, [call("final_output", { city: "Rome" })], { tools: [] });
    expect((await byTool.agent.run("where?")).steps).toBe(1);
    expect(carried(byTool.model)).toEqual([false, ["final_output"], { tool: "final_output" }, false]);
    const inWords = asked({ ...facts, tools: false }, [say(rome)], { tools: [] });
    expect((await inWords.agent.run("where?")).output).toEqual({ city: "Rome" });
    expect(carried(inWords.model)[3]).toBe(true);
  });
});

describe("an output tool that is called twice in one answer", () => {
  const twice = calls([
    ["final_output", { city: "Rome" }],
    ["final_output", { city: "Oslo" }],
  ]);

  test("counts once: the later call is left out (F231)", async () => {
    const { agent } = asked({ output: "none" }, [say("It is Rome."), twice]);
    const stream = agent.stream("where?");
    let told = "";
    for await (const event of stream) if (event.type === "text_delta") told += event.text;
    const { output: value, text, messages } = await stream.result;
    expect(value).toEqual({ city: "Rome" });
    expect(text).toBe('{"city":"Rome"}');
    expect(told).toContain("Rome");
    expect(told).not.toContain("Oslo");
    expect(JSON.stringify(messages)).not.toContain("Oslo");
    expect(isPaired(messages)).toBe(true);
  });

  test("lets the calls of other tools be", async () => {
    const both = calls([
      ["look", {}],
      ["final_output", { city: "Rome" }],
      ["final_output", { city: "Oslo" }],
    ]);
    const { agent } = asked({ output: "none" }, [
      say("It is Rome."),
      both,
      call("final_output", { city: "Rome" }),
    ]);
    const { output: value, messages } = await agent.run("where?");
    expect(value).toEqual({ city: "Rome" });
    expect(JSON.stringify(messages)).not.toContain("Oslo");
    expect(isPaired(messages)).toBe(true);
  });
});

describe("a schema that is refused", () => {
  const refused = fail("invalid_request", { status: 400, repair: "schema" });

  test("is replaced by the tool, for the rest of the run, and its refusal is not an attempt at the output", async () => {
    const { agent, model } = asked(
      undefined,
      [
        say("It is Rome."),
        refused,
        call("final_output", { town: 1 }),
        call("final_output", { city: "Rome" }),
      ],
      quick,
    );
    const events = agent.stream("where?");
    const left: unknown[] = [];
    for await (const event of events)
      if (event.type === "retry" && event.rule === "repairs") left.push(event.evidence);
    const { output: value, end, messages } = await events.result;
    expect(value).toEqual({ city: "Rome" });
    expect(end?.reason).toBe("completed");
    expect(left).toEqual([{ kind: "invalid_request", dropped: "schema" }]);
    expect(model.requests.map(({ outputSchema }) => outputSchema !== undefined)).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(carried(model)).toEqual([false, ["look", "final_output"], { tool: "final_output" }, false]);
    expect(isPaired(messages)).toBe(true);
  });

  test("is replaced by the prompt for a model without tool calls", async () => {
    const { agent, model } = asked({ tools: false }, [refused, say(rome)], { tools: [], ...quick });
    expect((await agent.run("where?")).output).toEqual({ city: "Rome" });
    expect(carried(model)).toEqual([false, [], "auto", true]);
  });

  test.each<[string, Partial<AgentOptions>, readonly Turn[]]>([
    ["was asked for natively in so many words", { outputWay: "native" }, [say("x"), refused]],
    ["was left out already", {}, [say("x"), refused, refused]],
    ["was never sent", {}, [refused]],
  ])("ends the run where it %s", async (_why, options, script) => {
    const { agent, model } = asked(undefined, [...script, say("never")], { ...options, ...quick });
    const { end } = await agent.run("where?");
    expect(end).toMatchObject({ reason: "error", error: { kind: "invalid_request" } });
    expect(model.requests).toHaveLength(script.length);
  });
});

describe("a value nested too deeply for the stack", () => {
  test("does not fit, and the model is told", async () => {
    const deep = `${'{"city":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const { agent, model } = asked(undefined, [say("x"), say(deep), say(rome)], { output: z.any() });
    expect((await agent.run("where?")).output).toEqual({ city: "Rome" });
    expect(JSON.stringify(model.lastRequest.messages.at(-1))).toContain("512 levels");
  });
});

describe("the output tool", () => {
  const facts = { output: "none" } as const;

  test("is an answer, not a call: it is not stored, run or reported as a tool", async () => {
    const { agent } = asked(facts, [say("x"), call("final_output", { city: "Rome" }, { chunk: 3 })]);
    const types = new Set<string>();
    const { messages, text, toolCalls } = await agent.run("where?", {
      onEvent: ({ type }) => types.add(type),
    });
    expect([text, toolCalls]).toEqual([rome, 0]);
    expect(messages.at(-1)).toMatchObject({ role: "assistant", stop: { kind: "end_turn" } });
    expect([types.has("text_delta"), types.has("tool_args_delta"), types.has("tool_start")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("carries a value that is no object, and streams one that is", async () => {
    const list = asked(facts, [call("final_output", { value: ["a", "b"] })], {
      tools: [],
      output: { type: "array", items: { type: "string" } },
    });
    expect((await list.agent.run("which?")).output).toEqual(["a", "b"]);
    const one = asked(facts, [call("final_output", { city: "Rome" }, { chunk: 1 })], { tools: [] });
    const seen: string[] = [];
    for await (const partial of one.agent.stream("where?").partialOutput) seen.push(JSON.stringify(partial));
    expect(seen.at(-1)).toBe(rome);
  });

  test("is the answer, whatever other text there is: a draft next to it is a thought", async () => {
    for (const drafted of ['Like {"city":"Oslo"}, I think.', "Here it is: "])
      for (const turn of [
        [say(drafted), call("final_output", { city: "Rome" })],
        [call("final_output", { city: "Rome" }), say(drafted)],
      ]) {
        const { agent } = asked({ output: "none" }, [say("It is Rome."), turn]);
        const stream = agent.stream("where?");
        const seen: string[] = [];
        for await (const partial of stream.partialOutput) seen.push(JSON.stringify(partial));
        const { output: value, text, messages } = await stream.result;
        expect([value, text]).toEqual([{ city: "Rome" }, rome]);
        expect(seen).toContain(rome);
        const thoughts = messages.at(-1)?.content.filter(({ type }) => type === "reasoning");
        expect(thoughts).toEqual([{ type: "reasoning", text: drafted }]);
      }
  });

  test("with incomplete arguments is requested again", async () => {
    const { agent, model } = asked(
      facts,
      [badArgs("final_output", '{"city":'), call("final_output", { city: "Rome" })],
      {
        tools: [],
      },
    );
    expect((await agent.run("where?")).output).toEqual({ city: "Rome" });
    expect(model.calls).toBe(2);
  });

  test("is not required from a model that answers in text", async () => {
    const { agent } = asked(facts, [say("x"), say(rome)]);
    expect((await agent.run("where?")).output).toEqual({ city: "Rome" });
  });

  test("may be called by another name: the choice left the model no other tool", async () => {
    const { agent, model } = asked({ output: "none" }, [
      say("It is Rome."),
      call("final_result", { city: "Rome" }),
    ]);
    const { output: value, messages } = await agent.run("where?");
    expect([value, model.calls]).toEqual([{ city: "Rome" }, 2]);
    expect(messages.flatMap(({ content }) => content).every(({ type }) => type === "text")).toBe(true);
  });

  test("reserves its name", () => {
    expect(() => asked(undefined, [], { tools: [echo("final_output")] })).toThrow(/final_output is taken/);
  });

  test("may come with other calls, which are run before it is requested again", async () => {
    const { agent } = asked(
      facts,
      [[call("final_output", { city: "x" }), call("gone")], call("final_output", { city: "Rome" })],
      {
        tools: [],
      },
    );
    const { output: value, messages } = await agent.run("where?");
    expect([value, isPaired(messages)]).toEqual([{ city: "Rome" }, true]);
  });
});

describe("a limit", () => {
  const looking = [call("look"), call("look", { again: true })];

  test("lands with a typed answer: the schema is sent with the last request", async () => {
    for (const [facts, answer, request] of [
      [undefined, say(`So far: ${rome}`), [true, ["look"], "none", false]],
      [
        { output: "none" },
        call("final_output", { city: "Rome" }),
        [false, ["look", "final_output"], { tool: "final_output" }, false],
      ],
      [{ output: "none", tools: false }, say(rome), [false, ["look"], "none", true]],
    ] as const) {
      const { agent, model } = asked(facts, [...looking, answer], { rules: [maxSteps(2)] });
      const { end, output: value } = await agent.run("where?");
      expect([end?.reason, end?.landed, value]).toEqual(["max_steps", true, { city: "Rome" }]);
      expect(carried(model)).toEqual(request);
      expect(model.lastRequest.messages.map(textOf).join()).toContain("reached a limit");
    }
  });

  test("whose answer does not fit says so, with the text and the limit", async () => {
    const { agent } = asked(undefined, [...looking, say("Somewhere south.")], { rules: [maxSteps(2)] });
    const { end, text, output: value } = await agent.run("where?");
    expect(end).toMatchObject({
      reason: "output_invalid",
      landed: false,
      evidence: { limit: "max_steps", max: 2 },
      error: { kind: "structured_output" },
    });
    expect([text, value]).toEqual(["Somewhere south.", undefined]);
  });

  test("that is reached while the output is requested still lands", async () => {
    const { agent } = asked(undefined, [say("Rome."), say("hm"), say(rome)], { rules: [maxSteps(2)] });
    const { end, output: value } = await agent.run("where?");
    expect([end?.reason, value]).toEqual(["max_steps", { city: "Rome" }]);
  });

  test("in a run with plain text lands as before", async () => {
    const { agent } = asked(undefined, [...looking, say("So far.")], {
      output: undefined as never,
      rules: [maxSteps(2)],
    });
    expect((await agent.run("where?")).end).toMatchObject({ reason: "max_steps", landed: true });
  });

  test("on the answer's own length leaves no half value", async () => {
    const { agent } = asked(undefined, [[say(rome), stop("max_tokens")]], { tools: [] });
    expect((await agent.run("where?")).end).toMatchObject({
      reason: "truncated",
      error: { kind: "structured_output" },
    });
  });
});

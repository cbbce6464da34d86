// Whoever comes from another library is told what its words are here.

import { say, scripted } from "@rondo/testkit";
import { Output } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type AgentOptions,
  budget,
  type RunOverrides,
  subAgent,
  tool,
  toolWith,
} from "../src/index.ts";
import { wordsOf } from "./refused.ts";

const model = scripted([]);
const weather = {
  name: "weather",
  description: "Weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: () => "rain",
};
const { inputSchema: _schema, execute: _execute, name: _name, ...bare } = weather;

describe("an error names our option in place of another library's", () => {
  test.each<[Record<string, unknown>, string]>([
    [{ instructions: "Be brief." }, "option instructions: there is no such option; here it is system"],
    [{ maxTurns: 5 }, "option maxTurns: there is no such option; here it is maxSteps"],
    [{ max_turns: 5 }, "here it is maxSteps"],
    [{ stopWhen: () => true }, "here it is rules: maxSteps(n), or a function that is a stop rule"],
    [{ temperature: 0 }, "here it is settings.temperature"],
    [{ maxTokens: 5 }, "here it is settings.maxOutputTokens"],
    [
      { settings: { maxTokens: 5 } },
      "option settings.maxTokens: there is no such option; here it is maxOutputTokens",
    ],
    [{ settings: { thinkingLevel: "low" } }, "here it is reasoning"],
    [{ outputType: z.object({}) }, "here it is output"],
    [{ prepareStep: () => ({}) }, "here it is hooks.prepareStep"],
    [{ hooks: { wrapToolCall: () => {} } }, "here it is permission, beforeTool and afterTool"],
    [{ experimental_context: {} }, "here it is dependencies: [dependency(…).as(value)]"],
    [{ checkpointer: {} }, "here it is journal, and agent.open(id)"],
    [{ previousResponseId: "r" }, "here it is journal, and agent.open(id)"],
    [{ convertToLlm: () => [] }, "here it is hooks.transformContext"],
    [{ finishTurn: () => {} }, "here it is rules: maxSteps(n), or a function that is a stop rule"],
    [{ prepareRequest: () => {} }, "here it is hooks.prepareStep"],
    [{ shouldStopAfterTurn: () => true }, "here it is rules: maxSteps(n), or a function that is a stop rule"],
    [{ errorHandlers: {} }, "here it is end of the result, or throwOnError"],
    [{ prepareCall: () => ({}) }, "here it is dependencies of run(), which hooks see as well"],
    [{ userId: "u1" }, "here it is about, which stands in the journal"],
    [{ stopAtToolNames: ["look"] }, "here it is rules: stopAfter(tool), or toolResult(text, { done: text })"],
    [{ toolsets: [] }, "here it is tools, a list: [...toolset]"],
    [{ interruptBefore: ["look"] }, 'here it is permission: "ask" of the tool, or hooks.permission'],
    [
      { hooks: { onStart: () => {} } },
      "here it is the events: onEvent of run(), or subscribe() of a session",
    ],
    [{ hooks: { beforeAgent: () => {} } }, "here it is prepareStep, which may stop the run"],
    [{ clientTools: {} }, 'here it is tools with permission: "ask", or autoExecuteTools: false'],
    [{ handoffs: [] }, "here it is a session that another agent opens, or subAgent(…) among the tools"],
    [{ needsApproval: true }, 'here it is permission: "ask" of the tool, or hooks.permission'],
    [{ capabilities: [] }, "here it is hooks, or rules"],
    [{ onToolExecutionStart: () => {} }, "here it is onEvent of run(), or subscribe() of a session"],
    [{ experimental_steering: {} }, "here it is session.steer(text), and session.followUp(text)"],
    [{ followUpMode: "all" }, 'here it is followUps: "one_by_one" or "together"'],
    [{ steeringMode: "one-at-a-time" }, "steering messages that wait come together"],
    [{ toolConcurrency: 3 }, "here it is maxConcurrentTools"],
    [{ baseURL: "http://localhost" }, "here it is baseURL of the model"],
    [{ stream: true }, "here it is stream() in place of run()"],
    [{ maxBudget: 1 }, "here it is budget: { tokens, usd, … }"],
    [{ promptCaching: true }, "here it is nothing: what a provider can cache is marked for it"],
    [{ context: { compaction: { threshold: 0.8 } } }, "here it is at, a share of the window"],
    [{ context: { compaction: { reserveTokens: 9_000 } } }, "here it is at, a share of the window"],
    [
      { context: { compaction: { customInstructions: "x" } } },
      "here it is summaryDirectives, a list of texts",
    ],
    [{ tools: [{ execute: () => 1 }] }, "is needed, not an object: tool({ name, … }) makes one of it"],
    [{ maxToolCalls: 5 }, "here it is rules: maxCalls(n), or maxCalls({ tool: n })"],
    [{ preModelHook: () => {} }, "here it is hooks.prepareStep, or hooks.transformContext"],
    [{ postModelHook: () => {} }, "here it is a rule that judges answers"],
    [{ beforeModel: () => {} }, "here it is hooks.prepareStep, or hooks.transformContext"],
    [{ isTaskComplete: {} }, "here it is hooks.onFinish, which may give more work"],
    [{ tracingDisabled: true }, "here it is onEvent: traced(otel)"],
    [{ include: {} }, "here it is keepRaw of the model"],
    [{ scorers: {} }, "here it is a judge of yours"],
    [{ settings: { toolChoice: "auto" } }, "here it is toolChoice of the agent"],
    [
      { settings: { store: false } },
      "here it is settings.providerOptions: { openai: { store } }, in the provider's own words",
    ],
    [{ budget: { requests: 5 } }, "option budget.requests: there is no such option; here it is modelCalls"],
    [{ toolChoice: "required" }, 'one of auto, any, none is needed, not "required"; did you mean "any"?'],
    [
      { toolChoice: { type: "tool", toolName: "weather" } },
      'option toolChoice: { tool: "weather" } is needed, not an object with type, toolName',
    ],
    [{ toolChoice: { type: "tool", name: "weather" } }, 'option toolChoice: { tool: "weather" } is needed'],
    [
      { toolChoice: { type: "function", function: { name: "weather" } } },
      'option toolChoice: { tool: "weather" } is needed',
    ],
    [{ toolChoice: { type: "required" } }, 'option toolChoice: "any" is needed, not an object with type'],
    [{ toolChoice: { type: "none" } }, 'option toolChoice: "none" is needed'],
    [
      { toolChoice: { type: "tool" } },
      "option toolChoice: { tool: NAME } is needed, not an object with type",
    ],
    [{ toolChoice: "weather" }, 'not "weather"; did you mean { tool: "weather" } for one tool?'],
    [{ model: () => model }, "a Model, e.g. offline() of @rondo/models, is needed, not a function: call it"],
    [
      { model: "groq/llama-4" },
      'not "groq/llama-4": await modelFromName("groq/llama-4") of @rondo/models gives one',
    ],
    [{ model: Promise.resolve(model) }, "is needed, not a promise: await it"],
    [
      { model: "gpt-5" },
      'is needed, not "gpt-5": openai("gpt-5"), anthropic("gpt-5"), … or await modelFromName(',
    ],
    [
      { model: { doGenerate: () => {} } },
      "is needed, not an object: fromAiSdk(model) of @rondo/models makes one",
    ],
  ])("%j: %s", (given, words) => {
    expect(wordsOf(() => new Agent({ model, ...given } as AgentOptions))).toContain(words);
  });

  test("for a model of another library that is not JSON", () => {
    const of: { of?: unknown; cost: bigint } = { cost: 5n };
    of.of = of;
    expect(wordsOf(() => new Agent({ model: of } as unknown as AgentOptions))).toContain(
      "option model: a Model, e.g. offline() of @rondo/models, is needed, not an object",
    );
  });

  test("for a budget rule", () => {
    expect(wordsOf(() => budget({ totalTokens: 5 } as never))).toContain("here it is tokens");
  });

  test.each<[Record<string, unknown>, string]>([
    [
      { abortSignal: new AbortController().signal },
      "option abortSignal: there is no such option; here it is signal",
    ],
    [{ thread_id: "a" }, "here it is session"],
    [{ runId: "a" }, "here it is session"],
    [{ onStepStart: () => {} }, "here it is onEvent of run()"],
    [{ maxTurns: 5 }, "here it is maxSteps of the agent"],
    [
      { system: "Be brief." },
      "option system: it is an option of the agent, not of one run: new Agent({ system })",
    ],
    [{ stream: true }, "here it is stream() in place of run()"],
    [{ streamMode: "values" }, "here it is the events of stream()"],
    [{ configurable: { thread_id: "a" } }, "here it is session"],
    [{ message_history: [] }, "here it is the first argument"],
    [{ instructions: "Be brief." }, "option instructions: there is no such option; here it is system"],
    [{ temperature: 0 }, "here it is settings.temperature"],
    [{ usage_limits: {} }, "here it is budget, and maxSteps"],
  ])("of a run: %j: %s", async (given, words) => {
    const agent = new Agent({ model: scripted([say("no")]) });
    await expect(agent.run("go", given as RunOverrides)).rejects.toThrow(words);
  });

  test("for a session, which has its own listeners", async () => {
    const session = await new Agent({ model }).open("a");
    await expect(session.send("go", { onEvent: () => {} } as never)).rejects.toThrow(
      "option onEvent: there is no such option; here it is onEvent of run(), or subscribe() of a session",
    );
  });
});

describe("other libraries' options in a user's message", () => {
  const file = { type: "file", mediaType: "application/pdf", data: "aGk=" };

  test.each<[Record<string, unknown>, string]>([
    [{ ...file, filename: "a.pdf" }, "a part has no member filename: here it is name"],
    [{ ...file, detail: "low" }, "a part has no member detail: here it is opaque: { detail }"],
    [
      { type: "text", text: "hi", cacheControl: { type: "ephemeral" } },
      "a part has no member cacheControl: here it is opaque: { cache_control }, and the marks are set by themselves",
    ],
    [{ type: "text", text: "hi", cache_control: {} }, "a part has no member cache_control"],
    [
      { type: "text", text: "hi", providerOptions: { anthropic: {} } },
      "a part has no member providerOptions",
    ],
  ])("is refused, for nobody would hear of it: %j", async (part, words) => {
    const agent = new Agent({ model: scripted([say("no")]) });
    await expect(agent.run([part] as never)).rejects.toThrow(
      `part 0 of the message cannot be used: ${words}`,
    );
    const history = [{ role: "user", content: [part] }];
    await expect(agent.run(history as never)).rejects.toThrow(`message 0 cannot be used: ${words}`);
  });

  test("are accepted without a value, and in a past answer of the model", async () => {
    const agent = new Agent({ model: scripted([say("yes")]) });
    const answer = { role: "assistant", content: [{ type: "text", text: "hi", providerOptions: { a: {} } }] };
    const question = { role: "user", content: [{ ...file, filename: undefined }] };
    expect((await agent.run([question, answer, question] as never)).text).toBe("yes");
  });
});

describe("a tool", () => {
  test.each<[Record<string, unknown>, string]>([
    [
      { ...weather, needsApproval: true },
      'option needsApproval: there is no such option; here it is permission: "ask", or a function of the arguments',
    ],
    [{ ...weather, requireApproval: true }, 'here it is permission: "ask", or a function of the arguments'],
    [{ ...weather, permission: "asks" }, 'one of allow, ask, deny is needed, not "asks"'],
    [{ ...weather, timeout: 5 }, "here it is timeoutMs"],
    [{ ...weather, timoutMs: 5 }, "option timoutMs: there is no such option; did you mean timeoutMs?"],
    [{ ...weather, permision: "ask" }, "did you mean permission?"],
    [{ ...weather, executionMode: "sequential" }, "here it is effect, and keys"],
    [{ ...weather, sequential: true }, "here it is effect, and keys"],
    [
      { ...weather, responseFormat: "content_and_artifact" },
      "here it is toolResult(text, { details }), returned by execute",
    ],
    [{ ...weather, retries: 3 }, "here it is a tool around it: toolWith(tool, { execute })"],
    [{ ...weather, replay: "never" }, "here it is effect, and keys"],
    [{ ...weather, onInputDelta: () => {} }, "here it is the events tool_args_delta and tool_start"],
    [{ ...weather, prepareArguments: () => ({}) }, "here it is coerce, or a transform in inputSchema"],
    [{ ...weather, contextSchema: {} }, "here it is dependency(…), and resolve(key) in execute"],
    [{ ...weather, resumeSchema: {} }, "here it is waitForAnswer(…), and a check in resume"],
    [{ ...weather, inputExamples: [] }, "here it is the description, or examples in inputSchema"],
    [
      { ...weather, execute: async function* () {} },
      "option execute: a generator has no result: use a function that returns the result and reports progress with update()",
    ],
    [
      { ...bare, name: "w", execute: () => "", parameters: {} },
      "option parameters: there is no such option; here it is inputSchema",
    ],
    [{ ...bare, name: "w", inputSchema: {}, callback: () => "" }, "here it is execute"],
    [{ ...bare, id: "w", inputSchema: {}, execute: () => "" }, "here it is name"],
    [
      { ...weather, execute: undefined },
      'a tool that runs elsewhere has permission: "ask", and session.answer() gives the results of its calls',
    ],
  ])("is not made with a word that another loop would obey, or that is misspelt: %j", (given, words) => {
    expect(wordsOf(() => tool(given as never))).toContain(words);
  });

  test("is not changed to have a function for a permission: that has a name of its own", () => {
    expect(wordsOf(() => toolWith(tool(weather), { permission: () => "ask" } as never))).toContain(
      "not a function: toolWith(tool, { permissionOf }) takes one, and hooks.permission of the agent",
    );
  });

  test("cannot be changed into one that yields", () => {
    expect(wordsOf(() => toolWith(tool(weather), { execute: function* () {} }))).toContain(
      "option execute: a generator has no result",
    );
  });

  test("may have members of its host, and other words if our own is there too", () => {
    const own = {
      id: "t1",
      title: "Weather",
      label: "Weather",
      annotations: {},
      outputSchema: {},
      parameters: {},
      needsApproval: undefined,
    };
    expect(wordsOf(() => tool({ ...weather, ...own } as never))).toBe("it was taken");
    expect(
      wordsOf(() =>
        tool({ ...tool(weather), inputSchema: weather.inputSchema, description: "again" } as never),
      ),
    ).toBe("it was taken");
  });

  test.each<[Record<string, unknown>, string]>([
    [
      { city: z.string() },
      "these are the members of a schema, not a schema: an object of its library, e.g. z.object({ city }) is one",
    ],
    [{ city: { type: "string" } }, '{ type: "object", properties: { city } } is one'],
  ])("is not made with the members of a schema in place of one: %j", (inputSchema, words) => {
    expect(wordsOf(() => tool({ ...weather, inputSchema } as never))).toContain(
      `tool "weather": ${words.startsWith("these") ? "" : "these are the members of a schema, not a schema: "}${words}`,
    );
    expect(wordsOf(() => new Agent({ model, output: inputSchema } as AgentOptions))).toContain(words);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ _type: undefined, jsonSchema: { type: "object" } }, "jsonSchema"],
    [{ name: "city", strict: true, schema: z.object({ city: z.string() }) }, "schema"],
    [{ schema: z.object({ city: z.string() }) }, "schema"],
    [{ type: "json_schema", json_schema: { name: "city", schema: { anyOf: [] } } }, "json_schema.schema"],
  ])("is not made with what only holds a schema, nor is an output: %j", (held, where) => {
    const words = `this is no schema, but holds one: give its ${where}`;
    expect(wordsOf(() => tool({ ...weather, inputSchema: held } as never))).toBe(`tool "weather": ${words}`);
    expect(wordsOf(() => new Agent({ model, output: held } as AgentOptions))).toBe(`output: ${words}`);
  });

  test("is not an output that the AI SDK made of a schema", () => {
    const output = Output.object({ schema: z.object({ city: z.string() }) });
    expect(wordsOf(() => new Agent({ model, output } as never))).toBe(
      "option output: a schema (a Standard Schema, or a JSON Schema) is needed: give the one that this Output was made of",
    );
  });

  test.each<[Record<string, unknown>, string]>([
    [{ toolName: "helper" }, "here it is name"],
    [{ toolDescription: "Helps" }, "here it is description"],
    [{ needsApproval: true }, 'here it is permission: "ask", or a function of the arguments'],
    [{ onStream: () => {} }, "here it is the event child"],
    [{ model }, "here it is model of its agent: agent: new Agent({ model })"],
    [{ instructions: "Help." }, "here it is system of its agent: agent: new Agent({ system })"],
  ])("of a sub-agent is not made with another library's words either: %j", (given, words) => {
    expect(wordsOf(() => subAgent({ ...given, agent: new Agent({ model }) } as never))).toContain(words);
  });

  test("cannot be made with a schema that is none, nor can an output", () => {
    const held = { name: "object", parse: () => "" };
    for (const given of [held, [], "a city", 3, null]) {
      expect(wordsOf(() => tool({ ...weather, inputSchema: given } as never))).toContain(
        "option inputSchema: ",
      );
      expect(wordsOf(() => new Agent({ model, output: given } as never))).toContain("option output: ");
    }
  });

  test("cannot be made with a function that makes schemas, nor can an output", () => {
    expect(wordsOf(() => tool({ ...weather, inputSchema: z.object as never }))).toContain(
      "a schema is needed, not a function",
    );
    expect(wordsOf(() => new Agent({ model, output: z.object as never }))).toContain(
      "output: a schema is needed, not a function",
    );
  });

  test.each([
    {},
    { properties: {} },
    { additionalProperties: { type: "string" } },
    { $ref: "#/$defs/a", $defs: { a: { type: "object" } } },
  ])("accepts a JSON Schema without a type: %j", (inputSchema) => {
    expect(wordsOf(() => tool({ ...weather, inputSchema } as never))).toBe("it was taken");
  });
});

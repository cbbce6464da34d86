// The protocol table: how each provider writes definitions, calls, results, stop words and tool choice, over real sockets.

import {
  Agent,
  type AssistantMessage,
  callsOf,
  type Json,
  type JsonObject,
  type Model,
  type RunResult,
  type Tool,
  type ToolChoice,
  textOf,
  tool,
  userText,
} from "@rondo/core";
import { call, say } from "@rondo/testkit";
import { type RondoWire, raw } from "@rondo/testkit/wire";
import { describe, expect, test } from "vitest";
import {
  adaptToolSchema,
  chooseModel,
  google,
  knownProviders,
  modelFromName,
  openaiCompatible,
  promptedJson,
  schemaTroubles,
} from "../src/index.ts";
import { attempt, expectValid, type Row, rows, serve } from "./end-to-end/stack.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies of five protocols are looked into
type Loose = any;

const inputSchema: JsonObject = {
  type: "object",
  properties: { city: { type: "string", minLength: 2 } },
  required: ["city"],
};

const weather = (schema: JsonObject = inputSchema): Tool =>
  tool({
    name: "weather",
    description: "Weather of a city",
    inputSchema: schema,
    effect: "read",
    execute: () => "-5 degrees",
  });

const named = (name: Row["name"]): Row => {
  const row = rows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`no row ${name}`);
  return row;
};

const body = (wire: RondoWire, at = 0): Loose => wire.requests[at]?.body as Loose;

/** A run of two steps, and the bodies of its two requests. */
async function twoSteps(
  name: Row["name"],
  more: { toolChoice?: ToolChoice; schema?: JsonObject } = {},
): Promise<{ first: Loose; second: Loose; result: RunResult }> {
  const wire = await serve([call("weather", { city: "Oslo" }), say("cold")]);
  const { toolChoice, schema } = more;
  const model = named(name).model(wire);
  const agent = new Agent({
    model,
    tools: [weather(schema)],
    ...(toolChoice === undefined ? {} : { toolChoice }),
  });
  const result = await agent.run("go");
  expectValid(wire, result);
  return { first: body(wire), second: body(wire, 1), result };
}

/** What comes of one whole answer, as the provider would send it. */
async function answerTo(name: Row["name"], sent: Json): Promise<AssistantMessage> {
  const wire = await serve([raw(sent)]);
  const answer = await attempt(named(name).model(wire, { stream: false }));
  if ("role" in answer) return answer;
  throw answer;
}

const anthropicAnswer = (content: Json[], stop_reason: string): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5",
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const chatAnswer = (message: JsonObject, finish_reason: string): Json => ({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "gpt-5.2",
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const responsesAnswer = (output: Json[], more: JsonObject = { status: "completed" }): Json => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "gpt-5.2",
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  ...more,
});
const googleAnswer = (parts: Json[], finishReason: string): Json => ({
  candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});

describe("tool definitions", () => {
  test("C2.16 each protocol gets a tool in its own form", async () => {
    const schema = inputSchema;
    const about = { name: "weather", description: "Weather of a city" };
    const anthropic = (await twoSteps("anthropic")).first.tools[0];
    expect(anthropic).toMatchObject({ ...about, input_schema: schema });
    const chat = (await twoSteps("openai-chat")).first.tools[0];
    expect(chat).toEqual({ type: "function", function: { ...about, parameters: schema } });
    const responses = (await twoSteps("openai")).first.tools[0];
    expect(responses).toEqual({ type: "function", ...about, parameters: schema, strict: false });
    const gemini = (await twoSteps("google")).first.tools;
    expect(gemini).toEqual([{ functionDeclarations: [{ ...about, parametersJsonSchema: schema }] }]);
    const bedrock = (await twoSteps("bedrock")).first.toolConfig.tools[0];
    expect(bedrock).toEqual({ toolSpec: { ...about, inputSchema: { json: schema } } });
  });

  test("C2.16 Google's older field is an option, and contains no full JSON Schema", async () => {
    const wire = await serve([say("hi")]);
    const compat = { schemas: "openapi" };
    const model = named("google").model(wire, { compat });
    const schema: JsonObject = { ...inputSchema, additionalProperties: false, $schema: "x" };
    await new Agent({ model, tools: [weather(schema)] }).run("go");
    const [declaration] = body(wire).tools[0].functionDeclarations;
    expect(declaration.parametersJsonSchema).toBeUndefined();
    expect(declaration.parameters).toEqual(inputSchema);
  });
});

describe("calls and results", () => {
  test("C2.17 a call is read from each protocol's answer: its id, its name, its arguments as an object", async () => {
    const args = { city: "Oslo" };
    const given = JSON.stringify(args);
    const answers: [Row["name"], Json, string | undefined][] = [
      [
        "anthropic",
        anthropicAnswer([{ type: "tool_use", id: "tu_1", name: "weather", input: args }], "tool_use"),
        "tu_1",
      ],
      [
        "openai-chat",
        chatAnswer(
          { tool_calls: [{ id: "c_1", type: "function", function: { name: "weather", arguments: given } }] },
          "tool_calls",
        ),
        "c_1",
      ],
      [
        "openai",
        responsesAnswer([
          {
            type: "function_call",
            id: "fc_1",
            call_id: "r_1",
            name: "weather",
            arguments: given,
            status: "completed",
          },
        ]),
        "r_1",
      ],
      ["google", googleAnswer([{ functionCall: { name: "weather", args } }], "STOP"), undefined],
    ];
    for (const [name, sent, id] of answers) {
      const answer = await answerTo(name, sent);
      const [one, ...others] = callsOf(answer);
      expect([name, one?.name, one?.args, others]).toEqual([name, "weather", args, []]);
      if (id !== undefined) expect(one?.id).toBe(id);
      expect([name, answer.stop.kind]).toEqual([name, "tool_use"]);
    }
  });

  test("C2.17 a call is sent back in the same form", async () => {
    const { second: anthropic } = await twoSteps("anthropic");
    expect(anthropic.messages[1].content[0]).toMatchObject({
      type: "tool_use",
      name: "weather",
      input: { city: "Oslo" },
    });
    const { second: chat } = await twoSteps("openai-chat");
    expect(chat.messages[1].tool_calls[0].function).toEqual({
      name: "weather",
      arguments: '{"city":"Oslo"}',
    });
    const { second: responses } = await twoSteps("openai");
    expect(responses.input[1]).toMatchObject({
      type: "function_call",
      name: "weather",
      arguments: '{"city":"Oslo"}',
    });
    const { second: gemini } = await twoSteps("google");
    expect(gemini.contents[1].parts[0].functionCall).toEqual({ name: "weather", args: { city: "Oslo" } });
  });

  test("C2.18 a result is sent in each protocol's form, under the id of its call", async () => {
    const { second: anthropic } = await twoSteps("anthropic");
    const { id } = anthropic.messages[1].content[0];
    expect(anthropic.messages[2].role).toBe("user");
    expect(anthropic.messages[2].content[0]).toMatchObject({
      type: "tool_result",
      tool_use_id: id,
      content: [{ type: "text", text: "-5 degrees" }],
    });
    const { second: chat } = await twoSteps("openai-chat");
    expect(chat.messages[2]).toEqual({
      role: "tool",
      tool_call_id: chat.messages[1].tool_calls[0].id,
      content: "-5 degrees",
    });
    const { second: responses } = await twoSteps("openai");
    expect(responses.input[2]).toEqual({
      type: "function_call_output",
      call_id: responses.input[1].call_id,
      output: "-5 degrees",
    });
  });

  test("C2.18 Google's result names its function and has an object, under either of the accepted keys", async () => {
    const { second } = await twoSteps("google");
    const response = (key: string): JsonObject => ({ name: "weather", response: { [key]: "-5 degrees" } });
    expect(second.contents[2].parts).toEqual([{ functionResponse: response("output") }]);
    const wire = await serve([call("weather", { city: "Oslo" }), say("cold")]);
    const model = google("gemini-3-pro", {
      apiKey: "k",
      baseURL: wire.urlFor("google"),
      compat: { resultKey: "result" },
    });
    await new Agent({ model, tools: [weather()] }).run("go");
    expect(body(wire, 1).contents[2].parts).toEqual([{ functionResponse: response("result") }]);
    expect(wire.violations).toEqual([]);
  });
});

describe("stop words", () => {
  test("C2.19 each protocol's words are read, and kept raw", async () => {
    const text = { type: "text", text: "so" };
    const use = { type: "tool_use", id: "tu_1", name: "weather", input: { city: "Oslo" } };
    const fn = { name: "weather", arguments: "{}" };
    const rowsOf: [Row["name"], Json, string, string][] = [
      ["anthropic", anthropicAnswer([text], "end_turn"), "end_turn", "end_turn"],
      ["anthropic", anthropicAnswer([use], "tool_use"), "tool_use", "tool_use"],
      ["anthropic", anthropicAnswer([text], "max_tokens"), "max_tokens", "max_tokens"],
      ["openai-chat", chatAnswer({ content: "so" }, "stop"), "end_turn", "stop"],
      [
        "openai-chat",
        chatAnswer({ tool_calls: [{ id: "c", type: "function", function: fn }] }, "tool_calls"),
        "tool_use",
        "tool_calls",
      ],
      ["openai-chat", chatAnswer({ content: "so" }, "length"), "max_tokens", "length"],
      ["openai-chat", chatAnswer({ function_call: fn }, "function_call"), "tool_use", "function_call"],
      ["google", googleAnswer([{ text: "so" }], "STOP"), "end_turn", "STOP"],
      ["google", googleAnswer([{ text: "so" }], "MAX_TOKENS"), "max_tokens", "MAX_TOKENS"],
    ];
    for (const [name, sent, kind, word] of rowsOf) {
      const { stop } = await answerTo(name, sent);
      expect([name, stop.wire, stop.kind, stop.raw]).toEqual([name, kind, kind, word]);
    }
  });

  test("C2.19 Google has no word for tools: a STOP with a call says end, and the content says tool use", async () => {
    const { stop } = await answerTo(
      "google",
      googleAnswer([{ functionCall: { name: "weather", args: {} } }], "STOP"),
    );
    expect(stop).toMatchObject({ wire: "end_turn", kind: "tool_use", raw: "STOP" });
  });
});

describe("tool choice", () => {
  test("C2.20 auto is the default; any, none and one by name are written in each protocol's form", async () => {
    const choices: [Row["name"], (first: Loose) => unknown, Record<string, unknown>][] = [
      [
        "anthropic",
        ({ tool_choice }) => tool_choice,
        {
          auto: undefined,
          any: { type: "any" },
          none: { type: "none" },
          named: { type: "tool", name: "weather" },
        },
      ],
      [
        "openai-chat",
        ({ tool_choice }) => tool_choice,
        {
          auto: undefined,
          any: "required",
          none: "none",
          named: { type: "function", function: { name: "weather" } },
        },
      ],
      [
        "openai",
        ({ tool_choice }) => tool_choice,
        { auto: undefined, any: "required", none: "none", named: { type: "function", name: "weather" } },
      ],
      [
        "google",
        ({ toolConfig }) => toolConfig?.functionCallingConfig,
        {
          auto: undefined,
          any: { mode: "ANY" },
          none: { mode: "NONE" },
          named: { mode: "ANY", allowedFunctionNames: ["weather"] },
        },
      ],
      [
        "bedrock",
        ({ toolConfig }) => toolConfig?.toolChoice,
        { auto: undefined, any: { any: {} }, none: undefined, named: { tool: { name: "weather" } } },
      ],
    ];
    for (const [name, choiceIn, wanted] of choices)
      for (const [word, choice] of Object.entries({
        auto: "auto",
        any: "any",
        none: "none",
        named: { tool: "weather" },
      })) {
        const wire = await serve([say("hi")]);
        await new Agent({
          model: named(name).model(wire),
          tools: [weather()],
          ...(word === "auto" ? {} : { toolChoice: choice as ToolChoice }),
        }).run("go");
        expect([name, word, choiceIn(body(wire))]).toEqual([name, word, wanted[word]]);
        // Where there is no word to forbid tools, they are not offered.
        if (name === "bedrock" && word === "none") expect(body(wire).toolConfig).toBeUndefined();
        expect(wire.violations).toEqual([]);
      }
  });
});

describe("schemas", () => {
  const rich: JsonObject = {
    type: "object",
    properties: {
      kind: { anyOf: [{ const: "a" }, { const: "b" }] },
      when: {
        oneOf: [
          { type: "string", format: "date" },
          { type: "integer", minimum: 0 },
        ],
      },
      both: { allOf: [{ type: "string" }, { minLength: 2 }] },
      where: { $ref: "#/$defs/place" },
      free: { type: "object", patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
    },
    required: ["kind"],
    additionalProperties: false,
    $defs: { place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  };

  test("C2.21 Anthropic gets a full schema unchanged; OpenAI too, with strict mode only if the schema allows it", async () => {
    const sent = async (name: Row["name"], schema: JsonObject): Promise<Loose> => {
      const wire = await serve([say("hi")]);
      await new Agent({ model: named(name).model(wire), tools: [weather(schema)] }).run("go");
      expect(wire.violations).toEqual([]);
      return body(wire).tools[0];
    };
    expect((await sent("anthropic", rich)).input_schema).toEqual(rich);
    const chat = (await sent("openai-chat", rich)).function;
    expect([chat.parameters, chat.strict]).toEqual([rich, undefined]);
    const closed = { ...inputSchema, properties: { city: { type: "string" } }, additionalProperties: false };
    expect((await sent("openai-chat", closed)).function.strict).toBe(true);
  });

  test("C2.21 OpenAI's arguments are a string: it is parsed, and what is no JSON object never runs", async () => {
    const sent = (given: string): Json =>
      chatAnswer(
        { tool_calls: [{ id: "c", type: "function", function: { name: "weather", arguments: given } }] },
        "tool_calls",
      );
    const [good] = callsOf(await answerTo("openai-chat", sent('{"city":"Oslo"}')));
    expect([good?.args, good?.argsError]).toEqual([{ city: "Oslo" }, undefined]);
    const [bad] = callsOf(await answerTo("openai-chat", sent('{"city":')));
    expect([bad?.args, bad?.rawArgs]).toEqual([{}, '{"city":']);
    expect(bad?.argsError).toBeTruthy();
  });

  test("C2.21 for Google's subset unsupported keywords are rewritten or removed, with a warning", () => {
    const { schema, removed } = adaptToolSchema(rich, "google-openapi");
    const text = JSON.stringify(schema);
    for (const word of [
      "oneOf",
      "allOf",
      "const",
      "patternProperties",
      "additionalProperties",
      "$ref",
      "$defs",
    ])
      expect([word, text.includes(`"${word}"`)]).toEqual([word, false]);
    expect(schema.properties).toMatchObject({
      // Alternatives of single values need no alternatives.
      kind: { type: "string", enum: ["a", "b"] },
      both: { type: "string", minLength: 2 },
      where: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    });
    expect(removed.map(({ type }) => type)).toContain("patternProperties");
  });

  test("C2.22 an object with properties and required is sent unchanged everywhere; what cannot be sent is reported beforehand", () => {
    const safe: JsonObject = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    for (const mode of [
      "tool",
      "anthropic",
      "google-openapi",
      "google-structured",
      "google-strict",
      "xai",
    ] as const) {
      const { schema, removed } = adaptToolSchema(safe, mode);
      expect([mode, removed]).toEqual([mode, []]);
      if (mode !== "anthropic") expect([mode, schema]).toEqual([mode, safe]);
    }
    expect(schemaTroubles(safe).filter(({ type }) => type !== "narrowed")).toEqual([]);
    const modesOf = (schema: JsonObject, type: string): string[] =>
      schemaTroubles(schema).flatMap((one) => (one.type === type ? one.modes : []));
    expect(modesOf({ ...safe, additionalProperties: false }, "additionalProperties")).toContain(
      "google-openapi",
    );
    const told = schemaTroubles(rich).map(({ type, fieldPath }) => `${fieldPath} ${type}`);
    expect(told.join("\n")).toMatch(/patternProperties/);
    // References and constants are rewritten where they are unknown, so that nothing is lost of them.
    const reference: JsonObject = { ...safe, properties: { at: { $ref: "#/$defs/p" } }, $defs: { p: safe } };
    expect(JSON.stringify(adaptToolSchema(reference, "google-openapi").schema)).not.toContain("$ref");
    expect(
      adaptToolSchema(
        { ...safe, properties: { k: { anyOf: [{ const: 1 }, { const: 2 }] } } },
        "google-strict",
      ).schema,
    ).toMatchObject({ properties: { k: { enum: [1, 2] } } });
  });
});

describe("servers and providers", () => {
  /** The body that goes to a server, known by its name or by its address. */
  async function sentTo(
    provider: string | undefined,
    baseURL: string | undefined,
    settings: JsonObject = {},
  ): Promise<Loose> {
    const bodies: Loose[] = [];
    const model = openaiCompatible({
      model: "m",
      apiKey: "k",
      ...(provider === undefined ? {} : { provider }),
      ...(baseURL === undefined ? {} : { baseURL }),
      fetch: async (url, init) => {
        bodies.push({
          url: String(url),
          ...(JSON.parse(String((init as { body: unknown }).body)) as object),
        });
        return new Response(JSON.stringify(chatAnswer({ content: "hi" }, "stop")), {
          headers: { "content-type": "application/json" },
        });
      },
    });
    const strict = { ...inputSchema, properties: { city: { type: "string" } }, additionalProperties: false };
    await model.call(
      {
        messages: [userText("hi")],
        tools: [{ name: "weather", description: "", inputSchema: strict }],
        toolChoice: "auto",
        settings: { maxOutputTokens: 100, ...settings },
      },
      { signal: new AbortController().signal, emit: () => {} },
    );
    return bodies[0];
  }

  test("C2.23 Z.ai is recognised by its name or its address, and has its own dialect", async () => {
    const ways: [string | undefined, string | undefined][] = [
      ["zai", undefined],
      ["zai", "http://localhost:1/v4"],
      [undefined, "https://api.z.ai/api/paas/v4"],
      ["openai", "https://api.z.ai/api/coding/paas/v4"],
    ];
    for (const [provider, baseURL] of ways) {
      const sent = await sentTo(provider, baseURL, { reasoning: "off" });
      expect([sent.thinking, sent.max_tokens, sent.max_completion_tokens]).toEqual([
        { type: "disabled" },
        100,
        undefined,
      ]);
      expect(JSON.stringify(sent.tools)).not.toContain("strict");
    }
  });

  test("C2.23 non-standard servers, by name or address, do not get OpenAI's own features: strict tools, some stream options", async () => {
    const ways: [string | undefined, string | undefined][] = [
      ["cerebras", undefined],
      ["xai", undefined],
      ["mistral", undefined],
      [undefined, "https://api.deepseek.com/v1"],
      ["openai", "https://api.deepseek.com/beta"],
      ["zai", undefined],
    ];
    for (const [provider, baseURL] of ways) {
      const sent = await sentTo(provider, baseURL);
      expect([provider, JSON.stringify(sent.tools).includes("strict")]).toEqual([provider, false]);
      expect([provider, sent.store]).toEqual([provider, undefined]);
    }
    expect((await sentTo("mistral", undefined)).stream_options).toBeUndefined();
    const standard = await sentTo("openai", "https://api.openai.com/v1");
    expect([standard.tools[0].function.strict, standard.stream_options]).toEqual([
      true,
      { include_usage: true },
    ]);
    // Only the host counts: a name in a path, or a host that ends alike, is nobody's.
    for (const fooled of ["https://notdeepseek.com/v1", "http://localhost:1/api.z.ai"])
      expect((await sentTo(undefined, fooled, { reasoning: "off" })).thinking).toBeUndefined();
  });

  test("C2.24 every provider of the table exists under its name, each with its protocol", async () => {
    const table: [string, string][] = [
      ["anthropic/claude-sonnet-5", "anthropic-messages"],
      ["openai/gpt-5.2", "openai-responses"],
      ["google/gemini-3-pro", "google-generative-ai"],
      ["mistral/mistral-large-latest", "openai-chat"],
      ["xai/grok-4", "openai-chat"],
      ["deepseek/deepseek-chat", "openai-chat"],
      ["cerebras/gpt-oss-120b", "openai-chat"],
      ["bedrock/anthropic.claude-sonnet-5-v1:0", "bedrock-converse"],
      // Llama and its like, behind whatever serves them.
      ["groq/llama-3.1-8b-instant", "openai-chat"],
      ["together/meta-llama/Llama-3.3-70B-Instruct-Turbo", "openai-chat"],
      ["vllm/meta-llama/Llama-3.1-8B-Instruct", "openai-chat"],
      ["ollama/llama3.1", "ollama-chat"],
    ];
    for (const [name, api] of table) {
      const model = await modelFromName(name, {});
      expect([name, model.origin.api]).toEqual([name, api]);
    }
    expect(knownProviders()).toContain("azure");
    const azured = await modelFromName("azure/my-deployment", {}, { baseURL: "https://x.openai.azure.com" });
    expect(azured.origin).toMatchObject({ provider: "azure", model: "my-deployment" });
    expect((await chooseModel({ RONDO_MODEL: "anthropic/claude-sonnet-5" })).model.origin.api).toBe(
      "anthropic-messages",
    );
  });

  test("C2.24 a model without native tools (an old, a small or a text-only one) uses them through text", async () => {
    const wire = await serve([
      say('{"tool_calls":[{"name":"weather","arguments":{"city":"Oslo"}}]}'),
      say("It is cold."),
    ]);
    const plain: Model = named("openai-chat").model(wire, { id: "gpt-3.5-turbo-instruct" });
    const result = await new Agent({ model: promptedJson(plain), tools: [weather()] }).run("go");
    expect([result.toolCalls, result.text]).toEqual([1, "It is cold."]);
    expect(body(wire).tools).toBeUndefined();
    expect(JSON.stringify(body(wire, 1).messages)).toContain("-5 degrees");
    expect(result.messages.map(textOf)).toContain("-5 degrees");
  });
});

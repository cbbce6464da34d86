// A tool's schema that a server does not take: it is sent with fewer words, and the run goes on (F136, F137, F138, F141).

import { Agent, type Json, type JsonObject, tool } from "@rondo/core";
import { say } from "@rondo/testkit";
import { type RondoWire, raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";
import { ollamaChat } from "../../src/codecs/ollama-chat.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { type Codec, openai, openaiCompatible } from "../../src/index.ts";
import { adaptToolSchema } from "../../src/schemas/adapt.ts";
import { serve } from "../end-to-end/stack.ts";

const told = (codec: Codec, body: Json, compat: JsonObject = {}): unknown =>
  codec.learned?.(
    { status: 400, header: () => null, body: typeof body === "string" ? body : JSON.stringify(body) },
    { origin: { api: codec.api, provider: "p", model: "m" }, facts: {}, compat },
  )?.plainSchemas;

describe("a refusal of a tool's schema shows that it has to be plainer", () => {
  it.each([
    [openaiChat, { error: { message: "Upstream request failed: unsupported_keyword: minimum" } }],
    [openaiChat, { error: "tools.0.function.parameters.properties.t.type: expected string, received array" }],
    [
      openaiChat,
      {
        object: "error",
        message: {
          detail: [
            {
              type: "value_error",
              loc: ["body", "tools", 0, "function", "parameters"],
              msg: "Value error, Invalid JSON schema: unsupported keyword 'uniqueItems'",
            },
          ],
        },
      },
    ],
    [openaiChat, { error: { message: "The tool schema is invalid: 'type' must be a string" } }],
    ...[
      "properties[output].any_of[1].items: missing field.",
      "properties[command].items: field predicate failed: $type == Type.ARRAY",
      "properties[action].enum[3]: cannot be empty",
    ].map((fault): [Codec, Json] => [
      openaiChat,
      {
        error: {
          message: `* GenerateContentRequest.tools[0].function_declarations[12].parameters.${fault}\n`,
          status: "INVALID_ARGUMENT",
        },
      },
    ]),
    [openaiChat, { error: { message: "Error resolving schema reference '#/definitions/_gen:tags': …" } }],
    [
      openaiChat,
      { error: { code: "1210", message: "API 调用参数有误，请检查文档: tools[0].function.parameters" } },
    ],
    [
      openaiChat,
      { error: "Invalid request content: Invalid function parameters schema: unsupported keyword $ref" },
    ],
    [openaiResponses, { error: { message: "tools.0.parameters: Input should be a valid dictionary" } }],
    [
      bedrockConverse,
      {
        message:
          "The json schema definition at toolConfig.tools.0.toolSpec.inputSchema is invalid. Fix the following errors and try again: $.properties.t.type: array found, string expected",
      },
    ],
    [
      ollamaChat,
      {
        error:
          "json: cannot unmarshal array into Go struct field .tools.function.parameters.properties.type of type string",
      },
    ],
  ])("whatever the protocol and the words (%#)", (codec, body) => {
    expect(told(codec, body)).toBe(true);
    expect(told(codec, body, { plainSchemas: true })).toBeUndefined();
  });

  it("with a type in every place, if one without a type was refused", () => {
    for (const message of [
      "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.any': type is not defined>",
      "Invalid schema for function 'f': In context=('properties', 'u'), schema must have a 'type' key.",
    ]) {
      const body = { error: { message } };
      expect(told(openaiChat, body)).toBe("typed");
      expect(told(openaiChat, body, { plainSchemas: true })).toBe("typed");
      expect(told(openaiChat, body, { plainSchemas: "typed" })).toBeUndefined();
    }
  });

  it.each([
    "Error: Unknown (built-in) filter 'upper' for type Array (hint: 'upper')",
    'Error rendering prompt with jinja template: "Cannot apply filter \\"upper\\" to type: ArrayValue".',
    'Error rendering prompt with jinja template: "Cannot apply filter \\"upper\\" to type: UndefinedValue".',
    "'list object' has no attribute 'upper'",
    "Invalid function format: unhashable type: 'list'",
  ])("with one type in every place, if a template wants to write types in capitals: %s", (message) => {
    expect(told(openaiChat, { error: { message } })).toBe("typed");
    expect(told(openaiChat, { error: { message } }, { plainSchemas: "typed" })).toBeUndefined();
  });

  it("if branches are merged into one", () => {
    const message = "Conflict in schema definitions for key 'if'. Previous: {'required': ['expand']}";
    expect(told(openaiChat, { error: { message } })).toBe(true);
  });

  it("but not for another complaint about tools", () => {
    for (const message of [
      "Invalid 'tools[0].function.name': string does not match pattern",
      "Invalid 'tools': array too long. Expected an array with maximum length 128",
      "tools.0.cache_control: Extra inputs are not permitted",
      "Unknown parameter: 'tools[0].function.strict'.",
    ])
      for (const codec of [openaiChat, openaiResponses, bedrockConverse, ollamaChat])
        expect(told(codec, { error: { message } })).toBeUndefined();
  });

  it("and Google's older form, if a reference stood beside other words", () => {
    const message =
      "[ORIGINAL ERROR] generic::invalid_argument: Schema.ref 'R' was set alongside unsupported fields.";
    const response = {
      status: 400,
      header: () => null,
      body: JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
    };
    const origin = { api: googleGenerativeAi.api, provider: "google", model: "gemini-3-pro-preview" };
    expect(googleGenerativeAi.learned?.(response, { origin, facts: {} })).toEqual({ schemas: "openapi" });
  });
});

const rich = {
  type: "object",
  properties: {
    count: { type: "integer", minimum: 1 },
    kind: { enum: ["a", "b"] },
    level: { type: "integer", enum: [1, 2] },
    note: { type: ["string", "null"], description: "Why" },
    either: { type: ["string", "integer"] },
    any: { description: "Whatever" },
    row: { $ref: "#/$defs/Row" },
  },
  required: ["count"],
  additionalProperties: false,
  $defs: { Row: { type: "object", properties: {} } },
} as const;

describe("a plain schema", () => {
  const properties = {
    count: { type: "integer" },
    kind: { type: "string", enum: ["a", "b"] },
    level: { type: "integer", description: "One of: 1, 2" },
    note: { type: "string", description: "Why" },
    either: { anyOf: [{ type: "string" }, { type: "integer" }] },
    any: { description: "Whatever" },
    row: { type: "object", properties: {} },
  };

  it("has one type in each place at most, texts only in enums, and neither rules nor references", () => {
    const { schema } = adaptToolSchema(rich as never, "plain");
    expect(schema).toEqual({ type: "object", properties, required: ["count"] });
  });

  it("has exactly one where that is required", () => {
    const { schema, narrowed } = adaptToolSchema(rich as never, "plain-typed");
    expect(schema.properties).toEqual({ ...properties, any: { type: "string", description: "Whatever" } });
    expect(narrowed).toContain("any");
  });
});

describe("a model that learned it", () => {
  const counting = tool({
    name: "count",
    description: "Counts",
    inputSchema: rich as never,
    execute: () => "ok",
  });
  const typesIn = (wire: RondoWire): unknown[] =>
    wire.requests.map(({ body }) => {
      const [first] = (body as { tools: { function?: JsonObject; parameters?: JsonObject }[] }).tools;
      return (first?.function?.parameters ?? first?.parameters) as JsonObject;
    });
  const refused = raw(
    JSON.stringify({
      error: {
        message:
          "json: cannot unmarshal array into Go struct field .tools.function.parameters.properties.type of type string",
      },
    }),
    { status: 400 },
  );

  it.each([
    [
      "Chat Completions",
      (wire: RondoWire) => openaiCompatible({ apiKey: "k", baseURL: wire.url, model: "m" }),
    ],
    ["Responses", (wire: RondoWire) => openai("gpt-5", { apiKey: "k", baseURL: wire.url })],
  ])("sends it plain from then on: %s", async (_name, model) => {
    const wire = await serve([refused, say("one"), say("two")]);
    const agent = new Agent({ model: model(wire), tools: [counting] });
    expect((await agent.run("go")).text).toBe("one");
    expect((await agent.run("go")).text).toBe("two");
    const [asGiven, plain, later] = typesIn(wire).map((one) => JSON.stringify(one));
    expect(asGiven).toContain('"minimum":1');
    expect(plain).not.toMatch(/"type":\[|minimum|\$ref/);
    expect(later).toBe(plain);
  });

  it("sends it whole again, if the plain one is refused in the same words", async () => {
    const wire = await serve([refused, refused, say("two")]);
    const agent = new Agent({
      model: openaiCompatible({ apiKey: "k", baseURL: wire.url, model: "m" }),
      tools: [counting],
    });
    expect((await agent.run("go")).end).toMatchObject({ reason: "error" });
    expect((await agent.run("go")).text).toBe("two");
    const [asGiven, plain, later] = typesIn(wire).map((one) => JSON.stringify(one));
    expect(plain).not.toBe(asGiven);
    expect(later).toBe(asGiven);
  });
});

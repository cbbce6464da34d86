import {
  Agent,
  type Json,
  type JsonObject,
  type ModelRequest,
  type ToolDefinition,
  tool,
  userText,
} from "@rondo/core";
import { describe, expect, it } from "vitest";
import { checkAnthropicRequest } from "../../../testkit/src/wire/rules/anthropic.ts";
import { checkGoogleRequest } from "../../../testkit/src/wire/rules/google.ts";
import { checkOpenaiChatRequest } from "../../../testkit/src/wire/rules/openai-chat.ts";
import { checkOpenaiResponsesRequest } from "../../../testkit/src/wire/rules/openai-responses.ts";
import type { Codec } from "../../src/codec.ts";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { createModel } from "../../src/index.ts";

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2 },
    limit: { type: "integer", minimum: 1 },
  },
  required: ["name"],
};
const find: ToolDefinition = { name: "find", description: "Finds.", inputSchema };

interface Asked {
  provider?: string;
  model?: string;
  compat?: { [quirk: string]: Json };
  outputSchema?: JsonObject;
  settings?: ModelRequest["settings"];
  tools?: ToolDefinition[];
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols are looked into
type Loose = any;

function encoded(codec: Codec, asked: Asked = {}) {
  const { provider = "p", model = "m", compat, outputSchema, settings = {}, tools = [find] } = asked;
  const encoder = codec.encoder({
    origin: { api: codec.api, provider, model },
    facts: { output: "native" },
    ...(compat === undefined ? {} : { compat }),
  });
  const request: ModelRequest = {
    messages: [userText("go")],
    tools,
    toolChoice: "auto",
    settings,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
  const first = encoder.encode(request);
  const again = encoder.encode(request);
  expect(again.body).toBe(first.body);
  return {
    text: first.body,
    body: JSON.parse(first.body) as Loose,
    warnings: first.warnings,
    later: again.warnings,
  };
}

const codes = (warnings: { code: string }[]): string[] => warnings.map((one) => one.code);

describe("a tool whose schema loses rules", () => {
  it("causes a warning with tool, place and rule, once", () => {
    const { body, warnings, later, text } = encoded(openaiChat, { provider: "xai" });
    expect(body.tools[0].function.parameters.properties.name).toEqual({ type: "string" });
    expect(warnings).toEqual([
      { code: "schema_rules_removed", message: expect.stringMatching(/tool find .*xai.*name: minLength/) },
    ]);
    expect(codes(later)).toEqual([]);
    expect(checkOpenaiChatRequest(text)).toEqual([]);
  });

  it("has the lost rules in its description, if set so", () => {
    const compat = { describeLostRules: true };
    const chat = encoded(openaiChat, { provider: "xai", compat }).body.tools[0].function.description;
    expect(chat).toBe("Finds.\nThe 'name' field must be at least 2 character(s) long.");
    const google = encoded(googleGenerativeAi, { compat: { ...compat, schemas: "strict" } }).body;
    expect(google.tools[0].functionDeclarations[0].description).toBe(
      "Finds.\nThe 'name' field must be at least 2 character(s) long.\nThe 'limit' field must be at least 1.",
    );
  });

  it("that loses nothing is sent unchanged, without a warning", () => {
    for (const codec of [anthropicMessages, openaiChat, openaiResponses, googleGenerativeAi]) {
      const { warnings, text } = encoded(codec, { compat: { describeLostRules: true } });
      expect(warnings).toEqual([]);
      expect(text).toContain(JSON.stringify(inputSchema));
      expect(text).toContain('"Finds."');
    }
  });
});

describe("Google's forms of schemas", () => {
  it.each([
    ["openapi", "parameters", { minLength: 2 }, { minimum: 1 }],
    ["structured", "parameters", {}, { minimum: 1 }],
    ["strict", "parametersJsonSchema", {}, {}],
  ] as const)("%s: in %s, with what that form supports", (schemas, field, name, limit) => {
    const { body, text } = encoded(googleGenerativeAi, {
      model: "gemini-3-pro",
      compat: { schemas },
      outputSchema: inputSchema,
    });
    expect(body.tools[0].functionDeclarations[0][field].properties).toEqual({
      name: { type: "string", ...name },
      limit: { type: "integer", ...limit },
    });
    expect(body.generationConfig.responseSchema.properties.limit).toEqual({ type: "integer", minimum: 1 });
    expect(checkGoogleRequest(text)).toEqual([]);
  });
});

describe("strict mode", () => {
  it("is requested if the schema allows it as it is, and for others only if they may be adapted (F140)", () => {
    const as = (compat: { [quirk: string]: Json }) =>
      encoded(openaiResponses, { compat, outputSchema: inputSchema });
    const plain = as({});
    expect(plain.body.tools[0]).toMatchObject({ strict: false, parameters: inputSchema });
    expect(plain.body.text.format).toMatchObject({ strict: false, schema: inputSchema });
    const bent = as({ adaptStrict: true });
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, limit: { type: ["integer", "null"] } },
      required: ["limit", "name"],
      additionalProperties: false,
    };
    expect(bent.body.tools[0]).toMatchObject({ strict: true, parameters: schema });
    expect(bent.body.text.format).toMatchObject({ strict: true, schema });
    expect(codes(bent.warnings)).toEqual(["schema_rules_removed", "schema_rules_removed"]);
    expect(checkOpenaiResponsesRequest(bent.text)).toEqual([]);
    const chat = encoded(openaiChat, {
      compat: { strictTools: true, adaptStrict: true },
      outputSchema: inputSchema,
    });
    expect(chat.body.tools[0].function).toMatchObject({ strict: true, parameters: schema });
    expect(checkOpenaiChatRequest(chat.text)).toEqual([]);
  });

  it("is never requested if it would forbid what the tool accepts", () => {
    const free = {
      type: "object",
      properties: { map: { type: "object", additionalProperties: { type: "string" } } },
    };
    const { body } = encoded(openaiResponses, {
      compat: { adaptStrict: true },
      tools: [{ name: "free", description: "", inputSchema: free }],
    });
    expect(body.tools[0]).toMatchObject({ strict: false, parameters: free });
  });

  it("of Anthropic's gets a schema that it accepts, and so does structured output", () => {
    const { body, text, warnings } = encoded(anthropicMessages, {
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      outputSchema: inputSchema,
      settings: { providerOptions: { anthropic: { toolOptions: { find: { strict: true } } } } },
    });
    expect(body.tools[0]).toMatchObject({ strict: true, input_schema: { additionalProperties: false } });
    expect(body.output_config.format.schema).toMatchObject({ additionalProperties: false });
    expect(codes(warnings)).toEqual(["schema_rules_removed", "schema_rules_removed"]);
    expect(checkAnthropicRequest(JSON.parse(text))).toEqual([]);
  });

  it("makes the model write null for absent members, and the tool never gets it (F098)", async () => {
    const seen: unknown[] = [];
    let asked = 0;
    const answer = (message: JsonObject, finish_reason: string): Json => ({
      choices: [{ index: 0, message, finish_reason }],
    });
    const model = createModel({
      codec: openaiChat,
      provider: "openai",
      model: "m",
      baseURL: "http://127.0.0.1:9",
      compat: { strictTools: true, adaptStrict: true },
      send: async () => {
        asked++;
        const call = { name: "find", arguments: '{"limit":null,"name":"ab"}' };
        const whole =
          asked === 1
            ? answer(
                { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: call }] },
                "tool_calls",
              )
            : answer({ role: "assistant", content: "done" }, "stop");
        return { whole };
      },
    });
    const execute = (args: JsonObject): string => {
      seen.push(args);
      return "found";
    };
    const agent = new Agent({
      model,
      tools: [tool({ name: "find", description: "Finds.", inputSchema, execute })],
    });
    const { text } = await agent.run("go");
    expect(text).toBe("done");
    expect(seen).toEqual([{ name: "ab" }]);
  });
});

describe("a tool with member names that Anthropic refuses", () => {
  const odata: ToolDefinition = {
    name: "odata",
    description: "Asks.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string" }, $top: { type: "integer" }, "filter[id]": { type: "string" } },
      required: ["path", "$top"],
      additionalProperties: false,
    },
  };

  it("is declared without them and names them in its description, with a warning", () => {
    const { body, warnings, text } = encoded(anthropicMessages, { provider: "anthropic", tools: [odata] });
    expect(body.tools[0].input_schema).toEqual({
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
    });
    expect(body.tools[0].description).toBe(
      'Asks.\nIts arguments also take these members, each with its JSON Schema:\n"$top" (required): {"type":"integer"}\n"filter[id]": {"type":"string"}',
    );
    expect(codes(warnings)).toEqual(["schema_members_undeclared"]);
    expect(warnings[0]?.message).toContain('"$top", "filter[id]"');
    expect(checkAnthropicRequest(body)).toEqual([]);
    expect(
      checkAnthropicRequest(JSON.parse(text.replace('"path":{', '"pa th":{'))).map(({ message }) => message),
    ).toEqual([expect.stringContaining("Property keys should match pattern")]);
  });

  it("keeps them if they are accepted", () => {
    const { body, text } = encoded(openaiChat, { tools: [odata] });
    expect(body.tools[0].function.parameters).toEqual(odata.inputSchema);
    expect(checkOpenaiChatRequest(text)).toEqual([]);
  });
});

import type {
  AssistantMessage,
  FilePart,
  Json,
  JsonObject,
  Message,
  ModelRequest,
  Part,
  Settings,
  ToolDefinition,
  ToolMessage,
} from "@rondo/core";
import { userText } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { checkGoogleRequest } from "../../../testkit/src/wire/rules/google.ts";
import type { Target, WireRequest } from "../../src/codec.ts";
import { type GoogleCompat, googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";

const gemini3 = "gemini-3-pro-preview";
const gemini25 = "gemini-2.5-flash";

function target(model: string = gemini3, compat: GoogleCompat = {}, more: Partial<Target> = {}): Target {
  return {
    origin: { api: "google-generative-ai", provider: "google", model },
    facts: {},
    compat: compat as { [quirk: string]: Json },
    ...more,
  };
}

const tool = (
  name: string,
  inputSchema: JsonObject = { type: "object", properties: {} },
): ToolDefinition => ({
  name,
  description: `does ${name}`,
  inputSchema,
});

function asks(messages: Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { messages, tools: [], toolChoice: "auto", settings: {}, ...more };
}

// biome-ignore lint/suspicious/noExplicitAny: a parsed request body is looked into freely
type Body = any;

function sent(
  request: ModelRequest,
  to: Target = target(),
): { wire: WireRequest; body: Body; codes: string[] } {
  const wire = googleGenerativeAi.encoder(to).encode(request);
  return { wire, body: JSON.parse(wire.body), codes: wire.warnings.map((warning) => warning.code) };
}

function answer(content: Part[], origin = target().origin): AssistantMessage {
  return { role: "assistant", content, origin, stop: { kind: "end_turn", wire: "end_turn" } };
}

const call = (id: string, name: string, args: JsonObject = {}, opaque?: JsonObject): Part => ({
  type: "tool_call",
  id,
  name,
  args,
  rawArgs: JSON.stringify(args),
  ...(opaque === undefined ? {} : { opaque }),
});
const result = (callId: string, name: string, text: string, isError = false): ToolMessage => ({
  role: "tool",
  callId,
  name,
  content: text === "" ? [] : [{ type: "text", text }],
  isError,
});
const settings = (
  given: Settings,
  model?: string,
  compat?: GoogleCompat,
): { config: Body; codes: string[] } => {
  const { body, codes } = sent(asks([userText("hi")], { settings: given }), target(model, compat));
  return { config: body.generationConfig, codes };
};

describe("the path", () => {
  it.each([
    [{}, true, "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"],
    [{}, false, "/v1beta/models/gemini-3-pro-preview:generateContent"],
    [{ apiVersion: "v1" }, true, "/v1/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"],
    [
      { variant: "vertex" as const, project: "p-1" },
      true,
      "/v1/projects/p-1/locations/global/publishers/google/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
    ],
    [
      { variant: "vertex" as const },
      false,
      "/v1/publishers/google/models/gemini-3-pro-preview:generateContent",
    ],
  ])("with %o and stream %s is %s", (compat, stream, path) => {
    expect(sent(asks([userText("hi")]), target(gemini3, compat, { stream })).wire.path).toBe(path);
  });

  it("uses a complete resource name unchanged, and lets none climb out of the path", () => {
    expect(sent(asks([userText("hi")]), target("tunedModels/mine")).wire.path).toContain(
      "/v1beta/tunedModels/mine:",
    );
    expect(() => googleGenerativeAi.encoder(target("../files"))).toThrow(/no name of a Google model/);
    expect(sent(asks([userText("hi")]), target("a?b#c")).wire.path).toContain("/models/a%3Fb%23c:");
  });

  it("contains no key: the transport sends it in a header", () => {
    expect(JSON.stringify(sent(asks([userText("hi")])).wire)).not.toContain("key=");
  });
});

describe("turns", () => {
  it("of calls are followed at once by one turn with as many responses, in call order; the user speaks in the next (F037, F038)", () => {
    const { body } = sent(
      asks([
        userText("go"),
        answer([call("1", "a", { x: 1 }, { thoughtSignature: "S" }), call("2", "b")]),
        result("2", "b", "second", true),
        result("1", "a", "first"),
        userText("and now"),
      ]),
    );
    expect(body.contents).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { functionCall: { name: "a", args: { x: 1 } }, thoughtSignature: "S" },
          { functionCall: { name: "b", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "a", response: { output: "first" } } },
          { functionResponse: { name: "b", response: { error: "second" } } },
        ],
      },
      { role: "user", parts: [{ text: "and now" }] },
    ]);
    expect(checkGoogleRequest(body, { needsSignatures: true })).toEqual([]);
  });

  it("send a call's id back only if one was received (F058)", () => {
    const history = [
      userText("go"),
      answer([call("ours-1", "a", {}, { id: "theirs", thoughtSignature: "S" }), call("ours-2", "a")]),
      result("ours-1", "a", "1"),
      result("ours-2", "a", "2"),
    ];
    const ids = (compat: GoogleCompat): (string | undefined)[] =>
      sent(asks(history), target(gemini3, compat)).body.contents.flatMap((turn: Body) =>
        turn.parts.flatMap((part: Body) => {
          const holder = part.functionCall ?? part.functionResponse;
          return holder === undefined ? [] : [holder.id];
        }),
      );
    expect(ids({})).toEqual(["theirs", undefined, "theirs", undefined]);
    expect(ids({ callIds: "always" })).toEqual(["theirs", "ours-2", "theirs", "ours-2"]);
    expect(ids({ callIds: "never" })).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("send no id twice in one answer, whose calls Gemini may have given one", () => {
    const history = [
      userText("go"),
      answer([
        call("a1", "a", {}, { id: "a1", thoughtSignature: "S" }),
        call("a1_2_1", "a", {}, { id: "a1" }),
      ]),
      result("a1", "a", "1"),
      result("a1_2_1", "a", "2"),
      answer([call("a1_5_0", "a", {}, { id: "a1" })]),
      result("a1_5_0", "a", "3"),
    ];
    const { body } = sent(asks(history), target(gemini3));
    const parts = body.contents.flatMap((turn: Body) => turn.parts) as Body[];
    expect(parts.flatMap((part) => part.functionCall?.id ?? [])).toEqual(["a1", "a1_2_1", "a1"]);
    expect(parts.flatMap((part) => part.functionResponse?.id ?? [])).toEqual(["a1", "a1_2_1", "a1"]);
    expect(checkGoogleRequest(body, { needsSignatures: true })).toEqual([]);
  });

  it("have an error in place of a missing result, and no result without a call", () => {
    const { body, codes } = sent(
      asks([
        result("0", "z", "lost"),
        userText("go"),
        answer([call("1", "a", {}, { thoughtSignature: "S" }), call("2", "b")]),
        result("2", "b", "ok"),
        result("2", "b", "twice"),
      ]),
    );
    expect(checkGoogleRequest(body)).toEqual([]);
    expect(body.contents[2].parts[0].functionResponse.response.error).toContain("no result");
    expect(body.contents[2].parts[1].functionResponse.response).toEqual({ output: "ok" });
    expect(codes).toEqual(["orphan_result", "missing_result", "orphan_result"]);
  });

  it("begin and end with the user, and are never empty (F127)", () => {
    for (const messages of [
      [],
      [answer([{ type: "text", text: "hello" }])],
      [userText("")],
      [userText("a"), answer([])],
    ]) {
      const { body } = sent(asks(messages));
      expect(checkGoogleRequest(body)).toEqual([]);
    }
  });

  it("have no empty part, unless it has a signature (F107, F122)", () => {
    const { body } = sent(
      asks([
        {
          role: "user",
          content: [
            { type: "text", text: "" },
            { type: "text", text: "hi" },
          ],
        },
        answer([
          { type: "text", text: "" },
          { type: "text", text: "Hello" },
          { type: "text", text: "", opaque: { thoughtSignature: "EqTAIL" } },
        ]),
        userText("next"),
      ]),
    );
    expect(body.contents[0].parts).toEqual([{ text: "hi" }]);
    expect(body.contents[1].parts).toEqual([{ text: "Hello" }, { text: "", thoughtSignature: "EqTAIL" }]);
  });

  it("of another origin lose opaque data, and get the sentinel on their first call (F106)", () => {
    const foreign = { api: "anthropic-messages", provider: "anthropic", model: "claude" };
    const history = [
      userText("go"),
      answer(
        [
          { type: "reasoning", text: "secret", opaque: { signature: "X" } },
          { type: "native", kind: "server_tool_use", opaque: { type: "server_tool_use" } },
          { type: "text", text: "I look", opaque: { thoughtSignature: "foreign" } },
          call("1", "a", {}, { thoughtSignature: "foreign", id: "toolu" }),
          call("2", "a"),
        ],
        foreign,
      ),
      result("1", "a", "ok"),
      result("2", "a", "ok"),
    ];
    const { body } = sent(asks(history));
    expect(body.contents[1].parts).toEqual([
      { text: "I look" },
      { functionCall: { name: "a", args: {} }, thoughtSignature: "skip_thought_signature_validator" },
      { functionCall: { name: "a", args: {} } },
    ]);
    expect(checkGoogleRequest(body, { needsSignatures: true })).toEqual([]);
    expect(JSON.stringify(sent(asks(history), target(gemini25)).body)).not.toContain("thoughtSignature");
  });

  it("of the same origin are sent back unchanged: thoughts, code and its output, images", () => {
    const code = { executableCode: { language: "PYTHON", code: "1+1" }, thoughtSignature: "S" };
    const { body } = sent(
      asks([
        userText("go"),
        answer([
          { type: "reasoning", text: "hm", opaque: { thoughtSignature: "T" } },
          { type: "native", kind: "executableCode", opaque: code },
          { type: "native", kind: "sources", opaque: { groundingMetadata: {} } },
          { type: "file", mediaType: "image/png", data: "AAAA", opaque: { thoughtSignature: "I" } },
        ]),
        userText("next"),
      ]),
    );
    expect(body.contents[1].parts).toEqual([
      { text: "hm", thought: true, thoughtSignature: "T" },
      code,
      { inlineData: { mimeType: "image/png", data: "AAAA" }, thoughtSignature: "I" },
    ]);
  });

  it("send arguments that were not JSON as none, and an invented name in valid letters (F065, F097)", () => {
    const { body } = sent(
      asks([
        userText("go"),
        answer([
          {
            type: "tool_call",
            id: "1",
            name: "multi tool/use",
            args: {},
            rawArgs: '{"a":',
            argsError: "cut",
          },
        ]),
        result("1", "multi tool/use", "no such tool", true),
      ]),
    );
    expect(body.contents[1].parts[0].functionCall).toEqual({
      name: expect.stringMatching(/^multi_tool_use_[0-9a-f]{10}$/),
      args: {},
    });
    expect(body.contents[2].parts[0].functionResponse.name).toMatch(/^multi_tool_use_[0-9a-f]{10}$/);
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("send a long integer with its original digits, and edited arguments as edited (F093)", () => {
    const args = JSON.parse('{"id":2512292042121000001}') as JsonObject;
    const body = (rawArgs: string): string =>
      googleGenerativeAi
        .encoder(target())
        .encode(
          asks([
            userText("go"),
            answer([{ type: "tool_call", id: "1", name: "f", args, rawArgs }]),
            result("1", "f", "ok"),
          ]),
        ).body;
    expect(body('{"id":2512292042121000001}')).toContain('"args":{"id":2512292042121000001}');
    expect(body('{"id":7}')).toContain(`"args":${JSON.stringify(args)}`);
    expect(body("not json } {")).toContain(`"args":${JSON.stringify(args)}`);
  });

  it("send a long integer with its digits even if a text next to it has a control character (F093)", () => {
    const rawArgs = String.raw`{"id":2512292042121000001,"text":"\u001b[1m"}`;
    const args = JSON.parse(rawArgs) as JsonObject;
    const messages = [
      userText("go"),
      answer([{ type: "tool_call", id: "1", name: "f", args, rawArgs }]),
      result("1", "f", "ok"),
    ];
    expect(googleGenerativeAi.encoder(target()).encode(asks(messages)).body).toContain(`"args":${rawArgs}`);
  });

  it("are valid text even if a tool left half an emoji in them (F094)", () => {
    const { body } = sent(
      asks([
        userText("cut \ud83d"),
        answer([call("1", "f", { "k\udc00": "v\ud83d" })]),
        result("1", "f", "\udfff tail 😀"),
      ]),
    );
    expect(checkGoogleRequest(body)).toEqual([]);
    expect(JSON.stringify(body)).toContain("tail 😀");
  });

  it("put system messages at the beginning into the instruction, and later ones into the conversation", () => {
    const { body } = sent(
      asks(
        [
          { role: "system", content: [{ type: "text", text: "also" }] },
          userText("hi"),
          { role: "system", content: [{ type: "text", text: "mind this" }] },
        ],
        { system: "be good" },
      ),
    );
    expect(body.systemInstruction).toEqual({ parts: [{ text: "be good" }, { text: "also" }] });
    expect(body.contents.at(-1)).toEqual({ role: "user", parts: [{ text: "mind this" }] });
  });
});

describe("files", () => {
  const png: FilePart = { type: "file", mediaType: "image/png", data: "AAAA", name: "a.png" };
  const withImage: ToolMessage = {
    ...result("1", "shot", "done"),
    content: [{ type: "text", text: "done" }, png],
  };
  const history = [
    userText("go"),
    answer([call("1", "shot", {}, { thoughtSignature: "S" })]),
    withImage,
    userText("?"),
  ];

  it("of the user are inline, or a URL", () => {
    const { body } = sent(
      asks([
        {
          role: "user",
          content: [
            png,
            { type: "file", mediaType: "application/pdf", url: "gs://bucket/a.pdf" },
            { type: "file", mediaType: "image/png", url: "data:image/webp;base64,BBBB" },
          ],
        },
      ]),
    );
    expect(body.contents[0].parts).toEqual([
      { inlineData: { mimeType: "image/png", data: "AAAA" } },
      { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" } },
      { inlineData: { mimeType: "image/webp", data: "BBBB" } },
    ]);
  });

  it("in a tool's result are in it from Gemini 3 on", () => {
    const { body } = sent(asks(history));
    expect(body.contents[2].parts[0].functionResponse).toEqual({
      name: "shot",
      response: { output: "done" },
      parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
    });
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("in a tool's result are in a user turn before Gemini 3", () => {
    const { body } = sent(asks(history), target(gemini25));
    expect(body.contents[2].parts).toHaveLength(1);
    expect(body.contents[2].parts[0].functionResponse.response.output).toContain("see the next user message");
    expect(body.contents[3].parts[1]).toEqual({ inlineData: { mimeType: "image/png", data: "AAAA" } });
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("that the model does not accept, or without bytes, become words and a warning", () => {
    const to = target(gemini3, {}, { facts: { accepts: ["image/*"] } });
    const { body, codes } = sent(
      asks([
        {
          role: "user",
          content: [
            { type: "file", mediaType: "audio/wav", data: "AAAA" },
            { type: "file", mediaType: "image/png", data: { blob: "b1", bytes: 9 }, name: "x.png" },
          ],
        },
      ]),
      to,
    );
    expect(codes).toEqual(["unsupported_file", "file_not_loaded"]);
    expect(body.contents[0].parts.map((part: Body) => part.text)).toEqual([
      "[a file of type audio/wav cannot be shown]",
      "[x.png (image/png) cannot be shown]",
    ]);
  });

  it("alone in a result still leave words in it, and so does an empty result (F120)", () => {
    const { body } = sent(
      asks([
        userText("go"),
        answer([call("1", "a"), call("2", "b")]),
        { ...result("1", "a", ""), content: [png] },
        result("2", "b", ""),
      ]),
    );
    expect(body.contents[2].parts.map((part: Body) => part.functionResponse.response)).toEqual([
      { output: "(see the attached file)" },
      { output: "(no output)" },
    ]);
  });
});

describe("tools", () => {
  const schema: JsonObject = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { unit: { type: ["string", "null"], enum: ["c", "f"] } },
    additionalProperties: false,
  };

  it("are sent with their full schema", () => {
    const { body } = sent(asks([userText("hi")], { tools: [tool("weather", schema), tool("now", {})] }));
    const { $schema: _, ...whole } = schema;
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          { name: "weather", description: "does weather", parametersJsonSchema: whole },
          { name: "now", description: "does now", parametersJsonSchema: { type: "object", properties: {} } },
        ],
      },
    ]);
    expect(body.toolConfig).toBeUndefined();
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("are sent in the older subset if the server lacks JSON Schema (F137, F138, F141)", () => {
    const { body } = sent(
      asks([userText("hi")], { tools: [tool("weather", schema), tool("now", {})] }),
      target(gemini25, { schemas: "openapi" }),
    );
    expect(body.tools[0].functionDeclarations).toEqual([
      {
        name: "weather",
        description: "does weather",
        parameters: {
          type: "object",
          // Its enum does not list null, so that null was never allowed.
          properties: { unit: { type: "string", enum: ["c", "f"] } },
        },
      },
      { name: "now", description: "does now" },
    ]);
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("are absent, with their config, if there are none (F132)", () => {
    const { body } = sent(asks([userText("hi")], { toolChoice: "none" }));
    expect(Object.keys(body)).toEqual(["contents"]);
  });

  it.each([
    ["any", { mode: "ANY" }],
    ["none", { mode: "NONE" }],
    [{ tool: "b" }, { mode: "ANY", allowedFunctionNames: ["b"] }],
  ] as const)("are chosen by %o", (toolChoice, calling) => {
    const { body } = sent(asks([userText("hi")], { tools: [tool("a"), tool("b")], toolChoice }));
    expect(body.toolConfig).toEqual({ functionCallingConfig: calling });
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("may be held to their schemas by an option, for as long as the model may choose", () => {
    const providerOptions = { google: { toolConfig: { functionCallingConfig: { mode: "VALIDATED" } } } };
    const mode = (toolChoice: ModelRequest["toolChoice"]): string =>
      sent(asks([userText("hi")], { tools: [tool("a")], toolChoice, settings: { providerOptions } })).body
        .toolConfig.functionCallingConfig.mode;
    expect(mode("auto")).toBe("VALIDATED");
    expect(mode("none")).toBe("NONE");
  });

  it("cannot be limited to one call at a time: that is a warning", () => {
    const one = sent(asks([userText("hi")], { tools: [tool("a")], settings: { parallelToolCalls: false } }));
    expect(one.codes).toEqual(["unsupported_setting"]);
  });

  it("of Google's own are sent with functions from Gemini 3 on, and left out with a warning before (F144)", () => {
    const request = asks([userText("hi")], {
      tools: [tool("a")],
      settings: { providerOptions: { google: { tools: [{ googleSearch: {} }] } } },
    });
    const now = sent(request);
    expect(now.body.tools[1]).toEqual({ googleSearch: {} });
    expect(now.body.toolConfig).toEqual({ includeServerSideToolInvocations: true });
    const before = sent(request, target(gemini25));
    expect(before.body.tools).toHaveLength(1);
    expect(before.codes).toEqual(["unsupported_setting"]);
  });

  it("stream their arguments on Vertex if set so", () => {
    const { body } = sent(
      asks([userText("hi")], { tools: [tool("a")] }),
      target(gemini3, { variant: "vertex", streamArguments: true }),
    );
    expect(body.toolConfig.functionCallingConfig).toEqual({ streamFunctionCallArguments: true });
  });
});

describe("settings", () => {
  it("have Google's names, and only those that are set are sent", () => {
    const { config, codes } = settings({
      temperature: 0,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 100,
      stop: ["a"],
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
    });
    expect(config).toEqual({
      temperature: 0,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 100,
      stopSequences: ["a"],
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
    });
    expect(codes).toEqual([]);
    expect(sent(asks([userText("hi")])).body.generationConfig).toBeUndefined();
    const stops = settings({ stop: ["1", "2", "3", "4", "5", "6"] });
    expect(stops.config.stopSequences).toHaveLength(5);
    expect(stops.codes).toEqual(["adjusted_setting"]);
  });

  it("of providers are put where Google expects them", () => {
    const google = {
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      thinkingConfig: { thinkingLevel: "LOW" },
      mediaResolution: "MEDIA_RESOLUTION_LOW",
      translationConfig: { targetLanguageCode: "no" },
      generationConfig: { candidateCount: 1 },
      serviceTier: "flex",
    };
    const { body, codes } = sent(asks([userText("hi")], { settings: { providerOptions: { google } } }));
    expect(body.safetySettings).toEqual(google.safetySettings);
    expect(body.serviceTier).toBe("flex");
    expect(body.generationConfig).toEqual({
      thinkingConfig: { thinkingLevel: "LOW" },
      mediaResolution: "MEDIA_RESOLUTION_LOW",
      translationConfig: { targetLanguageCode: "no" },
      candidateCount: 1,
    });
    expect(codes).toEqual([]);
    expect(checkGoogleRequest(body)).toEqual([]);
  });

  it("that are Vertex's, or would replace the conversation, cause warnings", () => {
    const google = { modelArmorConfig: {}, audioTimestamp: true, contents: [] };
    const { body, codes } = sent(asks([userText("hi")], { settings: { providerOptions: { google } } }));
    expect(Object.keys(body)).toEqual(["contents"]);
    expect(body.contents).toHaveLength(1);
    expect(codes).toEqual(["unsupported_option", "unsupported_option", "unsupported_option"]);
  });

  it("that are the Gemini API's cause warnings on Vertex, and the other way round", () => {
    const google = { store: false, modelArmorConfig: { promptTemplateName: "x" }, audioTimestamp: true };
    const request = asks([userText("hi")], { settings: { providerOptions: { google } } });
    const onVertex = sent(request, target(gemini3, { variant: "vertex" }));
    expect(Object.keys(onVertex.body)).toEqual(["generationConfig", "modelArmorConfig", "contents"]);
    expect(onVertex.codes).toEqual(["unsupported_option"]);
    const onGemini = sent(request);
    expect(Object.keys(onGemini.body)).toEqual(["store", "contents"]);
    expect(onGemini.codes).toEqual(["unsupported_option", "unsupported_option"]);
  });

  it("with a prepared cache send neither prompt nor tools, with a warning", () => {
    const { body, codes } = sent(
      asks([userText("hi")], {
        system: "s",
        tools: [tool("a")],
        settings: { providerOptions: { google: { cachedContent: "cachedContents/x" } } },
      }),
    );
    expect(Object.keys(body)).toEqual(["cachedContent", "contents"]);
    expect(codes).toEqual(["unsupported_setting"]);
  });

  it("send headers along", () => {
    expect(sent(asks([userText("hi")], { settings: { headers: { "x-a": "1" } } })).wire.headers).toEqual({
      "content-type": "application/json",
      "x-a": "1",
    });
  });

  it.each([
    [gemini3, "high", { includeThoughts: true, thinkingLevel: "HIGH" }, []],
    [gemini3, "minimal", { includeThoughts: true, thinkingLevel: "LOW" }, ["adjusted_setting"]],
    [gemini3, "off", { thinkingLevel: "LOW" }, ["adjusted_setting"]],
    ["gemini-3-flash", "off", { thinkingLevel: "MINIMAL" }, ["adjusted_setting"]],
    ["gemini-3-flash", "minimal", { includeThoughts: true, thinkingLevel: "MINIMAL" }, []],
    ["gemini-flash-latest", "low", { includeThoughts: true, thinkingLevel: "LOW" }, []],
    [gemini3, "max", { includeThoughts: true, thinkingLevel: "HIGH" }, ["adjusted_setting"]],
    [gemini3, "xhigh", { includeThoughts: true, thinkingLevel: "HIGH" }, ["adjusted_setting"]],
    ["gemini-4-argon", "xhigh", { includeThoughts: true, thinkingLevel: "HIGH" }, ["adjusted_setting"]],
    ["gemini-4-hydrogen", "xhigh", { includeThoughts: true, thinkingLevel: "XHIGH" }, []],
    ["gemini-4-hydrogen", "max", { includeThoughts: true, thinkingLevel: "XHIGH" }, ["adjusted_setting"]],
    ["gemini-4-hydrogen", "high", { includeThoughts: true, thinkingLevel: "HIGH" }, []],
    ["gemini-4-hydrogen", "off", { thinkingLevel: "LOW" }, ["adjusted_setting"]],
    ["gemini-3.7-flash", "minimal", { includeThoughts: true, thinkingLevel: "LOW" }, ["adjusted_setting"]],
    ["gemini-3.7-flash-lite", "minimal", { includeThoughts: true, thinkingLevel: "MINIMAL" }, []],
    [gemini25, "xhigh", { includeThoughts: true, thinkingBudget: 24_576 }, ["adjusted_setting"]],
    [gemini3, { budgetTokens: 999 }, { includeThoughts: true, thinkingBudget: 999 }, []],
    [gemini25, "low", { includeThoughts: true, thinkingBudget: 2048 }, []],
    [gemini25, "off", { thinkingBudget: 0 }, []],
    ["gemini-2.5-pro", "off", { thinkingBudget: 128 }, ["adjusted_setting"]],
    ["gemini-2.0-flash", "high", undefined, ["unsupported_setting"]],
    ["gemini-2.0-flash", "off", undefined, []],
  ] as const)("request thinking from %s for %o", (model, reasoning, thinkingConfig, warned) => {
    const { config, codes } = settings({ reasoning }, model);
    expect(config?.thinkingConfig).toEqual(thinkingConfig);
    expect(codes).toEqual(warned);
  });

  it("hold the answer to a schema natively, and together with tools only if the model supports it (F144)", () => {
    const outputSchema: JsonObject = { type: "object", properties: { a: { type: ["string", "null"] } } };
    const alone = asks([userText("hi")], { outputSchema });
    const beside = asks([userText("hi")], { outputSchema, tools: [tool("a")] });
    const native = { responseMimeType: "application/json", responseJsonSchema: outputSchema };
    expect(sent(alone).body.generationConfig).toEqual(native);
    expect(sent(beside).body.generationConfig).toEqual(native);
    expect(sent(alone, target(gemini25)).body.generationConfig).toEqual(native);
    const refused = sent(beside, target(gemini25));
    expect(refused.codes).toEqual(["unsupported_output_schema"]);
    expect(checkGoogleRequest(refused.body, { noSchemaWithTools: true })).toEqual([]);
    const none = sent(alone, target(gemini3, {}, { facts: { output: "none" } }));
    expect(none.codes).toEqual(["unsupported_output_schema"]);
    expect(sent(alone, target(gemini3, { schemas: "openapi" })).body.generationConfig).toEqual({
      responseMimeType: "application/json",
      responseSchema: { type: "object", properties: { a: { type: "string", nullable: true } } },
    });
  });
});

describe("an encoder", () => {
  it("encodes each message once, and warns of it once", () => {
    let read = 0;
    const counted: Message = {
      role: "user",
      get content() {
        read++;
        return [{ type: "file" as const, mediaType: "image/png" }];
      },
    };
    const encoder = googleGenerativeAi.encoder(target());
    const first = encoder.encode(asks([counted]));
    const second = encoder.encode(asks([counted, answer([{ type: "text", text: "a" }]), userText("b")]));
    expect(read).toBe(1);
    expect([first.warnings.length, second.warnings.length]).toEqual([1, 0]);
  });

  it("encodes a tool's declaration once", () => {
    let read = 0;
    const counted: ToolDefinition = {
      name: "a",
      description: "d",
      get inputSchema() {
        read++;
        return { type: "object" };
      },
    };
    const encoder = googleGenerativeAi.encoder(target());
    for (let i = 0; i < 3; i++) encoder.encode(asks([userText("hi")], { tools: [counted] }));
    expect(read).toBe(1);
  });

  it("makes each request a byte prefix of the next (F197)", () => {
    const encoder = googleGenerativeAi.encoder(target());
    const tools = [tool("a")];
    const history: Message[] = [userText("go")];
    let before = "";
    for (let i = 0; i < 4; i++) {
      const { body } = encoder.encode(
        asks([...history], { system: "s", tools, settings: { temperature: 1 } }),
      );
      expect(body.startsWith(before)).toBe(true);
      before = body.slice(0, -"]}".length);
      history.push(answer([call(`c${i}`, "a", { i })]), result(`c${i}`, "a", `r${i}`));
    }
  });
});

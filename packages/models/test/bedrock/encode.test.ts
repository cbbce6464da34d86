import type {
  AssistantMessage,
  ContentPart,
  Json,
  JsonObject,
  Message,
  ModelRequest,
  Part,
  ToolDefinition,
} from "@rondo/core";
import { userText } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { checkBedrockRequest } from "../../../testkit/src/wire/rules/bedrock.ts";
import type { Target, WireRequest } from "../../src/codec.ts";
import { nameFromWire } from "../../src/codecs/anthropic/names.ts";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { targetOf } from "../anthropic/feeding.ts";

const claude = targetOf("bedrock-converse", "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0");
const weather: ToolDefinition = {
  name: "weather",
  description: "Weather",
  inputSchema: { type: "object", properties: {} },
};

interface Sent {
  wire: WireRequest;
  body: JsonObject;
  messages: { role: string; content: JsonObject[] }[];
  codes: string[];
}

function send(messages: Message[], rest: Partial<ModelRequest> = {}, target: Target = claude): Sent {
  const wire = bedrockConverse.encoder(target).encode({
    messages,
    tools: [],
    toolChoice: "auto",
    settings: { providerOptions: { bedrock: { cache: false } } },
    ...rest,
  });
  const body = JSON.parse(wire.body) as JsonObject;
  expect(checkBedrockRequest(body)).toEqual([]);
  return { wire, body, messages: body.messages as never, codes: wire.warnings.map(({ code }) => code) };
}

const call = (id: string, name = "weather"): Part => ({
  type: "tool_call",
  id,
  name,
  args: { a: 1 },
  rawArgs: '{"a":1}',
});
const answered = (content: Part[], origin = claude.origin): AssistantMessage => ({
  role: "assistant",
  content,
  origin,
  stop: { kind: "end_turn", wire: "end_turn" },
});
const result = (
  callId: string,
  content: ContentPart[] = [{ type: "text", text: "ok" }],
  isError = false,
): Message => ({
  role: "tool",
  callId,
  name: "weather",
  content,
  isError,
});

describe("Converse messages", () => {
  it("have all results of an answer first, and what a user said after them, in one message", () => {
    const { messages } = send([
      userText("go"),
      answered([call("A"), call("B")]),
      result("B", [], true),
      userText("hurry"),
      result("A"),
    ]);
    expect(messages[1]?.content).toEqual([
      { toolUse: { toolUseId: "A", name: "weather", input: { a: 1 } } },
      { toolUse: { toolUseId: "B", name: "weather", input: { a: 1 } } },
    ]);
    expect(messages[2]).toEqual({
      role: "user",
      content: [
        { toolResult: { toolUseId: "A", content: [{ text: "ok" }] } },
        { toolResult: { toolUseId: "B", content: [{ text: "(no output)" }], status: "error" } },
        { text: "hurry" },
      ],
    });
  });

  it("alternate, start with a user, have no blank text and end with a user", () => {
    const { messages } = send([
      answered([{ type: "text", text: "hello" }]),
      answered([
        { type: "text", text: "\n" },
        { type: "text", text: "again" },
      ]),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[1]?.content).toEqual([{ text: "hello" }, { text: "again" }]);
  });

  it("keep valid ids, and change others on both sides", () => {
    const { messages } = send([
      userText("go"),
      answered([call("a.b:c-1"), call("call|1"), call("x".repeat(446))]),
      result("call|1"),
    ]);
    const ids = messages[1]?.content.map((block) => (block.toolUse as JsonObject).toolUseId);
    expect(ids?.[0]).toBe("a.b:c-1");
    expect(messages[2]?.content.map((block) => (block.toolResult as JsonObject).toolUseId)).toEqual(ids);
  });

  it("send reasoning to its own origin only", () => {
    const content: Part[] = [
      { type: "reasoning", text: "hm", opaque: { signature: "sig" } },
      { type: "reasoning", text: "", opaque: { redacted: "cmVk" } },
      { type: "reasoning", text: "unsigned" },
      { type: "text", text: "cited", citations: [{ title: "t" }] },
    ];
    expect(send([userText("go"), answered(content), userText("y")]).messages[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } },
      { reasoningContent: { redactedContent: "cmVk" } },
      { citationsContent: { content: [{ text: "cited" }], citations: [{ title: "t" }] } },
    ]);
    const elsewhere = { ...claude.origin, api: "anthropic-messages" };
    expect(send([userText("go"), answered(content, elsewhere), userText("y")]).messages[1]?.content).toEqual([
      { text: "cited" },
    ]);
  });

  it("send images, documents with a name and a text, and videos; a URL becomes a note", () => {
    const file = (mediaType: string, name?: string): ContentPart => ({
      type: "file",
      mediaType,
      data: "aGk=",
      ...(name === undefined ? {} : { name }),
    });
    const { messages, codes } = send([
      {
        role: "user",
        content: [file("application/pdf", "my  report…(1).pdf"), file("image/png"), file("video/mp4")],
      },
      answered([call("A")]),
      result("A", [
        file("image/jpeg"),
        { type: "file", mediaType: "image/png", url: "https://example.org/a.png" },
      ]),
    ]);
    const [document, image, video, note] = messages[0]?.content ?? [];
    expect(document).toMatchObject({ document: { format: "pdf", source: { bytes: "aGk=" } } });
    expect((document?.document as JsonObject | undefined)?.name).toMatch(/^my report \(1\) pdf-[0-9a-f]{8}$/);
    expect(image).toEqual({ image: { format: "png", source: { bytes: "aGk=" } } });
    expect(video).toEqual({ video: { format: "mp4", source: { bytes: "aGk=" } } });
    expect(note).toHaveProperty("text");
    expect((messages[2]?.content[0]?.toolResult as JsonObject | undefined)?.content).toMatchObject([
      { image: { format: "jpeg" } },
      { text: expect.stringContaining("not shown") },
    ]);
    expect(codes).toEqual(["unsupported_file"]);
  });

  it("name a document apart from the same one in another message, and always alike", () => {
    const asked = (): Message => ({
      role: "user",
      content: [
        { type: "text", text: "Summarise it." },
        { type: "file", mediaType: "application/pdf", data: "aGk=", name: "report.pdf" },
      ],
    });
    const history = [asked(), answered([{ type: "text", text: "It is short." }]), asked()];
    const sent = send(history).messages;
    const names = sent.flatMap(({ content }) =>
      content.flatMap(({ document }) => (document as JsonObject | undefined)?.name ?? []),
    );
    expect(new Set(names).size).toBe(2);
    expect(send(history.slice(0, 1)).messages[0]).toEqual(sent[0]);
    expect(send([...history, answered([{ type: "text", text: "As before." }])]).messages.slice(0, 3)).toEqual(
      sent,
    );
    const one = history[0] as Message;
    const twice = send([one, answered([{ type: "text", text: "It is short." }]), one]).messages;
    expect(twice).toEqual(sent);
  });

  it("send the service's own blocks to their own origin only", () => {
    const use: Part = {
      type: "native",
      kind: "server_tool_use",
      opaque: { toolUse: { toolUseId: "s", name: "search", input: {}, type: "server_tool_use" } },
    };
    const found: Part = {
      type: "native",
      kind: "search_result",
      opaque: { toolResult: { toolUseId: "s", content: [{ text: "f" }], type: "search_result" } },
    };
    const said: Part = { type: "text", text: "x" };
    const sent = (origin: AssistantMessage["origin"]): JsonObject[] | undefined =>
      send([userText("go"), answered([use, found, said], origin), userText("y")]).messages[1]?.content;
    expect(sent(claude.origin)).toEqual([use.opaque, found.opaque, { text: "x" }]);
    expect(sent({ ...claude.origin, model: "other" })).toEqual([{ text: "x" }]);
  });

  it("have an error status only for families that support one", () => {
    const history = [
      userText("go"),
      answered([call("A")]),
      result("A", [{ type: "text", text: "no" }], true),
    ];
    const llama = targetOf("bedrock-converse", "bedrock", "meta.llama3-1-70b-instruct-v1:0");
    expect(send(history, {}, llama).messages[2]?.content[0]?.toolResult).not.toHaveProperty("status");
  });
});

describe("Converse tools and settings", () => {
  it("have no hyphen in a tool's name for Nova, whose calls break at one, and restore it", () => {
    const nova = targetOf("bedrock-converse", "bedrock", "us.amazon.nova-lite-v1:0");
    const hyphens: ToolDefinition = { ...weather, name: "get-x2D-library_x2D_id" };
    const messages: Message[] = [userText("hi"), answered([call("a", hyphens.name)]), result("a")];
    const rest = { tools: [hyphens], toolChoice: { tool: hyphens.name } } as const;
    const { body, messages: sent } = send(messages, rest, nova);
    const name = "get_x2D_x2D_x2D_library_x5F_x2D_id";
    expect(body.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name } }],
      toolChoice: { tool: { name } },
    });
    expect(sent[1]?.content[0]).toMatchObject({ toolUse: { name } });
    expect(nameFromWire(name)).toBe(hyphens.name);
    expect(send(messages, rest).body.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: "get-x2D-library_x5F_x2D_id" } }],
    });
  });

  it("names the model in the path and settings in their members", () => {
    const { wire, body, codes } = send([userText("go")], {
      system: "be brief",
      settings: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topK: 3,
        stop: ["END"],
        seed: 1,
        providerOptions: {
          bedrock: {
            cache: false,
            guardrailConfig: { guardrailIdentifier: "g", guardrailVersion: "1" },
            bogus: 1,
          },
        },
      },
    });
    expect(wire.path).toBe("/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream");
    expect(body).toMatchObject({
      system: [{ text: "be brief" }],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ["END"] },
      additionalModelRequestFields: { top_k: 3 },
      guardrailConfig: { guardrailIdentifier: "g" },
    });
    expect(codes).toEqual(["unsupported_option", "unsupported_setting"]);
    expect(send([userText("go")], {}, { ...claude, stream: false }).wire.path).toMatch(/\/converse$/);
  });

  it.each([
    ["auto", undefined],
    ["any", { any: {} }],
    [{ tool: "weather" }, { tool: { name: "weather" } }],
  ] as const)("tool choice %o", (toolChoice, sent) => {
    const { body } = send([userText("go")], { tools: [weather], toolChoice });
    expect((body.toolConfig as JsonObject).toolChoice).toEqual(sent);
  });

  it("leave tools out if none may be called, unless the history needs them", () => {
    expect(send([userText("go")], { tools: [weather], toolChoice: "none" }).body).not.toHaveProperty(
      "toolConfig",
    );
    const history = [userText("go"), answered([call("A")]), result("A")];
    const kept = send(history, { tools: [weather], toolChoice: "none" });
    expect(kept.body).toHaveProperty("toolConfig");
    expect(kept.codes).toEqual(["unsupported_tool_choice"]);
    expect((send(history).body.toolConfig as { tools: Json[] }).tools).toMatchObject([
      { toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } },
    ]);
  });

  it("request reasoning from Claude, Nova and gpt-oss in the form of each, and warn for others", () => {
    const fields = (
      model: string,
      toolChoice: ModelRequest["toolChoice"] = "auto",
      reasoning: "high" | "off" = "high",
    ): Sent =>
      send(
        [userText("go")],
        { tools: [weather], toolChoice, settings: { reasoning } },
        targetOf("bedrock-converse", "bedrock", model),
      );
    const forced = fields(claude.origin.model, "any");
    expect(forced.body.additionalModelRequestFields).toEqual({
      thinking: { type: "enabled", budget_tokens: 24000 },
    });
    expect(forced.codes).toEqual(["unsupported_tool_choice"]);
    expect(fields("anthropic.claude-opus-4-6-v1").body.additionalModelRequestFields).toEqual({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
    expect(fields("us.amazon.nova-2-lite-v1:0").body.additionalModelRequestFields).toEqual({
      reasoningConfig: { type: "enabled", maxReasoningEffort: "high" },
    });
    expect(fields("openai.gpt-oss-120b-1:0").body.additionalModelRequestFields).toEqual({
      reasoning_effort: "high",
    });
    const least = fields("openai.gpt-oss-120b-1:0", "auto", "off");
    expect(least.body.additionalModelRequestFields).toEqual({ reasoning_effort: "low" });
    expect(least.codes).toEqual(["adjusted_setting"]);
    expect(fields("meta.llama3").codes).toEqual(["unsupported_setting"]);
  });

  it("let Claude leave out thinking that no longer fits, if it has refused some", () => {
    const bound = (
      additionalModelRequestFields: JsonObject,
      compat: JsonObject = { unbindsThinking: true },
    ): Json | undefined =>
      send(
        [userText("go")],
        { settings: { reasoning: "high", providerOptions: { bedrock: { additionalModelRequestFields } } } },
        { ...targetOf("bedrock-converse", "bedrock", "anthropic.claude-opus-5-5-v1:0"), compat },
      ).body.additionalModelRequestFields;
    const thinking = { type: "adaptive", display: "summarized" };
    const block_binding = { mismatch_behavior: "drop_block" };
    expect(bound({}, {})).toMatchObject({ thinking });
    expect(bound({ anthropic_beta: ["x"] })).toEqual({
      thinking: { ...thinking, block_binding },
      output_config: { effort: "high" },
      anthropic_beta: ["x", "thinking-binding-controls-2026-08-01"],
    });
    const own = { type: "adaptive", block_binding: { mismatch_behavior: "error" } };
    expect(bound({ thinking: own })).toEqual({ thinking: own, output_config: { effort: "high" } });
  });

  it("treat a profile with an unknown name as Claude, until a refusal corrects that", () => {
    const arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123";
    const hidden = targetOf("bedrock-converse", "bedrock", arn);
    const thoughtful = send([userText("go")], { settings: { reasoning: "low" } }, hidden);
    expect(thoughtful.body).toMatchObject({
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 4096 } },
      inferenceConfig: { maxTokens: 8192 },
    });
    expect(thoughtful.wire.body).toContain("cachePoint");
    const taught = { ...hidden, compat: { thinking: "adaptive", cache: false } };
    const adaptive = send([userText("go")], { settings: { reasoning: "low" } }, taught);
    expect(adaptive.body.additionalModelRequestFields).toMatchObject({ thinking: { type: "adaptive" } });
    expect(adaptive.wire.body).not.toContain("cachePoint");
    // What nobody asked for is not set: it may be no Claude.
    expect(send([userText("go")], { settings: {} }, hidden).body).not.toHaveProperty("inferenceConfig");
  });

  it("leave the answer room beyond a thinking budget in the caller's own fields", () => {
    const thinking = { type: "enabled", budget_tokens: 40_000 };
    const settings = { providerOptions: { bedrock: { additionalModelRequestFields: { thinking } } } };
    const { body } = send([userText("go")], { settings });
    expect(body.additionalModelRequestFields).toEqual({ thinking });
    expect(body.inferenceConfig).toEqual({ maxTokens: 72_000 });
  });

  it("leave out blank stop sequences, with a warning", () => {
    const stopped = (stop: string[]): Sent => send([userText("go")], { settings: { stop } });
    expect(stopped(["\n", "END"]).body.inferenceConfig).toMatchObject({ stopSequences: ["END"] });
    expect(stopped(["\n"]).body.inferenceConfig).not.toHaveProperty("stopSequences");
    expect(stopped(["\n"]).codes).toEqual(["unsupported_setting"]);
    expect(stopped(["END"]).codes).toEqual([]);
  });

  it("send a Nova with maximum reasoning no limit and no sampling, with a warning each", () => {
    const at = (reasoning: "high" | "medium"): Sent =>
      send(
        [userText("go")],
        { settings: { reasoning, maxOutputTokens: 100, temperature: 0.5, topP: 0.9, stop: ["END"] } },
        targetOf("bedrock-converse", "bedrock", "us.amazon.nova-2-lite-v1:0"),
      );
    expect(at("high").body.inferenceConfig).toEqual({ stopSequences: ["END"] });
    expect(at("high").codes).toEqual(Array(3).fill("unsupported_setting"));
    expect(at("medium").body.inferenceConfig).toEqual({
      maxTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
    });
  });

  it("hold the answer to a schema if the model supports it", () => {
    const outputSchema: JsonObject = { type: "object", properties: {} };
    const { body } = send([userText("go")], { outputSchema });
    expect(body.outputConfig).toEqual({
      textFormat: {
        type: "json_schema",
        structure: {
          jsonSchema: {
            name: "output",
            schema: '{"type":"object","properties":{},"additionalProperties":false}',
          },
        },
      },
    });
    expect(
      send([userText("go")], { outputSchema }, targetOf("bedrock-converse", "bedrock", "meta.llama3")).codes,
    ).toEqual(["unsupported_output_schema"]);
  });

  it("set no cache point after a document that Amazon turns into text, where it would be lost or refused", () => {
    const file = (mediaType: string) => ({ type: "file" as const, mediaType, name: "a", data: "aGk=" });
    const last = (mediaType: string): string[] => {
      const content = [{ type: "text" as const, text: "read" }, file(mediaType)];
      const { messages } = send([{ role: "user", content }], { settings: {} });
      return messages[0]?.content.map((block) => Object.keys(block)[0] ?? "") ?? [];
    };
    expect(last("application/pdf")).toEqual(["text", "document", "cachePoint"]);
    expect(last("text/markdown")).toEqual(["text", "cachePoint", "document"]);
  });

  it("set cache points if the family supports them, counting the caller's", () => {
    const history = [userText("go"), answered([call("A")]), result("A"), answered([call("B")]), result("B")];
    const points = ({ wire }: Sent): number => wire.body.split('{"cachePoint"').length - 1;
    const settings = {};
    const sent = send(history, { system: "s", tools: [weather], settings });
    expect(points(sent)).toBe(4);
    expect(sent.messages.at(-1)?.content.at(-1)).toEqual({ cachePoint: { type: "default" } });
    expect(
      points(
        send(
          history,
          { system: "s", tools: [weather], settings },
          targetOf("bedrock-converse", "bedrock", "amazon.nova-pro-v1:0"),
        ),
      ),
    ).toBe(3);
    expect(
      points(
        send(
          history,
          { system: "s", tools: [weather], settings },
          targetOf("bedrock-converse", "bedrock", "meta.llama3"),
        ),
      ),
    ).toBe(0);
    const own: ContentPart = {
      type: "text",
      text: "a",
      opaque: { cache_control: { type: "ephemeral", ttl: "1h" } },
    };
    const mine = send([{ role: "user", content: [own, own, own] }, ...history.slice(1)], {
      system: "s",
      tools: [weather],
      settings,
    });
    expect(points(mine)).toBe(4);
    expect(mine.messages[0]?.content[1]).toEqual({ cachePoint: { type: "default", ttl: "1h" } });
  });
});

describe("if calls and results must be alone in a message", () => {
  const alone: Target = {
    ...targetOf("bedrock-converse", "bedrock", "meta.llama3-3-70b"),
    compat: { callsAlone: true },
  };
  const text = (words: string): Part => ({ type: "text", text: words });
  const turn = (id: string): Message[] => [
    answered([text("I look."), call(id)], alone.origin),
    result(id),
    userText("And now?"),
  ];

  it("nothing is left out: other parts of their message are sent before or after it", () => {
    const kinds = send([userText("Hi"), ...turn("t1")], { tools: [weather] }, alone).messages.map(
      ({ role, content }) => [role, ...content.map((block) => Object.keys(block)[0] ?? "")],
    );
    expect(kinds).toEqual([
      ["user", "text"],
      ["assistant", "text"],
      ["user", "text"],
      ["assistant", "toolUse"],
      ["user", "toolResult"],
      ["assistant", "text"],
      ["user", "text"],
    ]);
  });

  it("only results are, if only they must be", () => {
    const target = { ...alone, compat: { resultsAlone: true } };
    const kinds = send([userText("Hi"), ...turn("t1")], { tools: [weather] }, target).messages.map(
      ({ role, content }) => [role, ...content.map((block) => Object.keys(block)[0] ?? "")],
    );
    expect(kinds).toEqual([
      ["user", "text"],
      ["assistant", "text", "toolUse"],
      ["user", "toolResult"],
      ["assistant", "text"],
      ["user", "text"],
    ]);
  });

  it("a growing history is sent like a new one, and only grows", () => {
    const encoder = bedrockConverse.encoder(alone);
    const messages: Message[] = [userText("Hi")];
    let before = "";
    for (let step = 0; step < 12; step++) {
      messages.push(...turn(`t${step}`));
      const request = {
        messages: [...messages],
        tools: [weather],
        toolChoice: "auto" as const,
        settings: {},
      };
      const { body } = encoder.encode(request);
      expect(body).toBe(bedrockConverse.encoder(alone).encode(request).body);
      expect(checkBedrockRequest(JSON.parse(body) as JsonObject)).toEqual([]);
      expect(body.startsWith(before.slice(0, -2))).toBe(true);
      before = body;
    }
  });
});

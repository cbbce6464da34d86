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
import { checkAnthropicRequest } from "../../../testkit/src/wire/rules/anthropic.ts";
import type { Codec, Target, WireRequest } from "../../src/codec.ts";
import { claudeVersion } from "../../src/codecs/anthropic/traits.ts";
import {
  anthropicMessages,
  anthropicOnBedrock,
  anthropicOnVertex,
} from "../../src/codecs/anthropic-messages.ts";
import { targetOf } from "./feeding.ts";

const sonnet = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");
const weather: ToolDefinition = {
  name: "weather",
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } } },
};

interface Sent {
  wire: WireRequest;
  body: JsonObject;
  messages: { role: string; content: JsonObject[] }[];
  codes: string[];
}

function send(
  messages: Message[],
  rest: Partial<ModelRequest> = {},
  target: Target = sonnet,
  codec: Codec = anthropicMessages,
): Sent {
  const wire = codec.encoder(target).encode({
    messages,
    tools: [],
    toolChoice: "auto",
    settings: { providerOptions: { anthropic: { cache: false } } },
    ...rest,
  });
  const body = JSON.parse(wire.body) as JsonObject;
  expect(checkAnthropicRequest(body)).toEqual([]);
  return { wire, body, messages: body.messages as never, codes: wire.warnings.map(({ code }) => code) };
}

const call = (id: string, name = "weather", more: Partial<Part & { type: "tool_call" }> = {}): Part => ({
  type: "tool_call",
  id,
  name,
  args: {},
  rawArgs: "{}",
  ...more,
});
const answered = (content: Part[], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content,
  origin: sonnet.origin,
  stop: { kind: "end_turn", wire: "end_turn" },
  ...more,
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
const text = (words: string): Json => ({ type: "text", text: words });

describe("messages", () => {
  it("put all results of an answer into one message, in call order, and what a user said into a later one", () => {
    const { messages } = send([
      userText("go"),
      answered([call("a"), call("b")]),
      result("b"),
      userText("hurry"),
      result("a", [], true),
      userText("please"),
    ]);
    expect(messages.slice(2)).toEqual([
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [text("(no output)")], is_error: true },
          { type: "tool_result", tool_use_id: "b", content: [text("ok")] },
        ],
      },
      { role: "user", content: [text("hurry"), text("please")] },
    ]);
  });

  it("close a call without a result and leave out results without a call, with a warning", () => {
    const { messages, codes } = send([
      result("gone"),
      userText("go"),
      answered([call("a")]),
      userText("continue"),
      result("a"),
      result("a"),
    ]);
    expect(messages[2]?.content).toEqual([{ type: "tool_result", tool_use_id: "a", content: [text("ok")] }]);
    expect(codes).toEqual(["orphan_result", "second_result"]);
    const unanswered = send([userText("go"), answered([call("a")]), userText("continue")]);
    expect(unanswered.messages[2]?.content[0]).toMatchObject({
      type: "tool_result",
      tool_use_id: "a",
      is_error: true,
    });
    expect(unanswered.codes).toEqual(["missing_result"]);
  });

  it("leave out blank text, and messages that become empty by that", () => {
    const { messages } = send([
      userText("go"),
      answered([{ type: "text", text: "\n\n" }]),
      userText(" "),
      userText("on"),
    ]);
    expect(messages).toEqual([{ role: "user", content: [text("go"), text("on")] }]);
  });

  it("never end with an answer, unless that was paused", () => {
    expect(send([userText("go"), answered([{ type: "text", text: "so far " }])]).messages.at(-1)).toEqual({
      role: "user",
      content: [text("Continue.")],
    });
    const search: Part = {
      type: "native",
      kind: "server_tool_use",
      opaque: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
    };
    const paused = answered([{ type: "text", text: "Searching. " }, search], {
      stop: { kind: "pause", wire: "pause", raw: "pause_turn" },
    });
    expect(send([userText("go"), paused]).messages.at(-1)).toEqual({
      role: "assistant",
      content: [text("Searching. "), search.opaque],
    });
    const endsInText = answered(
      [
        search,
        {
          type: "native",
          kind: "web_search_tool_result",
          opaque: { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
        },
        { type: "text", text: "So " },
      ],
      paused,
    );
    expect(
      send([userText("go"), { ...endsInText, stop: paused.stop, content: endsInText.content }]).messages.at(
        -1,
      )?.role,
    ).toBe("assistant");
  });

  it("may end with a paused answer of text alone, but not of thoughts", () => {
    const stop = { kind: "pause", wire: "pause" } as const;
    // Past the rules of the newest models, which refuse it: what they say then is learned (learned-quirks.test.ts).
    const last = (content: Part[]): unknown => {
      const messages = [userText("go"), answered(content, { stop })];
      const settings = { providerOptions: { anthropic: { cache: false } } };
      const { body } = anthropicMessages
        .encoder(sonnet)
        .encode({ messages, tools: [], toolChoice: "auto", settings });
      return (JSON.parse(body) as { messages: unknown[] }).messages.at(-1);
    };
    const words: Part = { type: "text", text: "Searching. " };
    expect(last([words])).toEqual({ role: "assistant", content: [text("Searching.")] });
    const thought: Part = { type: "reasoning", text: "hm", opaque: { signature: "s" } };
    expect(last([thought])).toEqual({ role: "user", content: [text("go")] });
  });

  it("have white space trimmed at the very end of a paused answer only", () => {
    const content: Part[] = [
      {
        type: "native",
        kind: "server_tool_use",
        opaque: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      },
      {
        type: "native",
        kind: "web_search_tool_result",
        opaque: { type: "web_search_tool_result", tool_use_id: "s", content: [] },
      },
      { type: "text", text: "So \n" },
    ];
    const paused = answered(content, { stop: { kind: "pause", wire: "pause" } });
    expect(
      send([userText("go"), paused])
        .messages.at(-1)
        ?.content.at(-1),
    ).toEqual(text("So"));
    expect(send([userText("go"), paused, userText("x")]).messages[1]?.content.at(-1)).toEqual(text("So \n"));
  });

  it("keep server tools paired over a pause, without those that lost their other half", () => {
    const use: Part = {
      type: "native",
      kind: "server_tool_use",
      opaque: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
    };
    const found: Part = {
      type: "native",
      kind: "web_search_tool_result",
      opaque: { type: "web_search_tool_result", tool_use_id: "s", content: [] },
    };
    const first = answered([use], { stop: { kind: "pause", wire: "pause" } });
    const second = answered([found, { type: "text", text: "Found." }]);
    expect(send([userText("go"), first, second, userText("x")]).messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "user",
    ]);
    const alone = send([userText("go"), second, userText("x")]);
    expect(alone.messages[1]?.content).toEqual([text("Found.")]);
    expect(alone.codes).toEqual(["server_tool_unpaired"]);
    expect(send([userText("go"), first, userText("x")]).messages).toHaveLength(1);
  });

  it("let a server leave out thinking that no longer fits, if it has refused some", () => {
    const bound: Target = {
      ...targetOf("anthropic-messages", "anthropic", "claude-sonnet-5-5"),
      compat: { unbindsThinking: true },
    };
    const ask = (settings: ModelRequest["settings"], codec: Codec = anthropicMessages): Sent =>
      send([userText("go")], { settings }, bound, codec);
    const block_binding = { prefix_mismatch_behavior: "drop_block" };
    expect(ask({}).body.thinking).toEqual({ type: "adaptive", block_binding });
    expect(ask({}).wire.headers["anthropic-beta"]).toBe("thinking-binding-controls-2026-08-01");
    expect(ask({ reasoning: "high" }).body.thinking).toMatchObject({ type: "adaptive", block_binding });
    expect(ask({ reasoning: "off" }).body.thinking).toEqual({ type: "between_tools" });
    const amazon = ask({}, anthropicOnBedrock).body;
    expect(amazon.anthropic_beta).toEqual(["thinking-binding-controls-2026-08-01"]);
    expect(amazon.thinking).toEqual({
      type: "adaptive",
      block_binding: { mismatch_behavior: "drop_block" },
    });
    const own = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } };
    const told = ask({ providerOptions: { anthropic: { thinking: own, betas: ["x"] } } });
    expect(told.body.thinking).toEqual(own);
    expect(told.wire.headers["anthropic-beta"]).toBe("x");
  });

  it("send provider blocks to their own provider only", () => {
    const other = { ...sonnet.origin, model: "claude-opus-4-6" };
    const compaction: Part = {
      type: "native",
      kind: "compaction",
      opaque: { type: "compaction", content: "so far" },
    };
    const history = (origin: AssistantMessage["origin"]): Message[] => [
      userText("go"),
      answered([compaction, { type: "text", text: "x", citations: [{ type: "char_location" }] }], { origin }),
      userText("y"),
    ];
    expect(send(history(sonnet.origin)).messages[1]?.content[0]).toEqual(compaction.opaque);
    expect(send(history(other)).messages[1]?.content).toEqual([text("x")]);
  });

  it("are well-formed without lone surrogates, in keys and arguments too", () => {
    const { wire } = send([
      userText("cut \ud83d"),
      answered([call("a", "f", { args: { "k\udc00": "v\ud800" }, rawArgs: '{"k\\udc00":"v\\ud800"}' })]),
      result("a", [{ type: "text", text: "\\ud800 stays, \udfff not 😀" }]),
    ]);
    expect(wire.body).not.toMatch(/(?<!\\)(\\\\)*\\ud[89a-f]/i);
    expect(wire.body).toContain("\\\\ud800 stays");
    expect(wire.body).toContain("😀");
  });

  it("send arguments with the model's own digits, and {} for what was no object", () => {
    const { wire, messages } = send([
      userText("go"),
      answered([
        call("a", "f", { args: { id: 2512292042121000000 }, rawArgs: '{"id": 2512292042121000001}' }),
        call("b", "f", { args: {}, rawArgs: '{"a":', argsError: "cut" }),
        call("c", "f", { args: { edited: true }, rawArgs: '{"edited":false}' }),
      ]),
    ]);
    expect(wire.body).toContain('"input":{"id": 2512292042121000001}');
    expect(messages[1]?.content[1]).toMatchObject({ input: {} });
    expect(messages[1]?.content[2]).toMatchObject({ input: { edited: true } });
  });

  it("have only known members of messages, parts and tools", () => {
    const leaky = {
      role: "user",
      content: [{ type: "text", text: "a", _internal: 1, opaque: { secret: 1 } }],
      timestamp: 1,
    } as unknown as Message;
    const { wire } = send([leaky], { tools: [{ ...weather, _internal: true } as ToolDefinition] });
    expect(wire.body).not.toMatch(/_internal|timestamp|secret/);
  });

  it("have names and ids sanitised on both sides, without two becoming one", () => {
    const { messages } = send([
      userText("go"),
      answered([call("call|1", "multi_tool_use.parallel"), call("call_1"), call("call|1_", "f")]),
      result("call|1_"),
    ]);
    const [first, second, third] = messages[1]?.content ?? [];
    expect(first).toMatchObject({ name: "multi_tool_use_x2E_parallel" });
    expect(second).toMatchObject({ id: "call_1" });
    expect(new Set([first?.id, second?.id, third?.id]).size).toBe(3);
    expect(messages[2]?.content.map((block) => block.tool_use_id)).toEqual([
      first?.id,
      second?.id,
      third?.id,
    ]);
  });

  it("give a repeated id of a foreign history an id of its own", () => {
    const turn = [answered([call("call_0")]), result("call_0")];
    const { messages } = send([userText("go"), ...turn, answered([call("call_0")]), result("call_0")]);
    expect(messages[1]?.content[0]?.id).toBe("call_0");
    expect(messages[3]?.content[0]?.id).toBe("call_0_r2");
    expect(messages[4]?.content[0]?.tool_use_id).toBe("call_0_r2");
  });

  it("give calls of one answer that share an id the results in their order", () => {
    const alike = answered([call("c"), call("c")]);
    const results = [result("c"), result("c")].map((one, at) => ({
      ...one,
      content: [{ type: "text" as const, text: `result ${at}` }],
    }));
    const { messages, codes } = send([userText("go"), alike, ...results]);
    expect(messages[2]?.content).toMatchObject([
      { tool_use_id: "c", content: [text("result 0")] },
      { tool_use_id: "c_r2", content: [text("result 1")] },
    ]);
    expect(codes).toEqual([]);
  });

  it("put a later system message into the conversation, and an early one into the system prompt", () => {
    const system = (words: string): Message => ({ role: "system", content: [{ type: "text", text: words }] });
    const { body, messages } = send([system("first"), userText("go"), system("later")], { system: "own" });
    expect(body.system).toEqual([text("own"), text("first")]);
    expect(messages[0]?.content).toEqual([text("go"), text("later")]);
  });

  it("leave out a refused turn", () => {
    const refused = answered([{ type: "text", text: "I can" }], {
      stop: { kind: "refusal", wire: "refusal" },
    });
    expect(send([userText("a"), refused, userText("b")]).messages).toEqual([
      { role: "user", content: [text("a"), text("b")] },
    ]);
  });
});

describe("reasoning", () => {
  const signed: Part[] = [
    { type: "reasoning", text: " exactly\n", opaque: { signature: "c2ln" } },
    { type: "reasoning", text: "", opaque: { redacted: "cmVk" } },
    { type: "reasoning", text: "unsigned" },
    { type: "text", text: "x" },
  ];

  it("is sent back byte for byte to the model that made it", () => {
    expect(send([userText("go"), answered(signed), userText("y")]).messages[1]?.content).toEqual([
      { type: "thinking", thinking: " exactly\n", signature: "c2ln" },
      { type: "redacted_thinking", data: "cmVk" },
      text("x"),
    ]);
  });

  it.each([
    { ...sonnet.origin, model: "claude-opus-4-6" },
    { ...sonnet.origin, provider: "vertex" },
    { ...sonnet.origin, api: "bedrock-converse" },
  ])("is left out for another origin (%o)", (origin) => {
    expect(send([userText("go"), answered(signed, { origin }), userText("y")]).messages[1]?.content).toEqual([
      text("x"),
    ]);
  });

  it("is never at the end of a message, nor alone", () => {
    const thought: Part = { type: "reasoning", text: "hm", opaque: { signature: "s" } };
    expect(
      send([userText("go"), answered([{ type: "text", text: "x" }, thought]), userText("y")]).messages[1]
        ?.content,
    ).toEqual([text("x")]);
    expect(send([userText("go"), answered([thought]), userText("y")]).messages).toHaveLength(1);
  });

  const reasoning = (
    level: ModelRequest["settings"]["reasoning"],
    model: string,
    rest: Partial<ModelRequest> = {},
    history: Message[] = [userText("go")],
  ): Sent =>
    send(
      history,
      { ...rest, settings: { ...rest.settings, ...(level === undefined ? {} : { reasoning: level }) } },
      targetOf("anthropic-messages", "anthropic", model),
    );

  it.each([
    ["claude-sonnet-4-5", "high", { type: "enabled", budget_tokens: 24000 }, undefined],
    ["claude-sonnet-4-5", { budgetTokens: 2000 }, { type: "enabled", budget_tokens: 2000 }, undefined],
    ["claude-sonnet-4-5", { budgetTokens: 10 }, { type: "enabled", budget_tokens: 1024 }, undefined],
    ["claude-opus-4-6", "medium", { type: "adaptive" }, "medium"],
    ["claude-opus-4-6", { budgetTokens: 2000 }, { type: "enabled", budget_tokens: 2000 }, undefined],
    ["claude-sonnet-5", "minimal", { type: "adaptive", display: "summarized" }, "low"],
    ["claude-opus-5-5", { budgetTokens: 2000 }, { type: "adaptive", display: "summarized" }, "low"],
    ["claude-sonnet-4-5", "max", { type: "enabled", budget_tokens: 32000 }, undefined],
    ["claude-opus-4-6", "xhigh", { type: "adaptive" }, "high"],
    ["claude-opus-4-6", "max", { type: "adaptive" }, "max"],
    ["claude-opus-4-7", "xhigh", { type: "adaptive", display: "summarized" }, "xhigh"],
    ["claude-sonnet-5", "max", { type: "adaptive", display: "summarized" }, "max"],
    ["claude-sonnet-4-5", "off", undefined, undefined],
    ["claude-sonnet-5", "off", { type: "disabled" }, undefined],
    ["claude-sonnet-5-5", "off", { type: "between_tools" }, undefined],
    ["claude-opus-5-5", "off", undefined, "low"],
    ["claude-3-5-haiku-20241022", "high", undefined, undefined],
  ] as const)("%s told %o thinks %o at effort %s", (model, level, thinking, effort) => {
    const { body } = reasoning(level, model);
    expect(body.thinking).toEqual(thinking);
    expect((body.output_config as JsonObject | undefined)?.effort).toEqual(effort);
  });

  it("has a budget below the output limit, or none with a warning", () => {
    expect(
      reasoning("high", "claude-sonnet-4-5", { settings: { maxOutputTokens: 3000 } }).body.thinking,
    ).toEqual({ type: "enabled", budget_tokens: 1976 });
    const given = reasoning("high", "claude-sonnet-4-5", { settings: { maxOutputTokens: 800 } });
    expect(given.body.thinking).toBeUndefined();
    expect(given.codes).toContain("unsupported_setting");
  });

  it("leaves the answer room beyond a thinking budget in the caller's own fields", () => {
    const thinking = { type: "enabled", budget_tokens: 40_000 };
    const { body } = send([userText("go")], { settings: { providerOptions: { anthropic: { thinking } } } });
    expect(body).toMatchObject({ thinking, max_tokens: 72_000 });
  });

  it("leaves out blank stop sequences, with a warning", () => {
    const stopped = (stop: string[]): Sent => send([userText("go")], { settings: { stop } });
    expect(stopped(["\n", "END"]).body.stop_sequences).toEqual(["END"]);
    expect(stopped(["\n"]).body).not.toHaveProperty("stop_sequences");
    expect(stopped(["\n"]).codes).toEqual(["unsupported_setting"]);
    expect(stopped(["END"]).codes).toEqual([]);
  });

  it("replaces a forced tool while it thinks, and if tools cannot be forced, with a warning", () => {
    for (const [level, model] of [
      ["high", "claude-sonnet-4-5"],
      [undefined, "claude-opus-5-5"],
    ] as const) {
      const { body, codes } = reasoning(level, model, { tools: [weather], toolChoice: { tool: "weather" } });
      expect(body.tool_choice).toEqual({ type: "auto" });
      expect(codes).toContain("unsupported_tool_choice");
    }
    const haiku = reasoning(undefined, "claude-haiku-5-5", {
      tools: [weather],
      toolChoice: { tool: "weather" },
    });
    expect(haiku.body.tool_choice).toEqual({ type: "tool", name: "weather" });
    expect(haiku.codes).toEqual([]);
  });

  it("is turned off for a turn that began without this model's thinking, with a warning", () => {
    const { body, codes } = reasoning("high", "claude-sonnet-4-5", { tools: [weather] }, [
      userText("go"),
      answered([call("a")]),
      result("a"),
    ]);
    expect(body.thinking).toBeUndefined();
    expect(codes).toContain("unsupported_setting");
  });

  it("is sent unsigned to servers that want it so", () => {
    const target = targetOf("anthropic-messages", "deepseek", "deepseek-chat", {
      compat: { unsignedThinking: true },
    });
    const history = [
      userText("go"),
      answered(
        [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "x" },
        ],
        { origin: target.origin },
      ),
      userText("y"),
    ];
    expect(send(history, {}, target).messages[1]?.content[0]).toEqual({
      type: "thinking",
      thinking: "hm",
      signature: "",
    });
  });
});

describe("tools and settings", () => {
  it.each([
    ["auto", undefined],
    ["any", { type: "any" }],
    ["none", { type: "none" }],
    [{ tool: "weather" }, { type: "tool", name: "weather" }],
  ] as const)("tool choice %o", (toolChoice, sent) => {
    expect(send([userText("go")], { tools: [weather], toolChoice }).body.tool_choice).toEqual(sent);
  });

  it("requests one call at a time", () => {
    const single = send([userText("go")], { tools: [weather], settings: { parallelToolCalls: false } });
    expect(single.body.tool_choice).toEqual({ type: "auto", disable_parallel_tool_use: true });
  });

  it("declares the tools that a history needs, even if none may be called", () => {
    const history = [userText("go"), answered([call("a"), call("b", "fs.read")]), result("a"), result("b")];
    const { body } = send(history);
    expect((body.tools as JsonObject[]).map(({ name }) => name)).toEqual(["fs_x2E_read", "weather"]);
    expect(body.tool_choice).toEqual({ type: "none" });
    expect(send([userText("go")]).body).not.toHaveProperty("tools");
  });

  it("flattens a union at the top of a tool's schema, and does not change other tools", () => {
    const union: JsonObject = {
      $defs: {
        page: {
          type: "object",
          properties: { page: { type: "string" }, common: { type: "number" } },
          required: ["page", "common"],
        },
      },
      anyOf: [
        { $ref: "#/$defs/page" },
        {
          type: "object",
          properties: { base: { type: "string" }, common: { type: "string" } },
          required: ["common"],
        },
      ],
    };
    const { body } = send([userText("go")], {
      tools: [{ name: "n", description: "", inputSchema: union }, weather],
    });
    const [notion, other] = body.tools as { input_schema: JsonObject }[];
    expect(notion?.input_schema).toMatchObject({
      type: "object",
      properties: {
        page: { type: "string" },
        base: { type: "string" },
        common: { anyOf: [{ type: "number" }, { type: "string" }] },
      },
      required: ["common"],
    });
    expect(other?.input_schema).toEqual(weather.inputSchema);
  });

  it("holds the answer to a schema if the model supports it, with every object closed", () => {
    const outputSchema: JsonObject = {
      type: "object",
      properties: { properties: { type: "array", items: { type: "object", properties: { a: {} } } } },
    };
    const { body } = send([userText("go")], { outputSchema });
    expect(body.output_config).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            properties: {
              type: "array",
              items: { type: "object", properties: { a: {} }, additionalProperties: false },
            },
          },
          additionalProperties: false,
        },
      },
    });
    for (const id of ["claude-opus-4-1-20250805", "claude-haiku-4-5"])
      expect(
        send([userText("go")], { outputSchema }, targetOf("anthropic-messages", "anthropic", id)).codes,
      ).toEqual([]);
    const old = targetOf("anthropic-messages", "anthropic", "claude-3-5-haiku-20241022");
    expect(send([userText("go")], { outputSchema }, old)).toMatchObject({
      codes: ["unsupported_output_schema"],
    });
    const without = { ...sonnet, facts: { output: "native_without_tools" as const } };
    expect(send([userText("go")], { outputSchema, tools: [weather] }, without).codes).toEqual([
      "unsupported_output_schema",
    ]);
  });

  it("sends sampling settings if the model accepts them, and warns otherwise", () => {
    const settings = {
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      stop: ["END"],
      seed: 1,
      maxOutputTokens: 100,
    };
    const old = send(
      [userText("go")],
      { settings },
      targetOf("anthropic-messages", "anthropic", "claude-3-haiku-20240307"),
    );
    expect(old.body).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ["END"],
      max_tokens: 100,
    });
    expect(old.codes).toEqual(["unsupported_setting"]);
    const one = send([userText("go")], { settings });
    expect(one.body).toMatchObject({ temperature: 0.5, top_k: 5 });
    expect(one.body).not.toHaveProperty("top_p");
    const none = send(
      [userText("go")],
      { settings },
      targetOf("anthropic-messages", "anthropic", "claude-opus-4-7"),
    );
    for (const name of ["temperature", "top_p", "top_k"]) expect(none.body).not.toHaveProperty(name);
    expect(none.wire.warnings).toHaveLength(4);
  });

  it("clamps the output limit to the model's own", () => {
    const target = { ...sonnet, facts: { maxOutputTokens: 8192 } };
    const { body, codes } = send([userText("go")], { settings: { maxOutputTokens: 100_000 } }, target);
    expect(body.max_tokens).toBe(8192);
    expect(codes).toEqual(["adjusted_setting"]);
  });

  it("passes known provider options on, warns about others, and sends server tools and betas", () => {
    const { body, wire, codes } = send([userText("go")], {
      tools: [weather],
      settings: {
        headers: { "x-mine": "1" },
        providerOptions: {
          anthropic: {
            cache: false,
            metadata: { user_id: "u" },
            betas: ["context-1m"],
            tools: [{ type: "web_search_20250305", name: "web_search" }],
            toolOptions: { weather: { strict: true, unknown: 1 } },
            bogus: 1,
          },
          openai: { store: true },
        },
      },
    });
    expect(body.metadata).toEqual({ user_id: "u" });
    expect(body.tools).toMatchObject([{ name: "weather", strict: true }, { type: "web_search_20250305" }]);
    expect(wire.headers).toMatchObject({ "anthropic-beta": "context-1m", "x-mine": "1" });
    expect(codes).toEqual(["unsupported_option"]);
  });

  it("the request has the form that its host requires", () => {
    const bedrock = send(
      [userText("go")],
      { settings: { providerOptions: { anthropic: { betas: ["b"] } } } },
      targetOf("anthropic-messages", "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
      anthropicOnBedrock,
    );
    expect(bedrock.wire.path).toBe(
      "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream",
    );
    expect(bedrock.body).toMatchObject({ anthropic_version: "bedrock-2023-05-31", anthropic_beta: ["b"] });
    expect(bedrock.body).not.toHaveProperty("model");
    expect(bedrock.body).not.toHaveProperty("stream");
    const vertex = send([userText("go")], {}, { ...sonnet, stream: false }, anthropicOnVertex);
    expect(vertex.wire.path).toBe("/publishers/anthropic/models/claude-sonnet-4-5:rawPredict");
    const own = send([userText("go")]);
    expect(own.wire).toMatchObject({ path: "/v1/messages", headers: { "anthropic-version": "2023-06-01" } });
    expect(own.body).toMatchObject({ model: "claude-sonnet-4-5", stream: true });
    expect(send([userText("go")], {}, { ...sonnet, stream: false }).body).not.toHaveProperty("stream");
  });
});

describe("files", () => {
  const file = (mediaType: string, more: Partial<ContentPart & { type: "file" }> = {}): ContentPart => ({
    type: "file",
    mediaType,
    data: "aGk=",
    ...more,
  });

  it("are sent as images, documents and plain text, in user messages and in results", () => {
    const content = [
      file("image/png"),
      file("application/pdf", { name: "a.pdf", opaque: { citations: { enabled: true } } }),
      file("text/csv"),
    ];
    const blocks = [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "aGk=" },
        title: "a.pdf",
        citations: { enabled: true },
      },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "hi" } },
    ];
    const { messages, codes } = send([
      { role: "user", content },
      answered([call("a")]),
      result("a", content),
    ]);
    expect(messages[0]?.content).toEqual(blocks);
    expect(messages[2]?.content[0]?.content).toEqual(blocks);
    expect(codes).toEqual([]);
  });

  it("follow all results if theirs is an error, which may contain text only", () => {
    const { messages } = send([
      userText("go"),
      answered([call("a"), call("b")]),
      result("a", [{ type: "text", text: "it threw" }, file("image/png")], true),
      result("b"),
    ]);
    expect(messages[2]?.content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "a",
        content: [text("it threw"), text("(Its files stand behind the results.)")],
        is_error: true,
      },
      { type: "tool_result", tool_use_id: "b", content: [text("ok")] },
      text("(Files that weather returned:)"),
      { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
    ]);
  });

  it.each([anthropicOnVertex, anthropicOnBedrock])(
    "are not sent as a URL to a host that fetches none",
    (codec) => {
      const url = "https://example.org/a.png";
      const asked: Message[] = [{ role: "user", content: [{ type: "file", mediaType: "image/png", url }] }];
      const { messages, codes } = send(asked, {}, sonnet, codec);
      expect(messages[0]?.content).toMatchObject([{ type: "text", text: `[image/png, ${url}: not shown]` }]);
      expect(codes).toEqual(["unsupported_file"]);
      const managed = { ...sonnet, compat: { fetchesUrls: true } };
      expect(send(asked, {}, managed, codec).messages[0]?.content).toMatchObject([
        { type: "image", source: { type: "url", url } },
      ]);
    },
  );

  it("are sent as a URL or by file id", () => {
    const { data: _, ...byUrl } = file("image/png", { url: "https://example.org/a.png" }) as ContentPart & {
      type: "file";
    };
    const { data: __, ...byId } = file("application/pdf", {
      opaque: { file_id: "file_1" },
    }) as ContentPart & { type: "file" };
    expect(send([{ role: "user", content: [byUrl, byId] }]).messages[0]?.content).toEqual([
      { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
      { type: "document", source: { type: "file", file_id: "file_1" } },
    ]);
  });

  it.each([
    ["a type the protocol lacks", file("audio/wav"), sonnet, "unsupported_file"],
    [
      "a type this model does not see",
      file("image/png"),
      { ...sonnet, facts: { accepts: ["application/pdf"] } },
      "unsupported_file",
    ],
    [
      "bytes that were not loaded",
      file("image/png", { data: { blob: "b", bytes: 2 } }),
      sonnet,
      "file_not_loaded",
    ],
  ])("%s becomes a note and a warning", (_what, part, target, code) => {
    const { messages, codes } = send([{ role: "user", content: [part] }], {}, target);
    expect(messages[0]?.content[0]).toMatchObject({
      type: "text",
      text: expect.stringContaining("not shown"),
    });
    expect(codes).toEqual([code]);
  });
});

describe("cache marks", () => {
  const marks = (wire: WireRequest): number => wire.body.split('"cache_control"').length - 1;
  const automatic = (messages: Message[], cache?: Json): Sent =>
    send(messages, {
      system: "s",
      tools: [weather],
      settings: cache === undefined ? {} : { providerOptions: { anthropic: { cache } } },
    });
  const long = [userText("go"), answered([call("a")]), result("a"), answered([call("b")]), result("b")];

  it("are on the newest message, the system prompt, the tools and the message before", () => {
    const { wire, body, messages } = automatic(long);
    expect(marks(wire)).toBe(4);
    const mark = { cache_control: { type: "ephemeral" } };
    expect(messages.at(-1)?.content.at(-1)).toMatchObject(mark);
    expect(messages.at(-3)?.content.at(-1)).toMatchObject(mark);
    expect((body.system as Json[]).at(-1)).toMatchObject(mark);
    expect((body.tools as Json[]).at(-1)).toMatchObject(mark);
  });

  it("can be off, or last longer", () => {
    expect(marks(automatic(long, false).wire)).toBe(0);
    expect(automatic(long, { ttl: "1h" }).messages.at(-1)?.content.at(-1)).toMatchObject({
      cache_control: { type: "ephemeral", ttl: "1h" },
    });
    expect(
      marks(send([userText("go")], { settings: {} }, { ...sonnet, compat: { cache: false } }).wire),
    ).toBe(0);
  });

  it("are left out with a warning if a server refused them, also the caller's", () => {
    const settings = { providerOptions: { anthropic: { cache: true } } };
    const { wire } = send([userText("go")], { settings }, { ...sonnet, compat: { cache: "never" } });
    expect(marks(wire)).toBe(0);
    expect(wire.warnings).toEqual([
      { code: "cache_marks_dropped", message: "cache marks were left out: this server refused them" },
    ]);
  });

  it("include the caller's own, and are never more than four", () => {
    const own = (words: string): ContentPart => ({
      type: "text",
      text: words,
      opaque: { cache_control: { type: "ephemeral" } },
    });
    const some = automatic([{ role: "user", content: [own("a"), own("b")] }, ...long.slice(1)]);
    expect(marks(some.wire)).toBe(4);
    expect(some.messages[0]?.content.filter((block) => block.cache_control)).toHaveLength(2);
    const many = automatic([{ role: "user", content: [own("a"), own("b"), own("c"), own("d"), own("e")] }]);
    expect(marks(many.wire)).toBe(4);
    expect(many.codes).toEqual(["cache_marks_dropped"]);
  });
});

describe("model names", () => {
  it.each([
    ["claude-3-7-sonnet-20250219", 307],
    ["claude-3-opus-20240229", 300],
    ["claude-sonnet-4-20250514", 400],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 405],
    ["anthropic.claude-opus-4-6-v1", 406],
    ["claude-opus-4-1@20250805", 401],
    ["anthropic/claude-opus-5.5", 505],
    ["claude-fable-5", 500],
    ["claude-mythos-preview", 406],
  ])("%s is version %i", (model, number) => {
    expect(claudeVersion(model)?.number).toBe(number);
  });

  it("a name that is not Claude's has no version", () => {
    expect(claudeVersion("deepseek-chat")).toBeUndefined();
  });
});

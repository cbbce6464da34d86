import type {
  AssistantMessage,
  Json,
  JsonObject,
  Message,
  ModelRequest,
  Part,
  Settings,
  ToolDefinition,
} from "@rondo/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChatRules, checkOpenaiChatRequest } from "../../testkit/src/wire/rules/openai-chat.ts";
import { checkOpenaiResponsesRequest } from "../../testkit/src/wire/rules/openai-responses.ts";
import type { Target } from "../src/codec.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { chatOrigin, conversations, responsesOrigin } from "./openai-conversations.ts";
import { decodeStream } from "./openai-corpus.ts";

type Loose = { [member: string]: Json };

const chat = (compat: JsonObject = {}, more: Partial<Target> = {}): Target => ({
  origin: chatOrigin,
  facts: {},
  compat,
  ...more,
});
const responses = (compat: JsonObject = {}, more: Partial<Target> = {}): Target => ({
  origin: responsesOrigin,
  facts: {},
  compat,
  ...more,
});

const tools: ToolDefinition[] = [
  {
    name: "read_file",
    description: "Reads.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    },
  },
  { name: "a.b", description: "", inputSchema: { type: "object" } },
  { name: "a_b", description: "", inputSchema: {} },
  {
    name: "x".repeat(90),
    description: "",
    inputSchema: {
      anyOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: {} } }],
    },
  },
];

function request(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: messages as Message[], tools: [], toolChoice: "auto", settings: {}, ...more };
}

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const assistant = (content: Part[], origin = chatOrigin): AssistantMessage => ({
  role: "assistant",
  content,
  origin,
  stop: { kind: "end_turn", wire: "end_turn" },
});
const call = (id: string, more: Partial<Part & { type: "tool_call" }> = {}): Part => ({
  type: "tool_call",
  id,
  name: "g",
  args: {},
  rawArgs: "{}",
  ...more,
});
const result = (callId: string, content: Message["content"] = [{ type: "text", text: "ok" }]): Message => ({
  role: "tool",
  callId,
  name: "g",
  isError: false,
  content: content as [],
});
const image: Part = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" };

function chatBody(
  messages: readonly Message[],
  compat: JsonObject = {},
  more: Partial<ModelRequest> = {},
): Loose & { messages: Loose[] } {
  const { body } = openaiChat.encoder(chat(compat)).encode(request(messages, more));
  expect(checkOpenaiChatRequest(body, compat.idForm === "mistral9" ? { mistral: true } : {})).toEqual([]);
  return JSON.parse(body) as Loose & { messages: Loose[] };
}

function responsesBody(
  messages: readonly Message[],
  more: Partial<ModelRequest> = {},
  compat: JsonObject = {},
): Loose & { input: Loose[] } {
  const { body } = openaiResponses.encoder(responses(compat)).encode(request(messages, more));
  expect(checkOpenaiResponsesRequest(body)).toEqual([]);
  return JSON.parse(body) as Loose & { input: Loose[] };
}

describe("every canonical conversation is a request the server takes", () => {
  const rows: [string, JsonObject, ChatRules][] = [
    ["OpenAI", {}, {}],
    [
      "a Mistral",
      {
        idForm: "mistral9",
        bridgeToolUser: true,
        noAssistantLast: true,
        nullContent: false,
        toolChoiceAny: "any",
      },
      { mistral: true, refusedFields: ["reasoning_content", "reasoning", "reasoning_details"] },
    ],
    [
      "a Groq",
      {},
      { stringContent: true, refusedFields: ["reasoning_content", "reasoning", "reasoning_details"] },
    ],
    ["an xAI", { nullContent: false }, { noEmptyContent: true }],
    ["a template", { alternate: true, systemRole: "user", systemFirstOnly: true }, { alternate: true }],
    ["a DeepSeek", { echoReasoning: "reasoning_content", reasoningFill: "" }, {}],
    ["an OpenRouter", { echoReasoning: "reasoning_details" }, {}],
  ];

  test.each(rows)("%s", (_, compat, rules) => {
    fc.assert(
      fc.property(conversations, fc.boolean(), (messages, withTools) => {
        const { body } = openaiChat
          .encoder(chat(compat))
          .encode(request([user("go"), ...messages], { system: "be brief", tools: withTools ? tools : [] }));
        expect(checkOpenaiChatRequest(body, rules)).toEqual([]);
      }),
    );
  });

  test.each([
    ["stateless", false],
    ["stored", true],
  ])("Responses, %s", (_, store) => {
    fc.assert(
      fc.property(conversations, fc.boolean(), (messages, withTools) => {
        const settings: Settings = { providerOptions: { test: { store } } };
        const { body } = openaiResponses.encoder(responses()).encode(
          request([user("go"), ...messages], {
            system: "be brief",
            tools: withTools ? tools : [],
            settings,
          }),
        );
        expect(checkOpenaiResponsesRequest(body)).toEqual([]);
      }),
    );
  });

  test("a request begins with the bytes of the one before it", () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        // A request goes out where an answer is due: after a user's word or after all results.
        const ends = messages.flatMap((message, at) => (at > 0 && message.role === "assistant" ? [at] : []));
        for (const encoder of [openaiChat.encoder(chat()), openaiResponses.encoder(responses())]) {
          let last = "";
          for (const end of [...ends, messages.length]) {
            const { body } = encoder.encode(request(messages.slice(0, end), { tools }));
            expect(body.startsWith(last)).toBe(true);
            last = body.slice(0, -"]}".length);
          }
        }
      }),
    );
  });

  test("a message is encoded once, and a fresh encoder says the same", () => {
    let reads = 0;
    const counted = user("hello");
    const watched = new Proxy(counted, {
      get(of, member) {
        if (member === "content") reads++;
        return Reflect.get(of, member) as unknown;
      },
    });
    for (const [codec, to] of [
      [openaiChat, chat()],
      [openaiResponses, responses()],
    ] as const) {
      reads = 0;
      const encoder = codec.encoder(to);
      const first = encoder.encode(request([watched]));
      expect(reads).toBe(1);
      expect(encoder.encode(request([watched]))).toEqual(first);
      expect(reads).toBe(1);
      expect(codec.encoder(to).encode(request([watched]))).toEqual(first);
    }
  });
});

describe("an answer as it was meant comes back from the wire", () => {
  const meant = fc.record({
    reasoning: fc.string(),
    text: fc.string(),
    calls: fc.array(
      fc.record({
        name: fc.constantFrom("f", "g"),
        args: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
      }),
      { maxLength: 3 },
    ),
    cuts: fc.array(fc.nat(20), { maxLength: 6 }),
  });

  function pieces(text: string, cuts: readonly number[]): string[] {
    const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
    // JSON text cannot carry half a surrogate pair, nor does any server send one.
    return places
      .slice(1)
      .map((end, at) => text.slice(places[at], end))
      .every((piece) => !/[\ud800-\udfff]/.test(piece))
      ? places.slice(1).map((end, at) => text.slice(places[at], end))
      : [text];
  }

  function said(message: AssistantMessage): unknown {
    const joined = (type: "text" | "reasoning"): string =>
      message.content.map((part) => (part.type === type ? part.text : "")).join("");
    return {
      reasoning: joined("reasoning"),
      text: joined("text"),
      calls: message.content.flatMap((part) =>
        part.type === "tool_call" ? [[part.id, part.name, JSON.stringify(part.args), part.argsError]] : [],
      ),
      kind: message.stop.kind,
    };
  }

  test("Chat Completions", () => {
    fc.assert(
      fc.property(meant, ({ reasoning, text, calls, cuts }) => {
        fc.pre(text.length < 32 && reasoning.length < 32);
        const deltas: Loose[] = [
          ...pieces(reasoning, cuts).map((piece) => ({ reasoning_content: piece })),
          ...pieces(text, cuts).map((piece) => ({ content: piece })),
          ...calls.flatMap(({ name, args }, index) => [
            {
              tool_calls: [
                { index, id: `call_${index}`, type: "function", function: { name, arguments: "" } },
              ],
            },
            ...pieces(JSON.stringify(args), cuts).map((piece) => ({
              tool_calls: [{ index, function: { arguments: piece } }],
            })),
          ]),
        ];
        const frames = [
          ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
          { choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }] },
        ];
        const sse = `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")}data: [DONE]\n\n`;
        const expected = {
          reasoning,
          text,
          calls: calls.map(({ name, args }, at) => [`call_${at}`, name, JSON.stringify(args), undefined]),
          kind: calls.length > 0 ? "tool_use" : "end_turn",
        };
        expect(said(decodeStream(openaiChat, chat(), sse).message)).toEqual(expected);
        const tool_calls = calls.map(({ name, args }, at) => ({
          id: `call_${at}`,
          type: "function",
          function: { name, arguments: JSON.stringify(args) },
        }));
        const whole = {
          choices: [
            {
              index: 0,
              finish_reason: "stop",
              message: { role: "assistant", content: text, reasoning_content: reasoning, tool_calls },
            },
          ],
        };
        expect(said(openaiChat.decodeWhole(whole as Json, chat(), () => {}))).toEqual(expected);
      }),
    );
  });

  test("Responses, and sent back it is what came", () => {
    fc.assert(
      fc.property(meant, ({ reasoning, text, calls, cuts }) => {
        const items: Loose[] = [
          {
            type: "reasoning",
            id: "rs_1",
            encrypted_content: "E",
            summary: [{ type: "summary_text", text: reasoning }],
          },
          {
            type: "message",
            id: "msg_1",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [] }],
          },
          ...calls.map(({ name, args }, at) => ({
            type: "function_call",
            id: `fc_${at}`,
            call_id: `call_${at}`,
            name,
            arguments: JSON.stringify(args),
            status: "completed",
          })),
        ];
        const events: Loose[] = [
          ...pieces(reasoning, cuts).map((delta) => ({
            type: "response.reasoning_summary_text.delta",
            output_index: 0,
            summary_index: 0,
            delta,
          })),
          { type: "response.output_item.done", output_index: 0, item: items[0]! },
          ...pieces(text, cuts).map((delta) => ({
            type: "response.output_text.delta",
            output_index: 1,
            content_index: 0,
            delta,
          })),
          ...items
            .slice(1)
            .map((item, at) => ({ type: "response.output_item.done", output_index: at + 1, item })),
          { type: "response.completed", response: { status: "completed", output: items } },
        ];
        const sse = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
        const { message } = decodeStream(openaiResponses, responses(), sse);
        expect(said(message)).toEqual({
          reasoning,
          text,
          calls: calls.map(({ name, args }, at) => [`call_${at}`, name, JSON.stringify(args), undefined]),
          kind: calls.length > 0 ? "tool_use" : "end_turn",
        });
        const whole = openaiResponses.decodeWhole(
          { status: "completed", output: items },
          responses(),
          () => {},
        );
        expect(whole).toEqual(message);
        const results = calls.map((_, at) => result(`call_${at}`));
        const back = responsesBody([user("go"), message, ...results]).input.slice(1, 1 + items.length);
        const due = items
          .filter((item) => item.type !== "message" || text.trim() !== "")
          .map((item) =>
            item.type === "function_call"
              ? Object.fromEntries(Object.entries(item).filter(([member]) => member !== "status"))
              : item,
          );
        // Reasoning that nothing follows cannot be told.
        if (due.length > 1) expect(back.slice(0, due.length)).toEqual(due);
      }),
    );
  });
});

describe("Chat Completions requests", () => {
  test("images of results come after all results of the turn, as a user's (F117)", () => {
    const { messages } = chatBody([
      user("shot"),
      assistant([call("a"), call("b")]),
      result("a", [image as never]),
      result("b"),
      user("and?"),
    ]);
    expect(messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
      "user",
    ]);
    expect(messages[4]!.content).toMatchObject([
      { type: "text" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
    ]);
    expect(messages[2]!.content).toMatch(/file of this result/);
  });

  test("arguments go out as written when they are an object, else empty (F093, F095, F097)", () => {
    const { messages } = chatBody([
      user("go"),
      assistant([
        call("a", { rawArgs: '{"id":2512292042121000001}', args: { id: 1 } }),
        call("b", { rawArgs: '{"a":', argsError: "cut" }),
        call("c", { rawArgs: JSON.stringify('{"a":1}'), args: { a: 1 } }),
        call("d", { rawArgs: "" }),
      ]),
      ...["a", "b", "c", "d"].map((id) => result(id)),
    ]);
    const sent = (messages[1]!.tool_calls as Loose[]).map((one) => (one.function as Loose).arguments);
    expect(sent).toEqual(['{"id":2512292042121000001}', "{}", '{"a":1}', "{}"]);
  });

  test("blank messages are left out, and calls without text have null or empty content (F122, F123, F125)", () => {
    const history = [
      user("go"),
      assistant([{ type: "text", text: " \n" }]),
      assistant([{ type: "reasoning", text: "hm" }]),
      assistant([call("a")]),
      result("a", []),
    ];
    expect(chatBody(history).messages.slice(1)).toMatchObject([
      { role: "assistant", content: null },
      { role: "tool", content: "(no output)" },
    ]);
    const empty = chatBody(history, { nullContent: false }).messages;
    expect(empty[1]).toMatchObject({ content: "" });
    expect(chatBody([user("go"), assistant([{ type: "text", text: "x" }]), user("")]).messages[1]).toEqual({
      role: "assistant",
      content: "x",
    });
  });

  test("foreign ids become nine letters on both sides, and stay distinct (F055)", () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => `toolu_01AbmHJypDhKqBF7NKdRPJ${at}`);
    const { messages } = chatBody(
      [user("go"), assistant(ids.map((id) => call(id))), ...ids.map((id) => result(id))],
      { idForm: "mistral9" },
    );
    const sent = (messages[1]!.tool_calls as Loose[]).map((one) => one.id);
    expect(new Set(sent).size).toBe(ids.length);
    expect(messages.slice(2).map((message) => message.tool_call_id)).toEqual(sent);
    expect(sent[0]).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test("reasoning goes back only in the field asked for, to its own model, on tool turns (F104, F105)", () => {
    const think: Part = {
      type: "reasoning",
      text: "hm",
      opaque: { reasoning_details: [{ type: "reasoning.text", text: "hm" }] },
    };
    const history = (origin = chatOrigin): Message[] => [
      user("go"),
      assistant([think, call("a")], origin),
      result("a"),
      assistant([think, { type: "text", text: "done" }], origin),
      user("more"),
    ];
    const fields = (compat: JsonObject, origin = chatOrigin): unknown[] =>
      chatBody(history(origin), compat)
        .messages.filter((message) => message.role === "assistant")
        .map(({ reasoning, reasoning_content, reasoning_details }) => ({
          reasoning,
          reasoning_content,
          reasoning_details,
        }));
    const none = { reasoning: undefined, reasoning_content: undefined, reasoning_details: undefined };
    const other = { ...chatOrigin, provider: "deepseek" };
    expect(fields({})).toEqual([none, none]);
    expect(fields({ echoReasoning: "reasoning_content" })).toEqual([
      { ...none, reasoning_content: "hm" },
      none,
    ]);
    expect(fields({ echoReasoning: "reasoning", echoReasoningOn: "all" })).toEqual([
      { ...none, reasoning: "hm" },
      { ...none, reasoning: "hm" },
    ]);
    expect(fields({ echoReasoning: "reasoning_details" })).toEqual(
      [1, 2].map(() => ({ ...none, reasoning_details: think.opaque?.reasoning_details })),
    );
    expect(fields({ echoReasoning: "reasoning_content" }, other)).toEqual([none, none]);
    expect(fields({ echoReasoning: "reasoning_content", reasoningFill: " " }, other)).toEqual([
      { ...none, reasoning_content: " " },
      none,
    ]);
  });

  test("a bridge stands between results and a user's word where the server wants one (F046, F127)", () => {
    const mistral = { idForm: "mistral9", bridgeToolUser: true, noAssistantLast: true };
    expect(
      chatBody(
        [user("go"), assistant([call("call_1")]), result("call_1"), user("stop that")],
        mistral,
      ).messages.map((message) => message.role),
    ).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(
      chatBody([user("go"), assistant([{ type: "text", text: "x" }])], mistral).messages.at(-1)!.role,
    ).toBe("user");
  });

  test("tool schemas are made ones that are accepted, and strict only where it is safe (F136, F140, F141)", () => {
    const body = chatBody([user("go")], { strictTools: true }, { tools });
    const sent = (body.tools as Loose[]).map((tool) => tool.function as Loose);
    expect(sent.map((fn) => fn.strict)).toEqual([true, undefined, undefined, undefined]);
    expect(sent[3]!.parameters).toEqual({ type: "object", properties: { a: { type: "string" }, b: {} } });
    expect(chatBody([user("go")], {}, { tools }).tools).not.toMatchObject([{ function: { strict: true } }]);
  });

  test("a name that was changed on the way out is changed back on the way in (F059, F060)", () => {
    const to = chat({}, { origin: { ...chatOrigin } });
    const body = JSON.parse(openaiChat.encoder(to).encode(request([user("go")], { tools })).body) as {
      tools: { function: { name: string } }[];
    };
    const names = body.tools.map((tool) => tool.function.name);
    expect(new Set(names).size).toBe(4);
    for (const [at, name] of names.entries()) {
      const answer = {
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: { tool_calls: [{ id: "a", function: { name, arguments: "{}" } }] },
          },
        ],
      };
      expect(openaiChat.decodeWhole(answer, to, () => {}).content).toMatchObject([{ name: tools[at]!.name }]);
    }
  });

  test("tool choice, parallel calls and an empty list of tools", () => {
    const choice = (toolChoice: ModelRequest["toolChoice"], compat: JsonObject = {}): Json | undefined =>
      chatBody([user("x")], compat, { tools, toolChoice }).tool_choice;
    expect(choice("auto")).toBeUndefined();
    expect(choice("none")).toBe("none");
    expect(choice("any")).toBe("required");
    expect(choice("any", { toolChoiceAny: "any" })).toBe("any");
    expect(choice({ tool: "read_file" })).toEqual({ type: "function", function: { name: "read_file" } });
    expect(
      chatBody([user("x")], {}, { tools, settings: { parallelToolCalls: false } }).parallel_tool_calls,
    ).toBe(false);
    const none = chatBody([user("x")], {}, { toolChoice: "any", settings: { parallelToolCalls: false } });
    expect(Object.keys(none)).not.toContain("tools");
    expect(Object.keys(none)).not.toContain("tool_choice");
    const many = Array.from({ length: 129 }, (_, at) => ({ ...tools[0]!, name: `t${at}` }));
    expect(() => openaiChat.encoder(chat()).encode(request([user("x")], { tools: many }))).toThrow(
      expect.objectContaining({ kind: "capability", retryable: false }),
    );
    expect(() =>
      openaiChat.encoder(chat({ maxTools: 0 })).encode(request([user("x")], { tools: many })),
    ).not.toThrow();
  });

  test("settings go out under the server's own names, and what it lacks is said", () => {
    const settings: Settings = {
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      maxOutputTokens: 100,
      stop: ["END"],
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      reasoning: "high",
      providerOptions: { test: { prompt_cache_key: "k", bogus: 1, messages: [] }, other: { user: "u" } },
    };
    const encode = (compat: JsonObject, more: Partial<Target> = {}): { body: Loose; codes: string[] } => {
      const wire = openaiChat.encoder(chat(compat, more)).encode(request([user("x")], { settings }));
      return { body: JSON.parse(wire.body) as Loose, codes: wire.warnings.map((warning) => warning.code) };
    };
    const plain = encode({});
    expect(plain.body).toMatchObject({
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      reasoning_effort: "high",
      prompt_cache_key: "k",
    });
    expect(plain.codes).toEqual(["unknown_option", "unknown_option", "unsupported_setting"]);
    const other = encode(
      {
        maxTokensField: "max_tokens",
        seedField: "random_seed",
        topK: true,
        streamUsage: false,
        omit: ["frequency_penalty"],
        options: ["bogus"],
        reasoningParam: "reasoning",
      },
      { stream: false },
    );
    expect(other.body).toMatchObject({
      max_tokens: 100,
      random_seed: 7,
      top_k: 5,
      bogus: 1,
      reasoning: { effort: "high" },
    });
    for (const absent of [
      "max_completion_tokens",
      "seed",
      "frequency_penalty",
      "stream",
      "stream_options",
      "reasoning_effort",
    ])
      expect(Object.keys(other.body)).not.toContain(absent);
    expect(other.codes).toEqual(["unknown_option", "unsupported_setting"]);
    expect(encode({ reasoningParam: "thinking" }).body.thinking).toEqual({ type: "enabled" });
    expect(encode({ reasoningParam: "enable_thinking" }).body.enable_thinking).toBe(true);
    expect(encode({ reasoningParam: "none" }).codes).toContain("unsupported_setting");
  });

  test("an output schema is asked for natively, strictly only where it is safe", () => {
    const strict = tools[0]!.inputSchema;
    const format = (outputSchema: JsonObject, compat: JsonObject = {}): Json | undefined =>
      chatBody([user("x")], compat, { outputSchema }).response_format;
    expect(format(strict)).toEqual({
      type: "json_schema",
      json_schema: { name: "response", schema: strict, strict: true },
    });
    expect(format({ type: "object", properties: { a: {} } })).toMatchObject({
      json_schema: { strict: false },
    });
    expect(format(strict, { structuredOutput: "json_object" })).toEqual({ type: "json_object" });
    expect(format(strict, { structuredOutput: "none" })).toBeUndefined();
  });

  test("what a model does not see is said in words, not sent", () => {
    const to = chat({}, { facts: { accepts: ["text/*"] } });
    const wire = openaiChat.encoder(to).encode(request([{ role: "user", content: [image as never] }]));
    expect(wire.body).not.toContain("image_url");
    expect(wire.body).toContain("does not take it");
    expect(wire.warnings).toMatchObject([{ code: "file_left_out" }]);
  });
});

describe("Responses requests", () => {
  const reasoning = (id: string, more: JsonObject = {}): Part => ({
    type: "reasoning",
    text: "",
    opaque: { item: { type: "reasoning", id, summary: [], encrypted_content: "E", ...more } },
  });
  const own = (content: Part[]): AssistantMessage => assistant(content, responsesOrigin);

  test("nothing is stored, and reasoning comes back encrypted (F112)", () => {
    const body = responsesBody([user("x")], { system: "S" });
    expect(body).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
      instructions: "S",
      stream: true,
    });
    const settings: Settings = {
      maxOutputTokens: 9,
      reasoning: "low",
      providerOptions: {
        test: {
          store: true,
          reasoning: { summary: "auto" },
          include: ["web_search_call.action.sources"],
          text: { verbosity: "low" },
          tools: [{ type: "web_search" }],
        },
      },
    };
    const stored = responsesBody([user("x")], { settings, outputSchema: { type: "object", properties: {} } });
    expect(stored).toMatchObject({
      store: true,
      include: ["web_search_call.action.sources"],
      max_output_tokens: 9,
      reasoning: { summary: "auto", effort: "low" },
      text: { verbosity: "low", format: { type: "json_schema", name: "response", strict: false } },
      tools: [{ type: "web_search" }],
    });
    const lacking = openaiResponses
      .encoder(responses())
      .encode(request([user("x")], { settings: { seed: 1, stop: ["a"], topK: 1 } }));
    expect(lacking.warnings).toHaveLength(3);
  });

  test("reasoning goes with the item after it, or not at all (F111)", () => {
    const types = (content: Part[], ...results: Message[]): unknown[] =>
      responsesBody([user("x"), own(content), ...results])
        .input.slice(1)
        .map((item) => [item.type, item.id]);
    expect(types([reasoning("rs_1"), call("a", { opaque: { id: "fc_1" } })], result("a"))).toEqual([
      ["reasoning", "rs_1"],
      ["function_call", "fc_1"],
      ["function_call_output", undefined],
    ]);
    expect(types([{ type: "text", text: "x", opaque: { id: "msg_1" } }, reasoning("rs_1")])).toEqual([
      ["message", "msg_1"],
    ]);
    expect(types([reasoning("rs_1")])).toEqual([]);
    // Without its encrypted content it cannot be sent; then the ids that are tied to it cannot either.
    const plain: Part = {
      type: "reasoning",
      text: "",
      opaque: { item: { type: "reasoning", id: "rs_1", summary: [] } },
    };
    const tied = [plain, call("a", { opaque: { id: "fc_1" } }), call("b", { opaque: { id: "fc_2" } })];
    expect(types(tied, result("a"), result("b")).slice(0, 2)).toEqual([
      ["function_call", undefined],
      ["function_call", undefined],
    ]);
    // A call that did not arrive whole is not what its reasoning led to (F029).
    const broken = [
      reasoning("rs_1"),
      call("a", { opaque: { id: "fc_1" }, argsError: "cut", rawArgs: '{"a":' }),
    ];
    expect(types(broken, result("a"))[0]).toEqual(["function_call", undefined]);
  });

  test("another model's reasoning, items and ids are left out", () => {
    const native: Part = {
      type: "native",
      kind: "web_search_call",
      opaque: { item: { type: "web_search_call", id: "ws_1" } },
    };
    const foreign = assistant(
      [
        reasoning("rs_1"),
        native,
        { type: "text", text: "t", opaque: { id: "msg_1" } },
        call("call_x|fc_y", { opaque: { id: "fc_1" } }),
      ],
      { ...responsesOrigin, model: "other" },
    );
    const { input } = responsesBody([user("x"), foreign, result("call_x|fc_y")]);
    expect(input.slice(1)).toMatchObject([
      { type: "message", content: [{ type: "output_text", text: "t" }] },
      { type: "function_call" },
      { type: "function_call_output" },
    ]);
    expect(JSON.stringify(input)).not.toMatch(/rs_1|ws_1|msg_1|fc_1/);
    expect(input[2]!.call_id).toBe(input[3]!.call_id);
    expect(input[2]!.call_id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test("results hold images and files, or leave them for a message after all results", () => {
    const history = [
      user("x"),
      own([call("a"), call("b")]),
      result("a", [{ type: "text", text: "see" }, image as never]),
      result("b"),
    ];
    expect(responsesBody(history).input[3]!.output).toEqual([
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "auto" },
    ]);
    const apart = responsesBody(history, {}, { toolFiles: false }).input;
    expect(apart.slice(3).map((item) => item.type ?? item.role)).toEqual([
      "function_call_output",
      "function_call_output",
      "user",
    ]);
  });

  test("strict is said either way, and only where it is safe (F140)", () => {
    const sent = responsesBody([user("x")], { tools, toolChoice: { tool: "read_file" } });
    expect((sent.tools as Loose[]).map((tool) => tool.strict)).toEqual([true, false, false, false]);
    expect(sent.tool_choice).toEqual({ type: "function", name: "read_file" });
  });
});

describe("the rules themselves", () => {
  test.each<[string, Json, RegExp]>([
    [
      "an open call",
      {
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "user", content: "x" },
        ],
      },
      /did not have response messages: a/,
    ],
    [
      "an orphan result",
      { model: "m", messages: [{ role: "tool", tool_call_id: "a", content: "x" }] },
      /must be a response to a preceding message/,
    ],
    [
      "an empty list of calls",
      { model: "m", messages: [{ role: "assistant", content: "x", tool_calls: [] }] },
      /empty array/,
    ],
    [
      "an empty list of tools",
      { model: "m", tools: [], messages: [{ role: "user", content: "x" }] },
      /too short/,
    ],
    [
      "an image in a result",
      {
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          {
            role: "tool",
            tool_call_id: "a",
            content: [{ type: "image_url", image_url: { url: "https://a" } }],
          },
        ],
      },
      /only allowed for messages with role 'user'/,
    ],
    [
      "bad arguments",
      {
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "" } }],
          },
          { role: "tool", tool_call_id: "a", content: "x" },
        ],
      },
      /Failed to parse/,
    ],
    [
      "a long name",
      {
        model: "m",
        tools: [
          {
            type: "function",
            function: { name: "x".repeat(67), parameters: { type: "object", properties: {} } },
          },
        ],
        messages: [{ role: "user", content: "x" }],
      },
      /maximum length 64, but got a string with length 67/,
    ],
    [
      "a schema without properties",
      {
        model: "m",
        tools: [{ type: "function", function: { name: "x", parameters: { type: "object" } } }],
        messages: [{ role: "user", content: "x" }],
      },
      /missing properties/,
    ],
    [
      "an unknown field",
      { model: "m", messages: [{ role: "user", content: "x", timestamp: 1 }] },
      /'timestamp' is unsupported/,
    ],
  ])("Chat Completions refuses %s", (_, body, words) => {
    expect(
      checkOpenaiChatRequest(body)
        .map((one) => one.message)
        .join("\n"),
    ).toMatch(words);
  });

  test.each<[string, Json, RegExp]>([
    [
      "reasoning alone",
      [{ type: "reasoning", id: "rs_1", summary: [] }],
      /without its required following item/,
    ],
    [
      "an open call",
      [{ type: "function_call", call_id: "a", name: "f", arguments: "{}" }],
      /No tool output found/,
    ],
    ["an orphan output", [{ type: "function_call_output", call_id: "a", output: "x" }], /No tool call found/],
    [
      "a foreign id",
      [
        { type: "function_call", id: "call_1", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "x" },
      ],
      /begins with 'fc'/,
    ],
    [
      "a long call id",
      [{ type: "function_call", call_id: "a".repeat(446), name: "f", arguments: "{}" }],
      /got a string with length 446/,
    ],
    ["a reference to what is not stored", [{ type: "item_reference", id: "rs_1" }], /not persisted/],
  ])("Responses refuses %s", (_, input, words) => {
    expect(
      checkOpenaiResponsesRequest({ model: "m", input })
        .map((one) => one.message)
        .join("\n"),
    ).toMatch(words);
  });

  test("a body with half a surrogate pair is refused, in any disguise but text about one", () => {
    const messages = (text: string): string =>
      `{"model":"m","messages":[{"role":"user","content":"${text}"}]}`;
    expect(checkOpenaiChatRequest(messages("a\\ud83d"))[0]?.message).toMatch(/surrogate/);
    expect(checkOpenaiChatRequest(messages("a\\ud83d\\ude00"))).toEqual([]);
    expect(checkOpenaiChatRequest(messages("a\\\\ud83d"))).toEqual([]);
  });
});

import type { AssistantMessage, Json, JsonObject, Message, Settings } from "@rondo/core";
import { type ChatRules, checkOpenaiChatRequest, checkOpenaiResponsesRequest } from "@rondo/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Target } from "../../src/codec.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { conversations } from "./conversations.ts";
import { decodeStream } from "./corpus.ts";
import { chat, type Loose, request, responses, responsesBody, result, tools, user } from "./requests.ts";

const offeredIn = (messages: readonly Message[]): Set<string> =>
  new Set(messages.flatMap((one) => (one.role === "tool" ? (one.offers ?? []) : [])));

describe("every canonical conversation becomes a request that the server accepts", () => {
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
    ["a Llama", { singleCalls: true, alternate: true, systemFirstOnly: true }, { alternate: true }],
    [
      "a Qwen's template",
      { objectArguments: true, toolNames: true, spellRefs: true, systemFirstOnly: true, needsUser: true },
      { objectArguments: true },
    ],
    ["a DeepSeek", { echoReasoning: "reasoning_content", reasoningFill: "" }, {}],
    ["an OpenRouter", { echoReasoning: "reasoning_details" }, {}],
  ];

  test.each(rows)("%s", (_, compat, rules) => {
    fc.assert(
      fc.property(conversations, fc.boolean(), (messages, withTools) => {
        const { body } = openaiChat
          .encoder(chat(compat, { facts: { offersInPlace: withTools } }))
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
      fc.property(conversations, fc.boolean(), fc.boolean(), (messages, withTools, offersInPlace) => {
        const settings: Settings = { providerOptions: { test: { store } } };
        const { body } = openaiResponses.encoder(responses({}, { facts: { offersInPlace } })).encode(
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

  test.each([
    ["Chat Completions", openaiChat, chat()],
    ["Responses", openaiResponses, responses()],
  ])("with the options that are new in %s", (_, codec, target) => {
    const options = { prompt_cache_options: { mode: "explicit", ttl: "30m" }, moderation: { model: "m" } };
    const settings: Settings = { providerOptions: { test: options } };
    const { body, warnings } = codec.encoder(target).encode(request([user("go")], { settings }));
    expect([JSON.parse(body), warnings]).toEqual([expect.objectContaining(options), []]);
  });

  test("a request begins with the bytes of the one before", () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        // A request goes out where an answer is due: after a user's word or after all results.
        const ends = messages.flatMap((message, at) => (at > 0 && message.role === "assistant" ? [at] : []));
        const offered = offeredIn(messages);
        for (const [encoder, inPlace] of [
          [openaiChat.encoder(chat())],
          [openaiChat.encoder(chat({}, { facts: { offersInPlace: true } })), true],
          [openaiResponses.encoder(responses())],
          [openaiResponses.encoder(responses({}, { facts: { offersInPlace: true } })), true],
        ] as const) {
          let last = "";
          for (const end of [...ends, messages.length]) {
            const sent = messages.slice(0, end);
            const now = offeredIn(sent);
            const there = tools.filter(({ name }) => !inPlace || !offered.has(name) || now.has(name));
            const { body } = encoder.encode(request(sent, { tools: there }));
            expect(body.startsWith(last)).toBe(true);
            last = body.slice(0, -"]}".length);
          }
        }
      }),
    );
  });

  test("an encoder writes any history as a new encoder does, whatever it wrote before", () => {
    const rows: [typeof openaiChat, Target][] = [
      [openaiChat, chat()],
      [openaiChat, chat({ alternate: true, noAssistantLast: true, bridgeToolUser: true })],
      [openaiChat, chat({ singleCalls: true })],
      [openaiChat, chat({}, { facts: { offersInPlace: true } })],
      [openaiResponses, responses()],
      [openaiResponses, responses({ alternate: true, bridgeToolUser: true, toolFiles: false })],
      [openaiResponses, responses({}, { facts: { offersInPlace: true } })],
    ];
    const turns = fc.array(
      fc.record({ keep: fc.nat(30), drop: fc.option(fc.nat(30)), system: fc.constantFrom("S", "T") }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(conversations, turns, (messages, steps) => {
        for (const [codec, to] of rows) {
          const used = codec.encoder(to);
          for (const { keep, drop, system } of steps) {
            const part = messages.slice(0, keep).filter((_, at) => at !== drop);
            const asked = request(part, { system });
            expect(used.encode(asked).body).toBe(codec.encoder(to).encode(asked).body);
          }
        }
      }),
    );
  });

  test("a message is encoded once, and a new encoder writes the same", () => {
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

test.each([
  ["chat", openaiChat, chat(), "messages"],
  ["responses", openaiResponses, responses(), "input"],
] as const)(
  "a history of which nothing may be sent still becomes a request: %s",
  (_, codec, target, list) => {
    const foreign: AssistantMessage = {
      role: "assistant",
      content: [{ type: "reasoning", text: "hm", opaque: { signature: "s" } }],
      origin: { api: "anthropic-messages", provider: "anthropic", model: "m" },
      stop: { kind: "end_turn", wire: "end_turn" },
    };
    const encoder = codec.encoder(target);
    const sent = (messages: Message[]): JsonObject[] =>
      (JSON.parse(encoder.encode(request(messages)).body) as { [list: string]: JsonObject[] })[list] ?? [];
    expect(sent([foreign])).toEqual([expect.objectContaining({ role: "user" })]);
    expect(JSON.stringify(sent([foreign]))).toContain("Continue.");
    expect(JSON.stringify(sent([foreign, user("and?")]))).not.toContain("Continue.");
  },
);

describe("the schema of an output", () => {
  const outputSchema: JsonObject = { type: "object", properties: {} };
  test.each([
    ["Chat Completions", openaiChat, chat],
    ["Responses", openaiResponses, responses],
  ] as const)(
    "is sent over %s if the model is known to follow it, with tools or without",
    (_, codec, target) => {
      const sent = (
        output: "native" | "native_without_tools" | "none",
        withTools: boolean,
      ): [boolean, string[]] => {
        const asked = request([user("x")], { outputSchema, tools: withTools ? tools.slice(0, 1) : [] });
        const { body, warnings } = codec.encoder(target({}, { facts: { output } })).encode(asked);
        return [body.includes("json_schema"), warnings.map(({ code }) => code)];
      };
      expect(sent("native", true)).toEqual([true, []]);
      expect(sent("native_without_tools", false)).toEqual([true, []]);
      expect(sent("native_without_tools", true)).toEqual([false, ["unsupported_output_schema"]]);
      expect(sent("none", false)).toEqual([false, ["unsupported_output_schema"]]);
    },
  );
});

describe("an answer is decoded from the wire as intended", () => {
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

  test("Responses, and is sent back as it came", () => {
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

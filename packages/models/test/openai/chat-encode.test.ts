import type { Json, JsonObject, Message, ModelRequest, Part, Settings } from "@rondo/core";
import { describe, expect, test } from "vitest";
import type { Target } from "../../src/codec.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { chatOrigin } from "./conversations.ts";
import {
  assistant,
  call,
  chat,
  chatBody,
  image,
  type Loose,
  request,
  result,
  tools,
  user,
} from "./requests.ts";

describe("Chat Completions requests", () => {
  test("images of results come after all results of the turn, in a user message (F117)", () => {
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

  test("Kimi's call ids are numbered in order and contain the tool's name, the only thing its template shows of calls (F055)", () => {
    const long = "a_tool_with_a_name_that_is_long_enough_for_40";
    const history = [
      user("go"),
      assistant([call("call_x"), call("functions.g:0", { name: "h" })]),
      result("functions.g:0"),
      result("call_x"),
      assistant([call("call_x")]),
      result("call_x"),
    ];
    const sent = (messages: readonly Loose[]): unknown[] =>
      messages.flatMap((one) =>
        one.role === "tool" ? [one.tool_call_id] : ((one.tool_calls ?? []) as Loose[]).map(({ id }) => id),
      );
    const [g, h, again] = ["functions.g:0", "functions.h:1", "functions.g:2"];
    const compat = { idForm: "functions" };
    expect(sent(chatBody(history, compat).messages)).toEqual([g, h, h, g, again, again]);
    // However long the name is, and the same in every later request.
    const encoder = openaiChat.encoder(chat(compat));
    const bodyOf = (messages: readonly Message[]): string => encoder.encode(request(messages)).body;
    const named = [...history, assistant([call("d", { name: long })]), result("d")];
    const before = bodyOf(named);
    expect(before).toContain(`"functions.${long}:3"`);
    expect(bodyOf([...named, user("and?")])).toContain(before.slice(0, -2));
  });

  test("arguments are sent as written if they are an object, else empty (F093, F095, F097)", () => {
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

  test("foreign ids become nine letters on both sides, and stay different (F055)", () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => `toolu_01AbmHJypDhKqBF7NKdRPJ${at}`);
    const { messages } = chatBody(
      [user("go"), assistant(ids.map((id) => call(id))), ...ids.map((id) => result(id))],
      { idForm: "mistral9" },
    );
    const sent = messages.flatMap((one) => (one.tool_calls ?? []) as Loose[]).map((one) => one.id);
    expect(new Set(sent).size).toBe(ids.length);
    expect(messages.flatMap((one) => one.tool_call_id ?? [])).toEqual(sent);
    expect(sent[0]).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test("of more calls than one message may have, each lot is sent before its results", () => {
    const ids = Array.from({ length: 257 }, (_, at) => `call_${at}`);
    const { messages } = chatBody([
      user("go"),
      assistant(ids.map((id) => call(id))),
      ...ids.map((id) => result(id)),
    ]);
    const lots = messages.filter(({ role }) => role === "assistant");
    expect(lots.map(({ tool_calls }) => (tool_calls as Loose[]).length)).toEqual([128, 128, 1]);
    expect(messages.indexOf(lots[1] as Loose)).toBe(130);
    expect(messages.at(-2)).toBe(lots[2]);
    expect(messages.at(-1)).toMatchObject({ tool_call_id: "call_256" });
  });

  test("reasoning is sent back only in the right field, to its own model, in tool turns (F104, F105)", () => {
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

  test("an assistant message separates results and a user message if the server needs that (F046, F127)", () => {
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

  test("tool schemas are converted to accepted ones, and are strict only if that is safe (F136, F140, F141)", () => {
    const body = chatBody([user("go")], { strictTools: true }, { tools });
    const sent = (body.tools as Loose[]).map((tool) => tool.function as Loose);
    expect(sent.map((fn) => fn.strict)).toEqual([true, undefined, undefined, undefined]);
    expect(sent[3]!.parameters).toEqual({ type: "object", properties: { a: { type: "string" }, b: {} } });
    expect(chatBody([user("go")], {}, { tools }).tools).not.toMatchObject([{ function: { strict: true } }]);
  });

  test("a name that was changed in the request is restored in the answer (F059, F060)", () => {
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

  test("a name begins with a letter, as Kimi and Gemini require, the same in tools, calls and the choice", () => {
    const name = "21st_magic";
    const odd: ModelRequest["tools"][number] = {
      name,
      description: "D.",
      inputSchema: { type: "object", properties: {} },
    };
    const body = chatBody(
      [user("x"), assistant([call("a", { name })]), result("a")],
      {},
      {
        tools: [odd, { ...odd, name: "_x" }, { ...odd, name: "-x" }],
        toolChoice: { tool: name },
      },
    );
    const sent = (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name);
    expect(new Set(sent).size).toBe(3);
    for (const out of sent) expect(out).toMatch(/^tool_[\w-]+$/);
    expect(body.tool_choice).toMatchObject({ function: { name: sent[0] } });
    expect(body.messages[1]!.tool_calls).toMatchObject([{ function: { name: sent[0] } }]);
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

  test("settings have the server's own names, with a warning for those it lacks", () => {
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
    expect(plain.codes).toEqual(["unsupported_option", "unsupported_option", "unsupported_setting"]);
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
    expect(other.codes).toEqual(["unsupported_option", "unsupported_setting"]);
    expect(encode({ reasoningParam: "thinking" }).body.thinking).toEqual({ type: "enabled" });
    expect(encode({ reasoningParam: "enable_thinking" }).body.enable_thinking).toBe(true);
    expect(encode({ reasoningParam: "none" }).codes).toContain("unsupported_setting");
  });

  test("an impossible choice has the same warning code over every protocol", () => {
    const warned = (compat: JsonObject, settings: Settings = {}): string[] =>
      openaiChat
        .encoder(chat(compat))
        .encode(request([user("x")], { tools: tools.slice(0, 1), toolChoice: "any", settings }))
        .warnings.map(({ code }) => code);
    expect(warned({ omit: ["tool_choice"] })).toEqual(["unsupported_tool_choice"]);
    expect(warned({ forcedChoice: "never" })).toEqual(["unsupported_tool_choice"]);
    expect(warned({ forcedChoice: "without_reasoning" }, { reasoning: "high" })).toEqual([
      "unsupported_tool_choice",
    ]);
  });

  test("who speaks first is checked for each request: a prompt may come before the first message of the last one", () => {
    const encoder = openaiChat.encoder(chat({ systemFirstOnly: true }));
    const later: Message = { role: "system", content: [{ type: "text", text: "later" }] };
    const messages = [later, user("hi")];
    const roles = (system?: string): unknown[] => {
      const { body } = encoder.encode(request(messages, system === undefined ? {} : { system }));
      return (JSON.parse(body) as Loose & { messages: Loose[] }).messages.map(({ role }) => role);
    };
    expect(roles()).toEqual(["system", "user"]);
    expect(roles("prompt")).toEqual(["system", "user", "user"]);
    expect(roles()).toEqual(["system", "user"]);
  });

  test("an output schema is requested natively, strict only if that is safe", () => {
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

  test("sound and videos are sent in the form that the server takes", () => {
    const sent = (mediaType: string, held: object, compat: JsonObject = {}): unknown =>
      chatBody([{ role: "user", content: [{ type: "file", mediaType, ...held }] }], compat).messages[0]!
        .content;
    const audio = (data: string, format: string): unknown => [
      { type: "input_audio", input_audio: { data, format } },
    ];
    const many = { audioFormats: ["wav", "m4a", "ogg"] };
    expect(sent("audio/mp4", { data: "AA==" }, many)).toEqual(audio("AA==", "m4a"));
    expect(sent("audio/x-m4a", { data: "AA==" }, many)).toEqual(audio("AA==", "m4a"));
    expect(sent("audio/opus", { data: "AA==" }, many)).toEqual(audio("AA==", "ogg"));
    expect(sent("audio/mpeg", { data: "AA==" }, many)).toMatch(/left out: only wav, m4a, ogg are taken here/);
    expect(sent("audio/vnd.wave", { data: "AA==" }, { audioUrls: true })).toEqual(
      audio("data:audio/wav;base64,AA==", "wav"),
    );
    // The bytes tell better than the name: this one is a wave.
    expect(sent("audio/mpeg", { data: "UklGRiQAAABXQVZF" })).toEqual(audio("UklGRiQAAABXQVZF", "wav"));
    const film = "data:video/mp4;base64,AA==";
    expect(sent("video/mp4", { data: "AA==" })).toMatch(/left out: videos are not taken here/);
    expect(sent("video/mp4", { data: "AA==" }, { videos: "video_url" })).toEqual([
      { type: "video_url", video_url: { url: film } },
    ]);
    expect(sent("video/mp4", { url: "https://a/b.mp4" }, { videos: "video_url" })).toEqual([
      { type: "video_url", video_url: { url: "https://a/b.mp4" } },
    ]);
    expect(sent("video/mp4", { url: "https://a/b.mp4" })).toMatch("https://a/b.mp4");
    expect(sent("video/mp4", { data: "AA==" }, { videos: "file" })).toEqual([
      { type: "file", file: { filename: "file.mp4", file_data: film } },
    ]);
  });

  test("what an answer said is sent by its id, unless the server has lost it: then as its text", () => {
    const spoken = (id: string, until: number, text?: string): Message => ({
      role: "assistant",
      content: [
        {
          type: "native",
          kind: "audio",
          opaque: { audio: { id, expires_at: until, data: "AA==", transcript: `I am ${id}` } },
        },
        ...(text === undefined ? [] : [{ type: "text", text } as const]),
      ],
      origin: chatOrigin,
      stop: { kind: "end_turn", wire: "end_turn" },
    });
    const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
    const history = [user("hi"), spoken("audio_1", 100, "I am audio_1"), user("go"), spoken("audio_2", 200)];
    const sent = (compat: JsonObject): unknown =>
      chatBody([...history, user("on")], compat)
        .messages.filter(({ role }) => role === "assistant")
        .map(({ content, audio }) => content ?? audio);
    const [one, two] = [{ id: "audio_1" }, { id: "audio_2" }];
    expect(sent({})).toEqual([one, two]);
    expect(sent({ lostAudio: ["audio_2"] })).toEqual([one, "I am audio_2"]);
    expect(sent({ audioExpiredAt: 99 })).toEqual([one, two]);
    expect(sent({ audioExpiredAt: 100 })).toEqual(["I am audio_1", two]);
    expect(sent({ audioExpiredAt: 200 })).toEqual(["I am audio_1", "I am audio_2"]);
  });

  test("files are sent in an accepted form, or as a note", () => {
    const file = (mediaType: string, more: object): Message => ({
      role: "user",
      content: [{ type: "file", mediaType, ...more }],
    });
    const sent = (message: Message): unknown => chatBody([message]).messages[0]!.content;
    expect(sent(file("audio/wav", { data: "AA==" }))).toEqual([
      { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
    ]);
    expect(sent(file("audio/ogg", { data: "AA==" }))).toMatch(/left out/);
    expect(sent(file("application/pdf", { data: "AA==", name: "a.pdf" }))).toEqual([
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
    ]);
    expect(sent(file("application/pdf", { url: "https://a/b.pdf" }))).toMatch("https://a/b.pdf");
    expect(sent(file("text/plain", { data: "w6k=" }))).toMatch(/\né$/);
    expect(sent(file("image/png", { data: { blob: "x", bytes: 1 } }))).toMatch(/not loaded/);
    expect(sent(file("image/png", { url: "https://a/b.png", opaque: { detail: "low" } }))).toEqual([
      { type: "image_url", image_url: { url: "https://a/b.png", detail: "low" } },
    ]);
  });

  test("a model without vision gets images in words", () => {
    const to = chat({}, { facts: { accepts: ["application/pdf"] } });
    const wire = openaiChat.encoder(to).encode(request([{ role: "user", content: [image as never] }]));
    expect(wire.body).not.toContain("image_url");
    expect(wire.body).toContain("does not take it");
    expect(wire.warnings).toMatchObject([{ code: "unsupported_file" }]);
  });
});

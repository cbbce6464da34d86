import type { Json, RondoError } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { anthropicStop, anthropicStops } from "../../src/codecs/anthropic/stops.ts";
import { anthropicMessages, anthropicOnBedrock } from "../../src/codecs/anthropic-messages.ts";
import { answerTo, decodeEveryWay, sse, targetOf } from "./feeding.ts";

const target = targetOf("anthropic-messages", "anthropic", "claude-sonnet-4-5");

const start = (id = "msg_1", usage: Json = { input_tokens: 100, output_tokens: 1 }): Json => ({
  type: "message_start",
  message: { id, type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage },
});
const open = (index: number, block: Json): Json => ({
  type: "content_block_start",
  index,
  content_block: block,
});
const delta = (index: number, change: Json): Json => ({ type: "content_block_delta", index, delta: change });
const args = (index: number, json: string): Json =>
  delta(index, { type: "input_json_delta", partial_json: json });
const stop = (index: number): Json => ({ type: "content_block_stop", index });
const end = (
  word: string | null,
  rest: { [key: string]: Json } = {},
  usage: Json = { output_tokens: 20 },
): Json => ({
  type: "message_delta",
  delta: { stop_reason: word, stop_sequence: null, ...rest },
  usage,
});
const over: Json = { type: "message_stop" };
const tool = (index: number, id = "toolu_1", name = "f"): Json =>
  open(index, { type: "tool_use", id, name, input: {} });
const said = (index: number, text: string): Json[] => [
  open(index, { type: "text", text: "" }),
  delta(index, { type: "text_delta", text }),
  stop(index),
];
const decode = (events: Json[]): ReturnType<typeof decodeEveryWay> =>
  decodeEveryWay(anthropicMessages, target, sse(events));
const answer = (events: Json[]): ReturnType<typeof answerTo> => answerTo(anthropicMessages, target, events);
const failure = (events: Json[]): RondoError => decode(events).error as RondoError;

describe("calls", () => {
  it.each([
    ["the same index", (event: Json): Json => ({ ...(event as object), index: 0 })],
    [
      "no index",
      (event: Json): Json => {
        const { index: _, ...rest } = event as { [member: string]: Json };
        return rest;
      },
    ],
  ])("keeps blocks apart that a proxy gives %s (F068)", (_name, without) => {
    const blocks = [
      ...said(0, "Look."),
      tool(1, "toolu_a", "read"),
      args(1, '{"a":1}'),
      stop(1),
      tool(2, "toolu_b", "write"),
      args(2, '{"b":'),
      args(2, "2}"),
    ];
    for (const ends of [[stop(2)], []]) {
      const message = answer([start(), ...[...blocks, ...ends].map(without), end("tool_use"), over]);
      expect(message.content).toMatchObject([
        { type: "text", text: "Look." },
        { type: "tool_call", id: "toolu_a", name: "read", args: { a: 1 } },
        { type: "tool_call", id: "toolu_b", name: "write", args: { b: 2 } },
      ]);
    }
  });

  it("keeps calls with one index separate if an end event is missing (F068)", () => {
    const message = answer([
      start(),
      tool(0, "toolu_a", "read"),
      args(0, '{"a":1}'),
      tool(0, "toolu_b", "write"),
      args(0, '{"b":2}'),
      end("tool_use"),
      over,
    ]);
    expect(message.content).toMatchObject([
      { id: "toolu_a", args: { a: 1 } },
      { id: "toolu_b", args: { b: 2 } },
    ]);
  });

  it("joins a call's arguments by block and parses them once, in whatever order the blocks come", () => {
    const message = answer([
      start(),
      tool(1, "toolu_a", "read"),
      tool(2, "toolu_b", "write"),
      args(1, '{"a"'),
      args(2, '{"b":'),
      args(1, ":1}"),
      args(2, "2}"),
      stop(1),
      stop(2),
      end("tool_use"),
      over,
    ]);
    expect(message.content).toMatchObject([
      { type: "tool_call", id: "toolu_a", name: "read", args: { a: 1 } },
      { type: "tool_call", id: "toolu_b", name: "write", args: { b: 2 } },
    ]);
    expect(message.stop).toEqual({ kind: "tool_use", wire: "tool_use", raw: "tool_use" });
  });

  it("a tool without arguments gets an empty object", () => {
    const message = answer([start(), tool(0), args(0, ""), stop(0), end("tool_use"), over]);
    expect(message.content).toMatchObject([{ args: {}, rawArgs: "" }]);
    expect(message.content[0]).not.toHaveProperty("argsError");
  });

  it("arguments that a gateway sends as a value, not as text, count (F087)", () => {
    const whole = {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: { a: 1 } },
    };
    expect(answer([start(), tool(0), whole, stop(0), end("tool_use"), over]).content).toMatchObject([
      { args: { a: 1 } },
    ]);
  });

  it("arguments that came completely with the block's start count", () => {
    const whole = open(0, { type: "tool_use", id: "toolu_1", name: "f", input: { a: 1 } });
    // Some gateways then also send an empty object as text.
    for (const more of [[], [args(0, "{}")]])
      expect(answer([start(), whole, ...more, stop(0), end("tool_use"), over]).content).toMatchObject([
        { args: { a: 1 } },
      ]);
  });

  it("arguments that are not JSON are marked, and the turn continues", () => {
    const message = answer([start(), tool(0), args(0, '{"a":1} and then'), stop(0), end("tool_use"), over]);
    expect(message.content).toMatchObject([{ rawArgs: '{"a":1} and then', args: {} }]);
    expect(message.content[0]).toHaveProperty("argsError", expect.stringContaining("not valid JSON"));
  });

  it.each([
    ["in the middle of its arguments", ['{"path":"a']],
    ["before any argument", [""]],
  ])("a call cut at the output limit %s is not executable", (_when, pieces) => {
    const message = answer([
      start(),
      ...said(0, "Writing."),
      tool(1),
      ...pieces.map((piece) => args(1, piece)),
      stop(1),
      end("max_tokens"),
      over,
    ]);
    expect(message.stop.kind).toBe("max_tokens");
    expect(message.content[1]).toHaveProperty("argsError");
    expect(message.content[1]).toHaveProperty("args", {});
  });

  it("a complete call before the truncated one stays valid", () => {
    const message = answer([
      start(),
      tool(0, "a"),
      args(0, '{"x":1}'),
      stop(0),
      tool(1, "b"),
      stop(1),
      end("max_tokens"),
      over,
    ]);
    expect(message.content[0]).toMatchObject({ args: { x: 1 } });
    expect(message.content[0]).not.toHaveProperty("argsError");
    expect(message.content[1]).toHaveProperty("argsError");
  });

  it("tool_use without any call is not a tool turn", () => {
    const message = answer([start(), end("tool_use"), over]);
    expect(message.content).toEqual([]);
    expect(message.stop).toMatchObject({ kind: "end_turn", wire: "tool_use", raw: "tool_use" });
  });

  it("a call with end_turn is a tool turn", () => {
    expect(answer([start(), tool(0), stop(0), end("end_turn"), over]).stop).toMatchObject({
      kind: "tool_use",
      wire: "end_turn",
    });
  });

  it("an escaped tool name is restored", () => {
    expect(
      answer([start(), tool(0, "t", "fs_x2E_read"), stop(0), end("tool_use"), over]).content,
    ).toMatchObject([{ name: "fs.read" }]);
  });
});

describe("reasoning, citations and provider blocks", () => {
  it("keeps a signature that comes in pieces, and redacted thinking", () => {
    const message = answer([
      start(),
      open(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm." }),
      delta(0, { type: "signature_delta", signature: "ab" }),
      delta(0, { type: "signature_delta", signature: "cd" }),
      stop(0),
      open(1, { type: "redacted_thinking", data: "ZW5j" }),
      stop(1),
      ...said(2, "Yes."),
      end("end_turn"),
      over,
    ]);
    expect(message.content).toEqual([
      { type: "reasoning", text: "Hm.", opaque: { signature: "abcd" } },
      { type: "reasoning", text: "", opaque: { redacted: "ZW5j" } },
      { type: "text", text: "Yes." },
    ]);
  });

  it("keeps citations on their text", () => {
    const citation = { type: "char_location", cited_text: "x", document_index: 0 };
    const message = answer([
      start(),
      open(0, { type: "text", text: "", citations: [] }),
      delta(0, { type: "text_delta", text: "As said" }),
      delta(0, { type: "citations_delta", citation }),
      stop(0),
      end("end_turn"),
      over,
    ]);
    expect(message.content).toEqual([{ type: "text", text: "As said", citations: [citation] }]);
  });

  it("a tool that the provider runs is not a call of ours, and a pause is a pause", () => {
    const message = answer([
      start("msg_1", { input_tokens: 2479, output_tokens: 1 }),
      ...said(0, "Searching."),
      open(1, { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: {} }),
      args(1, '{"query": "x"}'),
      stop(1),
      end(
        "pause_turn",
        { stop_details: null },
        { input_tokens: 404500, cache_read_input_tokens: 0, output_tokens: 943 },
      ),
      over,
    ]);
    expect(message.stop).toMatchObject({ kind: "pause", raw: "pause_turn" });
    expect(message.content[1]).toEqual({
      type: "native",
      kind: "server_tool_use",
      opaque: { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "x" } },
    });
    expect(message.usage).toMatchObject({ inputTokens: 404500, outputTokens: 943 });
  });

  it("blocks, deltas and events newer than this code are kept or skipped", () => {
    const message = answer([
      start(),
      { type: "weather_report", sunny: true },
      open(0, { type: "hologram", pieces: "a", shape: null }),
      delta(0, { type: "hologram_delta", pieces: "b", shape: [1] }),
      stop(0),
      ...said(1, "ok"),
      delta(1, { type: "unheard_of", text: "not shown" }),
      end("end_turn"),
      over,
    ]);
    expect(message.content).toEqual([
      { type: "native", kind: "hologram", opaque: { type: "hologram", pieces: "ab", shape: [1] } },
      { type: "text", text: "ok" },
    ]);
  });

  it("a call made by the provider's code keeps its caller", () => {
    const caller = { type: "code_execution_20250825", tool_id: "srvtoolu_1" };
    const block = open(0, { type: "tool_use", id: "t", name: "f", input: {}, caller });
    expect(answer([start(), block, stop(0), end("tool_use"), over]).content).toMatchObject([
      { opaque: { caller } },
    ]);
  });
});

describe("stop reasons and usage", () => {
  const round = (type: string, input_tokens: number, output_tokens: number, rest: object = {}): Json => ({
    type,
    input_tokens,
    output_tokens,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    ...rest,
  });
  const opus = { model: "claude-opus-4-8" };

  it.each<[string, [input: number, output: number], Json[], [input: number, output: number]]>([
    [
      "a summary of the provider's own",
      [612, 2819],
      [round("compaction", 60385, 522), round("message", 612, 2819)],
      [60997, 3341],
    ],
    [
      "an advisor, and the rounds around it",
      [4727, 3391],
      [round("message", 1051, 35), round("advisor_message", 2728, 3880, opus), round("message", 3676, 3356)],
      [7455, 7271],
    ],
    [
      "a model that declined after some words",
      [412, 264],
      [round("message", 408, 30), round("fallback_message", 412, 264, opus)],
      [820, 294],
    ],
    [
      "a model that declined before the first, and is not billed",
      [412, 264],
      [round("message", 408, 0), round("fallback_message", 412, 264, opus)],
      [412, 264],
    ],
    ["something newer than this code", [10, 20], [round("message", 10, 20), round("newer", 5, 7)], [15, 27]],
    [
      "something newer that the totals hold",
      [15, 27],
      [round("message", 10, 20), round("newer", 5, 7)],
      [15, 27],
    ],
    ["rounds that are not all told", [100, 50], [round("message", 10, 20)], [100, 50]],
    ["nothing at all of its rounds", [100, 50], [], [100, 50]],
  ])(
    "counts once what a message cost: %s",
    (_what, [input, output], iterations, [inputTokens, outputTokens]) => {
      const usage = { input_tokens: input, output_tokens: output, iterations };
      const { message } = decode([
        start("m", { input_tokens: 9, output_tokens: 1 }),
        ...said(0, "Hi."),
        end("end_turn", {}, usage),
        over,
      ]);
      expect(message?.usage).toMatchObject({ inputTokens, outputTokens });
    },
  );

  it("counts what those rounds read from and wrote to the cache", () => {
    const cached = { cache_read_input_tokens: 1000, cache_creation_input_tokens: 200 };
    const usage = {
      input_tokens: 5,
      output_tokens: 6,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 0,
      iterations: [
        round("compaction", 10, 20, cached),
        round("message", 5, 6, { cache_read_input_tokens: 30 }),
      ],
    };
    const { message } = decode([start(), ...said(0, "Hi."), end("end_turn", {}, usage), over]);
    expect(message?.usage).toEqual({
      inputTokens: 15 + 1030 + 200,
      outputTokens: 26,
      cachedInputTokens: 1030,
      cacheWriteTokens: 200,
    });
  });

  it.each(Object.entries(anthropicStops))("%s alone means %s", (word, kind) => {
    const { stop: ended } = answer([start(), ...said(0, "x"), end(word), over]);
    expect(ended).toMatchObject({ wire: kind, raw: word });
  });

  it.each([
    ["length", "max_tokens"],
    ["content_filter", "content_filter"],
    ["model_length", "max_tokens"],
    ["stop", "end_turn"],
  ])("%s, another protocol's word that a gateway passes on, means %s (F012)", (word, kind) => {
    expect(answer([start(), ...said(0, "x"), end(word), over]).stop).toEqual({ kind, wire: kind, raw: word });
  });

  it("another protocol's word for an answer that broke off is a retryable error (F012)", () => {
    expect(failure([start(), ...said(0, "x"), end("network_error"), over])).toMatchObject({
      kind: "server_error",
      retryable: true,
      raw: { finish_reason: "network_error" },
      partial: { content: [{ type: "text", text: "x" }] },
    });
  });

  it("an unknown word is kept as unknown, even one that objects inherit", () => {
    for (const word of ["banana", "constructor", "__proto__"]) {
      expect(anthropicStop(word)).toBe("unknown");
      expect(answer([start(), ...said(0, "x"), end(word), over]).stop).toEqual({
        kind: "unknown",
        wire: "unknown",
        raw: word,
      });
    }
  });

  it("a refusal has its category and explanation, with or without content", () => {
    const details = { type: "refusal", category: "cyber", explanation: "Restricted." };
    const message = answer([start(), end("refusal", { stop_details: details }), over]);
    expect(message).toMatchObject({ content: [], stop: { kind: "refusal", detail: "cyber: Restricted." } });
  });

  it("says how much is cached for an hour, which costs more than five minutes", () => {
    const cache_creation = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 };
    const counts = { input_tokens: 10, cache_creation_input_tokens: 7, cache_creation, output_tokens: 1 };
    const { usage } = answer([start("msg_1", counts), ...said(0, "x"), end("end_turn"), over]);
    expect(usage).toMatchObject({ inputTokens: 17, cacheWriteTokens: 7, cacheWrite1hTokens: 4 });
    // Without a round that cached for an hour there is nothing to say.
    const short = { ...counts, cache_creation: { ...cache_creation, ephemeral_1h_input_tokens: 0 } };
    expect(answer([start("m", short), ...said(0, "x"), end("end_turn"), over]).usage).not.toHaveProperty(
      "cacheWrite1hTokens",
    );
  });

  it("adds up what several rounds cached for an hour", () => {
    const hour = (count: number): Json => ({
      cache_creation_input_tokens: count,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: count },
    });
    const usage = {
      input_tokens: 5,
      output_tokens: 6,
      ...(hour(9) as object),
      iterations: [round("message", 5, 3, hour(8) as object), round("message", 5, 6, hour(9) as object)],
    };
    const { message } = decode([start(), ...said(0, "Hi."), end("end_turn", {}, usage), over]);
    expect(message?.usage).toMatchObject({ cacheWriteTokens: 17, cacheWrite1hTokens: 17 });
  });

  it("a stop sequence is named", () => {
    expect(
      answer([start(), ...said(0, "x"), end("stop_sequence", { stop_sequence: "END" }), over]).stop.detail,
    ).toBe("END");
  });

  it("the last number counts, and cached tokens are part of the input", () => {
    const message = answer([
      start("msg_1", {
        input_tokens: 10,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 7,
        output_tokens: 1,
      }),
      ...said(0, "x"),
      end(
        "end_turn",
        {},
        { input_tokens: 20, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      ),
      over,
    ]);
    expect(message.usage).toEqual({
      inputTokens: 32,
      outputTokens: 9,
      cachedInputTokens: 5,
      cacheWriteTokens: 7,
      reasoningTokens: 4,
    });
  });

  it("uncounted tokens are unknown, not zero", () => {
    expect(answer([start("m", {}), ...said(0, "x"), end("end_turn", {}, {}), over])).not.toHaveProperty(
      "usage",
    );
  });
});

describe("broken streams", () => {
  it("a missing message_stop after the stop reason does no harm", () => {
    expect(answer([start(), ...said(0, "hi"), end("end_turn")]).stop.kind).toBe("end_turn");
  });

  it.each([
    ["inside a call", [start(), tool(0), args(0, '{"a":1}')]],
    ["after a whole block", [start(), ...said(0, "Hello wor")]],
    ["before anything", []],
  ])("an end %s is truncated, and no call is left of it", (_when, events) => {
    const error = failure(events);
    expect(error).toMatchObject({ kind: "stream_truncated", retryable: true });
    expect(error.partial?.content.some((part) => part.type === "tool_call") ?? false).toBe(false);
  });

  it("the text so far is kept as partial", () => {
    expect(failure([start(), ...said(0, "Hello wor")]).partial?.content).toEqual([
      { type: "text", text: "Hello wor" },
    ]);
  });

  it.each([
    ["overloaded_error", "Overloaded", "overloaded", true],
    ["api_error", "Internal server error", "server_error", true],
    ["rate_limit_error", "Number of requests has exceeded your rate limit", "rate_limit", true],
    [
      "invalid_request_error",
      "prompt is too long: 213462 tokens > 200000 maximum",
      "context_overflow",
      false,
    ],
    ["authentication_error", "invalid x-api-key", "auth", false],
  ])("an error event of type %s is typed, and has the partial answer", (type, message, kind, retryable) => {
    const event: Json = { type: "error", error: { details: null, type, message } };
    const error = failure([start(), ...said(0, "Hel"), event]);
    expect(error).toMatchObject({ kind, retryable, usage: { inputTokens: 100 } });
    expect(error.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
  });

  it("the same start twice is one start; another message's start in between is a protocol error", () => {
    expect(answer([start(), start(), ...said(0, "x"), end("end_turn"), over]).content).toHaveLength(1);
    const error = failure([
      start(),
      tool(0),
      args(0, '{"a'),
      start("msg_2"),
      ...said(0, "y"),
      end("end_turn"),
      over,
    ]);
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
  });

  it.each(["error: CUDA out of memory", '"message"', "[1]", '{"type":"content_block_del'])(
    "a payload that is no JSON object (%s) is a stream error that contains it",
    (payload) => {
      const { error } = decodeEveryWay(anthropicMessages, target, `${sse([start()])}data: ${payload}\n\n`);
      expect(error).toMatchObject({
        kind: "stream_error",
        raw: expect.stringContaining(payload.slice(0, 10)),
      });
    },
  );

  it("heartbeats, comments and a foreign sentinel are skipped; nothing is read after the end", () => {
    const body = `: hello\n\n${sse([start(), { type: "ping" }, ...said(0, "x"), end("end_turn")])}data: [DONE]\n\n${sse([over, start("msg_2")])}`;
    const { message, finished } = decodeEveryWay(anthropicMessages, target, body);
    expect(message?.content).toEqual([{ type: "text", text: "x" }]);
    expect(finished).toBe(true);
  });

  it("a ping is not reported as a sign of life", () => {
    const { events } = decode([start(), { type: "ping" }, { type: "ping" }]);
    expect(events).toEqual([]);
  });
});

describe("whole answers and error responses", () => {
  it("an error body with a success status is typed", () => {
    const body: Json = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(() => anthropicMessages.decodeWhole(body, target, () => {})).toThrow(
      expect.objectContaining({ kind: "overloaded" }),
    );
  });

  it("anything else is a protocol error that says what to check", () => {
    expect(() => anthropicMessages.decodeWhole({ hello: 1 }, target, () => {})).toThrow(/base URL/);
  });

  it("a complete call cut at the limit is not executable", () => {
    const message = anthropicMessages.decodeWhole(
      {
        id: "m",
        content: [{ type: "tool_use", id: "t", name: "f", input: {} }],
        stop_reason: "max_tokens",
        usage: {},
      },
      target,
      () => {},
    );
    expect(message.content[0]).toHaveProperty("argsError");
  });

  it.each([
    [529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "overloaded", true],
    [
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 250042 tokens > 200000 maximum",
        },
      },
      "context_overflow",
      false,
    ],
    [
      413,
      { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
      "payload_too_large",
      false,
    ],
    [
      429,
      { type: "error", error: { type: "rate_limit_error", message: "too many tokens" } },
      "rate_limit",
      true,
    ],
    [401, { type: "error", error: { type: "authentication_error", message: "x" } }, "auth", false],
    [500, { type: "error", error: { type: "api_error", message: "x" } }, "server_error", true],
    // Compatible servers call all their errors so: the status says whose fault it is.
    [
      400,
      { type: "error", error: { type: "api_error", message: "m does not support tools" } },
      "capability",
      false,
    ],
    [400, { type: "error", error: { type: "api_error", message: "bad top_k" } }, "invalid_request", false],
  ])("status %i is %s", (status, body, kind, retryable) => {
    const error = anthropicMessages.errorOf({ status, header: () => null, body: JSON.stringify(body) });
    expect(error).toMatchObject({ kind, retryable, status });
  });
});

describe("Claude through Bedrock's InvokeModel", () => {
  const chunk = (event: Json): { event: string; data: string } => ({
    event: "chunk",
    data: JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString("base64") }),
  });

  it("unwraps the same events from their frames", () => {
    const decoder = anthropicOnBedrock.decoder(target, () => {});
    for (const event of [start(), ...said(0, "grüße 😀"), end("end_turn"), over]) decoder.push(chunk(event));
    expect(decoder.finished).toBe(true);
    expect(decoder.end().content).toEqual([{ type: "text", text: "grüße 😀" }]);
  });

  it("skips a frame without content", () => {
    const decoder = anthropicOnBedrock.decoder(target, () => {});
    const empty = { event: "chunk", data: "" };
    const frames = [start(), ...said(0, "so"), end("end_turn"), over].map(chunk);
    for (const frame of frames.flatMap((one) => [empty, one])) decoder.push(frame);
    expect(decoder.end().content).toEqual([{ type: "text", text: "so" }]);
  });

  it.each([["not json"], ["[1]"], ['{"bytes":"%%%"}'], ['{"bytes":"bm90IGpzb24="}']])(
    "reports an unreadable frame as a stream that broke: %s",
    (data) => {
      const decoder = anthropicOnBedrock.decoder(target, () => {});
      decoder.push(chunk(start()));
      const broken = expect.objectContaining({ kind: "stream_error", retryable: true });
      expect(() => decoder.push({ event: "chunk", data })).toThrow(broken);
    },
  );

  it("an exception frame is a typed error", () => {
    const decoder = anthropicOnBedrock.decoder(target, () => {});
    decoder.push(chunk(start()));
    const frame = {
      event: "throttlingException",
      data: '{"message":"Too many tokens, please wait"}',
      exception: true,
    };
    expect(() => decoder.push(frame)).toThrow(expect.objectContaining({ kind: "rate_limit" }));
  });
});

import type { Stop, Usage } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { openaiChatStops } from "../../src/codecs/openai/stops.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import {
  called,
  calls,
  callsOf,
  chunk,
  finish,
  fn,
  type Loose,
  origin,
  read,
  thrown,
  usage,
} from "./chat-chunks.ts";
import { decodeStream } from "./corpus.ts";

describe("how an answer ended", () => {
  const text = chunk({ content: "hi" });
  const call = calls({ index: 0, id: "a", function: fn("f", "{}") });

  test("every known word has its meaning, and an unknown one is kept (F012)", () => {
    for (const [word, wire] of Object.entries(openaiChatStops)) {
      if (wire === "error") {
        const error = thrown([text, finish(word), "[DONE]"]);
        expect(error).toMatchObject({ kind: "server_error", retryable: true });
        expect(error.partial?.content).toEqual([{ type: "text", text: "hi" }]);
      } else expect(read([text, finish(word), "[DONE]"]).stop).toMatchObject({ wire, raw: word });
    }
    for (const word of ["totally_new_value", "constructor", "__proto__"])
      expect(read([text, finish(word), "[DONE]"]).stop).toEqual({
        kind: "unknown",
        wire: "unknown",
        raw: word,
      });
  });

  test.each([
    ["MAX_TOKENS", "max_tokens"],
    ["maxTokens", "max_tokens"],
    ["TokenLimitReached", "max_tokens"],
    ["incomplete", "max_tokens"],
    ["ContentFiltered", "content_filter"],
    ["SAFETY", "content_filter"],
    ["content-filter", "content_filter"],
    ["content_filter: PROHIBITED_CONTENT", "content_filter"],
    ["STOP", "end_turn"],
  ])("%s, which a router passes on, means %s and is kept as it was (F012)", (word, wire) => {
    expect(read([text, finish(word), "[DONE]"]).stop).toEqual({ kind: wire, wire, raw: word });
  });

  test.each(["function_call_filter: MALFORMED_FUNCTION_CALL", "malformed_function_call"])(
    "an unreadable call is one with the word %s, too (F015)",
    (word) => {
      for (const said of [[], [text], [call]])
        expect(thrown([...said, finish(word), "[DONE]"])).toMatchObject({ kind: "malformed_tool_call" });
    },
  );

  test("a complete answer with an error next to it contains the partial answer (F014)", () => {
    const error = { code: 502, message: "bad gateway" };
    const body = {
      choices: [{ finish_reason: "error", error, message: { content: "par", tool_calls: [] } }],
    };
    expect(() => openaiChat.decodeWhole(body, origin, () => {})).toThrow(
      expect.objectContaining({
        kind: "server_error",
        partial: expect.objectContaining({ content: [{ type: "text", text: "par" }] }),
      }),
    );
  });

  test.each(["stop", "end_turn", "totally_new_value"])("calls with %s are a tool turn (F002)", (word) => {
    expect(read([call, finish(word), "[DONE]"]).stop).toMatchObject({ kind: "tool_use", raw: word });
  });

  test("tool_calls without calls is not a tool turn (F003)", () => {
    expect(read([chunk({ content: "x", tool_calls: [] }), finish("tool_calls"), "[DONE]"]).stop.kind).toBe(
      "end_turn",
    );
  });

  test("the sentinel without a finish reason ends the answer, marked as such (F011)", () => {
    expect(read([text, "[DONE]"]).stop).toEqual({
      kind: "end_turn",
      wire: "end_turn",
      detail: "finish_missing",
    });
    expect(read([call, "[DONE]"]).stop).toMatchObject({ kind: "tool_use", detail: "finish_missing" });
    expect(thrown(["[DONE]"])).toMatchObject({ kind: "empty_response", retryable: true });
  });

  test("a finish reason without the sentinel is an end (F158); neither is a truncation (F159)", () => {
    expect(read([text, finish("stop")]).stop.kind).toBe("end_turn");
    const error = thrown([text, call]);
    expect(error).toMatchObject({ kind: "stream_truncated", retryable: true });
    expect(error.partial?.content).toEqual([{ type: "text", text: "hi" }]);
  });

  test("the last call of an answer cut at the limit never runs, those before it stay (F005)", () => {
    const message = read([
      calls({ index: 0, id: "a", function: fn("f", '{"a":1}') }),
      calls({ index: 1, id: "b", function: fn("g", '{"b":1}') }),
      finish("length"),
      "[DONE]",
    ]);
    expect(message.stop.kind).toBe("max_tokens");
    expect(callsOf(message).map((one) => one.argsError !== undefined)).toEqual([false, true]);
  });

  test("broken arguments at the output limit mean a truncated answer, whatever the word is (F006)", () => {
    const list = [
      calls({ index: 0, id: "a", function: fn("f", '{"cmd":"rm -rf bui') }),
      finish("tool_calls"),
      { choices: [], usage: { prompt_tokens: 50, completion_tokens: 64, total_tokens: 114 } },
      "[DONE]",
    ];
    expect(read(list, { ...origin, outputLimit: 64 }).stop).toMatchObject({
      kind: "max_tokens",
      raw: "tool_calls",
    });
    expect(read(list, { ...origin, outputLimit: 65 }).stop).toMatchObject({ kind: "tool_use" });
    expect(callsOf(read(list))[0]!.argsError).toBeTypeOf("string");
  });

  test("complete calls in an answer as long as the output limit are a truncated one's, too (F006)", () => {
    const list = (written: number, reasoning: number = 0): (Loose | string)[] => [
      calls({ index: 0, id: "a", function: fn("f", '{"a":1}') }),
      finish("tool_calls"),
      {
        choices: [],
        usage: {
          prompt_tokens: 50,
          completion_tokens: written,
          completion_tokens_details: { reasoning_tokens: reasoning },
        },
      },
      "[DONE]",
    ];
    const stop = (...given: [number, number?]): string =>
      read(list(...given), { ...origin, outputLimit: 64 }).stop.kind;
    expect([stop(63), stop(64), stop(65)]).toEqual(["tool_use", "max_tokens", "max_tokens"]);
    // Some count the reasoning, and do not hold it against the limit.
    expect([stop(64, 40), stop(100, 40), stop(104, 40)]).toEqual(["max_tokens", "tool_use", "max_tokens"]);
    const said = [text, finish("stop"), { choices: [], usage: { completion_tokens: 64 } }, "[DONE]"];
    expect(read(said, { ...origin, outputLimit: 64 }).stop.kind).toBe("end_turn");
  });

  test("a window that was full before any text is an overflow (F012, F019)", () => {
    const full = finish("model_context_window_exceeded");
    const error = thrown([chunk({ reasoning_content: "So" }), full, "[DONE]"]);
    expect(error).toMatchObject({
      kind: "context_overflow",
      message: expect.stringContaining("no room for an answer"),
      raw: { finish_reason: "model_context_window_exceeded" },
      partial: { content: [{ type: "reasoning", text: "So" }] },
    });
    expect(thrown([full, "[DONE]"]).partial).toBeUndefined();
    expect(read([text, full, "[DONE]"]).stop.kind).toBe("context_overflow");
  });

  test("a refusal is a refusal and not an empty answer (F009)", () => {
    const message = read([
      chunk({ refusal: "I can't " }),
      chunk({ refusal: "help." }),
      finish("stop"),
      "[DONE]",
    ]);
    expect(message.content).toEqual([{ type: "refusal", text: "I can't help." }]);
    expect(message.stop.kind).toBe("refusal");
  });

  test("a malformed call behind a router is recognised as one (F015)", () => {
    const body = {
      choices: [
        {
          finish_reason: "error",
          native_finish_reason: "MALFORMED_FUNCTION_CALL",
          message: { role: "assistant", content: null },
        },
      ],
    };
    expect(() => openaiChat.decodeWhole(body, origin, () => {})).toThrow(
      expect.objectContaining({ kind: "malformed_tool_call", retryable: true }),
    );
  });
});

test("an answer whose upstream could not read its call is a malformed call with any word (F015)", () => {
  const ended = (word: string): Loose => ({
    choices: [{ index: 0, delta: {}, finish_reason: word, native_finish_reason: "MALFORMED_FUNCTION_CALL" }],
  });
  for (const word of ["error", "stop", "tool_calls"])
    expect(thrown([ended(word), "[DONE]"])).toMatchObject({ kind: "malformed_tool_call", retryable: true });
  // Its text may be the rest of that call, as the upstream left it.
  expect(thrown([chunk({ content: ",patch:true}])" }), ended("stop"), "[DONE]"])).toMatchObject({
    kind: "malformed_tool_call",
    partial: { content: [{ type: "text", text: ",patch:true}])" }] },
  });
});

test("a router's good end does not count if the upstream's own word says otherwise (F006)", () => {
  const stop = (word: string | null, native: string): Stop =>
    read([
      chunk({ content: "hi" }),
      { choices: [{ index: 0, delta: {}, finish_reason: word, native_finish_reason: native }] },
      "[DONE]",
    ]).stop;
  expect(stop("stop", "MAX_TOKENS")).toEqual({
    kind: "max_tokens",
    wire: "max_tokens",
    raw: "stop",
    detail: "native finish reason: MAX_TOKENS",
  });
  expect(stop(null, "SAFETY")).toMatchObject({ kind: "content_filter" });
  expect(stop("stop", "max_tokens")).toMatchObject({ kind: "max_tokens" });
  expect(stop("stop", "STOP")).toEqual({ kind: "end_turn", wire: "end_turn", raw: "stop" });
  expect(stop("length", "STOP")).toMatchObject({ kind: "max_tokens" });
  expect(stop("stop", "OTHER")).toMatchObject({ kind: "end_turn" });
});

test("nor if the upstream's connection broke: nothing, half a text, or calls that may not be all (F006)", () => {
  const ended = (word: string, native: string): Loose => ({
    choices: [{ index: 0, delta: {}, finish_reason: word, native_finish_reason: native }],
  });
  const broken = { kind: "server_error", retryable: true };
  expect(thrown([chunk({ content: "" }), ended("stop", "network_error"), "[DONE]"])).toMatchObject(broken);
  expect(thrown([chunk({ content: "I will now" }), ended("stop", "abort"), "[DONE]"])).toMatchObject({
    ...broken,
    partial: { content: [{ type: "text", text: "I will now" }] },
  });
  const call = calls({ index: 0, id: "a", function: fn("f", "{}") });
  expect(thrown([call, ended("tool_calls", "network_error"), "[DONE]"])).toMatchObject(broken);
});

test("an answer that begins inside another makes both unusable; changing ids alone do not (F077)", () => {
  const of = (id: string, delta: Loose): Loose => ({ ...chunk(delta), id });
  const says = (id: string, content: string): Loose => of(id, { role: "assistant", content });
  const first = [says("a", ""), of("a", { content: "Hel" })];
  expect(
    thrown([...first, says("b", ""), of("b", { content: "Hello" }), finish("stop"), "[DONE]"]),
  ).toMatchObject({
    kind: "protocol",
    retryable: true,
    partial: { content: [{ text: "Hel" }] },
  });
  const text = (...list: Loose[]): unknown => read([...list, finish("stop"), "[DONE]"]).content;
  expect(text(says("a", "1"), says("b", "2"), says("c", "3"), says("d", "4"))).toEqual([
    { type: "text", text: "1234" },
  ]);
  expect(text(...first, of("b", { content: "lo" }))).toEqual([{ type: "text", text: "Hello" }]);
  // A router that goes on elsewhere, behind servers that say the role in every chunk.
  expect(text(says("a", "1"), says("a", "2"), says("b", "3"))).toEqual([{ type: "text", text: "123" }]);
});

test("an unknown word that contains a word for failure is one (F012)", () => {
  for (const word of ["engine_overloaded", "upstream_unavailable", "stream_exception"])
    expect(thrown([chunk({ content: "hi" }), finish(word), "[DONE]"])).toMatchObject({
      kind: "server_error",
      retryable: true,
    });
});

test("an unknown word that says that the answer was cut or filtered has that meaning (F012)", () => {
  const kindOf = (word: string): string => read([chunk({ content: "hi" }), finish(word), "[DONE]"]).stop.kind;
  for (const word of ["TOKEN_LIMIT", "length_limit", "max_length", "maximum_tokens", "max-completion-tokens"])
    expect(kindOf(word), word).toBe("max_tokens");
  for (const word of ["time_limit"]) expect(kindOf(word), word).toBe("max_tokens");
  for (const word of ["blocked", "content_moderation", "policy-violation", "output_filtered"])
    expect(kindOf(word), word).toBe("content_filter");
  expect(kindOf("context_length_exceeded")).toBe("context_overflow");
  for (const word of ["user_cancelled", "rate_limited", "stream_interrupted"])
    expect(thrown([chunk({ content: "hi" }), finish(word), "[DONE]"]), word).toMatchObject({
      kind: "server_error",
    });
  for (const word of ["limitless", "filterable_end", "maximal", "brand_new"])
    expect(kindOf(word), word).toBe("unknown");
});

describe("errors inside a successful response", () => {
  test.each([
    [
      "beside choices (F014)",
      {
        error: { code: 400, message: "Token limit reached" },
        choices: [{ index: 0, delta: { content: "" } }],
      },
      "invalid_request",
    ],
    [
      "alone (F150)",
      { error: { message: "EngineCore encountered an issue", type: "InternalServerError", code: 500 } },
      "server_error",
    ],
    ["overloaded", { error: { message: "Overloaded", type: "overloaded_error" } }, "overloaded"],
    ["a filter (F179)", { error: { message: "filtered", code: "content_filter" } }, "content_filter"],
    ["as a text (F154)", { error: "Service temporarily unavailable" }, "overloaded"],
    [
      "as vLLM and SGLang write it",
      {
        object: "error",
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        type: "BadRequestError",
        code: 400,
      },
      "context_overflow",
    ],
    ["as a detail", { detail: "Internal error" }, "stream_error"],
    [
      "with the members of a chunk, as null",
      { id: null, choices: null, error_type: "BadRequestError", error_message: "prompt is too long" },
      "context_overflow",
    ],
    [
      "with no choices, as its type alone says",
      { choices: [], error_type: "BadRequestError", error_message: "it is not as it should be" },
      "invalid_request",
    ],
    ["as details", { detail: [{ msg: "too many requests", loc: [] }] }, "rate_limit"],
    ["with a code of its own", { code: 503, msg: "busy" }, "overloaded"],
    ["in a list", { errors: [{ message: "Overloaded" }] }, "overloaded"],
    ["of a gateway", { error_code: 500, error_msg: "it broke" }, "server_error"],
  ])("an error %s ends the answer with the partial answer", (_, frame, kind) => {
    const error = thrown([chunk({ content: "Hel" }), frame as Loose, "[DONE]"]);
    expect(error.kind).toBe(kind);
    expect(error.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
  });

  test.each([
    [
      { code: "InternalError.Algo", message: "An internal error has occured, please try again later." },
      "stream_error",
    ],
    [{ message: "Internal server error" }, "stream_error"],
    [
      { code: "DataInspectionFailed", message: "Output data may contain inappropriate content." },
      "content_filter",
    ],
    [{ msg: "it went wrong" }, "stream_error"],
  ])("words in place of the end are the reason: %j", (frame, kind) => {
    for (const tail of [["[DONE]"], []]) {
      const error = thrown([chunk({ content: "Hel" }), frame, ...tail]);
      expect(error.kind).toBe(kind);
      expect(error.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
    }
  });

  test.each([
    { object: "chat.completion.chunk", usage: { prompt_tokens: 1, completion_tokens: 1 } },
    { type: "ping" },
    { code: 0, msg: "success" },
    { status: "ok", message: "still working" },
  ])("a chunk without choices that is no error changes nothing: %j", (frame) => {
    expect(read([chunk({ content: "hi" }), frame, finish("stop"), "[DONE]"])).toMatchObject({
      content: [{ type: "text", text: "hi" }],
      stop: { kind: "end_turn" },
    });
  });

  test.each([
    ["error: CUDA out of memory", /CUDA out of memory/],
    ['"message"', /no JSON object/],
    ["[1]", /no JSON object/],
    ['{"choices":[{"del', /no JSON object/],
  ])("a payload that is no JSON object is a typed error: %s (F157)", (payload, words) => {
    const error = thrown([chunk({ content: "Hel" }), payload]);
    expect(error).toMatchObject({ kind: "stream_error", retryable: true });
    expect(error.message).toMatch(words);
    expect(error.raw).toBeDefined();
  });

  const failed: Loose = {
    error: {
      message: "Tool call validation failed",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: '{"name": "get", "arguments": {"bad": 1}}',
    },
  };

  test("a call that Groq refused goes back to the model as a call that did not run (F151)", () => {
    const events = `event: error\ndata: ${JSON.stringify(failed)}\n\n`;
    const { message } = decodeStream(openaiChat, origin, events);
    expect(message.stop.kind).toBe("tool_use");
    expect(callsOf(message)).toMatchObject([
      { name: "get", args: {}, argsError: "Tool call validation failed", rawArgs: '{"bad":1}' },
    ]);
    const answered = openaiChat.answerOf?.(
      { status: 400, header: () => null, body: JSON.stringify(failed) },
      origin,
    );
    expect(answered && called(answered)).toEqual([["get", {}]]);
  });

  test("a Groq refusal without a readable call is an error of its kind (F151b)", () => {
    const body = { error: { ...(failed.error as Loose), failed_generation: "" } };
    expect(thrown([body])).toMatchObject({ kind: "malformed_tool_call" });
    expect(openaiChat.errorOf({ status: 400, header: () => null, body: JSON.stringify(body) }).kind).toBe(
      "malformed_tool_call",
    );
    expect(openaiChat.answerOf?.({ status: 400, header: () => null, body: "" }, origin)).toBeUndefined();
  });

  test("words in place of a forced call are the answer, if Groq refuses them (F151)", () => {
    const error = (failed_generation: string): Loose => ({
      error: {
        message: "Tool choice is required, but model did not call a tool",
        type: "invalid_request_error",
        code: "tool_use_failed",
        failed_generation,
      },
    });
    const words = {
      content: [{ type: "text", text: "Paris." }],
      stop: { kind: "end_turn", wire: "end_turn", raw: "tool_use_failed" },
    };
    const answered = (body: Loose): unknown =>
      openaiChat.answerOf?.({ status: 400, header: () => null, body: JSON.stringify(body) }, origin);
    expect(answered(error("Paris."))).toMatchObject(words);
    expect(answered(error(""))).toBeUndefined();
    const stream = (...chunks: Loose[]): string =>
      `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}event: error\ndata: ${JSON.stringify(error(""))}\n\n`;
    const { message } = decodeStream(
      openaiChat,
      origin,
      stream(chunk({ content: "Par" }), chunk({ content: "is." })),
    );
    expect(message).toMatchObject(words);
    expect(() => decodeStream(openaiChat, origin, stream(chunk({ reasoning: "Hm" })))).toThrow(
      expect.objectContaining({ kind: "malformed_tool_call" }),
    );
  });

  test("a truncated answer is no error if it is reported again as one", () => {
    const told = {
      error: { code: 400, message: "Token limit reached" },
      choices: [],
      usage: { prompt_tokens: 3 },
    };
    const message = read([chunk({ content: "Hel" }), finish("length"), told as Loose]);
    expect(message).toMatchObject({
      content: [{ type: "text", text: "Hel" }],
      stop: { kind: "max_tokens", raw: "length" },
      usage: { inputTokens: 3 },
    });
    expect(thrown([chunk({ content: "Hel" }), finish("stop"), told as Loose]).message).toMatch(/Token limit/);
  });

  test("a complete body that is an error is an error, whatever its form (F154)", () => {
    const flat = { code: "The service is currently unavailable", error: "Timed out waiting for first token" };
    expect(() => openaiChat.decodeWhole(flat, origin, () => {})).toThrow(
      expect.objectContaining({ retryable: true }),
    );
    expect(() => openaiChat.decodeWhole("hello", origin, () => {})).toThrow(
      expect.objectContaining({ kind: "protocol" }),
    );
  });
});

describe("text, reasoning and numbers", () => {
  test("calls in another choice than the text belong to the answer", () => {
    const other = (delta: Loose, index: number): Loose => ({
      choices: [{ index, delta, finish_reason: null }],
    });
    const message = read([
      chunk({ content: "Let me look." }),
      other({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] }, 1),
      other({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }, 1),
      other({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }, 1),
      other({ tool_calls: [{ index: 1, id: "b", function: { name: "g", arguments: "{}" } }] }, 2),
      finish("tool_calls"),
      "[DONE]",
    ]);
    expect(message.content).toMatchObject([
      { type: "text", text: "Let me look." },
      { id: "a", name: "f", args: { a: 1 } },
      { id: "b", name: "g", args: {} },
    ]);
  });

  test.each([
    ["that grows", ["H", "Hello", "Hello"]],
    ["in pieces", ["H", "ell", "o"]],
    ["in pieces, the second longer than the first", ["H", "ello"]],
  ])("a message in place of a delta, %s, is read to its end", (_, texts) => {
    const list = texts.map((content) => ({
      choices: [{ index: 0, message: { role: "assistant", content } }],
    }));
    expect(read([...list, finish("stop"), "[DONE]"]).content).toEqual([{ type: "text", text: "Hello" }]);
    const old = texts.map((text) => ({ choices: [{ index: 0, text }] }));
    expect(read([...old, finish("stop"), "[DONE]"]).content).toEqual([{ type: "text", text: "Hello" }]);
  });

  test("an answer that is only in the message at the end is the answer", () => {
    const role = { choices: [{ index: 0, delta: { role: "assistant" } }] };
    const told = (message: Loose): Loose => ({
      choices: [{ index: 0, delta: {}, message: { role: "assistant", ...message }, finish_reason: "stop" }],
    });
    expect(read([role, told({ content: "hi" }), "[DONE]"]).content).toEqual([{ type: "text", text: "hi" }]);
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    expect(read([role, told({ content: "hi", tool_calls: [call] }), "[DONE]"]).content).toMatchObject([
      { type: "text", text: "hi" },
      { type: "tool_call", id: "a", name: "f" },
    ]);
  });

  test("calls that are only in the message at the end are calls", () => {
    const tool_calls = [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":1}' } }];
    const last = { role: "assistant", content: "Hi", tool_calls };
    const message = read([
      chunk({ content: "Hi" }),
      { choices: [{ index: 0, delta: {}, message: last, finish_reason: "tool_calls" }] },
      "[DONE]",
    ]);
    expect(message.content).toMatchObject([
      { type: "text", text: "Hi" },
      { id: "c", name: "f", args: { a: 1 } },
    ]);
  });

  test.each([[["Hi"]], [{ type: "text", text: "Hi" }]])("content as %j is text", (content) => {
    const message = read([chunk({ content }), finish("stop"), "[DONE]"]);
    expect(message.content).toEqual([{ type: "text", text: "Hi" }]);
  });

  test("a whole answer in an envelope is read", () => {
    const message = { role: "assistant", content: "Hi" };
    const data = { choices: [{ index: 0, message, finish_reason: "stop" }] };
    expect(openaiChat.decodeWhole({ success: true, data }, origin, () => {}).content).toEqual([
      { type: "text", text: "Hi" },
    ]);
  });

  test("calls of a second answer are ignored", () => {
    const one = (index: number): Loose => ({
      choices: [
        {
          index,
          delta: { tool_calls: [{ index: 0, id: `c${index}`, function: { name: "f", arguments: "{}" } }] },
        },
      ],
    });
    expect(read([one(0), one(1), finish("tool_calls"), "[DONE]"]).content).toMatchObject([{ id: "c0" }]);
  });

  test.each([
    ["length", "max_tokens"],
    ["content_filter", "content_filter"],
  ])("%s is not overridden by a later word", (word, kind) => {
    const call = { index: 0, id: "c", function: { name: "f", arguments: "{}" } };
    const message = read([chunk({ tool_calls: [call] }), finish(word), finish("stop"), "[DONE]"]);
    expect(message.stop).toMatchObject({ kind, raw: word });
  });

  test("chunks without choices and choices without delta are ignored (F082, F083)", () => {
    const message = read([
      { choices: [], prompt_filter_results: [] },
      { choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] },
      chunk({ content: "a" }),
      { choices: [{ index: 1, delta: { content: "other" } }] },
      finish("stop"),
      "[DONE]",
    ]);
    expect(message.content).toEqual([{ type: "text", text: "a" }]);
    expect(message.usage).toBeUndefined();
  });

  test("Claude's thinking comes back in blocks, each with its signature (F100)", () => {
    const told = (...list: Loose[]): Loose => chunk({ thinking_blocks: list });
    const message = read([
      told({ type: "thinking", thinking: "I ", signature: null }),
      told({ type: "thinking", thinking: "look", signature: "" }),
      told({ type: "thinking", thinking: "", signature: "S1" }),
      told(
        { type: "thinking", thinking: "again", signature: "S2" },
        { type: "redacted_thinking", data: "D" },
      ),
      chunk({ content: "hi" }),
      finish("stop"),
      "[DONE]",
    ]);
    expect(message.content).toEqual([
      {
        type: "reasoning",
        text: "I lookagain",
        opaque: {
          thinking_blocks: [
            { type: "thinking", thinking: "I look", signature: "S1" },
            { type: "thinking", thinking: "again", signature: "S2" },
            { type: "redacted_thinking", data: "D" },
          ],
        },
      },
      { type: "text", text: "hi" },
    ]);
  });

  test("Claude's thinking among the parts of a content is thinking, and keeps its signatures (F099)", () => {
    const told = (...summary: Loose[]): Loose => chunk({ content: [{ type: "reasoning", summary }] });
    const message = read([
      told({ type: "summary_text", text: "I ", signature: "" }),
      told({ type: "summary_text", text: "look", signature: "" }),
      told({ type: "summary_text", text: "", signature: "S1" }),
      told(
        { type: "summary_encrypted_text", data: "D" },
        { type: "summary_text", text: "on", signature: "S2" },
      ),
      chunk({ content: [{ type: "text", text: "hi" }] }),
      finish("stop"),
      "[DONE]",
    ]);
    const summary = [
      { type: "summary_text", text: "I look", signature: "S1" },
      { type: "summary_encrypted_text", data: "D" },
      { type: "summary_text", text: "on", signature: "S2" },
    ];
    expect(message.content).toEqual([
      { type: "reasoning", text: "I lookon", opaque: { content_parts: [{ type: "reasoning", summary }] } },
      { type: "text", text: "hi" },
    ]);
  });

  test("a part of reasoning without signatures is thinking, and nothing to send back", () => {
    const parts = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "hi" },
    ];
    const message = read([chunk({ content: parts }), finish("stop"), "[DONE]"]);
    expect(message.content).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "hi" },
    ]);
  });

  test("a call that is in the older field too is one call (F010)", () => {
    const f = { name: "f", arguments: '{"a":1}' };
    const both = chunk({ tool_calls: [{ index: 0, id: "c1", function: f }], function_call: f });
    expect(called(read([both, finish("tool_calls"), "[DONE]"]))).toEqual([["f", { a: 1 }]]);
  });

  test("an error of which every member is blank is none (F152)", () => {
    const error = { message: "", type: "", param: "", code: null };
    const message = read([{ ...chunk({ content: "hi" }), error }, { ...finish("stop"), error }, "[DONE]"]);
    expect(message.content).toEqual([{ type: "text", text: "hi" }]);
    expect(() => read([{ ...chunk({ content: "hi" }), error: { ...error, code: 500 } }, "[DONE]"])).toThrow();
  });

  test("zeros after counts change nothing (F084)", () => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const message = read([
      chunk({ content: "hi" }),
      { choices: [], usage },
      { ...finish("stop"), usage: zeros },
    ]);
    expect(message.usage).toEqual({ inputTokens: 10, outputTokens: 5 });
  });

  test.each([
    ["in the choice", [chunk({}, { finish_reason: "stop", usage })]],
    ["in x_groq", [{ ...finish("stop"), x_groq: { usage } }]],
    ["in a chunk after the finish word", [finish("stop"), { choices: [], usage }]],
  ])("usage is found %s (F084)", (_, chunks) => {
    expect(read([chunk({ content: "hi" }), ...(chunks as Loose[]), "[DONE]"]).usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
    });
  });

  test.each<[name: string, told: Loose, read: Usage]>([
    [
      "reasoning beside the completion (xAI)",
      { total_tokens: 40, completion_tokens_details: { reasoning_tokens: 25 } },
      { outputTokens: 30, reasoningTokens: 25 },
    ],
    [
      "reasoning that stands in the total alone (Gemini)",
      { total_tokens: 40, prompt_tokens_details: { cached_tokens: 4 } },
      { outputTokens: 30, reasoningTokens: 25, cachedInputTokens: 4 },
    ],
    [
      "details under the names of Responses",
      { input_tokens_details: { cached_tokens: 4 }, output_tokens_details: { reasoning_tokens: 2 } },
      { outputTokens: 5, reasoningTokens: 2, cachedInputTokens: 4 },
    ],
    [
      "what a gateway to Claude writes to its cache (LiteLLM)",
      {
        prompt_tokens_details: { cached_tokens: 0, cache_creation_tokens: 8 },
        cache_creation_input_tokens: 8,
      },
      { outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 8 },
    ],
    [
      "reasoning beside the completion and the total (Perplexity)",
      { total_tokens: 15, reasoning_tokens: 25 },
      { outputTokens: 30, reasoningTokens: 25 },
    ],
    [
      "reasoning that is more than the completion by a miscount",
      { total_tokens: 15, completion_tokens_details: { reasoning_tokens: 6 } },
      { outputTokens: 5, reasoningTokens: 6 },
    ],
    ["a cache under Mistral's names", { num_cached_tokens: 4 }, { outputTokens: 5, cachedInputTokens: 4 }],
    [
      "a cache under Mistral's other names",
      { prompt_token_details: { cached_tokens: 4 } },
      { outputTokens: 5, cachedInputTokens: 4 },
    ],
    [
      "a cache that is told as Claude's is",
      { cache_read_input_tokens: 6, cache_creation_input_tokens: 2 },
      { outputTokens: 5, cachedInputTokens: 6, cacheWriteTokens: 2 },
    ],
    [
      "a cache that the total has beside the prompt, which is no reasoning",
      { total_tokens: 23, cache_read_input_tokens: 6, cache_creation_input_tokens: 2 },
      { inputTokens: 18, outputTokens: 5, cachedInputTokens: 6, cacheWriteTokens: 2 },
    ],
  ])("usage has %s (F084)", (_, told, counted) => {
    const last = { choices: [], usage: { ...usage, ...told } };
    const message = read([chunk({ content: "x" }), finish("stop"), last, "[DONE]"]);
    expect(message.usage).toEqual({ inputTokens: 10, ...counted });
  });

  test.each(["reasoning_content", "reasoning"])("%s is reasoning and no answer (F034)", (field) => {
    const message = read([
      chunk({ content: "", [field]: "" }),
      chunk({ [field]: "I think" }),
      finish("stop"),
      "[DONE]",
    ]);
    expect(message.content).toEqual([{ type: "reasoning", text: "I think" }]);
  });

  test("fragments of reasoning_details become one entry with its signature (F108)", () => {
    const detail = (more: Loose): Loose =>
      chunk({ reasoning_details: [{ type: "reasoning.text", format: "f", index: 0, ...more }] });
    const message = read([
      detail({ text: "Let" }),
      detail({ text: " me." }),
      detail({ signature: "Et8" }),
      chunk({ content: "ok" }),
      finish("stop"),
      "[DONE]",
    ]);
    expect(message.content[0]).toEqual({
      type: "reasoning",
      text: "Let me.",
      opaque: {
        reasoning_details: [
          { type: "reasoning.text", format: "f", index: 0, text: "Let me.", signature: "Et8" },
        ],
      },
    });
  });

  test("a snapshot at the end adds nothing (F085)", () => {
    const words = "a thought that is long enough ";
    const message = read([
      chunk({ reasoning_content: words }),
      chunk({ reasoning_content: words }),
      chunk({ reasoning_content: words + words }),
      { choices: [{ index: 0, delta: { content: "x" }, message: { role: "assistant", content: "x" } }] },
      { choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }] },
      "[DONE]",
    ]);
    expect(message.content).toMatchObject([
      { type: "reasoning", text: words + words },
      { type: "text", text: "x" },
    ]);
  });

  test("citations and generated images are kept", () => {
    const message = read([
      { ...chunk({ content: "see" }), citations: ["https://a"] },
      chunk({
        annotations: [{ type: "url_citation" }],
        images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
      }),
      finish("stop"),
      "[DONE]",
    ]);
    expect(message.content).toEqual([
      { type: "text", text: "see", citations: [{ type: "url_citation" }, "https://a"] },
      { type: "file", mediaType: "image/png", data: "AAAA" },
    ]);
  });

  test.each([
    [{ images: ["data:image/webp;base64,AAAA"] }, { mediaType: "image/webp", data: "AAAA" }],
    [{ images: [{ url: "https://a/b.png" }] }, { mediaType: "image/*", url: "https://a/b.png" }],
    [{ images: [{ b64_json: "AAAA" }] }, { mediaType: "image/png", data: "AAAA" }],
    [{ image: { url: "data:image/png;base64,AAAA" } }, { mediaType: "image/png", data: "AAAA" }],
    [
      { content: [{ type: "image_url", image_url: "https://a/b" }] },
      { mediaType: "image/*", url: "https://a/b" },
    ],
    [{ images: [{}, 1, null, { url: "" }] }, undefined],
  ])("a generated image, told as %j, once or twice", (delta, image) => {
    const message = read([chunk(delta), chunk(delta), finish("stop"), "[DONE]"]);
    expect(message.content).toEqual(image === undefined ? [] : [{ type: "file", ...image }]);
  });

  test("after the sentinel nothing more is read", () => {
    const decoder = openaiChat.decoder(origin, () => {});
    decoder.push({ event: undefined, data: JSON.stringify(chunk({ content: "a" })) });
    expect(decoder.finished).toBe(false);
    decoder.push({ event: undefined, data: "[DONE]" });
    expect(decoder.finished).toBe(true);
    decoder.push({ event: undefined, data: "junk" });
    expect(decoder.end().content).toEqual([{ type: "text", text: "a" }]);
  });
});

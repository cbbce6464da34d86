import { type AssistantMessage, callsOf, type Json, type ModelEvent, RondoError, textOf } from "@rondo/core";
import { describe, expect, it } from "vitest";
import type { Target } from "../../src/codec.ts";
import { googleGenerativeAi, googleStops } from "../../src/codecs/google-generative-ai.ts";

const target: Target = {
  origin: { api: "google-generative-ai", provider: "google", model: "gemini-3-pro-preview" },
  facts: {},
};

interface Heard {
  message: AssistantMessage;
  events: ModelEvent[];
}

function stream(...chunks: Json[]): Heard {
  const events: ModelEvent[] = [];
  const decoder = googleGenerativeAi.decoder(target, (event) => events.push(event));
  for (const chunk of chunks) decoder.push({ event: undefined, data: JSON.stringify(chunk) });
  return { message: decoder.end(), events };
}

function failure(run: () => unknown): RondoError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof RondoError) return thrown;
    throw thrown;
  }
  throw new Error("it did not throw");
}

const says = (...parts: Json[]): Json => ({ candidates: [{ content: { parts, role: "model" }, index: 0 }] });
const ends = (finishReason: string, more: { [key: string]: Json } = {}): Json => ({
  candidates: [{ finishReason, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
const calls = (functionCall: Json, more: { [key: string]: Json } = {}): Json =>
  says({ functionCall, ...more });

describe("the end of an answer", () => {
  it("is a tool turn when STOP comes with a call (F001)", () => {
    const { message } = stream(
      calls({ name: "weather", args: { location: "SF" } }, { thoughtSignature: "EqSIG1" }),
      ends("STOP"),
    );
    expect(message.stop).toEqual({ kind: "tool_use", wire: "end_turn", raw: "STOP" });
    expect(callsOf(message)).toEqual([
      {
        type: "tool_call",
        id: "",
        name: "weather",
        args: { location: "SF" },
        rawArgs: '{"location":"SF"}',
        opaque: { thoughtSignature: "EqSIG1" },
      },
    ]);
  });

  it("that is repeated with its calls is emitted once", () => {
    const last = {
      candidates: [
        { content: { parts: [{ functionCall: { name: "f", args: { a: 1 } } }] }, finishReason: "STOP" },
      ],
    };
    expect(callsOf(stream(last, last).message)).toHaveLength(1);
    // Nobody knows of calls that come one by one whether they are one.
    const call = calls({ name: "f", args: { a: 1 } });
    expect(callsOf(stream(call, call, ends("STOP")).message)).toHaveLength(2);
    expect(callsOf(stream(call, last).message)).toHaveLength(2);
  });

  it("is read from the response in which Code Assist wraps it", () => {
    const { message } = stream(
      { response: says({ text: "hel" }), traceId: "t" },
      { response: says({ text: "lo" }) },
      { response: ends("STOP") },
    );
    expect([textOf(message), message.stop.kind, message.usage?.inputTokens]).toEqual([
      "hello",
      "end_turn",
      10,
    ]);
    const error = { code: 503, message: "high demand", status: "UNAVAILABLE" };
    expect(failure(() => stream({ response: { error } }))).toMatchObject({ kind: "overloaded" });
    // A bare answer may have a member of that name.
    const bare = { ...(says({ text: "a" }) as object), response: says({ text: "b" }) } as Json;
    expect(textOf(stream(bare, ends("STOP")).message)).toBe("a");
  });

  it("keeps earlier parts if the last event has no content (F025)", () => {
    const { message } = stream(says({ text: "hel" }), says({ text: "lo" }), ends("STOP"));
    expect(message.content).toEqual([{ type: "text", text: "hello" }]);
    expect(message.stop.kind).toBe("end_turn");
    expect(stream(says({ text: "a" }), ends("STOP", { content: { role: "model" } })).message.stop.kind).toBe(
      "end_turn",
    );
  });

  it("is a malformed call without any content, whatever else came (F021)", () => {
    const bare = stream(
      ends("MALFORMED_FUNCTION_CALL", { finishMessage: "Malformed function call: f(" }),
    ).message;
    expect(bare).toMatchObject({
      content: [],
      stop: { kind: "malformed_call", raw: "MALFORMED_FUNCTION_CALL", detail: "Malformed function call: f(" },
    });
    const signed = stream(
      says({ text: "", thoughtSignature: "EqX" }),
      ends("MALFORMED_FUNCTION_CALL"),
    ).message;
    expect(signed.content).toEqual([]);
  });

  it("keeps no call that was never offered (F022)", () => {
    const { message } = stream({
      candidates: [
        {
          content: {
            role: "model",
            parts: [{ functionCall: { name: "list_files", args: {} }, thoughtSignature: "C" }],
          },
          finishReason: "UNEXPECTED_TOOL_CALL",
          finishMessage: "Unexpected tool call: Model tried to call an undeclared function: list_files",
        },
      ],
    });
    expect(callsOf(message)).toEqual([]);
    expect(message.stop.kind).toBe("malformed_call");
    expect(message.stop.detail).toContain("list_files");
  });

  it("is a content filter with its ratings if the answer was blocked (F023)", () => {
    const { message } = stream(
      says({ text: "Sure, " }),
      ends("SAFETY", {
        safetyRatings: [{ category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH" }],
      }),
    );
    expect(textOf(message)).toBe("Sure, ");
    expect(message.stop).toEqual({
      kind: "content_filter",
      wire: "content_filter",
      raw: "SAFETY",
      detail: "HARM_CATEGORY_DANGEROUS_CONTENT HIGH",
    });
  });

  it("is a content filter with the provider's words if the prompt was blocked (F024)", () => {
    const body = {
      promptFeedback: {
        blockReason: "MODEL_ARMOR",
        blockReasonMessage: "The prompt violated Prompt Injection and Jailbreak filters.",
      },
      usageMetadata: { trafficType: "ON_DEMAND" },
    };
    for (const message of [stream(body).message, googleGenerativeAi.decodeWhole(body, target, () => {})]) {
      expect(message.content).toEqual([]);
      expect(message.stop).toMatchObject({ kind: "content_filter", raw: "MODEL_ARMOR" });
      expect(message.stop.detail).toContain("Prompt Injection");
      expect(message.stop.detail).toContain("newest message or tool result");
    }
  });

  it.each([
    ["no event at all", []],
    ["nothing but usage", [{ usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 } }]],
    ["an empty list of candidates", [{ candidates: [] }]],
  ] as [string, Json[]][])(
    "is an empty response, to be requested again, after %s (F026)",
    (_name, chunks) => {
      const error = failure(() => stream(...chunks));
      expect(error.kind).toBe("empty_response");
      expect(error.retryable).toBe(true);
    },
  );

  it("is an empty answer, and no error, if a candidate ended without content (F020)", () => {
    const { message } = stream(ends("STOP"));
    expect(message).toMatchObject({ content: [], stop: { kind: "end_turn" } });
  });

  it("is missing, so that the stream was truncated, if no finish reason came (F159)", () => {
    const error = failure(() => stream(says({ text: "Hel" }), calls({ name: "f", args: {} })));
    expect(error.kind).toBe("stream_truncated");
    expect(error.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
  });

  it("is the last reason given, for servers that repeat one in every event", () => {
    const chunk = (text: string): Json => ({
      candidates: [{ content: { parts: [{ text }], role: "model" }, finishReason: "STOP", index: 0 }],
    });
    const events: ModelEvent[] = [];
    const decoder = googleGenerativeAi.decoder(target, (event) => events.push(event));
    decoder.push({ event: undefined, data: JSON.stringify(chunk("a")) });
    expect(decoder.finished).toBe(false);
    decoder.push({ event: undefined, data: JSON.stringify(chunk("b")) });
    expect(textOf(decoder.end())).toBe("ab");
  });

  it("keeps an unknown word, and decides by the content (F012)", () => {
    expect(stream(says({ text: "x" }), ends("SOMETHING_NEW")).message.stop).toEqual({
      kind: "unknown",
      wire: "unknown",
      raw: "SOMETHING_NEW",
    });
    expect(stream(calls({ name: "f", args: {} }), ends("SOMETHING_NEW")).message.stop.kind).toBe("tool_use");
    expect(stream(says({ text: "x" }), ends("toString")).message.stop.kind).toBe("unknown");
  });

  it.each([
    ["length", "max_tokens"],
    ["max_tokens", "max_tokens"],
    ["safety", "content_filter"],
    ["malformed_function_call", "malformed_call"],
    ["sensitive", "content_filter"],
    ["ESCALATION", "content_filter"],
    ["PUP_LIMITED_DISABLED", "content_filter"],
  ])("takes %s, a gateway's word, for %s (F012)", (word, wire) => {
    expect(stream(says({ text: "x" }), ends(word)).message.stop).toMatchObject({ wire, raw: word });
  });

  it("is a retryable error if a gateway's word says so (F012)", () => {
    expect(failure(() => stream(says({ text: "x" }), ends("network_error")))).toMatchObject({
      kind: "server_error",
      retryable: true,
      partial: { content: [{ type: "text", text: "x" }] },
    });
    expect(stream(says({ text: "x" }), ends("NO_IMAGE")).message.stop.kind).toBe("error");
  });

  it.each(Object.entries(googleStops))("means what its table says for %s", (word, kind) => {
    expect(stream(says({ text: "x" }), ends(word)).message.stop).toMatchObject({
      kind,
      wire: kind,
      raw: word,
    });
  });
});

describe("parts", () => {
  it("keep a signature on the part it came with, empty or not, and are not joined to others (F106, F107)", () => {
    const { message } = stream(
      says({ text: "thinking", thought: true }),
      says({ text: "Hel" }),
      says({ text: "lo" }, { text: "", thoughtSignature: "EqTAIL" }),
      says({ text: "signed", thoughtSignature: "S2" }, { text: " after" }),
      ends("STOP"),
    );
    expect(message.content).toEqual([
      { type: "reasoning", text: "thinking" },
      { type: "text", text: "Hello" },
      { type: "text", text: "", opaque: { thoughtSignature: "EqTAIL" } },
      { type: "text", text: "signed", opaque: { thoughtSignature: "S2" } },
      { type: "text", text: " after" },
    ]);
  });

  it("are emitted as they arrive, with their final position", () => {
    const { message, events } = stream(
      says({ text: "hm", thought: true }),
      says({ text: "a" }),
      says({ text: "b" }),
      calls({ name: "f", args: { x: 1 } }),
      ends("STOP"),
    );
    expect(events).toEqual([
      { type: "reasoning_delta", index: 0, text: "hm" },
      { type: "text_delta", index: 1, text: "a" },
      { type: "text_delta", index: 1, text: "b" },
      { type: "tool_args_delta", index: 2, id: "", name: "f", delta: '{"x":1}' },
    ]);
    expect(message.content.map((part) => part.type)).toEqual(["reasoning", "text", "tool_call"]);
  });

  it("of the provider's own tools are kept separate, and are not calls (F031)", () => {
    const code = { executableCode: { language: "PYTHON", code: "1+1" }, thoughtSignature: "S" };
    const result = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } };
    const { message } = stream(says(code, result, { text: "two" }), ends("STOP"));
    expect(message.stop.kind).toBe("end_turn");
    expect(message.content).toEqual([
      { type: "native", kind: "executableCode", opaque: code },
      { type: "native", kind: "codeExecutionResult", opaque: result },
      { type: "text", text: "two" },
    ]);
  });

  it("newer than this code are kept as they are", () => {
    const { message } = stream(says({ hologram: { data: "x" } }, { text: "a" }), ends("STOP"));
    expect(message.content[0]).toEqual({
      type: "native",
      kind: "hologram",
      opaque: { hologram: { data: "x" } },
    });
  });

  it("that are images become files", () => {
    const { message } = stream(
      says({ inlineData: { mimeType: "image/png", data: "AAAA" }, thoughtSignature: "S" }),
      ends("STOP"),
    );
    expect(message.content).toEqual([
      { type: "file", mediaType: "image/png", data: "AAAA", opaque: { thoughtSignature: "S" } },
    ]);
  });

  it("that are pieces of one sound become one file; what has a header, another rate or a signature is no piece of it", () => {
    const raw = "audio/L16;codec=pcm;rate=24000";
    const piece = (mimeType: string, bytes: string): { [key: string]: Json } => ({
      inlineData: { mimeType, data: btoa(bytes) },
    });
    const sound = (mediaType: string, bytes: string, more: object = {}): object => ({
      type: "file",
      mediaType,
      data: btoa(bytes),
      ...more,
    });
    const heard = (...parts: Json[]): unknown =>
      stream(...parts.map((part) => says(part)), ends("STOP")).message.content;
    expect(heard(piece(raw, "abcd"), piece(raw, "efgh"), piece(raw, "i"))).toEqual([sound(raw, "abcdefghi")]);
    expect(heard(piece("audio/wav", "a"), piece("audio/wav", "b"))).toHaveLength(2);
    expect(heard(piece(raw, "a"), piece("audio/pcm;rate=8000", "b"))).toHaveLength(2);
    expect(heard(piece(raw, "a"), { text: "x" }, piece(raw, "b"))).toEqual([
      sound(raw, "a"),
      { type: "text", text: "x" },
      sound(raw, "b"),
    ]);
    expect(heard(piece(raw, "a"), { ...piece(raw, "b"), thoughtSignature: "S" }, piece(raw, "c"))).toEqual([
      sound(raw, "a"),
      sound(raw, "b", { opaque: { thoughtSignature: "S" } }),
      sound(raw, "c"),
    ]);
  });

  it("get their sources as citations", () => {
    const groundingMetadata = {
      webSearchQueries: ["q"],
      groundingChunks: [{ web: { uri: "https://a.example" } }],
    };
    const citation = { startIndex: 0, endIndex: 3, uri: "https://b.example" };
    const { message } = stream(
      says({ text: "abc" }),
      ends("STOP", { groundingMetadata, citationMetadata: { citationSources: [citation] } }),
    );
    expect(message.content).toEqual([
      { type: "text", text: "abc", citations: [citation, { groundingMetadata }] },
    ]);
  });

  it("have no sources if their metadata is empty", () => {
    const nothing = { groundingMetadata: {}, urlContextMetadata: { urlMetadata: [] } };
    const { message } = stream(says({ text: "abc" }), ends("STOP", nothing));
    expect(message.content).toEqual([{ type: "text", text: "abc" }]);
  });

  it("of a second candidate are left out, with a warning", () => {
    const { message, events } = stream(
      {
        candidates: [
          { content: { parts: [{ text: "one" }] }, index: 0 },
          { content: { parts: [{ text: "two" }] }, index: 1 },
        ],
      },
      ends("STOP"),
    );
    expect(textOf(message)).toBe("one");
    expect(events.filter((event) => event.type === "warning")).toHaveLength(1);
  });

  it("may be missing or null wherever a server leaves them out", () => {
    const { message } = stream(
      { candidates: [null] } as Json,
      { candidates: [{ content: null }] } as Json,
      { candidates: [{ content: { parts: [null, { text: "x" }] } }] } as Json,
      ends("STOP"),
    );
    expect(textOf(message)).toBe("x");
  });
});

describe("a call", () => {
  it("without arguments has none (F086)", () => {
    expect(callsOf(stream(calls({ name: "g" }), ends("STOP")).message)[0]).toMatchObject({
      args: {},
      rawArgs: "{}",
    });
  });

  it("keeps the provider's id to be sent back, and shares no block with another of the same name", () => {
    const { message } = stream(
      says(
        { functionCall: { id: "c1", name: "f", args: { a: 1 } } },
        { functionCall: { id: "c1", name: "f", args: { a: 2 } } },
      ),
      ends("STOP"),
    );
    expect(callsOf(message).map((call) => [call.id, call.args, call.opaque])).toEqual([
      ["c1", { a: 1 }, { id: "c1" }],
      ["c1", { a: 2 }, { id: "c1" }],
    ]);
  });

  it("keeps the digits of long integers in its raw arguments (F093)", () => {
    const decoder = googleGenerativeAi.decoder(target, () => {});
    decoder.push({
      event: undefined,
      data: '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":2512292042121000001}}}]},"finishReason":"STOP"}]}',
    });
    expect(callsOf(decoder.end())[0]?.rawArgs).toBe('{"id":2512292042121000001}');
  });

  const part = (jsonPath: string, value: { [key: string]: Json }, more: { [key: string]: Json } = {}): Json =>
    calls({ partialArgs: [{ jsonPath, ...value, ...more }], willContinue: true });

  it("streamed in pieces is joined by path, and closed by an empty part (F081)", () => {
    const { message, events } = stream(
      calls({ name: "getWeather", willContinue: true }, { thoughtSignature: "CiM" }),
      part("$.location", { stringValue: "Bos" }, { willContinue: true }),
      part("$.location", { stringValue: "ton" }, { willContinue: true }),
      part("$.location", { stringValue: "" }),
      calls({}),
      calls({ name: "getWeather", willContinue: true }),
      part("$.location", { stringValue: "SF" }, { willContinue: true }),
      part("$.location", { stringValue: "" }),
      calls({}),
      ends("STOP"),
    );
    expect(callsOf(message).map((call) => [call.args, call.opaque])).toEqual([
      [{ location: "Boston" }, { thoughtSignature: "CiM" }],
      [{ location: "SF" }, undefined],
    ]);
    const shown = events.filter((event) => event.type === "tool_args_delta" && event.index === 0);
    expect(shown.map((event) => (event.type === "tool_args_delta" ? event.delta : "")).join("")).toBe(
      '{"location":"Boston"}',
    );
  });

  it("is not whole if a text in it was to continue, and the answer ends or another call begins", () => {
    const open = (name: string): Json[] => [
      calls({ name, willContinue: true }),
      part("$.y", { stringValue: "z" }, { willContinue: true }),
    ];
    const { message } = stream(...open("a"), ...open("b"), ends("STOP"));
    expect(callsOf(message).map(({ argsError }) => argsError ?? "")).toEqual([
      expect.stringContaining("was to continue"),
      expect.stringContaining("was to continue"),
    ]);
    const closed = stream(...open("a"), calls({}), ends("STOP")).message;
    expect(callsOf(closed).map(({ args, argsError }) => [args, argsError])).toEqual([
      [{ y: "z" }, undefined],
    ]);
  });

  it("is closed by the next named call, or by the end, if the closing part is missing", () => {
    const { message } = stream(
      calls({ name: "a", willContinue: true }),
      part("$.list[0].x", { stringValue: "1" }),
      part("$.list[0].price", { numberValue: 0.5 }),
      part("$.list[1].x", { boolValue: true }),
      part("$.list[1]['odd key']", { nullValue: "NULL_VALUE" }),
      calls({ name: "b", willContinue: true }),
      part("$.y", { stringValue: "z" }),
      ends("STOP"),
    );
    expect(callsOf(message).map((call) => call.args)).toEqual([
      {
        list: [
          { x: "1", price: 0.5 },
          { x: true, "odd key": null },
        ],
      },
      { y: "z" },
    ]);
    expect(callsOf(message).every((call) => call.argsError === undefined)).toBe(true);
  });

  it("still open at the output limit never runs (F005)", () => {
    const { message } = stream(
      calls({ name: "done", args: {} }),
      calls({ name: "cut", willContinue: true }),
      part("$.command", { stringValue: "rm -rf /tmp/bui" }, { willContinue: true }),
      ends("MAX_TOKENS"),
    );
    const [done, cut] = callsOf(message);
    expect(message.stop.kind).toBe("max_tokens");
    expect(done?.argsError).toBeUndefined();
    expect(cut).toMatchObject({ name: "cut", args: {} });
    expect(cut?.argsError).toContain("output limit");
  });

  it("treats __proto__ in a path as a key like any other (F242)", () => {
    const { message } = stream(
      calls({ name: "f", willContinue: true }),
      part("$.__proto__.polluted", { boolValue: true }),
      part("$.constructor.prototype.polluted", { boolValue: true }),
      calls({}),
      ends("STOP"),
    );
    const args = callsOf(message)[0]?.args ?? {};
    expect(Object.getOwnPropertyNames(args).sort()).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ["a huge index", "$.a[400000000]"],
    ["no path", "a.b"],
    ["a path into a string", "$.s.t"],
    ["the root", "$"],
  ])("with a piece without a place (%s) is broken, and keeps what came", (_name, path) => {
    const { message } = stream(
      calls({ name: "f", willContinue: true }),
      part("$.s", { stringValue: "text" }),
      part(path, { stringValue: "x" }),
      calls({}),
      ends("STOP"),
    );
    expect(callsOf(message)[0]?.args).toEqual({});
    expect(callsOf(message)[0]?.argsError).toBeDefined();
    expect(callsOf(message)[0]?.rawArgs).toContain(JSON.stringify(path));
  });

  it("whose pieces return to a member shows no wrong text and has the right value", () => {
    const { message, events } = stream(
      calls({ name: "f", willContinue: true }),
      part("$.a.x", { stringValue: "1" }),
      part("$.b", { stringValue: "2" }),
      part("$.a.y", { stringValue: "3" }),
      calls({}),
      ends("STOP"),
    );
    expect(callsOf(message)[0]?.args).toEqual({ a: { x: "1", y: "3" }, b: "2" });
    const shown = events.map((event) => (event.type === "tool_args_delta" ? event.delta : "")).join("");
    expect('{"a":{"x":"1"},"b":"2"').toContain(shown);
  });
});

describe("usage", () => {
  it("adds thoughts to the answer and the provider's own tools to the request", () => {
    const { message } = stream(says({ text: "x" }), {
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 100,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 300,
        toolUsePromptTokenCount: 7,
        cachedContentTokenCount: 64,
        totalTokenCount: 427,
      },
    });
    expect(message.usage).toEqual({
      inputTokens: 107,
      outputTokens: 320,
      reasoningTokens: 300,
      cachedInputTokens: 64,
    });
  });

  it("is the last that was reported, never a sum, and unknown if nothing was (F198)", () => {
    const { message } = stream(
      {
        ...(says({ text: "a" }) as object),
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
      } as Json,
      { ...(says({ text: "b" }) as object), usageMetadata: { trafficType: "ON_DEMAND" } } as Json,
      {
        candidates: [{ finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 6 },
      },
    );
    expect(message.usage).toEqual({ inputTokens: 9, outputTokens: 6 });
    expect(
      stream(says({ text: "a" }), { candidates: [{ finishReason: "STOP" }] }).message.usage,
    ).toBeUndefined();
  });

  it("derives a missing zero from the total", () => {
    const { message } = stream({
      candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }],
      usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
    });
    expect(message.usage).toEqual({ inputTokens: 10, outputTokens: 0 });
  });
});

describe("failures", () => {
  it("inside a stream are errors, with the partial answer (F152)", () => {
    const error = failure(() =>
      stream(says({ text: "the first half" }), {
        error: {
          code: 503,
          message: "This model is currently experiencing high demand.",
          status: "UNAVAILABLE",
        },
      }),
    );
    expect(error).toMatchObject({ kind: "overloaded", retryable: true });
    expect(error.partial?.content).toEqual([{ type: "text", text: "the first half" }]);
  });

  it.each([
    ["a plain text", "error: CUDA out of memory", "CUDA out of memory"],
    ["a bare string", '"message"', 'no JSON object: "message"'],
    ["a server's plain words", "Internal Server Error", "Internal Server Error"],
    ["half an object", '{"candidates":[{"content":{"par', "no JSON object"],
  ])("in the form of %s are stream errors that contain it (F157)", (_name, data, words) => {
    const decoder = googleGenerativeAi.decoder(target, () => {});
    decoder.push({ event: undefined, data: JSON.stringify(says({ text: "a" })) });
    const error = failure(() => decoder.push({ event: undefined, data }));
    expect(error.kind).toBe("stream_error");
    expect(error.message).toContain(words);
    expect(error.raw).toBe(data);
    expect(textOf(error.partial!)).toBe("a");
  });

  it.each([
    ["RESOURCE_EXHAUSTED", "rate_limit", true],
    ["UNAVAILABLE", "overloaded", true],
    ["ABORTED", "stream_error", true],
    ["OUT_OF_RANGE", "invalid_request", false],
    ["UNIMPLEMENTED", "capability", false],
  ])("inside a stream may have a name and no number: %s", (status, kind, retryable) => {
    const error = failure(() => stream({ error: { code: null, status, message: "It failed." } }));
    expect(error).toMatchObject({ kind, retryable });
  });

  const http = (status: number, error: Json, headers: { [name: string]: string } = {}): RondoError =>
    googleGenerativeAi.errorOf({
      status,
      header: (name) => headers[name] ?? null,
      body: JSON.stringify({ error }),
    });
  const quota = (quotaId: string): Json => ({
    code: 429,
    message: "You exceeded your current quota, please check your plan.",
    status: "RESOURCE_EXHAUSTED",
    details: [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
    ],
  });

  it("of a quota per minute say how long to wait, of a quota per day that waiting is useless (F170, F172)", () => {
    expect(http(429, quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"))).toMatchObject({
      kind: "rate_limit",
      retryable: true,
      retryAfterMs: 34_400,
    });
    expect(http(429, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"))).toMatchObject({
      kind: "quota_exhausted",
      retryable: false,
    });
    const message =
      "Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-3-pro";
    expect(http(429, { code: 429, message, status: "RESOURCE_EXHAUSTED" }).kind).toBe("quota_exhausted");
  });

  it.each([
    [
      400,
      "INVALID_ARGUMENT",
      "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
      "context_overflow",
    ],
    [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "auth"],
    [
      400,
      "INVALID_ARGUMENT",
      "Function calling with a response mime type: 'application/json' is unsupported",
      "capability",
    ],
    [400, "INVALID_ARGUMENT", "Please use a valid role: user, model.", "invalid_request"],
    [403, "PERMISSION_DENIED", "Permission denied on resource project x.", "permission"],
    [404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta", "invalid_request"],
    [500, "INTERNAL", "An internal error has occurred.", "server_error"],
    [503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "overloaded"],
    [504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", "timeout"],
  ])("over HTTP are typed: %i %s", (status, word, message, kind) => {
    expect(http(status, { code: status, message, status: word }).kind).toBe(kind);
  });

  it("over HTTP may come as an array of one", () => {
    const body = JSON.stringify([{ error: { code: 503, message: "busy", status: "UNAVAILABLE" } }]);
    expect(googleGenerativeAi.errorOf({ status: 503, header: () => null, body }).kind).toBe("overloaded");
  });
});

describe("an answer in one body", () => {
  it("may be an array of what would have been events (F156)", () => {
    const body = [
      says({ text: "he" }),
      { candidates: [{ content: { parts: [{ text: "y" }] }, finishReason: "STOP" }] },
    ];
    const message = googleGenerativeAi.decodeWhole(body, target, () => {});
    expect(message).toMatchObject({ content: [{ type: "text", text: "hey" }], stop: { kind: "end_turn" } });
  });

  it("is complete even if it has no finish reason", () => {
    const message = googleGenerativeAi.decodeWhole(calls({ name: "f", args: {} }), target, () => {});
    expect(message.stop).toEqual({ kind: "tool_use", wire: "unknown" });
  });

  it("that is an error, or nothing, throws", () => {
    const whole = (body: Json) => failure(() => googleGenerativeAi.decodeWhole(body, target, () => {})).kind;
    expect(whole({ error: { code: 503, message: "high demand", status: "UNAVAILABLE" } })).toBe("overloaded");
    expect(whole({})).toBe("empty_response");
    expect(whole("text")).toBe("stream_error");
  });
});

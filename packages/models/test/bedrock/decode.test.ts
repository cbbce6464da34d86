import type { AssistantMessage, Json, RondoError } from "@rondo/core";
import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/codec.ts";
import { bedrockStop, bedrockStops } from "../../src/codecs/bedrock/stops.ts";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { hasCorpus, readRecorded, recorded, targetOf } from "../anthropic/feeding.ts";

const target = targetOf("bedrock-converse", "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0");
type Event = [type: string, payload: Json];

function decode(events: readonly Event[]): AssistantMessage {
  const decoder = bedrockConverse.decoder(target, () => {});
  for (const [event, payload] of events) decoder.push({ event, data: JSON.stringify(payload) });
  return decoder.end();
}
function failure(frames: readonly Frame[]): RondoError {
  const decoder = bedrockConverse.decoder(target, () => {});
  try {
    for (const frame of frames) decoder.push(frame);
    decoder.end();
  } catch (error) {
    return error as RondoError;
  }
  throw new Error("no error came");
}
const delta = (index: number, change: Json): Event => [
  "contentBlockDelta",
  { contentBlockIndex: index, delta: change },
];
const call = (index: number, id: string, name: string): Event => [
  "contentBlockStart",
  { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name } } },
];
const close = (index: number): Event => ["contentBlockStop", { contentBlockIndex: index }];
const end = (word: string): Event => ["messageStop", { stopReason: word }];
const usage: Event = [
  "metadata",
  {
    usage: {
      inputTokens: 10,
      outputTokens: 9,
      totalTokens: 26,
      cacheReadInputTokens: 3,
      cacheWriteInputTokens: 4,
    },
  },
];
const frame = ([event, payload]: Event): Frame => ({ event, data: JSON.stringify(payload) });

describe("Converse streams", () => {
  it("cuts control tokens off a name, streamed and whole (F064)", () => {
    const name = "weather<|channel|>commentary";
    expect(decode([call(0, "A", name), close(0), end("tool_use")]).content).toMatchObject([
      { name: "weather" },
    ]);
    const whole = bedrockConverse.decodeWhole(
      {
        output: { message: { content: [{ toolUse: { toolUseId: "A", name, input: {} } }] } },
        stopReason: "tool_use",
      },
      target,
      () => {},
    );
    expect(whole.content).toMatchObject([{ name: "weather" }]);
  });

  it("joins the pieces of a picture, and keeps a block that it does not know as it came", () => {
    const events: Event[] = [
      ["contentBlockStart", { contentBlockIndex: 0, start: { image: { format: "png" } } }],
      delta(0, { image: { source: { bytes: btoa("a") } } }),
      delta(0, { image: { source: { bytes: btoa("bcde") } } }),
      close(0),
      ["contentBlockStart", { contentBlockIndex: 1, start: { newer: { state: "begun" } } }],
      delta(1, { newer: { text: "a" } }),
      delta(1, { newer: { text: "b", state: "done" } }),
      close(1),
      delta(2, { image: { source: { bytes: btoa("a") } } }),
      delta(2, { image: { source: { bytes: btoa("b") } } }),
      close(2),
      end("end_turn"),
    ];
    expect(decode(events).content).toEqual([
      { type: "file", mediaType: "image/png", data: btoa("abcde"), opaque: { drawn: true } },
      { type: "native", kind: "newer", opaque: { newer: { state: "done", text: "ab" } } },
      { type: "file", mediaType: "image/png", data: btoa("ab"), opaque: { drawn: true } },
    ]);
  });

  it("count what is in texts, and nothing that is no number", () => {
    const counted = (inputTokens: Json, outputTokens: Json): AssistantMessage["usage"] =>
      decode([
        delta(0, { text: "a" }),
        end("end_turn"),
        ["metadata", { usage: { inputTokens, outputTokens } }],
      ]).usage;
    expect(counted("12", "7")).toEqual({ inputTokens: 12, outputTokens: 7 });
    expect(counted(-1, 7)).toEqual({ outputTokens: 7 });
  });

  it("take a complete body without a stop reason for a complete answer, and a stream without one for a truncated one (F011)", () => {
    const toolUse = { toolUseId: "t1", name: "weather", input: { city: "Oslo" } };
    const body = { output: { message: { role: "assistant", content: [{ toolUse }] } } };
    const answer = bedrockConverse.decodeWhole(body, target, () => {});
    expect(answer).toMatchObject({
      content: [{ type: "tool_call", name: "weather", args: { city: "Oslo" } }],
      stop: { kind: "tool_use", detail: "finish_missing" },
    });
  });

  it("name the stop sequence, if that was requested: in a stream and in a complete answer", () => {
    const stop = (additionalModelResponseFields: Json): Json => ({
      stopReason: "stop_sequence",
      additionalModelResponseFields,
    });
    const text = delta(0, { text: "a" });
    expect(decode([text, ["messageStop", stop({ delta: { stop_sequence: "END" } })]]).stop.detail).toBe(
      "END",
    );
    const whole = bedrockConverse.decodeWhole(
      { output: { message: { content: [{ text: "a" }] } }, ...(stop({ stop_sequence: "END" }) as object) },
      target,
      () => {},
    );
    expect(whole.stop).toMatchObject({ kind: "stop_sequence", detail: "END" });
  });

  it("keep calls with the same index separate (F068)", () => {
    const message = decode([
      call(0, "tooluse_A", "weather"),
      delta(0, { toolUse: { input: '{"a":1}' } }),
      close(0),
      call(0, "tooluse_B", "now"),
      delta(0, { toolUse: { input: '{"b":2}' } }),
      close(0),
      end("tool_use"),
    ]);
    expect(message.content).toMatchObject([
      { id: "tooluse_A", args: { a: 1 } },
      { id: "tooluse_B", args: { b: 2 } },
    ]);
  });

  it("keep what comes before a call at its index: text and thinking have no start of their own", () => {
    const message = decode([
      delta(0, { reasoningContent: { text: "hm" } }),
      delta(0, { text: "I look." }),
      call(0, "tooluse_A", "weather"),
      delta(0, { toolUse: { input: '{"a":1}' } }),
      close(0),
      end("tool_use"),
    ]);
    expect(message.content).toMatchObject([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "I look." },
      { type: "tool_call", id: "tooluse_A", args: { a: 1 } },
    ]);
  });

  it("take arguments that a gateway sends as a value, not as text (F087)", () => {
    const told = delta(0, { toolUse: { input: { a: 1 } } });
    const message = decode([call(0, "tooluse_A", "weather"), told, close(0), end("tool_use")]);
    expect(message.content).toMatchObject([{ name: "weather", args: { a: 1 } }]);
  });

  it("take arguments that a gateway sends with the block's start, if nothing follows", () => {
    const opened: Event = [
      "contentBlockStart",
      {
        contentBlockIndex: 0,
        start: { toolUse: { toolUseId: "tooluse_A", name: "weather", input: { a: 1 } } },
      },
    ];
    const piece = delta(0, { toolUse: { input: '{"b":2}' } });
    const args = (...events: Event[]): object => decode([opened, ...events, end("tool_use")]).content;
    expect(args()).toMatchObject([{ name: "weather", args: { a: 1 } }]);
    expect(args(close(0))).toMatchObject([{ name: "weather", args: { a: 1 } }]);
    const empty = delta(0, { toolUse: { input: "{}" } });
    expect(args(empty, close(0))).toMatchObject([{ name: "weather", args: { a: 1 } }]);
    expect(args(piece, close(0))).toMatchObject([{ name: "weather", args: { b: 2 } }]);
  });

  it("are broken if a message begins inside another (F077)", () => {
    const begun: Event = ["messageStart", { role: "assistant" }];
    expect(decode([begun, begun, delta(0, { text: "hi" }), end("end_turn")]).content).toMatchObject([
      { text: "hi" },
    ]);
    const twice = [begun, delta(0, { text: "Hel" }), begun, delta(0, { text: "Hello" }), end("end_turn")];
    expect(failure(twice.map(frame))).toMatchObject({ kind: "protocol", retryable: true });
  });

  it("count usage that comes with the stop", () => {
    const last: Event = [
      "messageStop",
      { stopReason: "end_turn", usage: { inputTokens: 4, outputTokens: 5 } },
    ];
    expect(
      decode([["messageStart", { role: "assistant" }], delta(0, { text: "hi" }), last]).usage,
    ).toMatchObject({
      inputTokens: 4,
      outputTokens: 5,
    });
  });

  it("create blocks when first mentioned, and take usage before the stop", () => {
    const message = decode([
      ["contentBlockStart", { contentBlockIndex: 0, start: {} }],
      delta(0, { text: "On it." }),
      close(0),
      call(1, "tooluse_A", "weather"),
      delta(1, { toolUse: { input: '{"location"' } }),
      delta(1, { toolUse: { input: ':"SF"}' } }),
      close(1),
      call(2, "tooluse_B", "now"),
      delta(2, { toolUse: { input: "" } }),
      close(2),
      usage,
      end("tool_use"),
    ]);
    expect(message.content).toMatchObject([
      { type: "text", text: "On it." },
      { type: "tool_call", id: "tooluse_A", name: "weather", args: { location: "SF" } },
      { type: "tool_call", id: "tooluse_B", name: "now", args: {} },
    ]);
    expect(message.stop.kind).toBe("tool_use");
    expect(message.usage).toEqual({
      inputTokens: 17,
      outputTokens: 9,
      cachedInputTokens: 3,
      cacheWriteTokens: 4,
    });
  });

  it("says how much is cached for an hour", () => {
    const details = (cacheDetails: Json): number | undefined =>
      decode([
        delta(0, { text: "x" }),
        ["metadata", { usage: { inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 9, cacheDetails } }],
        end("end_turn"),
      ]).usage?.cacheWrite1hTokens;
    const [hour, minutes] = [
      { ttl: "1h", inputTokens: 3 },
      { ttl: "5m", inputTokens: 6 },
    ];
    expect(details([hour, minutes])).toBe(3);
    expect(details([minutes])).toBeUndefined();
    expect(details("none")).toBeUndefined();
  });

  it("joins redacted reasoning, whether its pieces are text or padded base64", () => {
    const redacted = (...pieces: string[]): Json | undefined => {
      const message = decode([
        ...pieces.map((piece) => delta(0, { reasoningContent: { redactedContent: piece } })),
        delta(1, { text: "x" }),
        end("end_turn"),
      ]);
      const [part] = message.content;
      return part?.type === "reasoning" ? part.opaque?.redacted : undefined;
    };
    expect(redacted("encrypted-reasoning-", "payload")).toBe("encrypted-reasoning-payload");
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    expect(redacted(base64("a"), base64("bc"), base64("def"))).toBe(base64("abcdef"));
  });

  it("keep reasoning with its signature, citations, and the service's own blocks", () => {
    const message = decode([
      delta(0, { reasoningContent: { text: "Hm" } }),
      delta(0, { reasoningContent: { signature: "sig" } }),
      delta(1, { text: "As said" }),
      delta(1, { citation: { title: "t" } }),
      [
        "contentBlockStart",
        {
          contentBlockIndex: 2,
          start: { toolUse: { toolUseId: "s", name: "search", type: "server_tool_use" } },
        },
      ],
      delta(2, { toolUse: { input: '{"q":1}' } }),
      close(2),
      [
        "contentBlockStart",
        { contentBlockIndex: 3, start: { toolResult: { toolUseId: "s", type: "search_result" } } },
      ],
      delta(3, { toolResult: [{ text: "found" }] }),
      close(3),
      ["somethingNew", { contentBlockIndex: 0 }],
      end("end_turn"),
    ]);
    expect(message.content).toEqual([
      { type: "reasoning", text: "Hm", opaque: { signature: "sig" } },
      { type: "text", text: "As said", citations: [{ title: "t" }] },
      {
        type: "native",
        kind: "server_tool_use",
        opaque: { toolUse: { toolUseId: "s", name: "search", type: "server_tool_use", input: { q: 1 } } },
      },
      {
        type: "native",
        kind: "search_result",
        opaque: { toolResult: { toolUseId: "s", type: "search_result", content: [{ text: "found" }] } },
      },
    ]);
    expect(message.stop.kind).toBe("end_turn");
  });

  it.each(Object.entries(bedrockStops))("%s alone means %s", (word, kind) => {
    expect(decode([delta(0, { text: "x" }), end(word)]).stop).toMatchObject({ wire: kind, raw: word });
  });

  it("another protocol's word means what it means there (F012)", () => {
    const said = (word: string): AssistantMessage => decode([delta(0, { text: "x" }), end(word)]);
    expect(said("length").stop).toEqual({ kind: "max_tokens", wire: "max_tokens", raw: "length" });
    expect(() => said("abort")).toThrow(
      expect.objectContaining({ kind: "server_error", retryable: true, raw: { finish_reason: "abort" } }),
    );
  });

  it("an unknown word is unknown", () => {
    expect(bedrockStop("toString")).toBe("unknown");
    expect(decode([delta(0, { text: "x" }), end("banana")]).stop).toEqual({
      kind: "unknown",
      wire: "unknown",
      raw: "banana",
    });
  });

  it("a guardrail and a malformed call matter more than the calls that came", () => {
    const calls = [call(0, "t", "f"), delta(0, { toolUse: { input: '{"a":' } }), close(0)];
    expect(decode([...calls, end("guardrail_intervened")]).stop.kind).toBe("content_filter");
    const malformed = decode([...calls, end("malformed_tool_use")]);
    expect(malformed.stop.kind).toBe("malformed_call");
    expect(malformed.content[0]).toHaveProperty("argsError");
  });

  it("a call that is cut at the output limit before any argument is not executable", () => {
    expect(decode([call(0, "t", "f"), close(0), end("max_tokens")]).content[0]).toHaveProperty("argsError");
  });

  it("an end without messageStop is truncated", () => {
    const error = failure([frame(delta(0, { text: "Hel" })), frame(usage)]);
    expect(error).toMatchObject({ kind: "stream_truncated", usage: { outputTokens: 9 } });
    expect(error.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
  });

  it("has the guardrail's text if it intervened, and none otherwise", () => {
    const guarded: Event = ["metadata", { trace: { guardrail: { actionReason: "No action." } } }];
    const told = (word: string): string | undefined =>
      decode([delta(0, { text: "a" }), end(word), guarded]).stop.detail;
    expect(told("guardrail_intervened")).toBe("No action.");
    expect(told("end_turn")).toBeUndefined();
  });

  it.each([
    ["The model stream failed.", "server_error"],
    ["prompt is too long: 210000 tokens > 200000 maximum", "context_overflow"],
    ["Model produced invalid sequence as part of ToolUse", "malformed_tool_call"],
  ])("an exception in the stream has the original model's message: %s", (originalMessage, kind) => {
    const payload = { message: "Model Stream Error.", originalStatusCode: 400, originalMessage };
    const error = failure([
      { event: "modelStreamErrorException", data: JSON.stringify(payload), exception: true },
    ]);
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(originalMessage);
  });

  it.each([
    ["throttlingException", "Too many tokens, please wait before trying again.", "rate_limit", true],
    ["serviceUnavailableException", "x", "server_error", true],
    ["internalServerException", "x", "server_error", true],
    ["modelStreamErrorException", "x", "server_error", true],
    ["validationException", "The text field is blank", "invalid_request", false],
    ["validationException", "Input is too long for requested model.", "context_overflow", false],
  ])("%s in the stream (%s) is %s", (event, message, kind, retryable) => {
    const error = failure([
      frame(delta(0, { text: "Hel" })),
      { event, data: JSON.stringify({ message }), exception: true },
    ]);
    expect(error).toMatchObject({ kind, retryable });
    expect(error.partial?.content).toEqual([{ type: "text", text: "Hel" }]);
  });

  it.each([
    [429, "ThrottlingException", "Too many tokens, please wait before trying again.", "rate_limit"],
    [
      429,
      "ThrottlingException",
      "Too many tokens per day, please wait before trying again.",
      "quota_exhausted",
    ],
    [400, "ValidationException", "Input is too long for requested model.", "context_overflow"],
    [403, "AccessDeniedException", "no", "permission"],
  ])("status %i %s (%s) is %s", (status, type, message, kind) => {
    const header = (name: string): string | null => (name.toLowerCase() === "x-amzn-errortype" ? type : null);
    expect(bedrockConverse.errorOf({ status, header, body: JSON.stringify({ message }) }).kind).toBe(kind);
  });
});

describe.skipIf(!hasCorpus)("recorded Converse answers", () => {
  it.each(recorded("amazon-bedrock", ".chunks.txt"))(
    "%s decodes to a complete answer, wrapped or not",
    (name) => {
      const events = readRecorded("amazon-bedrock", name)
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => Object.entries(JSON.parse(line) as { [type: string]: Json })[0] as Event);
      const message = decode(events);
      const wrapped = bedrockConverse.decoder(target, () => {});
      for (const [type, payload] of events)
        wrapped.push({ event: undefined, data: JSON.stringify({ [type]: payload }) });
      expect(wrapped.end()).toEqual(message);

      const deltas = events
        .filter(([type]) => type === "contentBlockDelta")
        .map(([, payload]) => payload as { delta: { text?: string; toolUse?: { input: string } } });
      const text = deltas.map(({ delta: change }) => change.text ?? "").join("");
      expect(message.content.map((part) => (part.type === "text" ? part.text : "")).join("")).toBe(text);
      const input = deltas.map(({ delta: change }) => change.toolUse?.input ?? "").join("");
      expect(message.content.map((part) => (part.type === "tool_call" ? part.rawArgs : "")).join("")).toBe(
        input,
      );
      const calls = events.filter(([, payload]) => JSON.stringify(payload).includes('"toolUseId"')).length;
      expect(message.content.filter((part) => part.type === "tool_call")).toHaveLength(calls);
      expect(message.content.every((part) => part.type !== "tool_call" || part.argsError === undefined)).toBe(
        true,
      );
      expect(message.stop.kind).toBe(calls > 0 ? "tool_use" : "end_turn");
    },
  );

  it.each(recorded("amazon-bedrock", ".json"))("%s, a complete answer, keeps every block", (name) => {
    const body = JSON.parse(readRecorded("amazon-bedrock", name)) as {
      output: { message: { content: { text?: string; toolUse?: { toolUseId: string; input: Json } }[] } };
      stopReason: string;
      usage: { outputTokens: number };
    };
    const message = bedrockConverse.decodeWhole(body as unknown as Json, target, () => {});
    const blocks = body.output.message.content;
    expect(message.content).toHaveLength(blocks.length);
    for (const [at, block] of blocks.entries()) {
      if (block.text !== undefined)
        expect(message.content[at]).toMatchObject({ type: "text", text: block.text });
      if (block.toolUse !== undefined)
        expect(message.content[at]).toMatchObject({
          type: "tool_call",
          id: block.toolUse.toolUseId,
          args: block.toolUse.input,
        });
    }
    expect(message.stop.raw).toBe(body.stopReason);
    expect(message.usage?.outputTokens).toBe(body.usage.outputTokens);
  });
});

describe("a complete body with status 200 that is an error", () => {
  it.each([
    [{ message: "Too many requests", __type: "ThrottlingException" }, "rate_limit"],
    [{ code: "The service is currently unavailable", error: "Timed out waiting" }, "overloaded"],
    [{ error: { message: "The server had an error", type: "server_error" } }, "server_error"],
    [{ hello: "there" }, "protocol"],
  ] as const)("%j is reported as such (F154)", (body, kind) => {
    let thrown: RondoError | undefined;
    try {
      bedrockConverse.decodeWhole(body, target, () => {});
    } catch (error) {
      thrown = error as RondoError;
    }
    expect(thrown?.kind).toBe(kind);
  });
});

// Gemini behind proxies: the names of its buffers, its enums as numbers or with their type's name, lists that are one value.

import { describe, expect, it } from "vitest";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";
import { callsOf, data, outcome, textOf } from "../receive/fed.ts";

const candidate = (parts: unknown, more: object = {}): object => ({
  candidates: [{ content: { role: "model", parts }, ...more }],
});
const play = (...values: readonly object[]): ReturnType<typeof outcome> =>
  outcome(googleGenerativeAi, data(...values));

describe("names with underscores", () => {
  it("of the end and the counts", async () => {
    const usage_metadata = { prompt_token_count: 3, candidates_token_count: 2 };
    const { answer } = await play(candidate([{ text: "hi" }]), {
      ...candidate([], { finish_reason: "MAX_TOKENS" }),
      usage_metadata,
    });
    expect(answer).toMatchObject({
      stop: { kind: "max_tokens" },
      usage: { inputTokens: 3, outputTokens: 2 },
    });
  });

  it("of a call and its signature, whose arguments stay as they are", async () => {
    const part = {
      function_call: { name: "f", args: { file_path: "a", deep: { in_here: 1 } } },
      thought_signature: "s",
    };
    const told = await play(candidate([part], { finish_reason: "STOP" }));
    expect(callsOf(told)).toEqual([["f", { file_path: "a", deep: { in_here: 1 } }]]);
    expect(told.answer?.content[0]).toMatchObject({ opaque: { thoughtSignature: "s" } });
  });

  it("of arguments in pieces", async () => {
    const piece = { json_path: "$.a_b", string_value: "x" };
    const told = await play(
      candidate([{ function_call: { name: "f", will_continue: true } }]),
      candidate([{ function_call: { partial_args: [piece], will_continue: true } }]),
      candidate([{ function_call: {} }], { finish_reason: "STOP" }),
    );
    expect(callsOf(told)).toEqual([["f", { a_b: "x" }]]);
  });

  it("of files and of what the provider ran", async () => {
    const parts = [
      { inline_data: { mime_type: "image/png", data: "AAAA" } },
      { executable_code: { code: "1" } },
    ];
    const { answer } = await play(candidate(parts, { finish_reason: "STOP" }));
    expect(answer?.content).toMatchObject([
      { type: "file", mediaType: "image/png", data: "AAAA" },
      { type: "native", kind: "executableCode" },
    ]);
  });

  it("of a prompt that was blocked", async () => {
    const { answer } = await play({ prompt_feedback: { block_reason: "OTHER", block_reason_message: "no" } });
    expect(answer?.stop).toMatchObject({ kind: "content_filter", raw: "OTHER" });
    expect(answer?.stop.detail).toContain("no");
  });
});

describe("the end", () => {
  it.each([
    [1, "end_turn"],
    [2, "max_tokens"],
    [3, "content_filter"],
    ["FinishReason.MAX_TOKENS", "max_tokens"],
    ["FINISH_REASON_MAX_TOKENS", "max_tokens"],
    ["FinishReason.STOP", "end_turn"],
  ])("as %s", async (finishReason, kind) => {
    expect((await play(candidate([{ text: "hi" }], { finishReason }))).answer?.stop.kind).toBe(kind);
  });

  it.each(["null", "None", "", 0])("is none as %j", async (finishReason) => {
    expect((await play(candidate([{ text: "hi" }], { finishReason }))).error?.kind).toBe("stream_truncated");
  });

  it("is no block where the reason is unspecified", async () => {
    const promptFeedback = { blockReason: "BLOCK_REASON_UNSPECIFIED" };
    const { answer } = await play({
      promptFeedback,
      ...candidate([{ text: "hi" }], { finishReason: "STOP" }),
    });
    expect(answer?.stop.detail).toBeUndefined();
  });
});

it.each([
  ["candidates that are one", { candidates: { content: { parts: [{ text: "hi" }] }, finishReason: "STOP" } }],
  ["parts that are one", candidate({ text: "hi" }, { finishReason: "STOP" })],
  [
    "content that is a list",
    { candidates: [{ content: [{ parts: [{ text: "hi" }] }], finishReason: "STOP" }] },
  ],
  ["content that is a text", { candidates: [{ content: "hi", finishReason: "STOP" }] }],
  [
    "a number in words",
    { candidates: [{ index: "0", content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }] },
  ],
  ["an envelope", { data: candidate([{ text: "hi" }], { finishReason: "STOP" }) }],
])("reads %s", async (_title, value) => {
  expect(textOf(await play(value))).toBe("hi");
});

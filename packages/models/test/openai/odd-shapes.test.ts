// Chat Completions as gateways misspell them: members that are missing, renamed, of another type, or in an envelope.

import { describe, expect, it } from "vitest";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { callsOf, chunk, data, outcome, textOf } from "../receive/fed.ts";

const stream = (...values: readonly object[]): string[] => data(...values, "[DONE]");
const whole = (value: object): string[] => [JSON.stringify(value)];
const hi = chunk({ content: "hi" });
const stop = chunk({}, "stop");

describe("an answer whose choices are", () => {
  it.each([
    ["an object", stream({ choices: { delta: { content: "hi" } } }, stop)],
    ["in an envelope of the stream", stream({ data: hi }, { data: stop })],
    [
      "in an envelope of the whole",
      whole({ success: true, result: { choices: [{ message: { content: "hi" } }] } }),
    ],
    [
      "in DashScope's output",
      whole({ output: { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] } }),
    ],
    [
      "DashScope's text",
      whole({ output: { text: "hi", finish_reason: "stop" }, usage: { input_tokens: 1 } }),
    ],
    [
      "DashScope's, each all there is",
      stream(
        { output: { text: "h", finish_reason: "null" } },
        { output: { text: "hi", finish_reason: "stop" } },
      ),
    ],
    ["a message of its own", whole({ message: { role: "assistant", content: "hi" }, finish_reason: "stop" })],
    ["Cloudflare's result", whole({ success: true, result: { response: "hi" } })],
    ["Cloudflare's stream", stream({ response: "h" }, { response: "i" })],
    ["Cloudflare's stream, of digits", stream({ response: "" }, { response: 4 }, { response: 0 }), "40"],
    ["made of a number", stream(chunk({ content: 0 }), chunk({ content: 2 }), stop), "02"],
    ["a value that was read", whole({ choices: [{ message: { content: { a: 1 } } }] }), '{"a":1}'],
    ["numbered in words", stream({ choices: [{ index: "0", delta: { content: "hi" } }] }, stop)],
  ])("%s", async (_title, frames, text = "hi") => {
    expect(textOf(await outcome(openaiChat, frames))).toBe(text);
  });
});

describe("content that is", () => {
  it.each([
    ["a list of parts", [{ type: "text", text: "hi" }]],
    ["a part without a type", [{ text: "hi" }]],
    ["one part", { type: "text", text: "hi" }],
    ["a text inside its text", [{ type: "text", text: { value: "hi" } }]],
    ["a list of texts", ["h", "i"]],
  ])("%s", async (_title, content) => {
    expect(textOf(await outcome(openaiChat, stream(chunk({ content }), stop)))).toBe("hi");
  });

  it.each(["thinking", "reasoning", "reasoning_content"])(
    "reasoning, in parts or under another name: %s",
    async (name) => {
      for (const told of ["mh", [{ type: "text", text: "mh" }], { content: "mh" }]) {
        const { answer } = await outcome(openaiChat, stream(chunk({ [name]: told }), hi, stop));
        expect(answer?.content).toMatchObject([
          { type: "reasoning", text: "mh" },
          { type: "text", text: "hi" },
        ]);
      }
    },
  );
});

describe("thoughts that Google marks in the content", () => {
  const marked = { extra_content: { google: { thought: true } } };
  const thought = (content: string): object => chunk({ content, ...marked });
  const said = chunk({ content: "</thought>hi" }, "stop");
  const message = { content: "<thought>mm</thought>hi", ...marked };
  it.each([
    ["the closing tag behind the mark", stream(thought("<thought>m"), thought("m"), said)],
    ["a tag of their own", stream(thought("<thought>"), thought("mm"), chunk({ content: "" }), said)],
    ["no tags", stream(thought("m"), thought("m"), hi, stop)],
    ["all in one", whole({ choices: [{ message, finish_reason: "stop" }] })],
  ])("are reasoning: %s", async (_title, frames) => {
    const { answer } = await outcome(openaiChat, frames);
    expect(answer?.content).toEqual([
      { type: "reasoning", text: "mm" },
      { type: "text", text: "hi" },
    ]);
  });
});

describe("a finish reason that is", () => {
  it.each([
    [
      "a word for nothing, and then a word",
      stream(chunk({ content: "h" }, "null"), chunk({ content: "i" }, ""), stop),
    ],
    ["an object", stream(hi, chunk({}, { type: "stop" }))],
    ["in the delta", data(hi, chunk({ finish_reason: "stop" }))],
    ["in other letters", data(hi, { choices: [{ delta: {}, finishReason: "stop" }] })],
    ["another protocol's", data(hi, { choices: [{ delta: {}, stop_reason: "end_turn" }] })],
    ["beside a delta that is null", stream(hi, chunk(null, "stop"))],
  ])("%s", async (_title, frames) => {
    const told = await outcome(openaiChat, frames);
    expect(textOf(told)).toBe("hi");
    expect(told.answer?.stop.kind).toBe("end_turn");
  });

  it.each(["null", "None", "NONE", ""])("missing, with the end of the stream: %j", async (word) => {
    expect((await outcome(openaiChat, data(chunk({ content: "hi" }, word)))).error?.kind).toBe(
      "stream_truncated",
    );
  });
});

describe("calls that are", () => {
  const f = { name: "f", arguments: '{"a":1}' };
  const calls = (tool_calls: unknown): string[] => stream(chunk({ tool_calls }), chunk({}, "tool_calls"));

  it.each([
    ["an object", calls({ id: "x", function: f })],
    [
      "null, and then some",
      stream(
        chunk({ content: "", tool_calls: null }),
        chunk({ tool_calls: [{ index: 0, id: "x", function: f }] }),
        chunk({ tool_calls: null }, "tool_calls"),
      ),
    ],
    ["in other letters", stream(chunk({ toolCalls: [{ id: "x", function: f }] }), chunk({}, "tool_calls"))],
    [
      "beside the delta",
      stream({ choices: [{ delta: {}, tool_calls: [{ id: "x", function: f }] }] }, chunk({}, "tool_calls")),
    ],
    [
      "of an object's arguments",
      calls([{ index: 0, id: "x", type: "", function: { name: "f", arguments: { a: 1 } } }]),
    ],
    ["a text", calls([{ index: 0, id: "x", function: JSON.stringify(f) }])],
    [
      "custom",
      whole({
        choices: [
          { message: { tool_calls: [{ id: "x", type: "custom", custom: { name: "f", input: '{"a":1}' } }] } },
        ],
      }),
    ],
    [
      "parts of the content",
      stream(
        chunk({ content: [{ type: "tool_use", id: "x", name: "f", input: { a: 1 } }] }),
        chunk({}, "tool_use"),
      ),
    ],
    [
      "in Cloudflare's result",
      whole({
        success: true,
        result: { response: null, tool_calls: [{ name: "f", arguments: { a: 1 } }] },
      }),
    ],
    [
      "in a message of its own",
      whole({
        message: { content: "", tool_calls: [{ function: { name: "f", arguments: { a: 1 } } }] },
        done: true,
      }),
    ],
  ])("%s", async (_title, frames) => {
    expect(callsOf(await outcome(openaiChat, frames))).toEqual([["f", { a: 1 }]]);
  });

  it("numbered with strings, and interleaved", async () => {
    const piece = (index: string, args: string, more: object = {}): object =>
      chunk({
        tool_calls: [
          { index, ...more, function: { ...("id" in more ? { name: `f${index}` } : {}), arguments: args } },
        ],
      });
    const frames = stream(
      piece("0", '{"a":', { id: "x" }),
      piece("1", '{"b":', { id: "y" }),
      piece("0", "1}"),
      piece("1", "2}"),
      chunk({}, "tool_calls"),
    );
    expect(callsOf(await outcome(openaiChat, frames))).toEqual([
      ["f0", { a: 1 }],
      ["f1", { b: 2 }],
    ]);
  });
});

describe("sound that comes in pieces", () => {
  it("is whole bytes, wherever a piece ends", async () => {
    const audio = (more: object): object => chunk({ audio: { id: "audio_1", ...more } });
    const bytes = ["a", "bc", "defg"].map((one) => audio({ data: btoa(one), transcript: one }));
    const { answer } = await outcome(openaiChat, stream(...bytes, audio({ expires_at: 9 }), stop));
    expect(answer?.content).toEqual([
      {
        type: "native",
        kind: "audio",
        opaque: {
          audio: { id: "audio_1", data: btoa("abcdefg"), transcript: "abcdefg", expires_at: 9 },
        },
      },
      { type: "text", text: "abcdefg" },
    ]);
  });
});

describe("MiniMax's own status beside an answer", () => {
  const said = (base_resp: object): string[] =>
    stream({ ...chunk({ content: "hi" }), base_resp }, { ...chunk({}, "stop"), base_resp });

  it.each([{ status_code: 0, status_msg: "" }, { status_code: "0" }, { status_code: null }, {}])(
    "says nothing against it: %j",
    async (base_resp) => {
      expect(textOf(await outcome(openaiChat, said(base_resp)))).toBe("hi");
    },
  );

  it.each([1002, "1002"])("is an error, as a number or in words: %j", async (status_code) => {
    expect((await outcome(openaiChat, said({ status_code, status_msg: "slow" }))).error?.kind).toBe(
      "rate_limit",
    );
  });
});

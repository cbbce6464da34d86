// Anthropic's protocol as gateways misspell it: numbers as texts, members in another place or under another name.

import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { callsOf, data, outcome, textOf } from "../receive/fed.ts";

const start = { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 1 } } };
const opened = (index: unknown, block: object): object => ({
  type: "content_block_start",
  index,
  content_block: block,
});
const delta = (index: unknown, told: object): object => ({ type: "content_block_delta", index, delta: told });
const closed = (index: unknown): object => ({ type: "content_block_stop", index });
const end = (told: object, more: object = {}): object => ({ type: "message_delta", delta: told, ...more });
const stop = { type: "message_stop" };
const hi = [opened(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "hi" }), closed(0)];
const f = (index: unknown): object =>
  opened(index, { type: "tool_use", id: `c${index}`, name: `f${index}`, input: {} });
const args = (index: unknown, text: string): object =>
  delta(index, { type: "input_json_delta", partial_json: text });
const play = (...events: readonly object[]): ReturnType<typeof outcome> =>
  outcome(anthropicMessages, data(...events));
const whole = (message: object): ReturnType<typeof outcome> =>
  outcome(anthropicMessages, [JSON.stringify(message)]);

it("numbers as strings distinguish interleaved calls", async () => {
  const told = await play(
    start,
    f("0"),
    f("1"),
    args("0", '{"a":'),
    args("1", '{"b":'),
    args("0", "1}"),
    args("1", "2}"),
    closed("0"),
    closed("1"),
    end({ stop_reason: "tool_use" }),
    stop,
  );
  expect(callsOf(told)).toEqual([
    ["f0", { a: 1 }],
    ["f1", { b: 2 }],
  ]);
});

it.each([[[{ a: 1 }]], [5], [true]])(
  "a call whose arguments are no object does not run with none: %j",
  async (input) => {
    const call = { type: "tool_use", id: "c1", name: "f0", input };
    const message = { type: "message", role: "assistant", content: [call], stop_reason: "tool_use" };
    expect(callsOf(await whole(message))).toEqual([["f0", undefined]]);
    const streamed = await play(start, opened(0, call), closed(0), end({ stop_reason: "tool_use" }), stop);
    expect(callsOf(streamed)).toEqual([["f0", undefined]]);
  },
);

describe("usage", () => {
  const counts = { input_tokens: 5, output_tokens: 6 };
  const begun = { type: "message_start", message: { id: "m", content: [] } };
  const ended = end({ stop_reason: "end_turn" });
  it.each([
    ["beside the message that starts", [{ ...begun, usage: counts }, ...hi, ended, stop]],
    ["within the last delta", [begun, ...hi, end({ stop_reason: "end_turn", usage: counts }), stop]],
    ["in the last event", [begun, ...hi, ended, { ...stop, usage: counts }]],
    [
      "by the names of Chat Completions",
      [
        begun,
        ...hi,
        end({ stop_reason: "end_turn" }, { usage: { prompt_tokens: 5, completion_tokens: 6 } }),
        stop,
      ],
    ],
  ])("is counted %s", async (_where, events) => {
    expect((await play(...events)).answer?.usage).toEqual({ inputTokens: 5, outputTokens: 6 });
  });
});

describe("a message that begins again", () => {
  it("is the same one, if its blocks continue (F077)", async () => {
    expect(textOf(await play(start, start, ...hi, end({ stop_reason: "end_turn" }), stop))).toBe("hi");
    const [opening, ...rest] = hi;
    expect(
      textOf(await play(start, opening as object, start, ...rest, end({ stop_reason: "end_turn" }), stop)),
    ).toBe("hi");
  });

  it("and whose blocks begin again is two in one, which cannot be trusted", async () => {
    for (const before of [hi, hi.slice(0, 2)]) {
      const { error } = await play(start, ...before, start, ...hi, end({ stop_reason: "end_turn" }), stop);
      expect(error).toMatchObject({ kind: "protocol", retryable: true });
    }
  });
});

describe("the end", () => {
  it.each([
    ["in other letters", [end({ stopReason: "max_tokens" })]],
    ["beside the delta", [end({}, { stop_reason: "max_tokens" })]],
    ["by the name of Chat Completions", [end({ finish_reason: "length" })]],
    ["with the last event", [{ ...stop, stop_reason: "max_tokens" }]],
  ])("%s: a truncated call does not run", async (_title, events) => {
    const { answer } = await play(start, f(0), args(0, '{"a":1}'), closed(0), ...events, stop);
    expect(answer?.stop.kind).toBe("max_tokens");
  });

  it.each(["null", "None", "", null])("is missing with %j", async (stop_reason) => {
    const { error } = await play(start, f(0), args(0, '{"a":1}'), closed(0), end({ stop_reason }));
    expect(error?.kind).toBe("stream_truncated");
  });

  it("with an error next to it is an error", async () => {
    const { error } = await play(
      start,
      ...hi,
      end({}, { error: { type: "overloaded_error", message: "x" } }),
      stop,
    );
    expect(error?.kind).toBe("overloaded");
  });
});

describe("text", () => {
  it("of a delta without a type", async () => {
    const told = await play(
      start,
      opened(0, { type: "text", text: "" }),
      delta(0, { text: "hi" }),
      end({ stop_reason: "end_turn" }),
      stop,
    );
    expect(textOf(told)).toBe("hi");
  });

  it.each([
    ["a text", { type: "message", content: "hi", stop_reason: "end_turn" }],
    ["one block", { type: "message", content: { type: "text", text: "hi" }, stop_reason: "end_turn" }],
    [
      "in an envelope",
      { data: { type: "message", content: [{ type: "text", text: "hi" }], stop_reason: "end_turn" } },
    ],
  ])("of a complete message: %s", async (_title, message) => {
    expect(textOf(await whole(message))).toBe("hi");
  });

  it("that is missing leaves an answer without text", async () => {
    const { answer } = await whole({ type: "message", content: null, stop_reason: "end_turn" });
    expect(answer?.content).toEqual([]);
  });
});

it.each(["tool_call", "function_call"])("a call of another type is a call: %s", async (type) => {
  const told = await play(
    start,
    opened(0, { type, id: "c", name: "f", input: { a: 1 } }),
    closed(0),
    end({ stop_reason: "tool_use" }),
    stop,
  );
  expect(callsOf(told)).toEqual([["f", { a: 1 }]]);
});

describe("blocks of one call, each with a piece of its arguments, as vLLM begins one for each", () => {
  const nameless = (index: number): object =>
    opened(index, { type: "tool_use", id: "c0", name: null, input: {} });
  const tail = [end({ stop_reason: "tool_use" }), stop];

  it("are one call", async () => {
    const told = await play(
      start,
      f(0),
      closed(0),
      nameless(1),
      args(1, '{"a":'),
      closed(1),
      nameless(2),
      args(2, "1}"),
      closed(2),
      f(3),
      args(3, '{"b":2}'),
      closed(3),
      ...tail,
    );
    expect(callsOf(told)).toEqual([
      ["f0", { a: 1 }],
      ["f3", { b: 2 }],
    ]);
  });

  it("are one call that does not run, if its arguments were lost", async () => {
    const told = await play(start, f(0), closed(0), nameless(1), closed(1), nameless(2), closed(2), ...tail);
    expect(callsOf(told)).toEqual([["f0", undefined]]);
  });
});

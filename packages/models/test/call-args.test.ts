// What a model writes as a call's arguments and is none: the call is answered with what is wrong, and the run goes on.

import { Agent } from "@rondo/core";
import { badArgs, say } from "@rondo/testkit";
import { describe, expect, it } from "vitest";
import { argsIn, parseArgs } from "../src/answer/call-args.ts";
import { Answer } from "../src/answer.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import type { Codec, Frame } from "../src/index.ts";
import { expectValid, rows, serve, weather } from "./end-to-end/stack.ts";

const tooLarge = "a number in the arguments is larger than any that can be kept";

describe("arguments under another protocol's name", () => {
  it("count only if there are none under the protocol's own", () => {
    expect(argsIn({ input: { a: 1 }, arguments: { a: 2 } }, "input")).toEqual({ a: 1 });
    expect(argsIn({ input: {}, arguments: { a: 2 } }, "input")).toEqual({ a: 2 });
    expect(argsIn({ args: null, parameters: '{"a":3}' }, "args")).toBe('{"a":3}');
    expect(argsIn({ arguments: "", input: {} }, "arguments")).toBe("");
    expect(argsIn({ name: "f" }, "arguments")).toBeUndefined();
  });
});

describe("arguments with a token of the model's behind them", () => {
  const read = (args: string): unknown => {
    const answer = new Answer({ origin: { api: "a", provider: "p", model: "m" } }, () => {});
    answer.call(0, { id: "1", name: "f" });
    answer.args(0, args);
    const [part] = answer.finish({ wire: "tool_use" }).content;
    return part?.type === "tool_call" && part.argsError === undefined ? part.args : "not read";
  };
  it.each(["<|im_end|>", "\n<|im_end|>\n", "<|call|>", "<|eot_id|>", "</s>", "<turn|>", "<|END_ACTION|>"])(
    "are read if it ends a turn: %s",
    (token) => expect(read(`{"a":1}${token}`)).toEqual({ a: 1 }),
  );
  it.each(["</tool_call>", " Looking.", "<|im_end|>Looking.", "<|im_start|>", "}"])(
    "are not read if anything else follows: %s",
    (rest) => expect(read(`{"a":1}${rest}`)).toBe("not read"),
  );
});

describe("a number that JSON can write but nothing can hold", () => {
  it.each([
    '{"n":1e999}',
    '{"n":[{"m":-1E+400}]}',
    `{"n":${"9".repeat(400)}}`,
    `{"n":${"9".repeat(300)}e10}`,
    `{"n":-2${"0".repeat(209)}E+99}`,
    JSON.stringify('{"n":1e999}'),
  ])("is not an argument: %s", (text) => {
    expect(parseArgs(text)).toEqual({ args: {}, argsError: tooLarge });
  });

  it("is not one either if the protocol has values", () => {
    expect(parseArgs({ list: [1, null, { n: Number.POSITIVE_INFINITY }] })).toEqual({
      args: {},
      argsError: tooLarge,
    });
  });

  it.each([
    '{"n":1e300}',
    '{"text":"1e999"}',
    '{"n":1e-999,"m":null}',
    `{"id":"${"9".repeat(400)}"}`,
    `{"n":${"9".repeat(208)}e99}`,
  ])("is distinguished from a valid one: %s", (text) => {
    expect(parseArgs(text)).toEqual({ args: JSON.parse(text) });
  });
});

describe("nested arguments", () => {
  const nested = (levels: number): string => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

  it("are accepted some hundred levels deep", () => {
    expect(parseArgs(nested(512))).toEqual({ args: JSON.parse(nested(512)) });
  });

  it.each([513, 5_000, 200_000])("are refused %i levels deep, and the model is told why", (levels) => {
    const argsError = "the arguments are nested more than 512 levels deep";
    expect(parseArgs(nested(levels))).toEqual({ args: {}, argsError });
    expect(parseArgs(JSON.parse(nested(levels)))).toEqual({ args: {}, argsError });
  });

  it("that are too deep end no run: the model may call again", async () => {
    const wire = await serve([badArgs("weather", nested(20_000)), say("done")]);
    const row = rows.find(({ name }) => name === "openai-chat") ?? rows[0];
    if (row === undefined) throw new Error("there is no row");
    const { text, end } = await new Agent({ model: row.model(wire), tools: [weather] }).run("go");
    expect([text, end?.reason]).toEqual(["done", "completed"]);
  });
});

describe.each(rows.filter(({ name }) => name !== "google" && name !== "bedrock"))(
  "such a number in a call of $name",
  (row) => {
    it("is reported to the model, which may call again", async () => {
      const wire = await serve([badArgs("weather", '{"city":"Oslo","n":1e999}'), say("done")]);
      const run = await new Agent({ model: row.model(wire), tools: [weather] }).run("go");
      expect([run.end?.reason, run.text]).toEqual(["completed", "done"]);
      expect(JSON.stringify(wire.requests[1]?.body)).toContain(tooLarge);
      expectValid(wire, run);
    });
  },
);

const framed = (data: object, event?: string): Frame => ({ event, data: JSON.stringify(data) });
const chunk = (delta: object, finish: string | null = null): Frame =>
  framed({ choices: [{ index: 0, delta, finish_reason: finish }] });

/** A call whose arguments are told as a value first, and as text then. */
const twofold = (first: object): readonly [name: string, Codec, readonly Frame[]][] => [
  [
    "chat completions",
    openaiChat,
    [
      chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "weather", arguments: first } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Oslo"}' } }] }),
      chunk({}, "tool_calls"),
    ],
  ],
  [
    "messages",
    anthropicMessages,
    [
      framed({ type: "message_start", message: { id: "m" } }),
      framed({
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "a", name: "weather", input: {} },
      }),
      ...[first, '{"city":"Oslo"}'].map((partial_json) =>
        framed({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } }),
      ),
      framed({ type: "content_block_stop", index: 0 }),
      framed({ type: "message_delta", delta: { stop_reason: "tool_use" } }),
      framed({ type: "message_stop" }),
    ],
  ],
  [
    "converse",
    bedrockConverse,
    [
      framed(
        { contentBlockIndex: 0, start: { toolUse: { toolUseId: "a", name: "weather" } } },
        "contentBlockStart",
      ),
      ...[first, '{"city":"Oslo"}'].map((input) =>
        framed({ contentBlockIndex: 0, delta: { toolUse: { input } } }, "contentBlockDelta"),
      ),
      framed({ contentBlockIndex: 0 }, "contentBlockStop"),
      framed({ stopReason: "tool_use" }, "messageStop"),
    ],
  ],
];

const contentOf = (codec: Codec, frames: readonly Frame[]): unknown => {
  const origin = { api: codec.api, provider: "p", model: "m" };
  const decoder = codec.decoder({ origin, facts: {} }, () => {});
  for (const frame of frames) decoder.push(frame);
  return decoder.end().content;
};

/** What chat completions make of a call's arguments. */
const inChat = (given: string): unknown => {
  const call = { index: 0, id: "a", function: { name: "weather", arguments: given } };
  return contentOf(openaiChat, [chunk({ tool_calls: [call] }), chunk({}, "tool_calls")]);
};

describe("arguments that are no JSON any more because of what a gateway added", () => {
  it.each([
    ["an empty object before", '{}{"city":"Oslo"}'],
    ["two, and blanks", ' {} { }\n{"city":"Oslo"}'],
    ["the same once more", '{"city":"Oslo"}{"city":"Oslo"}'],
    ["the same twice more", '{"city":"Oslo"}\n{"city":"Oslo"} {"city":"Oslo"}'],
    ["both", '{}{"city":"Oslo"}{"city":"Oslo"}'],
    ["a fence around it", '```json\n{"city":"Oslo"}\n```'],
    [
      "what DeepSeek writes around it",
      '```json\n{"city":"Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    ["its tokens alone", '{"city":"Oslo"}<｜tool▁call▁end｜>'],
  ])("are what they were: %s", (_what, given) => {
    expect(inChat(given)).toEqual([
      expect.objectContaining({ rawArgs: '{"city":"Oslo"}', args: { city: "Oslo" } }),
    ]);
  });

  it.each([
    ["two that differ", '{"city":"Oslo"}{"city":"Bergen"}'],
    ["one and half of it", '{"city":"Oslo"}{"city":'],
    ["only empty ones", "{}{}"],
    ["anything else behind it", '{"city":"Oslo"}</tool_call>'],
    ["an empty one behind it", '{"city":"Oslo"}{}'],
    ["words behind its fence", '{"city":"Oslo"}\n``` no'],
    ["half of it in a fence", '```json\n{"city":"Os\n```'],
  ])("do not run where it cannot be known: %s", (_what, given) => {
    expect(inChat(given)).toEqual([
      expect.objectContaining({
        rawArgs: given,
        args: {},
        argsError: expect.stringContaining("not valid JSON"),
      }),
    ]);
  });
});

describe("a value that is only a part of a call's arguments", () => {
  it.each(twofold({ city: "Bergen" }))("never replaces all of them: %s", (_name, codec, frames) => {
    expect(contentOf(codec, frames)).toEqual([
      expect.objectContaining({
        rawArgs: '{"city":"Bergen"}{"city":"Oslo"}',
        args: {},
        argsError: expect.stringContaining("not valid JSON"),
      }),
    ]);
  });

  it.each(twofold({}))("is no part of them if it is empty: %s", (_name, codec, frames) => {
    expect(contentOf(codec, frames)).toEqual([
      expect.objectContaining({ rawArgs: '{"city":"Oslo"}', args: { city: "Oslo" } }),
    ]);
  });

  it("is replaced by those that come in a part of their own, which keep their digits too", () => {
    const part = (functionCall: string, finish: string): Frame => ({
      event: undefined,
      data: `{"candidates":[{"content":{"parts":[{"functionCall":${functionCall}}]}${finish}}]}`,
    });
    const frames = [
      part('{"name":"weather"}', ""),
      part('{"args":{"station":2512292042121000001}}', ',"finishReason":"STOP"'),
    ];
    expect(contentOf(googleGenerativeAi, frames)).toEqual([
      expect.objectContaining({
        name: "weather",
        rawArgs: '{"station":2512292042121000001}',
        args: { station: Number("2512292042121000001") },
      }),
    ]);
  });
});

// Bytes that are none of the protocol's own: another protocol's, words in place of events, events that are errors by their
// name alone, lines where events belong.

import { describe, expect, it } from "vitest";
import type { Codec } from "../../src/codec.ts";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../../src/codecs/google-generative-ai.ts";
import { ollamaChat } from "../../src/codecs/ollama-chat.ts";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { openaiResponses } from "../../src/codecs/openai-responses.ts";
import { callsOf, chunk, data, event, lines, outcome, textOf } from "./fed.ts";

const codecs = { openaiChat, openaiResponses, anthropicMessages, googleGenerativeAi, ollamaChat };
const sseCodecs = { openaiChat, openaiResponses, anthropicMessages, googleGenerativeAi };

const streams = {
  "openai-chat": [...data(chunk({ role: "assistant", content: "hi" }), chunk({}, "stop"), "[DONE]")],
  "anthropic-messages": [
    event("message_start", { type: "message_start", message: { id: "m", content: [] } }),
    event("content_block_delta", {
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: "hi" },
    }),
    event("message_delta", { type: "message_delta", delta: { stop_reason: "end_turn" } }),
  ],
  "openai-responses": [
    event("response.created", { type: "response.created", response: { id: "r", output: [] } }),
    event("response.completed", { type: "response.completed", response: { id: "r", output: [] } }),
  ],
  "google-generative-ai": data({
    candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }],
  }),
};
const bodies = {
  "openai-chat": {
    object: "chat.completion",
    choices: [{ message: { content: "hi" }, finish_reason: "stop" }],
  },
  "anthropic-messages": { type: "message", content: [{ type: "text", text: "hi" }], stop_reason: "end_turn" },
  "openai-responses": { object: "response", status: "completed", output: [] },
  "google-generative-ai": { candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }] },
};

/** A whole answer in each protocol. */
const wholes: readonly (readonly [Codec, object])[] = [
  [openaiChat, bodies["openai-chat"]],
  [anthropicMessages, bodies["anthropic-messages"]],
  [
    openaiResponses,
    {
      ...bodies["openai-responses"],
      output: [{ type: "message", content: [{ type: "output_text", text: "hi" }] }],
    },
  ],
  [googleGenerativeAi, bodies["google-generative-ai"]],
  [bedrockConverse, { output: { message: { content: [{ text: "hi" }] } }, stopReason: "end_turn" }],
  [ollamaChat, { message: { content: "hi" }, done: true }],
];

it.each(wholes)("a body that was quoted once more is what is in the quotes: %o", async (codec, body) => {
  expect(textOf(await outcome(codec, [JSON.stringify(JSON.stringify(body))]))).toBe("hi");
});

it.each(wholes.filter(([{ api }]) => api !== "ollama-chat"))(
  "an answer in an envelope of its gateway's is found: %o",
  async (codec, body) => {
    for (const name of ["data", "result", "response"])
      expect(textOf(await outcome(codec, [JSON.stringify({ [name]: body })]))).toBe("hi");
  },
);

describe.each(Object.entries(codecs))("%s, answered in another protocol", (_name, codec) => {
  it.each(Object.entries(streams).filter(([api]) => api !== codec.api))(
    "a stream of %s",
    async (_api, frames) => {
      const { error } = await outcome(codec, frames);
      expect(error).toMatchObject({ kind: "protocol", retryable: false });
      expect(error?.message).toMatch(/was asked in .* and answered in .*baseURL/);
    },
  );

  it.each(Object.entries(bodies).filter(([api]) => api !== codec.api))("a body of %s", async (_api, body) => {
    const { error } = await outcome(codec, [JSON.stringify(body)]);
    expect(error).toMatchObject({ kind: "protocol", retryable: false });
  });
});

describe.each(Object.entries(sseCodecs))("%s, with an event whose name is error", (_name, codec) => {
  it.each(["event: error\n\n", "event: error\ndata:\n\n", "event: error\ndata: null\n\n", "event: error\n"])(
    "and no content: %j",
    async (frame) => {
      const { error } = await outcome(codec, [frame]);
      expect(error).toMatchObject({ kind: "stream_error", retryable: true });
      expect(error?.message).toContain("without an explanation");
    },
  );

  it.each([
    ["Overloaded", "overloaded"],
    ["429 Too Many Requests", "rate_limit"],
    ['"the model is overloaded"', "overloaded"],
    ['{"message":"Insufficient account balance"}', "quota_exhausted"],
    ['{"type":"overloaded_error","message":"x"}', "overloaded"],
    ["something else", "stream_error"],
  ])("and its text: %s", async (words, kind) => {
    expect((await outcome(codec, [event("error", words)])).error?.kind).toBe(kind);
  });

  it.each([
    ["Service Unavailable", "overloaded"],
    ['"rate limit exceeded"', "rate_limit"],
    ["no such thing\n\nat all", "stream_error"],
  ])("words in place of events: %s", async (words, kind) => {
    expect((await outcome(codec, [words])).error?.kind).toBe(kind);
  });
});

const flat: readonly (readonly [form: string, body: object, kind: string, words: string])[] = [
  ["a gateway's", { message: "Forbidden" }, "stream_error", "Forbidden"],
  ["with a code in words", { code: "Throttling.RateQuota", message: "slow" }, "rate_limit", "slow"],
  ["Amazon's", { __type: "com.amazon#ThrottlingException", message: "slow" }, "rate_limit", "slow"],
  ["Amazon's gateway's", { Message: "no route" }, "stream_error", "no route"],
  ["FastAPI's", { detail: "Model is loading" }, "overloaded", "Model is loading"],
  ["a status beside words", { statusCode: 503, message: "down" }, "overloaded", "down"],
  ["a status and a title", { status: 429, title: "Too Many Requests" }, "rate_limit", "Too Many Requests"],
  ["a number and words", { code: 500, msg: "boom" }, "server_error", "boom"],
  ["words of their own name", { error_msg: "boom" }, "stream_error", "with an error: boom"],
  ["a list", { errors: [{ message: "boom" }] }, "stream_error", "boom"],
  ["no success", { success: false, message: "boom" }, "stream_error", "boom"],
  ["a status in words", { status: "error", message: "boom" }, "stream_error", "boom"],
  ["a flag", { error: true, message: "boom" }, "stream_error", "boom"],
  ["a list of errors", { error: [{ message: "boom" }] }, "stream_error", "boom"],
  ["a proxy's", { fault: { faultstring: "Rate limit quota violation" } }, "rate_limit", "quota violation"],
  ["in a list", [{ error: { code: 503, message: "down" } }], "overloaded", "down"],
];

describe.each(Object.entries({ ...codecs, bedrockConverse }))(
  "%s, an error in place of an answer",
  (_name, codec) => {
    it.each(flat)("%s", async (_form, body, kind, words) => {
      const { error } = await outcome(codec, [JSON.stringify(body)]);
      expect(error?.kind).toBe(kind);
      expect(error?.message).toContain(words);
    });
  },
);

describe.each([
  ["openaiChat", openaiChat, data(chunk({ content: "hi" }))],
  [
    "openaiResponses",
    openaiResponses,
    [
      event("response.output_text.delta", {
        type: "response.output_text.delta",
        output_index: 0,
        content_index: 0,
        delta: "hi",
      }),
    ],
  ],
  ["anthropicMessages", anthropicMessages, streams["anthropic-messages"].slice(0, 2)],
  [
    "googleGenerativeAi",
    googleGenerativeAi,
    data({ candidates: [{ content: { parts: [{ text: "hi" }] } }] }),
  ],
  ["ollamaChat", ollamaChat, data({ message: { content: "hi" }, done: false })],
  [
    "bedrockConverse",
    bedrockConverse,
    data({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: "hi" } } }),
  ],
] as const)("%s, an error behind a text, without its wrapping", (_name, codec, before) => {
  it.each(
    flat.filter(
      ([, body]) =>
        (!Array.isArray(body) && !("Message" in body) && Object.keys(body).length > 1) || "detail" in body,
    ),
  )("%s", async (_form, body, kind, words) => {
    const { error } = await outcome(codec, [...before, ...data(body)]);
    expect(error).toMatchObject({ kind, partial: { content: [{ type: "text", text: "hi" }] } });
    expect(error?.message).toContain(words);
  });
});

it("an error without words that comes after text keeps the text, and a word for the end makes it no success", async () => {
  const { error } = await outcome(openaiChat, [
    ...data(chunk({ content: "hi" })),
    "event: error\n\n",
    ...data("[DONE]"),
  ]);
  expect(error).toMatchObject({ kind: "stream_error", partial: { content: [{ type: "text", text: "hi" }] } });
});

describe("objects, one per line, in place of events", () => {
  const call = (args: string, more: object = {}): object =>
    chunk({
      tool_calls: [
        { index: 0, ...more, function: { ...("id" in more ? { name: "f" } : {}), arguments: args } },
      ],
    });

  it("are an answer", async () => {
    const told = await outcome(openaiChat, [
      ...lines(chunk({ content: "h" }), chunk({ content: "i" }), chunk({}, "stop")),
    ]);
    expect(textOf(told)).toBe("hi");
  });

  it("hold calls", async () => {
    const frames = lines(call('{"a":', { id: "x" }), call("1}"), chunk({}, "tool_calls"));
    expect(callsOf(await outcome(openaiChat, frames))).toEqual([["f", { a: 1 }]]);
  });

  it.each([1, 2])("without an end are truncated, after %d", async (count) => {
    const frames = lines(...[chunk({ content: "h" }), chunk({ content: "i" })].slice(0, count));
    expect((await outcome(openaiChat, frames)).error?.kind).toBe("stream_truncated");
  });

  it("may hold an error", async () => {
    const frames = lines(chunk({ content: "h" }), { error: { type: "overloaded_error", message: "x" } });
    expect((await outcome(openaiChat, frames)).error?.kind).toBe("overloaded");
  });

  it("are read in Google's protocol as well", async () => {
    const part = (text: string, more: object = {}): object => ({
      candidates: [{ content: { parts: [{ text }] }, ...more }],
    });
    expect(
      textOf(await outcome(googleGenerativeAi, lines(part("h"), part("i", { finishReason: "STOP" })))),
    ).toBe("hi");
  });

  it("do not matter if a complete body ends with a line end", async () => {
    expect(textOf(await outcome(openaiChat, [`${JSON.stringify(bodies["openai-chat"])}\n\n`]))).toBe("hi");
  });
});

describe("Ollama's lines", () => {
  const said = (content: string, more: object): object => ({
    message: { role: "assistant", content },
    ...more,
  });

  it("may come as events", async () => {
    const frames = [
      ": hello\n\n",
      ...data(said("h", { done: false }), said("i", { done: true, done_reason: "stop" }), "[DONE]"),
    ];
    expect(textOf(await outcome(ollamaChat, frames))).toBe("hi");
  });

  it("may come from its other address", async () => {
    const frames = lines({ response: "h", done: false }, { response: "i", done: true, done_reason: "stop" });
    expect(textOf(await outcome(ollamaChat, frames))).toBe("hi");
  });

  it.each([
    ["in one object over several lines", [JSON.stringify(said("hi", { done: true }), null, 2)]],
    ["in a list of one", [JSON.stringify([said("hi", { done: true })])]],
    ["of parts", lines({ message: { content: [{ type: "text", text: "hi" }] }, done: true })],
    ["behind a word for nothing", ["null\n", ...lines(said("hi", { done: true }))]],
  ])("may be written otherwise: %s", async (_title, frames) => {
    expect(textOf(await outcome(ollamaChat, frames))).toBe("hi");
  });

  it.each([
    ["without its wrapping", [{ name: "f", arguments: { a: 1 } }]],
    ["without a list", { function: { name: "f", arguments: { a: 1 } } }],
  ])("may hold a call %s", async (_title, tool_calls) => {
    expect(callsOf(await outcome(ollamaChat, lines({ message: { tool_calls }, done: true })))).toEqual([
      ["f", { a: 1 }],
    ]);
  });

  it("are read if Chat Completions was expected", async () => {
    const frames = lines(
      said("h", { done: false }),
      said("i", { done: false }),
      said("", { done: true, done_reason: "stop" }),
    );
    expect(textOf(await outcome(openaiChat, frames))).toBe("hi");
  });
});

describe("frames that a proxy has joined", () => {
  const glue = (...pieces: readonly (object | string)[]): string =>
    `data: ${pieces.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("")}\n\n`;

  it.each([
    ["objects", [glue(chunk({ content: "hi" }), chunk({}, "stop"))]],
    ["an object and the word for the end", [glue(chunk({ content: "hi" }, "stop"), "[DONE]")]],
    [
      "objects with the name of their field between them",
      [glue(chunk({ content: "hi" }), "data: ", chunk({}, "stop"))],
    ],
  ])("are told apart: %s", async (_title, frames) => {
    expect(textOf(await outcome(openaiChat, frames))).toBe("hi");
  });

  it("are separated in Anthropic's protocol, and in Google's", async () => {
    const [start, delta] = [
      { type: "message_start", message: { id: "m", content: [] } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
    ];
    const end = event("message_delta", { type: "message_delta", delta: { stop_reason: "end_turn" } });
    expect(textOf(await outcome(anthropicMessages, [glue(start, delta), end]))).toBe("hi");
    const [one, two] = [
      { candidates: [{ content: { parts: [{ text: "hi" }] } }] },
      { candidates: [{ finishReason: "STOP" }] },
    ];
    expect(textOf(await outcome(googleGenerativeAi, [glue(one, two)]))).toBe("hi");
  });

  it("and a truncated frame stays unreadable", async () => {
    const { error } = await outcome(openaiChat, [glue(chunk({ content: "hi" }), '{"choices":[{"del')]);
    expect(error?.kind).toBe("stream_error");
  });
});

describe("a complete answer in one event", () => {
  it.each([
    ["Anthropic's", anthropicMessages, bodies["anthropic-messages"]],
    [
      "Responses'",
      openaiResponses,
      { object: "response", status: "completed", output: [{ type: "message", content: "hi" }] },
    ],
    ["Chat Completions'", openaiChat, bodies["openai-chat"]],
    ["Google's", googleGenerativeAi, bodies["google-generative-ai"]],
  ])("is one: %s", async (_whose, codec, body) => {
    expect(textOf(await outcome(codec, data(body)))).toBe("hi");
  });
});

describe("an event with invalid JSON", () => {
  const [one, stop] = [chunk({ content: "hi" }), JSON.stringify(chunk({}, "stop"))];
  it.each([
    ["a list of chunks", data([one, JSON.parse(stop)])],
    ["quoted once more", data(JSON.stringify(JSON.stringify(one)), stop)],
    ["written over several lines", [`data: ${JSON.stringify(one, null, 2)}\n\n`, ...data(stop)]],
    [
      "Python's, with a number that is none",
      data(`{"x":NaN,"y":-Infinity,${JSON.stringify(one).slice(1)}`, stop),
    ],
  ])("read all the same: %s", async (_title, frames) => {
    expect(textOf(await outcome(openaiChat, frames))).toBe("hi");
  });

  it("is read if control characters are not escaped, and text that looks like a number does not change", async () => {
    const frames = data('{"choices":[{"delta":{"content":"a\tNaN"}}]}', stop);
    expect(textOf(await outcome(openaiChat, frames))).toBe("a\tNaN");
  });

  it.each(["[]", '["a"]', '"message"', "{'a': 1}"])("of another kind is still an error: %s", async (text) => {
    expect((await outcome(openaiChat, data(text))).error?.kind).toBe("stream_error");
  });
});

describe.each(Object.entries(sseCodecs))("%s, with an error outside of its usual object", (_name, codec) => {
  it.each([
    ["FastAPI's", { detail: "Rate limit exceeded" }],
    ["a problem's", { title: "Too Many Requests", status: 429, detail: "slow down" }],
    ["one of a type", { type: "rate_limit_error", message: "slow down" }],
  ])("%s", async (_whose, body) => {
    expect((await outcome(codec, data(body))).error?.kind).toBe("rate_limit");
    expect((await outcome(codec, [JSON.stringify(body)])).error?.kind).toBe("rate_limit");
  });
});

describe("Amazon's frames, which a gateway has turned into text", () => {
  const frames: [name: string, payload: object][] = [
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }],
    ["messageStop", { stopReason: "end_turn" }],
    ["metadata", { usage: { inputTokens: 1, outputTokens: 1 } }],
  ];

  it.each([
    ["events", frames.map(([name, payload]) => event(name, payload))],
    ["events without names", data(...frames.map(([name, payload]) => ({ [name]: payload })))],
    ["lines", lines(...frames.map(([name, payload]) => ({ [name]: payload })))],
  ])("are an answer as %s", async (_title, text) => {
    expect(textOf(await outcome(bedrockConverse, text))).toBe("hi");
  });

  it("and what is neither text nor a frame is broken, in every chunking", async () => {
    for (const bytes of ['\u0010applicat"co', '"data:</think>"'])
      expect((await outcome(bedrockConverse, [bytes])).error?.kind).toBe("stream_error");
  });

  it("may be text alone, or another protocol's", async () => {
    expect((await outcome(bedrockConverse, ["Service Unavailable"])).error?.kind).toBe("overloaded");
    expect((await outcome(bedrockConverse, streams["anthropic-messages"])).error?.kind).toBe("protocol");
  });
});

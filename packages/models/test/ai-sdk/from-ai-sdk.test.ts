import { runInNewContext } from "node:vm";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  Agent,
  type AssistantMessage,
  type Message,
  type ModelEvent,
  type ModelRequest,
  memoryJournal,
  RondoError,
  tool,
  userText,
} from "@rondo/core";
import { type FromAiSdkOptions, fromAiSdk } from "@rondo/models";
import { scripted } from "@rondo/testkit";
import { APICallError, LoadAPIKeyError } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV3, MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Handler, withServer } from "../transport/loopback.ts";

type V4Part = MockLanguageModelV4["doStream"] extends (
  options: never,
) => PromiseLike<{ stream: ReadableStream<infer P> }>
  ? P
  : never;

const counted = {
  inputTokens: { total: 100, noCache: 40, cacheRead: 60, cacheWrite: undefined },
  outputTokens: { total: 20, text: 15, reasoning: 5 },
};

const finish = (unified: "stop" | "tool-calls" | "length" | "error" | "other", raw?: string): V4Part => ({
  type: "finish",
  usage: counted,
  finishReason: { unified, raw },
});

function mock(
  parts: readonly V4Part[],
  more: ConstructorParameters<typeof MockLanguageModelV4>[0] = {},
): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    provider: "openai.responses",
    modelId: "gpt-5",
    ...more,
    doStream: () => Promise.resolve({ stream: convertArrayToReadableStream([...parts]) }),
  });
}

interface Asked {
  answer: Promise<AssistantMessage>;
  events: ModelEvent[];
}

function ask(
  model: Parameters<typeof fromAiSdk>[0],
  request: Partial<ModelRequest> = {},
  options: FromAiSdkOptions & { signal?: AbortSignal } = {},
): Asked {
  const { signal, ...rest } = options;
  const events: ModelEvent[] = [];
  const answer = fromAiSdk(model, rest).call(
    { messages: [userText("hi")], tools: [], toolChoice: "auto", settings: {}, ...request },
    { signal: signal ?? new AbortController().signal, emit: (event) => events.push(event) },
  );
  answer.catch(() => {});
  return { answer, events };
}

async function failure(asked: Asked): Promise<RondoError> {
  const thrown: unknown = await asked.answer.catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(RondoError);
  return thrown as RondoError;
}

const lookup = { name: "lookup", description: "Looks up", inputSchema: { type: "object", properties: {} } };

describe("fromAiSdk: an answer", () => {
  it("has its text, reasoning, calls, usage and stop, with provider metadata as opaque data", async () => {
    const { answer, events } = ask(
      mock([
        { type: "stream-start", warnings: [{ type: "unsupported", feature: "topK", details: "ignored" }] },
        { type: "response-metadata", id: "resp_1", modelId: "gpt-5-2025" },
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "hm" },
        { type: "reasoning-end", id: "r", providerMetadata: { openai: { encrypted: "xyz" } } },
        { type: "text-start", id: "t", providerMetadata: { openai: { itemId: "msg_1" } } },
        { type: "text-delta", id: "t", delta: "Let me " },
        { type: "text-delta", id: "t", delta: "look." },
        { type: "text-end", id: "t", providerMetadata: { openai: { phase: "commentary" } } },
        { type: "tool-input-start", id: "c1", toolName: "lookup" },
        { type: "tool-input-delta", id: "c1", delta: '{"q":' },
        { type: "tool-input-delta", id: "c1", delta: "1}" },
        { type: "tool-input-end", id: "c1" },
        {
          type: "tool-call",
          toolCallId: "c1",
          toolName: "lookup",
          input: '{"q":1}',
          providerMetadata: { openai: { itemId: "fc_1" } },
        },
        finish("tool-calls", "tool_calls"),
      ]),
      {},
      { raw: true },
    );
    expect(await answer).toEqual({
      role: "assistant",
      origin: { api: "ai-sdk", provider: "openai.responses", model: "gpt-5" },
      content: [
        { type: "reasoning", text: "hm", opaque: { openai: { encrypted: "xyz" } } },
        {
          type: "text",
          text: "Let me look.",
          commentary: true,
          opaque: { openai: { itemId: "msg_1", phase: "commentary" } },
        },
        {
          type: "tool_call",
          id: "c1",
          name: "lookup",
          args: { q: 1 },
          rawArgs: '{"q":1}',
          opaque: { openai: { itemId: "fc_1" } },
        },
      ],
      stop: { kind: "tool_use", wire: "tool_use", raw: "tool_calls" },
      usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 },
      raw: { response: { id: "resp_1", modelId: "gpt-5-2025" } },
    });
    expect(events).toEqual([
      { type: "warning", code: "unsupported", message: "topK: ignored" },
      { type: "reasoning_delta", index: 0, text: "hm" },
      { type: "text_delta", index: 1, text: "Let me " },
      { type: "text_delta", index: 1, text: "look." },
      { type: "tool_args_delta", index: 2, id: "c1", name: "lookup", delta: '{"q":' },
      { type: "tool_args_delta", index: 2, id: "c1", name: "lookup", delta: "1}" },
    ]);
  });

  it("keeps blocks separate if an id is used again", async () => {
    const block = (delta: string): V4Part[] => [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta },
      { type: "text-end", id: "0" },
    ];
    const { content } = await ask(mock([...block("a"), ...block("b"), finish("stop")])).answer;
    expect(content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
  });

  it.each([
    ["stop", "stop", "end_turn"],
    ["stop", "stop_sequence", "stop_sequence"],
    ["length", "max_tokens", "max_tokens"],
    ["length", "model_context_window_exceeded", "context_overflow"],
    ["other", "pause_turn", "pause"],
    ["other", "a new word", "unknown"],
    ["other", undefined, "unknown"],
    ["error", "MALFORMED_FUNCTION_CALL", "malformed_call"],
  ] as const)("that ends with %s (%s) stopped by %s", async (unified, raw, kind) => {
    const { stop } = await ask(
      mock([
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "x" },
        finish(unified, raw),
      ]),
    ).answer;
    expect(stop).toEqual({ kind, wire: kind, raw: raw ?? unified });
  });

  it("keeps tools that the provider ran as native blocks, and sends them back unchanged", async () => {
    const theirs: V4Part[] = [
      { type: "tool-input-start", id: "s1", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-delta", id: "s1", delta: '{"query":"x"}' },
      {
        type: "tool-call",
        toolCallId: "s1",
        toolName: "web_search",
        input: '{"query":"x"}',
        providerExecuted: true,
        providerMetadata: { p: { a: 1 } },
      },
      {
        type: "tool-result",
        toolCallId: "s1",
        toolName: "web_search",
        result: { wait: true },
        preliminary: true,
      },
      { type: "tool-result", toolCallId: "s1", toolName: "web_search", result: [{ url: "u" }] },
      { type: "source", sourceType: "url", id: "1", url: "https://a.example/" },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "found" },
      finish("stop"),
    ];
    const model = mock(theirs);
    const answer = await ask(
      model,
      {},
      { providerTools: [{ id: "p.web_search", name: "web_search", args: { max: 1 } }] },
    ).answer;
    expect(answer.stop.kind).toBe("end_turn");
    expect(answer.content.map(({ type }) => type)).toEqual(["native", "native", "text"]);
    expect(answer.content[2]).toMatchObject({ citations: [{ url: "https://a.example/" }] });
    expect(model.doStreamCalls[0]?.tools).toEqual([
      { type: "provider", id: "p.web_search", name: "web_search", args: { max: 1 } },
    ]);
    await ask(model, { messages: [userText("hi"), answer, userText("more")] }).answer;
    expect(model.doStreamCalls[1]?.prompt[1]).toEqual({
      role: "assistant",
      content: [
        {
          type: "tool-call",
          toolCallId: "s1",
          toolName: "web_search",
          input: { query: "x" },
          providerExecuted: true,
          providerOptions: { p: { a: 1 } },
        },
        {
          type: "tool-result",
          toolCallId: "s1",
          toolName: "web_search",
          output: { type: "json", value: [{ url: "u" }] },
        },
        { type: "text", text: "found" },
      ],
    });
    // Another model gets what everybody understands.
    const other = mock([finish("stop")], { modelId: "gpt-6" });
    await ask(other, { messages: [userText("hi"), answer, userText("more")] }).answer;
    expect(other.doStreamCalls[0]?.prompt[1]).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "found" }],
    });
  });

  it("never lets a call run that was started and not finished, or whose arguments are broken", async () => {
    const begun: V4Part[] = [
      { type: "tool-input-start", id: "c1", toolName: "lookup" },
      { type: "tool-input-delta", id: "c1", delta: "{}" },
    ];
    for (const end of [finish("stop"), finish("length"), finish("tool-calls")])
      expect((await ask(mock([...begun, end])).answer).content[0]).toMatchObject({
        args: {},
        argsError: expect.any(String),
      });
    const broken: V4Part = { type: "tool-call", toolCallId: "c1", toolName: "lookup", input: '{"q":' };
    const answer = await ask(mock([broken, finish("tool-calls")])).answer;
    expect(answer.content[0]).toMatchObject({ rawArgs: '{"q":', argsError: expect.stringContaining("JSON") });
  });

  it("keeps calls without ids separate", async () => {
    const calls = ["a", "b"].map(
      (q): V4Part => ({ type: "tool-call", toolCallId: "", toolName: "lookup", input: `{"q":"${q}"}` }),
    );
    const announced: V4Part = { type: "tool-input-start", id: "", toolName: "lookup" };
    for (const parts of [calls, [announced, ...calls]])
      expect((await ask(mock([...parts, finish("tool-calls")])).answer).content).toMatchObject([
        { name: "lookup", args: { q: "a" } },
        { name: "lookup", args: { q: "b" } },
      ]);
  });

  it("comes whole from a model that cannot stream, and if no stream is wanted", async () => {
    const cannot = Object.assign(new Error("no"), { name: "AI_UnsupportedFunctionalityError" });
    const whole = new MockLanguageModelV4({
      doGenerate: () =>
        Promise.resolve({
          content: [
            { type: "reasoning" as const, text: "hm", providerMetadata: { p: { s: 1 } } },
            { type: "text" as const, text: "hello" },
            {
              type: "file" as const,
              mediaType: "image/png",
              data: { type: "data" as const, data: new Uint8Array([104, 105]) },
            },
            { type: "tool-call" as const, toolCallId: "c", toolName: "lookup", input: "" },
          ],
          finishReason: { unified: "tool-calls" as const, raw: "tool_use" },
          usage: counted,
          warnings: [{ type: "other" as const, message: "careful" }],
          response: { id: "r1" },
        }),
      doStream: () => Promise.reject(cannot),
    });
    const atOnce = Object.assign(Object.create(whole) as typeof whole, {
      doStream: () => {
        throw cannot;
      },
    });
    for (const [model, options] of [
      [whole, {}],
      [atOnce, {}],
      [whole, { stream: false }],
    ] as const) {
      const { answer, events } = ask(model, {}, options);
      expect(await answer).toMatchObject({
        content: [
          { type: "reasoning", text: "hm", opaque: { p: { s: 1 } } },
          { type: "text", text: "hello" },
          { type: "file", mediaType: "image/png", data: "aGk=" },
          { type: "tool_call", id: "c", name: "lookup", args: {} },
        ],
        stop: { kind: "tool_use", raw: "tool_use" },
        usage: { inputTokens: 100 },
      });
      expect(events).toContainEqual({ type: "text_delta", index: 1, text: "hello" });
      expect(events[0]).toEqual({ type: "warning", code: "other", message: "careful" });
    }
  });

  it.each([
    ["gpt-5", '"gpt-5"'],
    [scripted([]), "an object"],
    [Promise.resolve({}), "a promise"],
  ])("needs a model of the AI SDK, not a name or one of our models: %j", (given, words) => {
    expect(() => fromAiSdk(given as never)).toThrow(
      `fromAiSdk: option model: a model as a provider's package makes it, e.g. mistral("mistral-large-latest"), is needed, not ${words}`,
    );
  });

  it("is the same with the two earlier specifications", async () => {
    const parts = [
      { type: "stream-start", warnings: [{ type: "unsupported-setting", setting: "topK" }] },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "hello" },
      { type: "text-end", id: "0" },
      { type: "file", mediaType: "image/png", data: runInNewContext("new Uint8Array([104, 105])") },
    ];
    const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: 1 };
    const v2 = {
      specificationVersion: "v2",
      provider: "old",
      modelId: "m",
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error("a stream was wanted")),
      doStream: () =>
        Promise.resolve({
          stream: convertArrayToReadableStream([...parts, { type: "finish", finishReason: "length", usage }]),
        }),
    };
    const v3 = new MockLanguageModelV3({
      doStream: () =>
        Promise.resolve({
          stream: convertArrayToReadableStream([...parts, finish("length", "max_tokens")]) as never,
        }),
    });
    const content = [
      { type: "text", text: "hello" },
      { type: "file", mediaType: "image/png", data: "aGk=" },
    ];
    expect(await ask(v2).answer).toMatchObject({
      content,
      stop: { kind: "max_tokens", raw: "length" },
      usage: { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 },
    });
    expect(await ask(v3).answer).toMatchObject({ content, stop: { kind: "max_tokens", raw: "max_tokens" } });
  });

  it("has the catalogue's facts for the model's name in the AI SDK", () => {
    expect(fromAiSdk(mock([])).facts?.contextWindow).toBeGreaterThan(100_000);
    expect(fromAiSdk(mock([], { provider: "mine" })).facts).toBeUndefined();
  });

  it("is refused for an unknown specification", () => {
    const old = { ...mock([]), specificationVersion: "v1" } as never;
    expect(() => fromAiSdk(old)).toThrow(/versions v2 to v4/);
  });
});

describe("fromAiSdk: a request", () => {
  const image = { type: "file" as const, mediaType: "image/png" };
  const messages: Message[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { ...image, data: "aGk=", name: "a.png" },
      ],
    },
    {
      role: "assistant",
      origin: { api: "anthropic-messages", provider: "anthropic", model: "claude" },
      content: [
        { type: "reasoning", text: "mine alone", opaque: { signature: "s" } },
        { type: "text", text: "two", opaque: { x: { y: 1 } } },
        { type: "tool_call", id: "a", name: "lookup", args: { n: 1 }, rawArgs: '{"n":1}' },
        { type: "tool_call", id: "b", name: "lookup", args: {}, rawArgs: "" },
        { type: "tool_call", id: "c", name: "lookup", args: {}, rawArgs: "" },
      ],
      stop: { kind: "tool_use", wire: "tool_use" },
    },
    {
      role: "tool",
      callId: "a",
      name: "lookup",
      content: [
        { type: "text", text: "1" },
        { type: "text", text: "2" },
      ],
      isError: false,
    },
    {
      role: "tool",
      callId: "b",
      name: "lookup",
      content: [
        { type: "text", text: "see" },
        { ...image, data: "aGk=" },
      ],
      isError: false,
    },
    { role: "tool", callId: "c", name: "lookup", content: [{ type: "text", text: "bad" }], isError: true },
  ];

  it("contains the whole conversation in the specification's form", async () => {
    const model = mock([finish("stop")]);
    const { answer, events } = ask(model, {
      system: "Be brief.",
      messages,
      tools: [lookup],
      toolChoice: "any",
      settings: {
        temperature: 0,
        maxOutputTokens: 9,
        stop: ["X"],
        reasoning: "low",
        headers: { a: "b" },
        providerOptions: { openai: { store: false } },
        parallelToolCalls: false,
      },
      outputSchema: { type: "object" },
    });
    await answer;
    expect(model.doStreamCalls[0]).toMatchObject({
      temperature: 0,
      maxOutputTokens: 9,
      stopSequences: ["X"],
      reasoning: "low",
      headers: { a: "b" },
      providerOptions: { openai: { store: false } },
      responseFormat: { type: "json", schema: { type: "object" } },
      tools: [{ type: "function", ...lookup }],
      toolChoice: { type: "required" },
    });
    expect(model.doStreamCalls[0]?.prompt).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" }, filename: "a.png" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "two" },
          { type: "tool-call", toolCallId: "a", toolName: "lookup", input: { n: 1 } },
          { type: "tool-call", toolCallId: "b", toolName: "lookup", input: {} },
          { type: "tool-call", toolCallId: "c", toolName: "lookup", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "a",
            toolName: "lookup",
            output: { type: "text", value: "1\n2" },
          },
          {
            type: "tool-result",
            toolCallId: "b",
            toolName: "lookup",
            output: {
              type: "content",
              value: [
                { type: "text", text: "see" },
                { type: "file", mediaType: "image/png", data: { type: "data", data: "aGk=" } },
              ],
            },
          },
          {
            type: "tool-result",
            toolCallId: "c",
            toolName: "lookup",
            output: { type: "error-text", value: "bad" },
          },
        ],
      },
    ]);
    expect(events.filter(({ type }) => type === "warning")).toHaveLength(1);
  });

  it("writes files in the earlier specification's form", async () => {
    const v3 = new MockLanguageModelV3({
      doStream: () => Promise.resolve({ stream: convertArrayToReadableStream([finish("stop")]) as never }),
    });
    await ask(v3, { messages, settings: { reasoning: "low" } }).answer;
    expect(v3.doStreamCalls[0]?.prompt[0]?.content).toContainEqual({
      type: "file",
      mediaType: "image/png",
      data: "aGk=",
      filename: "a.png",
    });
    expect(v3.doStreamCalls[0]?.prompt[2]?.content[1]).toMatchObject({
      output: { value: [{ type: "text" }, { type: "image-data", mediaType: "image/png", data: "aGk=" }] },
    });
    expect(v3.doStreamCalls[0]).not.toHaveProperty("reasoning");
  });

  it("gives a URL to a model that fetches it, and a note with a warning to others", async () => {
    const url = "https://a.example/cat.png";
    const messages = [{ role: "user" as const, content: [{ ...image, url }] }];
    const fetching = mock([finish("stop")], { supportedUrls: { "image/*": [/^https:\/\/a\.example\//] } });
    await ask(fetching, { messages }).answer;
    expect(fetching.doStreamCalls[0]?.prompt[0]?.content).toMatchObject([
      { data: { type: "url", url: new URL(url) } },
    ]);
    const deaf = mock([finish("stop")]);
    const asked = ask(deaf, { messages });
    await asked.answer;
    expect(deaf.doStreamCalls[0]?.prompt[0]?.content).toEqual([
      { type: "text", text: `[image/png, ${url}: not shown]` },
    ]);
    expect(asked.events[0]).toMatchObject({ type: "warning", code: "unsupported_file" });
  });
});

describe("fromAiSdk: a failure", () => {
  const rejecting = (thrown: unknown) => new MockLanguageModelV4({ doStream: () => Promise.reject(thrown) });
  const apiError = (statusCode: number | undefined, more: object = {}) =>
    new APICallError({
      message: "no",
      url: "https://a.example/v1",
      requestBodyValues: {},
      ...(statusCode === undefined ? {} : { statusCode }),
      ...more,
    });

  it.each([
    [
      apiError(429, { responseHeaders: { "Retry-After": "7" } }),
      { kind: "rate_limit", status: 429, retryable: true, retryAfterMs: 7_000 },
    ],
    [apiError(429, { isRetryable: false }), { kind: "rate_limit", retryable: false }],
    [apiError(401), { kind: "auth", retryable: false }],
    [apiError(529), { kind: "overloaded", retryable: true }],
    [
      apiError(400, { responseBody: '{"error":{"code":"context_length_exceeded"}}' }),
      { kind: "context_overflow" },
    ],
    [
      apiError(undefined, { isRetryable: true, cause: { code: "ECONNREFUSED" } }),
      { kind: "network", retryable: true },
    ],
    [new LoadAPIKeyError({ message: "no key" }), { kind: "auth", retryable: false }],
    [
      Object.assign(new Error("gave up"), { name: "AI_RetryError", lastError: apiError(503) }),
      { kind: "overloaded" },
    ],
    [new Error("a bug"), { kind: "internal", retryable: false }],
  ])("%s is typed", async (thrown, expected) => {
    const error = await failure(ask(rejecting(thrown)));
    expect(error).toMatchObject(expected);
    expect(error.message).toContain("mock-provider/mock-model-id");
  });

  it("in the stream keeps the partial answer", async () => {
    const begun: V4Part[] = [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "half" },
    ];
    const partial = { content: [{ type: "text", text: "half" }], stop: { kind: "error" } };
    const told = await failure(
      ask(mock([...begun, { type: "error", error: { type: "overloaded_error", message: "busy" } }])),
    );
    expect(told).toMatchObject({ kind: "overloaded", retryable: true, partial });
    expect(await failure(ask(mock(begun)))).toMatchObject({ kind: "stream_truncated", partial });
    const interrupted = finish("interrupted" as never);
    expect(await failure(ask(mock([...begun, interrupted])))).toMatchObject({
      kind: "stream_truncated",
      partial,
      usage: { inputTokens: 100 },
    });
    expect(await failure(ask(mock([...begun, finish("error", "boom")])))).toMatchObject({
      kind: "stream_error",
      partial,
    });
    const broken = new ReadableStream({
      pull: (controller) =>
        controller.error(apiError(undefined, { isRetryable: true, cause: { code: "ECONNRESET" } })),
    });
    expect(
      await failure(ask(new MockLanguageModelV4({ doStream: () => Promise.resolve({ stream: broken }) }))),
    ).toMatchObject({ kind: "network" });
  });

  it("is an abort if the signal fires, even with a model that never looks at it", async () => {
    const controller = new AbortController();
    let cancelled = false;
    const stream = new ReadableStream<V4Part>({
      start(given) {
        given.enqueue({ type: "text-start", id: "0" });
        given.enqueue({ type: "text-delta", id: "0", delta: "some" });
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const deaf = new MockLanguageModelV4({ doStream: () => Promise.resolve({ stream }) });
    const seen = Promise.withResolvers<void>();
    const answer = fromAiSdk(deaf).call(
      { messages: [userText("hi")], tools: [], toolChoice: "auto", settings: {} },
      { signal: controller.signal, emit: () => seen.resolve() },
    );
    await seen.promise;
    controller.abort();
    await expect(answer).rejects.toMatchObject({
      kind: "aborted",
      partial: { content: [{ text: "some" }], stop: { kind: "aborted" } },
    });
    expect(cancelled).toBe(true);
    const never = new MockLanguageModelV4({ doStream: () => new Promise(() => {}) });
    expect(await failure(ask(never, {}, { signal: AbortSignal.abort() }))).toMatchObject({ kind: "aborted" });
  });
});

describe("fromAiSdk over a real provider of the AI SDK", () => {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: "1", model: "m", created: 1, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const provider = (url: string) =>
    createOpenAICompatible({ name: "loop", baseURL: `${url}/v1`, apiKey: "k", includeUsage: true });
  const streaming =
    (...bodies: string[]): Handler =>
    (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(bodies.shift() ?? "");
    };

  it("drives an agent with a tool to its answer", async () => {
    const usage = `data: ${JSON.stringify({ id: "1", choices: [], usage: { prompt_tokens: 10, completion_tokens: 4 } })}\n\n`;
    const first =
      chunk({ role: "assistant", reasoning_content: "hm" }) +
      chunk({
        tool_calls: [
          { index: 0, id: "c1", type: "function", function: { name: "add", arguments: '{"a":2,' } },
        ],
      }) +
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"b":3}' } }] }) +
      chunk({}, "tool_calls") +
      usage;
    const second = chunk({ role: "assistant", content: "It is 5." }) + chunk({}, "stop") + usage;
    await withServer(
      streaming(`${first}data: [DONE]\n\n`, `${second}data: [DONE]\n\n`),
      async ({ url, seen }) => {
        const add = tool({
          name: "add",
          description: "Adds",
          inputSchema: z.object({ a: z.number(), b: z.number() }),
          execute: ({ a, b }) => String(a + b),
        });
        const agent = new Agent({
          model: fromAiSdk(provider(url)("m")),
          tools: [add],
          journal: memoryJournal(),
        });
        const result = await agent.run("2 + 3?");
        expect(result.text).toBe("It is 5.");
        expect(result.end?.reason).toBe("completed");
        const body = JSON.parse(seen[1]?.body ?? "") as { messages: { role: string }[] };
        expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
        expect(body.messages[2]).toMatchObject({ tool_call_id: "c1", content: "5" });
        const answer = result.messages.find(({ role }) => role === "assistant");
        expect(answer).toMatchObject({
          stop: { kind: "tool_use", raw: "tool_calls" },
          usage: { inputTokens: 10, outputTokens: 4 },
          content: [
            { type: "reasoning", text: "hm" },
            { type: "tool_call", args: { a: 2, b: 3 } },
          ],
        });
      },
    );
  });

  it("types a refusal of the server, with its wait", async () => {
    const handler: Handler = (_request, response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "3" });
      response.end(JSON.stringify({ error: { message: "slow down", type: "rate_limit_error" } }));
    };
    await withServer(handler, async ({ url, seen }) => {
      const error = await failure(ask(provider(url)("m")));
      expect(error).toMatchObject({ kind: "rate_limit", status: 429, retryAfterMs: 3_000, retryable: true });
      expect(seen).toHaveLength(1);
    });
  });

  it("recognises an unreachable server, and a truncated answer", async () => {
    const gone = await withServer(streaming(), ({ url }) => Promise.resolve(url));
    expect(await failure(ask(provider(gone)("m")))).toMatchObject({ kind: "network", retryable: true });
    const cutting: Handler = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk({ content: "half" }), () => response.destroy());
    };
    await withServer(cutting, async ({ url }) => {
      const error = await failure(ask(provider(url)("m")));
      expect(error.retryable).toBe(true);
      expect(["network", "stream_truncated", "stream_error"]).toContain(error.kind);
      expect(error.partial?.content).toEqual([{ type: "text", text: "half" }]);
    });
  });

  it("closes the connection on abort", async () => {
    const controller = new AbortController();
    const waiting: Handler = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk({ content: "some" }));
    };
    await withServer(waiting, async ({ url, closed }) => {
      const answer = fromAiSdk(provider(url)("m")).call(
        { messages: [userText("hi")], tools: [], toolChoice: "auto", settings: {} },
        { signal: controller.signal, emit: (event) => event.type === "text_delta" && controller.abort() },
      );
      await expect(answer).rejects.toMatchObject({
        kind: "aborted",
        partial: { content: [{ text: "some" }] },
      });
      await closed(1);
    });
  });
});

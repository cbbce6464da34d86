// The step sequence over three providers' own protocols: what goes over the wire, and what its words come to.

import {
  Agent,
  type Json,
  type JsonObject,
  type Model,
  type StopKind,
  standardPolicy,
  tool,
  toolResult,
} from "@rondo/core";
import { stepSequence } from "@rondo/core/presets";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { anthropic, google, openai } from "../src/index.ts";
import { retryAfterMs } from "../src/transport/retry-after.ts";
import { errorFrom, tinyRequest, watch, withServer } from "./transport/loopback.ts";

const output = z.object({ city: z.string(), at: z.object({ degrees: z.number().min(-90) }) });
const value = { city: "Rome", at: { degrees: 41 } };
const usage = { input_tokens: 1, output_tokens: 1 };

/** An answer in a protocol's own form. */
interface Dialect {
  model(baseURL: string): Model;
  answer(content: { text?: string; calls?: [id: string, args: Json][] }, word?: string): Json;
  error(message: string): Json;
}

const dialects = {
  anthropic: {
    model: (baseURL) => anthropic("claude-sonnet-4-5", { baseURL, apiKey: "k", stream: false }),
    answer: ({ text, calls = [] }, word = calls.length > 0 ? "tool_use" : "end_turn") => ({
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [
        ...(text === undefined ? [] : [{ type: "text", text }]),
        ...calls.map(([id, input]) => ({ type: "tool_use", id, name: "look", input })),
      ],
      stop_reason: word,
      usage,
    }),
    error: (message) => ({ type: "error", error: { type: "x", message } }),
  },
  openai: {
    model: (baseURL) =>
      openai.chat("gpt-5.2", { baseURL, apiKey: "k", stream: false, compat: { adaptStrict: true } }),
    answer: ({ text, calls = [] }, word = calls.length > 0 ? "tool_calls" : "stop") => ({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "gpt-5.2",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: text ?? null,
            ...(calls.length === 0
              ? {}
              : {
                  tool_calls: calls.map(([id, args]) => ({
                    id,
                    type: "function",
                    function: { name: "look", arguments: JSON.stringify(args) },
                  })),
                }),
          },
          finish_reason: word,
        },
      ],
    }),
    error: (message) => ({ error: { message, type: "x" } }),
  },
  google: {
    model: (baseURL) =>
      google("gemini-3-pro-preview", {
        baseURL,
        apiKey: "k",
        stream: false,
        compat: { resultKey: "result" },
      }),
    answer: ({ text, calls = [] }, word = "STOP") => ({
      candidates: [
        {
          content: {
            role: "model",
            parts: [
              ...(text === undefined ? [] : [{ text }]),
              ...calls.map(([, args]) => ({ functionCall: { name: "look", args } })),
            ],
          },
          finishReason: word,
          index: 0,
        },
      ],
    }),
    error: (message) => ({ error: { code: 400, message, status: "X" } }),
  },
} satisfies { [name: string]: Dialect };

type Name = keyof typeof dialects;
const names = Object.keys(dialects) as Name[];
// biome-ignore lint/suspicious/noExplicitAny: a parsed request body is looked into freely
type Body = any;

const look = tool({
  name: "look",
  description: "Looks.",
  inputSchema: {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  },
  effect: "read",
  execute: ({ n }) => (n === 2 ? toolResult("gone", { isError: true }) : `saw ${String(n)}`),
});

/** Runs a sequence against a server that gives these answers; what it was sent, and what came of it. */
async function served<Result>(
  name: Name,
  answers: readonly Json[],
  use: (model: Model) => Promise<Result>,
  status: number = 200,
): Promise<{ bodies: Body[]; headers: Record<string, unknown>[]; result: Result }> {
  let at = 0;
  return withServer(
    (_request, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(answers[at++] ?? {}));
    },
    async ({ url, seen }) => {
      const result = await use(dialects[name].model(url));
      return {
        bodies: seen.map(({ body }) => JSON.parse(body) as Body),
        headers: seen.map((one) => one.headers),
        result,
      };
    },
  );
}

/** A sequence with two calls in one answer, a thought, and a typed output. */
async function typed(name: Name): Promise<{ bodies: Body[]; headers: Record<string, unknown>[] }> {
  const { answer } = dialects[name];
  const answers = [
    answer({
      calls: [
        ["a", { n: 1 }],
        ["b", { n: 2 }],
      ],
    }),
    answer({ text: "It is Rome." }),
    answer({ text: JSON.stringify(value) }),
  ];
  const { result, ...sent } = await served(name, answers, (model) =>
    new Agent(stepSequence({ model, tools: [look], output })).run("where?"),
  );
  expect([result.output, result.steps]).toEqual([value, 3]);
  expect(sent.bodies).toHaveLength(3);
  return sent;
}

describe("a typed sequence", () => {
  test("B2.11 sends all results of a batch as one user message, if the protocol has one", async () => {
    const { bodies } = await typed("anthropic");
    const last = bodies[1].messages.at(-1);
    expect([last.role, last.content.map((block: Body) => [block.type, block.tool_use_id])]).toEqual([
      "user",
      [
        ["tool_result", "a"],
        ["tool_result", "b"],
      ],
    ]);
    const [, gemini] = (await typed("google")).bodies;
    expect(gemini.contents.at(-1).parts.map((part: Body) => part.functionResponse.name)).toEqual([
      "look",
      "look",
    ]);
  });

  const carries: { readonly [name in Name]: (body: Body) => [tools: boolean, schema: boolean] } = {
    anthropic: (body) => [
      body.tools?.some(
        (one: Body) =>
          one.name === "look" && one.input_schema.required?.length === 1 && body.tool_choice?.type !== "none",
      ) ?? false,
      body.output_config?.format !== undefined,
    ],
    openai: (body) => [
      (body.tools?.length ?? 0) > 0 && body.tool_choice !== "none",
      body.response_format !== undefined,
    ],
    google: (body) => [(body.tools?.length ?? 0) > 0, body.generationConfig?.responseMimeType !== undefined],
  };
  test.each(names)(
    "B3.17 sends tools without schema, then the schema with no callable tool (%s)",
    async (name) => {
      const { bodies } = await typed(name);
      expect(bodies.map(carries[name])).toEqual([
        [true, false],
        [true, false],
        [false, true],
      ]);
    },
  );
});

describe("the adapters", () => {
  const words: [Name, { [word: string]: StopKind }][] = [
    [
      "anthropic",
      {
        end_turn: "end_turn",
        max_tokens: "max_tokens",
        stop_sequence: "stop_sequence",
        brand_new: "unknown",
      },
    ],
    ["openai", { stop: "end_turn", length: "max_tokens", brand_new: "unknown" }],
    ["google", { STOP: "end_turn", MAX_TOKENS: "max_tokens", BRAND_NEW: "unknown" }],
  ];
  test.each(words)(
    "B6.38 %s: its stop words are distinguished, and a new one is unknown, which a policy treats as none",
    async (name, known) => {
      for (const [word, kind] of Object.entries(known)) {
        const { result } = await served(name, [dialects[name].answer({ text: "x" }, word)], (model) =>
          model.call(tinyRequest, watch()),
        );
        expect(result.stop).toMatchObject({ wire: kind, raw: word });
      }
      const none = { named: () => 0, equal: () => 0, step: 1 };
      const answer = { stop: { kind: "unknown", wire: "unknown" }, text: "", calls: [] } as const;
      expect(standardPolicy(answer, none)).toMatchObject({ because: { reason: "empty_response" } });
    },
  );

  test("B6.38 Anthropic and OpenAI report that a tool is used; Gemini says STOP, and its calls run nevertheless", async () => {
    const stops = await Promise.all(
      names.map(async (name) => {
        const { answer } = dialects[name];
        const { result } = await served(
          name,
          [answer({ calls: [["a", { n: 1 }]] }), answer({ text: "done" })],
          async (model) => {
            const run = await new Agent(stepSequence({ model, tools: [look] })).run("go");
            return run.messages.map((message) =>
              message.role === "assistant" ? message.stop.wire : message.role,
            );
          },
        );
        return [name, result[1], result[2]];
      }),
    );
    expect(stops).toEqual([
      ["anthropic", "tool_use", "tool"],
      ["openai", "tool_use", "tool"],
      ["google", "end_turn", "tool"],
    ]);
  });

  test("B6.38 Gemini without a candidate is an empty answer", async () => {
    const { result } = await served("google", [{ candidates: [] }], async (model) => {
      const error = await model.call(tinyRequest, watch()).then(
        ({ content, stop }) => [content, stop.wire],
        (thrown: { kind: string }) => thrown.kind,
      );
      return error;
    });
    expect(result).toBe("empty_response");
  });

  test("B6.38 B4.28 Gemini without a candidate is no error to a sequence: it ends empty, and the model is not called again", async () => {
    const { bodies, result } = await served("google", [{ candidates: [] }], async (model) => {
      const steps = new Agent(stepSequence({ model })).steps("go");
      const given: string[] = [];
      for await (const { type } of steps) given.push(type);
      return [given, (await steps.result).end?.reason];
    });
    expect([result, bodies.length]).toEqual([[[], "empty_response"], 1]);
  });

  test("B6.39 Anthropic: 4,096 tokens, a format only with a schema, is_error only if true, arguments that are objects", async () => {
    const { bodies, headers } = await typed("anthropic");
    expect(bodies.map((body) => body.max_tokens)).toEqual([4_096, 4_096, 4_096]);
    // The format left beta: it needs no header, which may still be asked for.
    expect(bodies.map((body) => body.output_config?.format?.type)).toEqual([
      undefined,
      undefined,
      "json_schema",
    ]);
    expect(headers.map((one) => one["anthropic-beta"])).toEqual([undefined, undefined, undefined]);
    expect(bodies[2].output_config.format.schema.properties.city).toEqual({ type: "string" });
    const results = bodies[1].messages.at(-1).content;
    expect(results.map((block: Body) => block.is_error)).toEqual([undefined, true]);
    const { answer } = dialects.anthropic;
    const odd = await served(
      "anthropic",
      [answer({ calls: [["a", "no object"]] }), answer({ text: "x" })],
      (model) => new Agent(stepSequence({ model, tools: [look] })).run("go"),
    );
    expect(odd.bodies[1].messages[1].content[0].input).toEqual({});
  });

  test("B6.39 Anthropic: the beta header is sent if set; without tools no tool choice is sent that could be refused", async () => {
    const betas = ["structured-outputs-2025-11-13"];
    const { headers, bodies } = await served(
      "anthropic",
      [dialects.anthropic.answer({ text: JSON.stringify(value) })],
      (model) =>
        new Agent(
          stepSequence({ model, output, settings: { providerOptions: { anthropic: { betas } } } }),
        ).run("go"),
    );
    expect(headers[0]?.["anthropic-beta"]).toBe(betas[0]);
    expect([bodies[0].tools, bodies[0].tool_choice]).toEqual([undefined, undefined]);
  });

  test("B6.40 OpenAI: 4,096 completion tokens, a strict format named response, strict tools, each result a message of its own", async () => {
    const { bodies } = await typed("openai");
    expect(bodies.map((body) => body.max_completion_tokens)).toEqual([4_096, 4_096, 4_096]);
    expect(bodies[2].response_format).toMatchObject({
      type: "json_schema",
      json_schema: { name: "response", strict: true },
    });
    expect(bodies[0].tools[0].function).toMatchObject({ name: "look", strict: true });
    expect(bodies[1].messages.slice(-2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "saw 1" },
      { role: "tool", tool_call_id: "b", content: "Error: gone" },
    ]);
  });

  test("B6.41 Gemini: a JSON type with the schema, results in a user message under one name, our own ids, and how calls are limited", async () => {
    const { bodies } = await typed("google");
    expect(bodies[2].generationConfig).toMatchObject({
      responseMimeType: "application/json",
      maxOutputTokens: 4_096,
    });
    expect(
      bodies[2].generationConfig.responseJsonSchema ?? bodies[2].generationConfig.responseSchema,
    ).toMatchObject({
      type: "object",
    });
    const last = bodies[1].contents.at(-1);
    expect([last.role, last.parts.map((part: Body) => part.functionResponse.response)]).toEqual([
      "user",
      [{ result: "saw 1" }, { result: "Error: gone" }],
    ]);
    const { answer } = dialects.google;
    const ids = await served(
      "google",
      [
        answer({
          calls: [
            ["", { n: 1 }],
            ["", { n: 3 }],
          ],
        }),
        answer({ text: "x" }),
      ],
      async (model) => {
        const { messages } = await new Agent(stepSequence({ model, tools: [look] })).run("go");
        return messages.flatMap((message) =>
          message.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : [])),
        );
      },
    );
    expect([ids.result.length, new Set(ids.result).size, ids.result.every((id) => id !== "")]).toEqual([
      2,
      2,
      true,
    ]);
    const choice = async (
      toolChoice: "auto" | "none" | "any" | { tool: string },
    ): Promise<JsonObject | undefined> => {
      const { bodies: sent } = await served("google", [answer({ text: "x" })], (model) =>
        model.call({ ...tinyRequest, tools: [look.definition], toolChoice }, watch()),
      );
      return sent[0].toolConfig?.functionCallingConfig as JsonObject | undefined;
    };
    expect(await Promise.all([choice("none"), choice("any"), choice({ tool: "look" })])).toEqual([
      { mode: "NONE" },
      { mode: "ANY" },
      { mode: "ANY", allowedFunctionNames: ["look"] },
    ]);
    // Where the model may choose, nothing is said: that is its default.
    expect(await choice("auto")).toBeUndefined();
  });

  test("B6.41 Gemini: the schema may be adapted to the older form", async () => {
    const { result: _, bodies } = await withServer(
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(dialects.google.answer({ text: JSON.stringify(value) })));
      },
      async ({ url, seen }) => {
        const options = {
          baseURL: url,
          apiKey: "k",
          stream: false,
          compat: { schemas: "structured" as const },
        };
        const model = google("gemini-3-pro-preview", options);
        const result = await new Agent(stepSequence({ model, output })).run("go");
        return { result, bodies: seen.map(({ body }) => JSON.parse(body) as Body) };
      },
    );
    const { responseSchema } = bodies[0].generationConfig;
    expect(responseSchema.properties.at.properties.degrees).toMatchObject({ type: "number", minimum: -90 });
    expect(JSON.stringify(responseSchema)).not.toContain("additionalProperties");
  });

  const errors: [status: number, kind: string, retryable: boolean][] = [
    [400, "invalid_request", false],
    [401, "auth", false],
    [404, "invalid_request", false],
    [429, "rate_limit", true],
    [500, "server_error", true],
    [502, "server_error", true],
    [599, "server_error", true],
  ];
  test.each(names)(
    "B6.42 B8.49 %s: a status is an error of a kind, with its message, and says whether it may pass",
    async (name) => {
      for (const [status, kind, retryable] of errors) {
        const { result } = await served(
          name,
          [dialects[name].error("what is wrong")],
          (model) => errorFrom(model.call(tinyRequest, watch())),
          status,
        );
        expect([status, result.kind, result.retryable, result.status]).toEqual([
          status,
          kind,
          retryable,
          status,
        ]);
        expect(result.message).toContain("what is wrong");
      }
    },
  );

  test("B6.42 Gemini: 403 is refused access like 401; neither may pass", async () => {
    const { result } = await served(
      "google",
      [dialects.google.error("no")],
      (model) => errorFrom(model.call(tinyRequest, watch())),
      403,
    );
    expect([result.kind, result.retryable]).toEqual(["permission", false]);
  });
});

describe("the wait a provider asks for", () => {
  const wait = (headers: { [name: string]: string }): number | undefined =>
    retryAfterMs({
      header: (name) => headers[name] ?? null,
      now: Date.parse("2026-10-21T07:28:00Z"),
      resets: true,
    });

  test.each([
    ["120ms", 120],
    ["5s", 5_000],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["30", 30_000],
  ])("B8.51 OpenAI's reset %s is %i milliseconds, of requests or else of tokens", (text, ms) => {
    expect(wait({ "x-ratelimit-reset-requests": text, "x-ratelimit-reset-tokens": "9s" })).toBe(ms);
    expect(wait({ "x-ratelimit-reset-tokens": text })).toBe(ms);
  });

  test("B8.51 Anthropic's reset is a date, Gemini has retry-after only, and that comes first everywhere", () => {
    const reset = { "anthropic-ratelimit-requests-reset": "2026-10-21T07:28:20Z" };
    expect(wait(reset)).toBe(20_000);
    expect(wait({ ...reset, "retry-after": "7" })).toBe(7_000);
    expect(wait({ "retry-after": "7" })).toBe(7_000);
  });
});

describe("the way to a typed output", () => {
  const wayOf = (model: Model): string | undefined => model.facts?.output;

  test("is known of a model before it is called, and given facts win", () => {
    const key = { apiKey: "k" };
    expect([
      wayOf(anthropic("claude-sonnet-4-5", key)),
      wayOf(anthropic("claude-3-5-haiku-20241022", key)),
      wayOf(anthropic("claude-3-5-haiku-20241022", { ...key, facts: { output: "native" } })),
      wayOf(google("gemini-3-pro-preview", key)),
      wayOf(google("gemini-2.5-flash", key)),
      wayOf(openai.chat("m", { ...key, compat: { structuredOutput: "json_object" } })),
      wayOf(openai.chat("m", { ...key, compat: { structuredWithTools: false } })),
    ]).toEqual([
      "native",
      "none",
      "native",
      "native",
      "native_without_tools",
      "none",
      "native_without_tools",
    ]);
  });

  test("of a Claude that does not support a schema is a tool it must call", async () => {
    const call = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "c",
      content: [{ type: "tool_use", id: "t", name: "final_output", input: value }],
      stop_reason: "tool_use",
      usage,
    };
    await withServer(
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(call));
      },
      async ({ url, seen }) => {
        const options = { baseURL: url, apiKey: "k", stream: false };
        const model = anthropic("claude-3-5-haiku-20241022", options);
        const { output: given, messages } = await new Agent({ model, output }).run("where?");
        expect(given).toEqual(value);
        expect(messages.at(-1)?.content).toEqual([{ type: "text", text: JSON.stringify(value) }]);
        const body = JSON.parse(seen[0]?.body ?? "") as Body;
        expect([body.tools[0].name, body.tool_choice, body.output_config]).toEqual([
          "final_output",
          { type: "tool", name: "final_output" },
          undefined,
        ]);
      },
    );
  });
});

// An id of 19 digits passes through a model as it is, also where arguments are a value and no text (F093).

import { Agent, type Model, tool } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import { anthropic, bedrock, google, ollama, openai, type ProviderOptions } from "../src/index.ts";

const digits = "2512292042121000001";
const big = tool({ name: "big", description: "b", inputSchema: {}, effect: "read", execute: () => "ok" });

const usage = { input_tokens: 1, output_tokens: 1 };
const calls: [string, (id: string, options: ProviderOptions) => Model, object, object][] = [
  [
    "anthropic",
    anthropic,
    {
      id: "m",
      type: "message",
      role: "assistant",
      content: [{ type: "tool_use", id: "t", name: "big", input: { id: 0 } }],
      stop_reason: "tool_use",
      usage,
    },
    {
      id: "m2",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "done" }],
      stop_reason: "end_turn",
      usage,
    },
  ],
  [
    "openai-chat",
    openai.chat,
    {
      choices: [
        {
          index: 0,
          message: {
            tool_calls: [{ id: "t", type: "function", function: { name: "big", arguments: { id: 0 } } }],
          },
          finish_reason: "tool_calls",
        },
      ],
    },
    { choices: [{ index: 0, message: { content: "done" }, finish_reason: "stop" }] },
  ],
  [
    "google",
    google,
    {
      candidates: [
        {
          content: { parts: [{ functionCall: { name: "big", args: { id: 0 } } }], role: "model" },
          finishReason: "STOP",
        },
      ],
    },
    { candidates: [{ content: { parts: [{ text: "done" }], role: "model" }, finishReason: "STOP" }] },
  ],
  [
    "google, in parts",
    google,
    {
      candidates: [
        {
          content: {
            parts: [{ functionCall: { name: "big", partialArgs: [{ jsonPath: "$.id", numberValue: 0 }] } }],
            role: "model",
          },
          finishReason: "STOP",
        },
      ],
    },
    { candidates: [{ content: { parts: [{ text: "done" }], role: "model" }, finishReason: "STOP" }] },
  ],
  [
    "bedrock",
    bedrock,
    {
      output: {
        message: {
          role: "assistant",
          content: [{ toolUse: { toolUseId: "t", name: "big", input: { id: 0 } } }],
        },
      },
      stopReason: "tool_use",
      usage: { inputTokens: 1, outputTokens: 1 },
    },
    {
      output: { message: { role: "assistant", content: [{ text: "done" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 1 },
    },
  ],
  [
    "ollama",
    ollama,
    {
      message: { role: "assistant", tool_calls: [{ function: { name: "big", arguments: { id: 0 } } }] },
      done: true,
      done_reason: "stop",
    },
    { message: { role: "assistant", content: "done" }, done: true, done_reason: "stop" },
  ],
];

describe.each(calls)("the digits of a long integer in arguments of %s", (_name, make, called, ended) => {
  it.each([true, false])("are kept in both directions (streamed: %s)", async (stream) => {
    const sent: string[] = [];
    const model = make("m", {
      apiKey: "k",
      stream,
      fetch: async (_url, init) => {
        sent.push(String(init?.body));
        const body = JSON.stringify(sent.length === 1 ? called : ended).replace(
          /"(id|numberValue)":0/,
          `"$1":${digits}`,
        );
        return new Response(`${body}\n`, { headers: { "content-type": "application/json" } });
      },
    });
    const { end, messages } = await new Agent({ model, tools: [big] }).run("go");
    expect(end?.reason).toBe("completed");
    const [, answer] = messages;
    const [call] = answer?.role === "assistant" ? answer.content : [];
    expect(call).toMatchObject({ rawArgs: `{"id":${digits}}`, args: { id: Number(digits) } });
    expect(sent[1]).toMatch(new RegExp(`id\\W+${digits}\\}`));
  });
});

describe("such digits outside of our calls", () => {
  const part = `{"toolCall":{"id":"s","toolType":"X","args":{"id":[${digits}]}}}`;
  const body = `{"candidates":[{"content":{"role":"model","parts":[${part},{"functionCall":{"name":"big","args":{}}}]},"finishReason":"STOP"}]}`;

  it.each([true, false])("are read as a number, kept and sent back as one (streamed: %s)", async (stream) => {
    const sent: string[] = [];
    const model = google("gemini-3-pro", {
      apiKey: "k",
      stream,
      keepRaw: true,
      fetch: async (_url, init) => {
        const ended = '{"candidates":[{"content":{"parts":[{"text":"done"}]},"finishReason":"STOP"}]}';
        const said = sent.push(String(init?.body)) === 1 ? body : ended;
        return new Response(stream ? `data: ${said}\n\n` : said);
      },
    });
    const { messages } = await new Agent({ model, tools: [big] }).run("go");
    const [, answer] = messages;
    const read = JSON.parse(part) as object;
    expect(answer?.role === "assistant" && answer.content[0]).toMatchObject({ type: "native", opaque: read });
    expect(answer?.role === "assistant" && answer.raw).toEqual(
      stream ? [JSON.parse(body)] : JSON.parse(body),
    );
    expect(sent[1]).toContain(JSON.stringify(read));
  });
});

describe("an item of Responses whose arguments are a value", () => {
  it("keeps their digits in a stream as well", () => {
    const origin = { api: "openai-responses", provider: "p", model: "m" };
    const decoder = openaiResponses.decoder({ origin, facts: {} }, () => {});
    const item = `{"type":"function_call","status":"completed","call_id":"t","name":"big","arguments":{"id":${digits}}}`;
    for (const data of [
      `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
      '{"type":"response.completed","response":{"status":"completed","output":[]}}',
    ])
      decoder.push({ event: undefined, data });
    expect(decoder.end().content).toMatchObject([{ name: "big", rawArgs: `{"id":${digits}}` }]);
  });
});

// An id of 19 digits passes through a model as it is, also where arguments are a value and no text (F093).

import { Agent, type Model, tool } from "@rondo/core";
import { describe, expect, it } from "vitest";
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
  it.each([true, false])("come and go back whole (streamed: %s)", async (stream) => {
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

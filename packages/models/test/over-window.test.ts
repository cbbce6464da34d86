// A prompt that was larger than the window, by the provider's own count, and was answered all the same (F185).

import { Agent } from "@rondo/core";
import { expect, test } from "vitest";
import { anthropic, fromOpenaiClient, openaiCompatible } from "../src/index.ts";

const answered = async (promptTokens: number): Promise<string[]> => {
  const body = {
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: promptTokens, completion_tokens: 3, total_tokens: promptTokens + 3 },
  };
  const headers = { "content-type": "application/json" };
  const model = openaiCompatible({
    baseURL: "http://127.0.0.1:1/v1",
    provider: "zai",
    apiKey: "k",
    model: "m",
    facts: { contextWindow: 200_000 },
    fetch: () => Promise.resolve(new Response(JSON.stringify(body), { headers })),
  });
  const warnings: string[] = [];
  const { end } = await new Agent({ model }).run("go", {
    onEvent: (event) => {
      if (event.type === "warning") warnings.push(`${event.code}: ${event.message}`);
    },
  });
  expect(end?.reason).toBe("completed");
  return warnings;
};

test("an answer to more input than the window holds has a warning", async () => {
  expect(await answered(210_000)).toEqual([
    "context_overflow: zai/m counted 210000 tokens of input in a window of 200000: it may have left out some of the prompt without saying so. If the window is larger, say so in the model's facts (contextWindow)",
  ]);
});

const cut = async (finish: string, counts: object, message: object = {}): Promise<string | undefined> => {
  const body = {
    choices: [{ index: 0, message: { role: "assistant", content: "", ...message }, finish_reason: finish }],
    usage: counts,
  };
  const headers = { "content-type": "application/json" };
  const model = openaiCompatible({
    baseURL: "http://127.0.0.1:1/v1",
    provider: "xiaomi",
    apiKey: "k",
    model: "m",
    facts: { contextWindow: 100_000 },
    fetch: () => Promise.resolve(new Response(JSON.stringify(body), { headers })),
  });
  const { end } = await new Agent({ model, context: { compaction: null } }).run("go");
  return end?.error === undefined ? end?.reason : `${end.error.kind}: ${end.error.message}`;
};

test.each([
  ["a limit that was reached without a word", "length", { prompt_tokens: 99_500, completion_tokens: 0 }],
  ["the word for it", "model_context_window_exceeded", { prompt_tokens: 1, completion_tokens: 0 }],
  ["silence to more than the window holds", "stop", { prompt_tokens: 100_001, completion_tokens: 0 }],
])("a prompt that left no room for an answer is too long: %s", async (_title, finish, counts) => {
  expect(await cut(finish, counts)).toBe(
    "context_overflow: the conversation leaves xiaomi/m no room for an answer",
  );
});

test.each([
  ["a prompt that left room", "length", { prompt_tokens: 90_000, completion_tokens: 0 }, {}],
  ["tokens that came to nothing", "length", { prompt_tokens: 99_500, completion_tokens: 400 }, {}],
  ["a word", "length", { prompt_tokens: 99_500, completion_tokens: 0 }, { content: "W" }],
  ["nobody's count", "length", {}, {}],
  ["a word, and the window is full", "model_context_window_exceeded", {}, { content: "W" }],
])("any other truncated answer stays as it is: %s", async (_title, finish, counts, message) => {
  expect(await cut(finish, counts, message)).toBe("truncated");
});

test("an empty answer to a prompt that fits is just empty", async () => {
  expect(await cut("stop", { prompt_tokens: 100_000, completion_tokens: 0 })).toMatch(/^empty_response/);
});

test("a window that is exactly full causes no warning", async () => {
  expect(await answered(200_000)).toEqual([]);
});

test("the sum over several rounds is not the prompt's size, if the provider ran tools in between", async () => {
  const use = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
  const body = {
    type: "message",
    content: [use, found, { type: "text", text: "Found." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 404_500, output_tokens: 9 },
  };
  const headers = { "content-type": "application/json" };
  const model = anthropic("claude-sonnet-4-5", {
    apiKey: "k",
    facts: { contextWindow: 200_000 },
    fetch: () => Promise.resolve(new Response(JSON.stringify(body), { headers })),
  });
  const warnings: string[] = [];
  const { text } = await new Agent({ model }).run("go", {
    onEvent: (event) => {
      if (event.type === "warning") warnings.push(event.code);
    },
  });
  expect(text).toBe("Found.");
  expect(warnings).toEqual([]);
});

test.each([true, false])(
  "the warning is also given over a provider's own client (streamed: %s)",
  async (stream) => {
    const usage = { prompt_tokens: 99_500, completion_tokens: 0 };
    const choice = { index: 0, finish_reason: "length" };
    const chunks = [{ choices: [{ ...choice, delta: { content: "" } }], usage }];
    const whole = { choices: [{ ...choice, message: { role: "assistant", content: "" } }], usage };
    const create = async (): Promise<unknown> => (stream ? ReadableStream.from(chunks) : whole);
    const client = { chat: { completions: { create } }, responses: { create } };
    const model = fromOpenaiClient(client, "m", {
      protocol: "chat",
      stream,
      facts: { contextWindow: 100_000 },
    });
    const { end } = await new Agent({ model, context: { compaction: null } }).run("go");
    expect(end?.error?.kind).toBe("context_overflow");
  },
);

// A prompt that was larger than the window, by the provider's own count, and was answered all the same (F185).

import { Agent } from "@rondo/core";
import { expect, test } from "vitest";
import { anthropic, openaiCompatible } from "../src/index.ts";

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

test("an answer to more than the window holds comes with a warning", async () => {
  expect(await answered(210_000)).toEqual([
    "context_overflow: zai/m counted 210000 tokens of input in a window of 200000: it may have left out some of the prompt without saying so. If the window is larger, say so in the model's facts (contextWindow)",
  ]);
});

test("a full window is no more than that", async () => {
  expect(await answered(200_000)).toEqual([]);
});

test("the sum of what the rounds of an answer read is no prompt: the provider ran tools in between", async () => {
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

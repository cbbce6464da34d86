// A model's own clocks: known to the loop, which keeps the longer part of the wait itself.

import { Agent, type Model } from "@rondo/core";
import { anthropic, google, localModel, ollama, openai, openaiCompatible, promptedJson } from "@rondo/models";
import { say } from "@rondo/testkit";
import { delayed, rondoWire } from "@rondo/testkit/wire";
import { expect, test } from "vitest";

const clocks = { connectMs: 7_000, firstByteMs: 0 };
const key = { apiKey: "any", clocks };
const compatible = openaiCompatible({ baseURL: "http://127.0.0.1:1/v1", model: "m", ...key });

test.each<[string, Model]>([
  ["anthropic", anthropic("claude-sonnet-5", key)],
  ["google", google("gemini-3-pro", key)],
  ["openai", openai("gpt-5.2", key)],
  ["openaiCompatible", compatible],
  ["ollama", ollama("llama3", { clocks })],
  ["localModel", localModel("vllm", "m", { clocks })],
  ["promptedJson", promptedJson(compatible)],
])("are known of one by %s, whatever stands around it", (_, model) => {
  expect(model.clocks).toEqual(clocks);
});

test("give a slow server the time it needs to begin", async () => {
  await using wire = await rondoWire({ script: [[delayed(120), say("late")]] });
  const model = anthropic("claude-sonnet-5", { baseURL: wire.url, ...key });
  const { end } = await new Agent({ model, clocks: { firstByteMs: 20 }, retry: null }).run("go");
  expect(end?.reason).toBe("completed");
});

// A server that holds an output to a schema from its first token on, and takes all of it for thinking.

import { Agent } from "@rondo/core";
import { type FetchLike, fromAiSdk, ollama, openai, openaiCompatible } from "@rondo/models";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const value = '{"city":"Oslo"}';
const output = z.object({ city: z.string() });

const answering =
  (body: string, type: string): FetchLike =>
  () =>
    Promise.resolve(new Response(body, { headers: { "content-type": type } }));
const whole = (message: object): FetchLike =>
  answering(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] }), "application/json");
const events = (...list: object[]): FetchLike =>
  answering(list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""), "text/event-stream");
const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const at = { model: "m", apiKey: "k", baseURL: "http://127.0.0.1:1/v1" };

const servers = {
  "a stream of Chat Completions": openaiCompatible({
    ...at,
    fetch: events(
      chunk({ reasoning_content: '{"city":' }),
      chunk({ reasoning_content: '"Oslo"}' }),
      chunk({ content: "" }, "stop"),
    ),
  }),
  "a whole answer": openaiCompatible({ ...at, fetch: whole({ content: null, reasoning_content: value }) }),
  "a text with the tags of thinking": openaiCompatible({
    ...at,
    fetch: whole({ content: `<think>${value}</think>` }),
  }),
  Ollama: ollama("m", {
    baseURL: "http://127.0.0.1:1",
    fetch: answering(
      `${JSON.stringify({ message: { role: "assistant", content: "", thinking: value }, done: true, done_reason: "stop" })}\n`,
      "application/x-ndjson",
    ),
  }),
  Responses: openai("m", {
    ...at,
    fetch: events(
      { type: "response.created", response: { id: "r", output: [] } },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: {
          type: "reasoning",
          id: "rs_1",
          summary: [],
          content: [{ type: "reasoning_text", text: value }],
        },
      },
      { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
    ),
  }),
  "the AI SDK": fromAiSdk(
    new MockLanguageModelV4({
      doStream: () =>
        Promise.resolve({
          stream: convertArrayToReadableStream([
            { type: "reasoning-start", id: "1" },
            { type: "reasoning-delta", id: "1", delta: value },
            { type: "reasoning-end", id: "1" },
            {
              type: "finish",
              usage: {
                inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
                outputTokens: { total: 1, text: 0, reasoning: 1 },
              },
              finishReason: { unified: "stop", raw: "stop" },
            },
          ]),
        }),
    }),
  ),
};

describe("an output that is in the reasoning", () => {
  it.each(Object.entries(servers))("is the answer's text: %s", async (_name, model) => {
    const warnings: string[] = [];
    let told = "";
    const {
      output: read,
      end,
      modelCalls,
    } = await new Agent({ model, output }).run("Which city?", {
      onEvent: (event) => {
        if (event.type === "warning") warnings.push(event.code);
        if (event.type === "text_delta") told += event.text;
      },
    });
    expect([read, end?.reason, modelCalls, told]).toEqual([{ city: "Oslo" }, "completed", 1, value]);
    expect(warnings).toContain("output_in_reasoning");
  });

  it.each([
    ["there is a text", { content: '{"city":"Bergen"}', reasoning_content: value }, { city: "Bergen" }],
    ["it is a thought", { content: "", reasoning_content: "The city is Oslo." }, undefined],
    ["it is cut", { content: "", reasoning_content: '{"city":"Os' }, undefined],
  ])("is not looked for if %s", async (_why, message, read) => {
    const model = openaiCompatible({ ...at, fetch: whole(message) });
    const { output: given } = await new Agent({ model, output }).run("Which city?");
    expect(given).toEqual(read);
  });

  it("is not looked for if none was asked for", async () => {
    const model = openaiCompatible({ ...at, fetch: whole({ content: "", reasoning_content: value }) });
    expect((await new Agent({ model }).run("Which city?")).text).toBe("");
  });
});

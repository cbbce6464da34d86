// The whole way: the AI SDK's loop over our codec to a server, and what the server is sent at the second step.

import { anthropic, fromAiSdk, toAiSdk } from "@rondo/models";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import { type Handler, withServer } from "../transport/loopback.ts";

const frames = (events: readonly object[]): string =>
  events
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");

const message = (
  blocks: readonly (readonly [start: object, ...deltas: object[]])[],
  stop_reason: string,
): string =>
  frames([
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 1 },
      },
    },
    ...blocks.flatMap(([start, ...deltas], index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ]);

const first = message(
  [
    [
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Which city?" },
      { type: "signature_delta", signature: "c2lnbmF0dXJl" },
    ],
    [{ type: "redacted_thinking", data: "cmVkYWN0ZWQ=" }],
    [
      { type: "text", text: "" },
      { type: "text_delta", text: "Let me look." },
    ],
    [
      { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
      { type: "input_json_delta", partial_json: '{"city":' },
      { type: "input_json_delta", partial_json: '"Oslo"}' },
    ],
  ],
  "tool_use",
);
const second = message(
  [
    [
      { type: "text", text: "" },
      { type: "text_delta", text: "21 degrees." },
    ],
  ],
  "end_turn",
);

it.each(["streamText", "generateText", "both bridges"])(
  "signatures and redacted thinking are sent back to Anthropic in their places, by %s",
  async (way) => {
    const bodies = [first, second];
    const handler: Handler = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(bodies.shift() ?? "");
    };
    await withServer(handler, async ({ url, seen }) => {
      const model = toAiSdk(anthropic("claude-sonnet-4-5", { baseURL: url, apiKey: "k" }));
      const options = {
        // Once there and back again, and there once more.
        model: way === "both bridges" ? toAiSdk(fromAiSdk(model)) : model,
        prompt: "How warm is it?",
        reasoning: "medium" as const,
        stopWhen: stepCountIs(4),
        tools: {
          weather: tool({
            inputSchema: z.object({ city: z.string() }),
            execute: ({ city }) => Promise.resolve(`21 in ${city}`),
          }),
        },
      };
      const result = way === "generateText" ? await generateText(options) : streamText(options);
      expect(await result.text).toBe("21 degrees.");
      const [step] = await result.steps;
      expect(step?.usage).toMatchObject({ inputTokens: 100, inputTokenDetails: { cacheReadTokens: 60 } });
      expect(seen).toHaveLength(2);
      const { messages } = JSON.parse(seen[1]?.body ?? "") as { messages: { content: object[] }[] };
      expect(messages[1]?.content).toMatchObject([
        { type: "thinking", thinking: "Which city?", signature: "c2lnbmF0dXJl" },
        { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } },
      ]);
      expect(messages[2]?.content).toMatchObject([{ type: "tool_result", tool_use_id: "toolu_1" }]);
    });
  },
);

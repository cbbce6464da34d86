// A call whose arguments are no text at all is told before what comes behind it: who shows an answer while it arrives
// must know that a text belongs to a call (E4.21).

import { Agent, type ModelEvent, tool } from "@rondo/core";
import { agentStrategy, strategyMessages } from "@rondo/core/presets";
import { say } from "@rondo/testkit";
import { raw } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { bedrockConverse } from "../src/codecs/bedrock-converse.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";
import { openaiResponses } from "../src/codecs/openai-responses.ts";
import type { Codec } from "../src/index.ts";
import { openai } from "../src/index.ts";
import { serve } from "./end-to-end/stack.ts";

const chatChunk = (delta: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const opened = { index: 0, id: "c1", type: "function", function: { name: "look", arguments: "" } };

/** An answer with a call without arguments, and a text behind it. */
const answers: { readonly [name: string]: [Codec, object[]] } = {
  "chat completions": [
    openaiChat,
    [
      chatChunk({ content: "a" }),
      chatChunk({ tool_calls: [opened] }),
      chatChunk({ content: "b" }),
      chatChunk({ content: "c" }),
      chatChunk({}, "tool_calls"),
    ],
  ],
  messages: [
    anthropicMessages,
    [
      { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "c1", name: "look", input: {} },
      },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "" } },
      { type: "content_block_stop", index: 1 },
      { type: "content_block_start", index: 2, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "b" } },
      { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "c" } },
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
  ],
  responses: [
    openaiResponses,
    [
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "message", id: "m0", role: "assistant", content: [] },
      },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m0", delta: "a" },
      {
        type: "response.output_item.added",
        output_index: 1,
        item: { type: "function_call", id: "fc", call_id: "c1", name: "look", arguments: "" },
      },
      {
        type: "response.output_item.done",
        output_index: 1,
        item: {
          type: "function_call",
          id: "fc",
          call_id: "c1",
          name: "look",
          arguments: "",
          status: "completed",
        },
      },
      {
        type: "response.output_item.added",
        output_index: 2,
        item: { type: "message", id: "m2", role: "assistant", content: [] },
      },
      { type: "response.output_text.delta", output_index: 2, content_index: 0, item_id: "m2", delta: "b" },
      { type: "response.output_text.delta", output_index: 2, content_index: 0, item_id: "m2", delta: "c" },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ],
  ],
  generateContent: [
    googleGenerativeAi,
    [
      { candidates: [{ content: { parts: [{ text: "a" }] } }] },
      { candidates: [{ content: { parts: [{ functionCall: { name: "look" } }] } }] },
      { candidates: [{ content: { parts: [{ text: "b" }] } }] },
      { candidates: [{ content: { parts: [{ text: "c" }] }, finishReason: "STOP" }] },
    ],
  ],
  converse: [
    bedrockConverse,
    [
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "a" } } },
      { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: "c1", name: "look" } } } },
      { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: "" } } } },
      { contentBlockStop: { contentBlockIndex: 1 } },
      { contentBlockDelta: { contentBlockIndex: 2, delta: { text: "b" } } },
      { contentBlockDelta: { contentBlockIndex: 2, delta: { text: "c" } } },
      { messageStop: { stopReason: "tool_use" } },
    ],
  ],
};

describe("a call without arguments", () => {
  it.each(Object.keys(answers))("is emitted before the text after it: %s", (name) => {
    const [codec, frames] = answers[name] as [Codec, object[]];
    const told: ModelEvent[] = [];
    const origin = { api: codec.api, provider: "p", model: "m" };
    const decoder = codec.decoder({ origin, facts: {} }, (event) => told.push(event));
    for (const frame of frames) {
      const [event, data] =
        codec === bedrockConverse ? (Object.entries(frame)[0] as [string, object]) : [undefined, frame];
      decoder.push({ event, data: JSON.stringify(data) });
    }
    expect(decoder.end().stop.kind).toBe("tool_use");
    const deltas = told.flatMap((event) =>
      event.type === "text_delta"
        ? [event.text]
        : event.type === "tool_args_delta"
          ? [`${event.name}()`]
          : [],
    );
    expect(deltas).toEqual(["a", "look()", "b", "c"]);
  });

  it("E4.21 makes the text after it a thought of the strategy's", async () => {
    const frames = (answers["chat completions"] as [Codec, object[]])[1];
    const body = [...frames.map((frame) => JSON.stringify(frame)), "[DONE]"]
      .map((data) => `data: ${data}\n\n`)
      .join("");
    const wire = await serve([raw(body, { headers: { "content-type": "text/event-stream" } }), say("done")]);
    const look = tool({
      name: "look",
      description: "Looks",
      inputSchema: z.object({}),
      effect: "read",
      execute: () => "seen",
    });
    const options = {
      model: openai.chat("m", { apiKey: "k", baseURL: wire.urlFor("openai-chat") }),
      tools: [look],
    };
    const shown: string[] = [];
    for await (const message of strategyMessages(new Agent(agentStrategy(options)).stream("go")))
      if (message.type === "text") shown.push(message.text);
    expect(shown).toEqual(["a", "<think>\nbc\n</think>", "\n", "done"]);
  });
});

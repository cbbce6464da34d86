// A model that thinks where nobody sees it, and whose server counts what it thinks: silent, and at work.

import type { Json, ModelEvent } from "@rondo/core";
import { expect, it } from "vitest";
import type { Codec } from "../src/codec.ts";
import { anthropicMessages } from "../src/codecs/anthropic-messages.ts";
import { googleGenerativeAi } from "../src/codecs/google-generative-ai.ts";
import { openaiChat } from "../src/codecs/openai-chat.ts";

function told(codec: Codec, frames: readonly Json[]): ModelEvent[] {
  const events: ModelEvent[] = [];
  const origin = { provider: "p", model: "m", api: codec.api };
  const decoder = codec.decoder({ origin, facts: {} }, (event) => void events.push(event));
  for (const frame of frames) decoder.push({ event: undefined, data: JSON.stringify(frame) });
  return events;
}

const chat = (written: number): Json => ({
  choices: [],
  usage: { completion_tokens: written, completion_tokens_details: { reasoning_tokens: written } },
});
const anthropic = (written: number): Json => ({
  type: "message_delta",
  delta: {},
  usage: { output_tokens: written },
});
const google = (written: number): Json => ({
  candidates: [{ index: 0 }],
  usageMetadata: { promptTokenCount: 5, thoughtsTokenCount: written },
});

const protocols: readonly (readonly [string, Codec, (written: number) => Json])[] = [
  ["Chat Completions", openaiChat, chat],
  ["Anthropic", anthropicMessages, anthropic],
  ["Gemini", googleGenerativeAi, google],
];

it.each(protocols)("each count that grew is a sign of life: %s", (_name, codec, counts) => {
  expect(told(codec, [counts(10), counts(20), counts(30)])).toEqual([
    { type: "progress" },
    { type: "progress" },
  ]);
});

it.each(protocols)("a repeated count is not: %s", (_name, codec, counts) => {
  expect(told(codec, [counts(10), counts(10), counts(10)])).toEqual([]);
});

it.each(protocols)("a count that falls and rises again is not: %s", (_name, codec, counts) => {
  expect(told(codec, [counts(10), counts(20), counts(10), counts(20), counts(10), counts(20)])).toEqual([
    { type: "progress" },
  ]);
});

it("text that is shown is a sign of life itself", () => {
  const says = (content: string, written: number): Json => ({
    choices: [{ index: 0, delta: { content } }],
    usage: { completion_tokens: written },
  });
  const events = told(openaiChat, [says("a", 1), says("b", 2), says("c", 3)]);
  expect(events.map(({ type }) => type)).toEqual(["text_delta", "text_delta", "text_delta"]);
});

// The room of Converse's form: a reply as event-stream messages, and as one response.

import type { JsonObject, StopKind } from "@rondo/core";
import {
  callId,
  counts,
  frame,
  type Rendered,
  type Reply,
  type ReplyBlock,
  signature,
  stopWord,
  type WireFrame,
} from "./reply.ts";

const words: { readonly [K in StopKind]?: string } = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  pause: "pause_turn",
  refusal: "refusal",
  content_filter: "content_filtered",
  malformed_call: "malformed_model_output",
  context_overflow: "model_context_window_exceeded",
};

export function renderBedrock(reply: Reply): Rendered {
  const word = stopWord(reply, words, "bedrock-converse");
  const told = counts(reply.usage);
  const usage: JsonObject = {
    inputTokens: told.inputTokens - told.cachedInputTokens - told.cacheWriteTokens,
    outputTokens: told.outputTokens,
    totalTokens: told.inputTokens + told.outputTokens,
    cacheReadInputTokens: told.cachedInputTokens,
    cacheWriteInputTokens: told.cacheWriteTokens,
  };
  const ending: JsonObject = {
    stopReason: word,
    ...(word === "stop_sequence" && reply.stop.detail !== undefined
      ? { additionalModelResponseFields: { delta: { stop_sequence: reply.stop.detail } } }
      : {}),
  };
  const metrics: JsonObject = { latencyMs: 1 };
  return {
    head: [frame("messageStart", { role: "assistant" })],
    blocks: reply.blocks.map((block, index) => blockFrames(block, index, reply)),
    tail: [frame("messageStop", ending), frame("metadata", { usage, metrics })],
    whole: {
      output: {
        message: {
          role: "assistant",
          content: reply.blocks.map((block, index) => wholeBlock(block, index, reply)),
        },
      },
      ...ending,
      usage,
      metrics,
    },
  };
}

function wholeBlock(block: ReplyBlock, index: number, reply: Reply): JsonObject {
  switch (block.type) {
    case "text":
    case "refusal":
      return { text: block.text };
    case "reasoning":
      return {
        reasoningContent:
          typeof block.opaque?.redacted === "string"
            ? { redactedContent: block.opaque.redacted }
            : {
                reasoningText: {
                  text: block.text,
                  signature: signature(reply, index, block.opaque, "signature"),
                },
              },
      };
    case "call":
      return {
        toolUse: {
          toolUseId: callId(reply, index, "tooluse_"),
          name: block.name,
          input: block.broken ? block.rawArgs : block.args,
        },
      };
    case "native":
      return block.opaque;
  }
}

function blockFrames(block: ReplyBlock, index: number, reply: Reply): WireFrame[] {
  const start = (told: JsonObject): WireFrame =>
    frame("contentBlockStart", { contentBlockIndex: index, start: told });
  const delta = (told: JsonObject): WireFrame =>
    frame("contentBlockDelta", { contentBlockIndex: index, delta: told, p: "abcdefgh".slice(index % 8) });
  const stop = frame("contentBlockStop", { contentBlockIndex: index });
  switch (block.type) {
    case "text":
    case "refusal":
      return [...block.pieces.map((text) => delta({ text })), stop];
    case "reasoning":
      return typeof block.opaque?.redacted === "string"
        ? [delta({ reasoningContent: { redactedContent: block.opaque.redacted } }), stop]
        : [
            ...block.pieces.map((text) => delta({ reasoningContent: { text } })),
            delta({
              reasoningContent: { signature: signature(reply, index, block.opaque, "signature") },
            }),
            stop,
          ];
    case "call":
      return [
        start({ toolUse: { toolUseId: callId(reply, index, "tooluse_"), name: block.name } }),
        ...block.pieces.map((input) => delta({ toolUse: { input } })),
        stop,
      ];
    case "native":
      return [start(block.opaque), stop];
  }
}

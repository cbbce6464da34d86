// The room of Anthropic's form: a reply as the events of Messages, and as one message.

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
  content_filter: "refusal",
  context_overflow: "model_context_window_exceeded",
};

export function renderAnthropic(reply: Reply): Rendered {
  const word = stopWord(reply, words, "anthropic-messages");
  const usage = counts(reply.usage);
  const input = {
    input_tokens: usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    ...(reply.usage.cacheWrite1hTokens === undefined
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.cacheWrite1hTokens,
            ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
          },
        }),
  };
  const output = {
    output_tokens: usage.outputTokens,
    ...(reply.usage.reasoningTokens === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
  };
  const ending: JsonObject = {
    stop_reason: word,
    stop_sequence: word === "stop_sequence" ? (reply.stop.detail ?? null) : null,
    ...(word === "refusal" && reply.stop.detail !== undefined
      ? { stop_details: { type: "refusal", category: null, explanation: reply.stop.detail } }
      : {}),
  };
  const message: JsonObject = {
    id: `msg_${reply.number}`,
    type: "message",
    role: "assistant",
    model: reply.model,
  };
  return {
    head: [
      frame("message_start", {
        type: "message_start",
        message: {
          ...message,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...input, output_tokens: 1 },
        },
      }),
      frame("ping", { type: "ping" }),
    ],
    blocks: reply.blocks.map((block, index) => blockFrames(block, index, reply)),
    tail: [
      frame("message_delta", { type: "message_delta", delta: ending, usage: output }),
      frame("message_stop", { type: "message_stop" }),
    ],
    whole: {
      ...message,
      content: reply.blocks.map((block, index) => wholeBlock(block, index, reply)),
      ...ending,
      usage: { ...input, ...output },
    },
  };
}

function wholeBlock(block: ReplyBlock, index: number, reply: Reply): JsonObject {
  switch (block.type) {
    case "text":
    case "refusal":
      return { type: "text", text: block.text };
    case "reasoning":
      return typeof block.opaque?.redacted === "string"
        ? { type: "redacted_thinking", data: block.opaque.redacted }
        : {
            type: "thinking",
            thinking: block.text,
            signature: signature(reply, index, block.opaque, "signature"),
          };
    case "call":
      return {
        type: "tool_use",
        id: callId(reply, index, "toolu_"),
        name: block.name,
        input: block.broken ? block.rawArgs : block.args,
      };
    case "native":
      return block.opaque;
  }
}

function blockFrames(block: ReplyBlock, index: number, reply: Reply): WireFrame[] {
  const whole = wholeBlock(block, index, reply);
  const delta = (told: JsonObject): WireFrame =>
    frame("content_block_delta", { type: "content_block_delta", index, delta: told });
  const opened: { start: JsonObject; deltas: WireFrame[] } = { start: whole, deltas: [] };
  if (block.type === "text" || block.type === "refusal") {
    opened.start = { type: "text", text: "" };
    opened.deltas = block.pieces.map((text) => delta({ type: "text_delta", text }));
  } else if (whole.type === "thinking" && block.type === "reasoning") {
    opened.start = { type: "thinking", thinking: "", signature: "" };
    opened.deltas = [
      ...block.pieces.map((thinking) => delta({ type: "thinking_delta", thinking })),
      delta({ type: "signature_delta", signature: whole.signature ?? "" }),
    ];
  } else if (block.type === "call") {
    opened.start = { ...whole, input: {} };
    // An empty delta comes first, as it does there.
    opened.deltas = ["", ...block.pieces].map((partial_json) =>
      delta({ type: "input_json_delta", partial_json }),
    );
  }
  return [
    frame("content_block_start", { type: "content_block_start", index, content_block: opened.start }),
    ...opened.deltas,
    frame("content_block_stop", { type: "content_block_stop", index }),
  ];
}

// The room of Chat Completions' form: a reply as chunks, and as one completion.
//
// The protocol has one text, one reasoning and one refusal an answer: blocks of a kind are one text. Reasoning goes by
// `reasoning_content`, as compatible servers tell it; OpenAI itself tells none here.

import type { JsonObject, StopKind } from "@rondo/core";
import {
  callId,
  counts,
  frame,
  type Rendered,
  type Reply,
  type ReplyBlock,
  stopWord,
  type WireFrame,
} from "./reply.ts";

const words: { readonly [K in StopKind]?: string } = {
  end_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  stop_sequence: "stop",
  refusal: "stop",
  content_filter: "content_filter",
};

export function renderOpenaiChat(reply: Reply): Rendered {
  const word = stopWord(reply, words, "openai-chat");
  const head: JsonObject = {
    id: `chatcmpl-${reply.number}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000 + reply.number,
    model: reply.model,
    service_tier: "default",
    system_fingerprint: null,
  };
  const chunk = (delta: JsonObject, finish: string | null = null): WireFrame =>
    frame(undefined, {
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(reply.tellsUsage ? { usage: null } : {}),
    });
  const calls = reply.blocks.flatMap((block, index) => (block.type === "call" ? [index] : []));
  const told = usage(reply);
  return {
    head: [chunk({ role: "assistant", content: null, refusal: null })],
    blocks: reply.blocks.map((block, index) =>
      deltas(block, index, calls.indexOf(index), reply).map((delta) => chunk(delta)),
    ),
    tail: [
      chunk({}, word),
      ...(reply.tellsUsage ? [frame(undefined, { ...head, choices: [], usage: told })] : []),
      { data: "[DONE]" },
    ],
    whole: {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message: message(reply), logprobs: null, finish_reason: word }],
      usage: told,
    },
  };
}

function usage(reply: Reply): JsonObject {
  const told = counts(reply.usage);
  return {
    prompt_tokens: told.inputTokens,
    completion_tokens: told.outputTokens,
    total_tokens: told.inputTokens + told.outputTokens,
    prompt_tokens_details: { cached_tokens: told.cachedInputTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: told.reasoningTokens, audio_tokens: 0 },
  };
}

function deltas(block: ReplyBlock, index: number, nth: number, reply: Reply): JsonObject[] {
  switch (block.type) {
    case "text":
      return block.pieces.map((content) => ({ content }));
    case "reasoning":
      return block.pieces.map((reasoning_content) => ({ reasoning_content }));
    case "refusal":
      return block.pieces.map((refusal) => ({ refusal }));
    case "call":
      return [
        {
          tool_calls: [
            {
              index: nth,
              id: callId(reply, index, "call_"),
              type: "function",
              function: { name: block.name, arguments: "" },
            },
          ],
        },
        ...block.pieces.map((piece) => ({ tool_calls: [{ index: nth, function: { arguments: piece } }] })),
      ];
    case "native":
      return [block.opaque];
  }
}

function message(reply: Reply): JsonObject {
  const joined = (type: "text" | "reasoning" | "refusal"): string | null => {
    const texts = reply.blocks.flatMap((block) => (block.type === type ? [block.text] : []));
    return texts.length === 0 ? null : texts.join("");
  };
  const reasoning = joined("reasoning");
  const calls = reply.blocks.flatMap((block, index): JsonObject[] =>
    block.type === "call"
      ? [
          {
            id: callId(reply, index, "call_"),
            type: "function",
            function: { name: block.name, arguments: block.rawArgs },
          },
        ]
      : [],
  );
  const natives = reply.blocks.flatMap((block) => (block.type === "native" ? [block.opaque] : []));
  return Object.assign(
    {
      role: "assistant",
      content: joined("text"),
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      refusal: joined("refusal"),
      annotations: [],
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    ...natives,
  );
}

// The room of personalities of servers that users run.

import type { ServerPersonality } from "./personality.ts";
import { flat, plain } from "./refusals.ts";

const reasoningFields = ["reasoning_details"];

export const selfHostedPersonalities: { readonly [server: string]: ServerPersonality } = {
  litellm: {
    rules: { noNullContent: true, toolsWithHistory: true, chat: { refusedFields: reasoningFields } },
    style: { finish: { text: "stop", calls: "stop" } },
    refuse: ({ message }) => ({
      status: 400,
      body: JSON.stringify({
        error: { message: `litellm.BadRequestError: ${message}`, type: null, param: null, code: "400" },
      }),
    }),
    errors: [
      {
        status: 200,
        stream: true,
        kind: "rate_limit",
        says: "litellm.RateLimitError",
        body: `data: ${JSON.stringify({ error: { message: "litellm.RateLimitError: slow down, rate limit reached", type: null, param: null, code: "429" } })}\n\ndata: [DONE]\n\n`,
      },
    ],
  },
  ollama: {
    rules: {
      chat: { refusedFields: reasoningFields },
      noNullContent: true,
      needsUser: true,
      noForcedCall: "ever",
      obeysTokens: true,
    },
    style: { index: "all_zero", calls: "whole", reasoning: "reasoning" },
    refuse: ({ message }) => ({
      status: 400,
      body: JSON.stringify({ error: { message, type: "api_error", param: null, code: null } }),
    }),
    errors: [
      {
        status: 400,
        kind: "capability",
        says: "does not support tools",
        body: JSON.stringify({
          error: {
            message: "registry.ollama.ai/library/llama3:8b does not support tools",
            type: "api_error",
            param: null,
            code: null,
          },
        }),
      },
    ],
  },
  vllm: {
    rules: { chat: { videos: true }, noNullContent: true, systemFirst: true, obeysTokens: true },
    style: { nameTail: "<|channel|>commentary", finish: { text: "stop", calls: "stop" } },
    refuse: flat,
    errors: [
      {
        status: 400,
        kind: "context_overflow",
        says: "maximum context length",
        body: JSON.stringify({
          object: "error",
          message:
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages. Please reduce the length of the messages.",
          type: "BadRequestError",
          param: null,
          code: 400,
        }),
      },
      {
        status: 200,
        stream: true,
        kind: "server_error",
        says: "EngineCore",
        body: `data: ${JSON.stringify({ error: { object: "error", message: "EngineCore encountered an issue", type: "InternalServerError", code: 500 } })}\n\ndata: [DONE]\n\n`,
      },
    ],
  },
  sglang: {
    rules: { chat: { videos: true }, noNullContent: true, systemFirst: true, obeysTokens: true },
    style: {
      calls: "arguments_first",
      reasoning: "think_tags",
      finish: { text: "stop", calls: "stop" },
    },
    refuse: flat,
    errors: [
      {
        status: 503,
        kind: "overloaded",
        says: "The request queue is full",
        body: JSON.stringify({
          object: "error",
          message: "The request queue is full.",
          type: "SERVICE_UNAVAILABLE",
          code: 503,
        }),
      },
    ],
  },
  llamacpp: {
    rules: {
      lastNotAssistant: "Assistant response prefill is incompatible with enable_thinking.",
      chat: { alternate: true },
      noNullContent: true,
      systemFirst: true,
      needsUser: true,
      obeysTokens: true,
    },
    style: { reasoning: "reasoning_content", calls: "interleaved", tail: { timings: { prompt_n: 1 } } },
    refuse: ({ message }) => ({
      status: 500,
      body: JSON.stringify({ error: { code: 500, message, type: "server_error" } }),
    }),
    errors: [
      {
        status: 400,
        kind: "context_overflow",
        says: "exceeds the available context size",
        body: JSON.stringify({
          error: {
            code: 400,
            message: "the request exceeds the available context size, try increasing it",
            type: "exceed_context_size_error",
          },
        }),
      },
    ],
  },
  lmstudio: {
    rules: {
      chat: { alternate: true },
      noNullContent: true,
      systemFirst: true,
      refused: ["reasoning_effort"],
      obeysTokens: true,
    },
    style: { reasoning: "harmony", finish: { text: "eos", calls: "tool_calls" } },
    refuse: plain,
    errors: [
      {
        status: 200,
        stream: true,
        kind: "context_overflow",
        says: "greater than the context length",
        body: `event: error\ndata: ${JSON.stringify({ error: { message: "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length" } })}\n\n`,
      },
    ],
  },
};

/** A server nobody has heard of, as strict and as careless as they come. */
export const unknownPersonality: ServerPersonality = {
  rules: {
    chat: { stringContent: true, refusedFields: ["reasoning_content", "reasoning", "reasoning_details"] },
    noNullContent: true,
    systemFirst: true,
    needsUser: true,
    refused: ["max_completion_tokens"],
  },
  style: {
    index: "none",
    ids: "none",
    calls: "whole",
    noType: true,
    reasoning: "think_tags",
    finish: { text: "end", calls: "finished" },
    usage: "none",
    noDone: true,
  },
  refuse: plain,
  errors: [
    {
      status: 500,
      kind: "server_error",
      says: "boom",
      body: "boom",
    },
  ],
};

// The room of the vendors' servers: personalities of those who make the models.

import { all, copilotFields, reasoningFields, said } from "./common.ts";
import type { ServerPersonality } from "./personality.ts";
import { listed, nested, worded } from "./refusals.ts";

export const vendorPersonalities: { readonly [server: string]: ServerPersonality } = {
  openai: {
    rules: {
      roles: all,
      refused: ["top_k", "max_tokens"],
      chat: { refusedFields: [...reasoningFields, ...copilotFields] },
    },
    style: { reasoning: "none" },
    refuse: nested,
    errors: [
      said(
        429,
        "quota_exhausted",
        "You exceeded your current quota, please check your plan and billing details.",
        {
          type: "insufficient_quota",
          code: "insufficient_quota",
        },
      ),
    ],
  },
  deepseek: {
    rules: {
      echo: {
        field: "reasoning_content",
        message: "The `reasoning_content` in the thinking mode must be passed back to the API. Message",
      },
      noForcedCall: "thinking",
      noJsonSchema: true,
      refused: ["max_completion_tokens", "parallel_tool_calls"],
    },
    style: {
      ids: "same",
      comments: ["keep-alive", "keep-alive"],
      usage: "with_finish",
    },
    refuse: nested,
    errors: [
      said(402, "quota_exhausted", "Insufficient Balance", {
        type: "unknown_error",
        code: "invalid_request_error",
      }),
    ],
  },
  mistral: {
    rules: {
      chat: { mistral: true, thinkingFirst: true, refusedFields: [...reasoningFields, ...copilotFields] },
      noNullContent: true,
      fields: [
        "model",
        "messages",
        "stream",
        "max_tokens",
        "temperature",
        "top_p",
        "stop",
        "random_seed",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "response_format",
        "presence_penalty",
        "frequency_penalty",
        "n",
        "safe_prompt",
        "prompt_mode",
        "reasoning_effort",
        "metadata",
        "prediction",
        "prompt_cache_key",
        "service_tier",
        "guardrails",
      ],
    },
    style: {
      index: "none",
      ids: "mistral9",
      calls: "whole",
      noType: true,
      reasoning: "parts",
      finishInPlace: true,
      usage: "with_finish",
    },
    refuse: listed,
    errors: [
      {
        status: 429,
        kind: "rate_limit",
        says: "Requests rate limit exceeded",
        body: JSON.stringify({ message: "Requests rate limit exceeded" }),
      },
      {
        status: 400,
        kind: "invalid_request",
        says: "Unexpected role",
        body: JSON.stringify({
          object: "error",
          message: "Unexpected role 'user' after role 'tool'",
          type: "invalid_request_message_order",
          param: null,
          code: "3230",
        }),
      },
    ],
  },
  xai: {
    rules: {
      chat: { noEmptyContent: true },
      refused: ["presence_penalty", "frequency_penalty", "logit_bias", "top_k"],
      efforts: ["low", "high"],
    },
    style: { calls: "whole", finish: { text: null, calls: null }, repeatsReasoning: true },
    refuse: worded,
    errors: [
      {
        status: 200,
        kind: "overloaded",
        says: "Timed out waiting for first token",
        body: JSON.stringify({
          code: "The service is currently unavailable",
          error: "Timed out waiting for first token",
        }),
      },
    ],
  },
  zai: {
    rules: {
      chat: { videos: true },
      noForcedCall: "ever",
      noJsonSchema: true,
      refused: [
        "max_completion_tokens",
        "parallel_tool_calls",
        "seed",
        "presence_penalty",
        "frequency_penalty",
      ],
    },
    style: { calls: "whole", ids: "same", usage: "with_finish" },
    refuse: ({ message }) => ({ status: 400, body: JSON.stringify({ error: { code: "1210", message } }) }),
    errors: [
      {
        status: 429,
        kind: "quota_exhausted",
        says: "Insufficient balance",
        body: JSON.stringify({
          error: { code: "1113", message: "Insufficient balance or no resource package. Please recharge." },
        }),
      },
    ],
  },
  moonshot: {
    rules: {
      chat: { videos: true },
      echo: {
        field: "reasoning_content",
        filled: true,
        message:
          "thinking is enabled but reasoning_content is missing in assistant tool call message at index",
      },
      noForcedCall: "ever",
      refused: ["reasoning_effort", "parallel_tool_calls"],
    },
    style: { usage: "in_choice", index: "numbered", ids: "own" },
    refuse: nested,
    errors: [
      said(
        429,
        "quota_exhausted",
        "Your account org-1 is suspended, please check your plan and billing details",
        {
          type: "exceeded_current_quota_error",
        },
      ),
      said(429, "overloaded", "The engine is currently overloaded, please try again later", {
        type: "engine_overloaded_error",
      }),
    ],
  },
  minimax: {
    rules: {
      chat: { refusedFields: ["reasoning_content", "reasoning"] },
      noForcedCall: "ever",
      noJsonSchema: true,
    },
    style: { reasoning: "think_tags", calls: "whole", usage: "with_finish" },
    refuse: ({ message }) => ({
      status: 200,
      body: JSON.stringify({
        id: "",
        choices: null,
        base_resp: { status_code: 2013, status_msg: `invalid params, ${message}` },
      }),
    }),
    errors: [
      {
        status: 200,
        kind: "quota_exhausted",
        says: "insufficient balance",
        body: JSON.stringify({
          id: "1",
          choices: null,
          base_resp: { status_code: 1008, status_msg: "insufficient balance" },
        }),
      },
      {
        status: 200,
        kind: "context_overflow",
        says: "context window exceeds limit",
        body: JSON.stringify({
          choices: null,
          base_resp: { status_code: 2013, status_msg: "invalid params, context window exceeds limit" },
        }),
      },
    ],
  },
  alibaba: {
    rules: {
      chat: { videos: true },
      noForcedCall: "thinking",
      noNullContent: true,
      noJsonSchema: true,
      refused: ["max_completion_tokens", "thinking"],
    },
    style: { calls: "emptying", usage: "asked" },
    refuse: nested,
    errors: [
      said(
        400,
        "content_filter",
        "Output data may contain inappropriate content: flagged by the content filter.",
        {
          type: "data_inspection_failed",
          code: "data_inspection_failed",
        },
      ),
    ],
  },
  xiaomi: {
    rules: {
      echo: {
        field: "reasoning_content",
        filled: true,
        message: "The reasoning_content in the thinking mode must be passed back to the API. Message",
      },
      chat: { stringContent: true },
      noNullContent: true,
      noJsonSchema: true,
      refused: ["enable_thinking", "reasoning_effort"],
    },
    style: { usage: "asked" },
    refuse: ({ message }) => ({
      status: 400,
      body: `data:${JSON.stringify({ error: { code: "400", message: "Param Incorrect", param: message, type: "" } })}`,
    }),
    errors: [
      {
        status: 400,
        kind: "invalid_request",
        says: "`text` is not set",
        body: JSON.stringify({
          error: { code: "400", message: "Param Incorrect", param: "`text` is not set", type: "" },
        }),
      },
    ],
  },
  perplexity: {
    rules: {
      chat: { alternate: true, refusedFields: reasoningFields },
      systemFirst: true,
      lastNotAssistant: "Last message must have role `user` or `tool`.",
      noTools: "Tool calling is not supported for this model",
      refused: ["stream_options", "max_completion_tokens", "seed", "stop"],
    },
    style: {
      reasoning: "think_tags",
      snapshots: true,
      usage: "every_chunk",
      noDone: true,
      finishInPlace: true,
      tail: {
        citations: ["https://example.com/a"],
        search_results: [{ title: "A", url: "https://example.com/a" }],
      },
    },
    refuse: nested,
    errors: [
      {
        status: 401,
        kind: "auth",
        says: "401 Authorization Required",
        body: "<html><head><title>401 Authorization Required</title></head><body></body></html>",
      },
    ],
  },
};

// The room of personalities of servers that vendors run.

import type { Json } from "@rondo/core";
import type { ServerError, ServerPersonality } from "./personality.ts";
import { listed, nested, plain, worded } from "./refusals.ts";

const all = ["system", "developer", "user", "assistant", "tool"];
const reasoningFields = ["reasoning_content", "reasoning", "reasoning_details"];
/** Copilot's own. */
const copilotFields = ["reasoning_text", "reasoning_opaque"];

/** An error in OpenAI's shape. */
function said(
  status: number,
  kind: ServerError["kind"],
  message: string,
  more: { type?: string; code?: string | number } = {},
): ServerError {
  const { type = "invalid_request_error", code = null } = more as { type?: string; code?: Json };
  return {
    status,
    kind,
    says: message.slice(0, 30),
    body: JSON.stringify({ error: { message, type, param: null, code } }),
  };
}

export const hostedPersonalities: { readonly [server: string]: ServerPersonality } = {
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
  azure: {
    rules: {
      roles: all,
      refused: ["top_k", "max_tokens"],
      chat: { refusedFields: [...reasoningFields, ...copilotFields] },
    },
    style: {
      reasoning: "none",
      head: [
        {
          choices: [],
          created: 0,
          id: "",
          model: "",
          object: "",
          prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
        },
        {
          id: "",
          choices: [
            { index: 0, finish_reason: null, content_filter_results: {}, content_filter_offsets: {} },
          ],
        },
      ],
    },
    refuse: nested,
    errors: [
      {
        status: 400,
        kind: "content_filter",
        says: "content management policy",
        body: JSON.stringify({
          error: {
            message:
              "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            type: null,
            param: "prompt",
            code: "content_filter",
            status: 400,
            innererror: { code: "ResponsibleAIPolicyViolation" },
          },
        }),
      },
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
      chat: { mistral: true, refusedFields: [...reasoningFields, ...copilotFields] },
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
  groq: {
    rules: {
      chat: { stringContent: true, refusedFields: ["reasoning_content", "reasoning_details"] },
      noNullContent: true,
      noSchemaWithTools: true,
      refused: ["logit_bias", "presence_penalty", "frequency_penalty", "store", "metadata", "top_k"],
    },
    style: { reasoning: "reasoning", usage: "x_groq", calls: "whole" },
    refuse: nested,
    errors: [
      {
        status: 413,
        kind: "request_too_large_for_tier",
        says: "Request too large",
        body: JSON.stringify({
          error: {
            message:
              "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.",
            type: "tokens",
            code: "rate_limit_exceeded",
          },
        }),
      },
    ],
  },
  cerebras: {
    rules: {
      chat: { refusedFields: ["reasoning_content", "reasoning_details"], stringContent: true },
      noNullContent: true,
      noSchemaWithTools: true,
      refused: ["presence_penalty", "frequency_penalty", "logit_bias", "top_k"],
    },
    style: {
      reasoning: "reasoning",
      calls: "whole",
      usage: "with_finish",
      tail: { time_info: { total_time: 0.1 } },
    },
    refuse: ({ message, path }) => ({
      status: 400,
      body: JSON.stringify({ message, type: "invalid_request_error", param: path, code: "wrong_api_format" }),
    }),
    errors: [
      {
        status: 429,
        kind: "rate_limit",
        says: "Tokens per minute limit exceeded",
        body: JSON.stringify({
          message: "Tokens per minute limit exceeded - too many tokens processed",
          type: "too_many_tokens_error",
          param: "quota",
          code: "token_quota_exceeded",
        }),
      },
    ],
  },
  together: {
    rules: { chat: { refusedFields: ["reasoning_details"] }, refused: ["max_completion_tokens", "store"] },
    style: { reasoning: "think_tags", finish: { text: "eos", calls: "tool_calls" }, usage: "with_finish" },
    refuse: nested,
    errors: [
      said(
        400,
        "context_overflow",
        "Input validation error: `inputs` tokens + `max_new_tokens` exceeds the maximum context length of 8193 tokens",
      ),
    ],
  },
  fireworks: {
    rules: {
      chat: { refusedFields: reasoningFields },
      refused: ["stream_options", "store", "max_completion_tokens"],
    },
    style: { calls: "repeating", reasoning: "think_tags", usage: "with_finish" },
    refuse: nested,
    errors: [said(400, "invalid_request", "Extra inputs are not permitted, field: 'stream_options'")],
  },
  openrouter: {
    rules: { chat: { refusedFields: ["reasoning_content"] } },
    style: {
      reasoning: "reasoning_details",
      ids: "empty",
      comments: ["OPENROUTER PROCESSING", "OPENROUTER PROCESSING"],
    },
    refuse: ({ message }) => ({
      status: 400,
      body: JSON.stringify({
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: message, provider_name: "x" },
        },
      }),
    }),
    errors: [
      {
        status: 200,
        stream: true,
        kind: "server_error",
        says: "Upstream broke",
        body: `: OPENROUTER PROCESSING\n\ndata: ${JSON.stringify({ id: "gen-1", error: { code: 502, message: "Upstream broke" }, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: "error" }] })}\n\ndata: [DONE]\n\n`,
      },
    ],
  },
  zai: {
    rules: {
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
  siliconflow: {
    rules: {
      chat: { refusedFields: ["reasoning", "reasoning_details", ...copilotFields] },
      noJsonSchema: true,
      refused: ["max_completion_tokens", "thinking", "logit_bias"],
    },
    style: { usage: "with_finish" },
    refuse: ({ message }) => ({ status: 400, body: JSON.stringify({ code: 20015, message, data: null }) }),
    errors: [
      {
        status: 400,
        kind: "invalid_request",
        says: "Model does not exist",
        body: JSON.stringify({
          code: 20012,
          message: "Model does not exist. Please check it carefully.",
          data: null,
        }),
      },
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
  huggingface: {
    rules: { noNullContent: true, refused: ["store", "max_completion_tokens"] },
    style: {
      index: "none",
      calls: "whole",
      objectArgs: true,
      reasoning: "think_tags",
      finish: { text: "eos", calls: "stop" },
    },
    refuse: plain,
    errors: [
      {
        status: 402,
        kind: "quota_exhausted",
        says: "You have exceeded your monthly",
        body: JSON.stringify({
          error: "You have exceeded your monthly included credits for Inference Providers.",
        }),
      },
    ],
  },
  copilot: {
    rules: {
      headers: ["editor-version", "copilot-integration-id", "x-initiator"],
      chat: { refusedFields: reasoningFields },
      roles: all,
    },
    style: { reasoning: "reasoning_text", index: "from_one", splitChoices: true, calls: "fragments" },
    refuse: nested,
    errors: [
      {
        status: 400,
        kind: "context_overflow",
        says: "prompt token count of 140000",
        body: JSON.stringify({
          error: { message: "prompt token count of 140000 exceeds the limit of 128000" },
        }),
      },
    ],
  },
};

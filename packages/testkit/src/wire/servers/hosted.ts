// The room of personalities of servers that vendors run for models that others made.

import { all, copilotFields, reasoningFields, said } from "./common.ts";
import type { ServerPersonality } from "./personality.ts";
import { nested, plain } from "./refusals.ts";

export const hostedPersonalities: { readonly [server: string]: ServerPersonality } = {
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
      refused: ["top_k"],
      efforts: ["none", "low", "medium", "high"],
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
    rules: {
      chat: { videos: true, refusedFields: ["reasoning_details"] },
      refused: ["max_completion_tokens", "store"],
    },
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
    rules: { chat: { videos: true, refusedFields: ["reasoning_content"] } },
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
  siliconflow: {
    rules: {
      chat: { videos: true, refusedFields: ["reasoning", "reasoning_details", ...copilotFields] },
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

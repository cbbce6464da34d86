// The room of servers that vendors run for the models of others: a row each, made as those of `hosted.ts`.

import type { CompatibleServer, HostedServer } from "./server.ts";
import { gptOss, nova, openaiOnly, openaiOnlyBut, penalties } from "./shared.ts";

export type ModelHost = Extract<
  HostedServer,
  "groq" | "cerebras" | "together" | "fireworks" | "openrouter" | "siliconflow" | "huggingface" | "copilot"
>;

export const modelHosts: { readonly [name in ModelHost]: CompatibleServer } = {
  groq: {
    title: "Groq",
    baseURL: "https://api.groq.com/openai/v1",
    hosts: ["api.groq.com"],
    keyVariables: ["GROQ_API_KEY"],
    compat: {
      nullContent: false,
      structuredWithTools: false,
      thinkTags: "leading",
      omit: ["logit_bias", "logprobs", "top_logprobs", ...penalties, ...openaiOnly],
      options: [
        "reasoning_format",
        "include_reasoning",
        "disable_tool_validation",
        "documents",
        "citation_options",
        "compound_custom",
        "search_settings",
      ],
    },
    facts: { output: "native_without_tools" },
    models: [
      { match: /qwen/i, compat: { efforts: ["none", "default"] } },
      { match: /qwen3\.[89]/i, compat: { efforts: ["none", "low", "medium", "high"] } },
      gptOss,
    ],
    answers: "Usage stands in `x_groq` of the last chunk (F084); reasoning in `reasoning`.",
    errors:
      "As OpenAI's. A call that its own check refuses is a 400, or an `event: error` in a 200, with `tool_use_failed` and the attempt in `failed_generation` (F151); 413 is the limit of a minute (F173).",
  },
  cerebras: {
    title: "Cerebras",
    baseURL: "https://api.cerebras.ai/v1",
    hosts: ["api.cerebras.ai"],
    keyVariables: ["CEREBRAS_API_KEY"],
    compat: {
      echoReasoning: "reasoning",
      nullContent: false,
      structuredWithTools: false,
      thinkTags: "leading",
      efforts: ["none", "low", "medium", "high"],
      emptyRefusals: true,
      omit: openaiOnlyBut("prediction"),
      options: ["reasoning_format", "clear_thinking", "min_completion_tokens", "model_parameters"],
    },
    facts: { output: "native_without_tools" },
    models: [gptOss],
    answers: "Reasoning in `reasoning`; the time it took in `time_info` of the last chunk.",
    errors:
      "Flat: `{message, type, param, code}` without `error` (F142); `wrong_api_format` for an unknown field; a 400 without body for a prompt that is too long (F181).",
  },
  together: {
    title: "Together",
    baseURL: "https://api.together.xyz/v1",
    hosts: ["api.together.xyz", "api.together.ai"],
    keyVariables: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"],
    compat: {
      videos: "video_url",
      maxTokensField: "max_tokens",
      topK: true,
      thinkTags: "leading",
      reasoningParam: "reasoning_enabled",
      efforts: ["low", "medium", "high"],
      omit: openaiOnly,
      options: [
        "chat_template_kwargs",
        "min_p",
        "repetition_penalty",
        "context_length_exceeded_behavior",
        "safety_model",
        "compliance",
      ],
    },
    models: [gptOss, { match: /gpt-oss/i, compat: { reasoningParam: "reasoning_effort" } }],
    answers: "The finish word may be `eos` (F012); usage stands in the chunk that has it.",
    errors: "As OpenAI's.",
  },
  fireworks: {
    title: "Fireworks",
    baseURL: "https://api.fireworks.ai/inference/v1",
    hosts: ["api.fireworks.ai"],
    keyVariables: ["FIREWORKS_API_KEY"],
    compat: {
      affinity: "x-session-affinity",
      maxTokensField: "max_tokens",
      topK: true,
      streamUsage: false,
      thinkTags: "leading",
      omit: openaiOnly,
      options: ["thinking", "reasoning_history"],
    },
    models: [gptOss],
    answers: "Every fragment of a call repeats its id, type and name (F071); usage comes unasked.",
    errors:
      "As OpenAI's; a field it does not know is refused: `Extra inputs are not permitted, field: …` (F130).",
  },
  openrouter: {
    title: "OpenRouter",
    baseURL: "https://openrouter.ai/api/v1",
    hosts: ["openrouter.ai"],
    keyVariables: ["OPENROUTER_API_KEY"],
    headers: { "x-title": "Rondo" },
    compat: {
      audioFormats: ["wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a"],
      videos: "video_url",
      affinity: "x-session-id",
      maxTokensField: "max_tokens",
      topK: true,
      echoReasoning: "reasoning_details",
      reasoningParam: "reasoning",
      options: [
        "provider",
        "models",
        "transforms",
        "plugins",
        "route",
        "include_reasoning",
        "cache_control",
        "debug",
      ],
    },
    models: [gptOss, nova],
    answers:
      "Comments while it waits (F148); fragments of `reasoning_details` that are one entry by their index, the signature last (F108); a top-level `error` in a chunk of a 200 (F014); `native_finish_reason`; ids may be empty (F053).",
    errors:
      '`{"error": {message, code, metadata: {raw, provider_name}}}`: the code is a number, the upstream\'s own words are in `raw`.',
  },
  siliconflow: {
    title: "SiliconFlow",
    baseURL: "https://api.siliconflow.com/v1",
    hosts: ["siliconflow.com", "siliconflow.cn"],
    keyVariables: ["SILICONFLOW_API_KEY"],
    compat: {
      videos: "video_url",
      maxTokensField: "max_tokens",
      topK: true,
      echoReasoning: "reasoning_content",
      echoReasoningOn: "all",
      reasoningFill: "",
      structuredOutput: "json_object",
      reasoningParam: "enable_thinking",
      thinkTags: "leading",
      omit: ["logit_bias", ...openaiOnly],
      options: ["thinking_budget", "reasoning_effort", "min_p"],
    },
    models: [gptOss],
    answers:
      "The models of many houses: what is asked to come back is the reasoning before a call, between calls and after them, as it was (F104). The limit of output does not count the reasoning.",
    errors:
      "Flat: `{code: 20012, message, data: null}`; a model that cannot switch its thinking refuses `enable_thinking` (20015).",
  },
  huggingface: {
    title: "Hugging Face router",
    baseURL: "https://router.huggingface.co/v1",
    hosts: ["router.huggingface.co"],
    keyVariables: ["HF_TOKEN", "HUGGINGFACE_API_KEY"],
    compat: { maxTokensField: "max_tokens", nullContent: false, thinkTags: "leading", omit: openaiOnly },
    models: [gptOss],
    answers:
      "Whatever the provider behind the model does: calls without an index, arguments as an object (F087), `eos`.",
    errors: '`{"error": "words"}`, or the upstream\'s own.',
  },
  copilot: {
    title: "GitHub Copilot",
    baseURL: "https://api.githubcopilot.com",
    hosts: ["githubcopilot.com"],
    keyVariables: ["GITHUB_COPILOT_TOKEN", "COPILOT_API_KEY"],
    headers: {
      "copilot-integration-id": "vscode-chat",
      "editor-version": "vscode/1.104.1",
      "openai-intent": "conversation-edits",
    },
    compat: {
      maxTokensField: "max_tokens",
      echoReasoning: "reasoning_text",
      splitChoices: true,
      initiatorHeader: true,
      omit: openaiOnly,
    },
    models: [{ match: /gemini/i, compat: { plainSchemas: true } }],
    answers:
      "For Claude and Gemini models text and calls may come in different choices; the index may begin at 1 (F069); reasoning in `reasoning_text`, with `reasoning_opaque` that makes it whole.",
    errors:
      "As OpenAI's, or plain text. A tool's schema that Gemini does not take (several types, an enum of numbers or of a list) is a bare `Bad Request`.",
  },
};

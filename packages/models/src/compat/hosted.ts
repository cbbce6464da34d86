// The room of servers run by vendors: a row each.
//
// Facts come from the vendors' documentation, their error messages and the failure catalogue (F-numbers). If a vendor
// accepts a field for some models only, the row says what all of them accept: a user can switch it on (`compat`), while a
// refused request helps nobody.

import type { CompatibleServer, HostedServer } from "./server.ts";
import { developer, gptOss, nova, openaiOnly, penalties } from "./shared.ts";

export const hostedServers: { readonly [name in HostedServer]: CompatibleServer } = {
  openai: {
    title: "OpenAI",
    baseURL: "https://api.openai.com/v1",
    hosts: ["api.openai.com"],
    keyVariables: ["OPENAI_API_KEY"],
    compat: { strictTools: true },
    models: [developer, gptOss],
    answers:
      "Usage comes in a last chunk without choices. A refusal has a field of its own, and `stop` may stand beside calls that were forced.",
    errors: '`{"error": {message, type, param, code}}`.',
  },
  azure: {
    title: "Azure OpenAI",
    hosts: ["openai.azure.com", "cognitiveservices.azure.com"],
    keyVariables: ["AZURE_OPENAI_API_KEY"],
    compat: { strictTools: true },
    models: [developer, gptOss],
    answers:
      "The first chunk has no choices but the prompt's filter results (F082); with the asynchronous filter come choices without delta (F083).",
    errors:
      "As OpenAI's, with `innererror`; a filtered prompt is a 400 with the code `content_filter` (F179).",
  },
  deepseek: {
    title: "DeepSeek",
    baseURL: "https://api.deepseek.com/v1",
    hosts: ["api.deepseek.com", "deepseek.com"],
    keyVariables: ["DEEPSEEK_API_KEY"],
    compat: {
      maxTokensField: "max_tokens",
      echoReasoning: "reasoning_content",
      reasoningFill: "",
      structuredOutput: "json_object",
      reasoningParam: "thinking",
      forcedChoice: "without_reasoning",
      thinkTags: "leading",
      omit: ["parallel_tool_calls", ...openaiOnly],
    },
    answers:
      "Comments (`: keep-alive`) while it waits for a place; parallel calls that share one id (F052); `insufficient_system_resource` ends a broken answer (F013); cached tokens are `prompt_cache_hit_tokens`.",
    errors: "As OpenAI's.",
  },
  mistral: {
    title: "Mistral",
    baseURL: "https://api.mistral.ai/v1",
    hosts: ["api.mistral.ai"],
    keyVariables: ["MISTRAL_API_KEY"],
    compat: {
      maxTokensField: "max_tokens",
      idForm: "mistral9",
      nullContent: false,
      seedField: "random_seed",
      toolChoiceAny: "any",
      bridgeToolUser: true,
      noAssistantLast: true,
      systemFirstOnly: true,
      streamUsage: false,
      reasoningParam: "none",
      options: ["safe_prompt", "prompt_mode"],
      omit: [
        "user",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        "service_tier",
        "prompt_cache_key",
        ...openaiOnly,
      ],
    },
    answers:
      "A call comes whole in one delta without `index` and `type`, together with the finish word (F067); usage stands beside the choices of the last chunk; content may be a list with `thinking` parts; `model_length` means cut.",
    errors:
      'Flat: `{"object": "error", message, type, code}`; a field it does not know is a 422 with `{"detail": [{type, loc, msg}]}`.',
  },
  xai: {
    title: "xAI",
    baseURL: "https://api.x.ai/v1",
    hosts: ["api.x.ai"],
    keyVariables: ["XAI_API_KEY"],
    compat: {
      efforts: ["low", "high"],
      omit: [...penalties, "logit_bias", ...openaiOnly],
      options: ["search_parameters"],
    },
    answers:
      "The finish word may be missing before `[DONE]` (F011); reasoning may be told again as a whole (F085); reasoning tokens are counted beside the completion's.",
    errors: '`{"code": words, "error": words}`, also with status 200 (F123, F154).',
  },
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
      options: ["reasoning_format", "include_reasoning"],
    },
    facts: { output: "native_without_tools" },
    models: [{ match: /qwen/i, compat: { efforts: ["none", "default"] } }, gptOss],
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
      omit: [...penalties, "logit_bias", ...openaiOnly],
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
    compat: { maxTokensField: "max_tokens", topK: true, thinkTags: "leading", omit: openaiOnly },
    models: [gptOss],
    answers: "The finish word may be `eos` (F012); usage stands in the chunk that has it.",
    errors: "As OpenAI's.",
  },
  fireworks: {
    title: "Fireworks",
    baseURL: "https://api.fireworks.ai/inference/v1",
    hosts: ["api.fireworks.ai"],
    keyVariables: ["FIREWORKS_API_KEY"],
    compat: {
      maxTokensField: "max_tokens",
      topK: true,
      streamUsage: false,
      thinkTags: "leading",
      omit: openaiOnly,
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
      maxTokensField: "max_tokens",
      topK: true,
      echoReasoning: "reasoning_details",
      reasoningParam: "reasoning",
      options: ["provider", "models", "transforms", "plugins", "route", "include_reasoning"],
    },
    models: [gptOss, nova],
    answers:
      "Comments while it waits (F148); fragments of `reasoning_details` that are one entry by their index, the signature last (F108); a top-level `error` in a chunk of a 200 (F014); `native_finish_reason`; ids may be empty (F053).",
    errors:
      '`{"error": {message, code, metadata: {raw, provider_name}}}`: the code is a number, the upstream\'s own words are in `raw`.',
  },
  zai: {
    title: "Z.ai",
    baseURL: "https://api.z.ai/api/paas/v4",
    hosts: ["api.z.ai", "open.bigmodel.cn"],
    keyVariables: ["ZAI_API_KEY", "ZHIPU_API_KEY"],
    compat: {
      maxTokensField: "max_tokens",
      needsUser: true,
      echoReasoning: "reasoning_content",
      structuredOutput: "json_object",
      reasoningParam: "thinking",
      forcedChoice: "never",
      thinkTags: "leading",
      omit: [
        "parallel_tool_calls",
        "seed",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        ...penalties,
        ...openaiOnly,
      ],
      options: ["do_sample", "tool_stream", "request_id", "user_id"],
    },
    answers:
      "`sensitive`, `network_error` and `model_context_window_exceeded` end answers (F012); parallel calls may share one id (F052).",
    errors: '`{"error": {"code": "1234", message}}`: the code is a number as text.',
  },
  moonshot: {
    title: "Kimi (Moonshot)",
    baseURL: "https://api.moonshot.ai/v1",
    hosts: ["api.moonshot.ai", "api.moonshot.cn"],
    keyVariables: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    compat: {
      maxTokensField: "max_tokens",
      // Its models think on from all that they have thought (K2.7 and later), or leave out what was before the last question.
      echoReasoning: "reasoning_content",
      echoReasoningOn: "all",
      // The empty string counts as missing there; one space is the shortest it accepts.
      reasoningFill: " ",
      reasoningParam: "thinking",
      forcedChoice: "never",
      omit: ["parallel_tool_calls", "logit_bias", ...openaiOnly],
    },
    models: [
      {
        match: /kimi-k3/i,
        // It always thinks: how much is told by the effort.
        compat: { reasoningParam: "reasoning_effort", efforts: ["low", "high", "max"] },
        // A system message of tools alone.
        facts: { offersInPlace: true },
      },
    ],
    answers:
      "Usage stands inside the last choice (F084); `tool_calls` may end an answer that has no call (F003).",
    errors:
      "As OpenAI's; `exceeded_current_quota_error` with status 429 means money, not patience (F172), and `engine_overloaded_error` means load.",
  },
  minimax: {
    title: "MiniMax",
    baseURL: "https://api.minimax.io/v1",
    hosts: ["api.minimax.io", "api.minimaxi.com", "api.minimax.chat"],
    keyVariables: ["MINIMAX_API_KEY"],
    compat: {
      echoReasoning: "think_tags",
      echoReasoningOn: "all",
      thinkTags: "leading",
      structuredOutput: "none",
      reasoningParam: "thinking_adaptive",
      forcedChoice: "never",
      omit: ["parallel_tool_calls", "logit_bias", "seed", ...penalties, ...openaiOnly],
      options: ["reasoning_split", "mask_sensitive_info"],
    },
    facts: { output: "none" },
    answers: "Thinking stands in the content as a `<think>` block, and is to be sent back there.",
    errors:
      'Status 200 with `choices: null` and `{"base_resp": {status_code, status_msg}}`, or as OpenAI\'s.',
  },
  alibaba: {
    title: "Alibaba Model Studio (Qwen)",
    baseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    hosts: ["dashscope-intl.aliyuncs.com", "dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    keyVariables: ["DASHSCOPE_API_KEY", "ALIBABA_API_KEY"],
    compat: {
      maxTokensField: "max_tokens",
      needsUser: true,
      nullContent: false,
      topK: true,
      structuredOutput: "json_object",
      reasoningParam: "enable_thinking",
      forcedChoice: "without_reasoning",
      thinkTags: "leading",
      omit: ["logit_bias", ...openaiOnly],
      options: ["enable_search", "search_options", "preserve_thinking", "thinking_budget"],
    },
    answers:
      "Later fragments of a call have an empty id and name (F072); fragments of parallel calls may interleave (F070).",
    errors: "As OpenAI's, with `request_id`; `data_inspection_failed` for a filtered text.",
  },
  siliconflow: {
    title: "SiliconFlow",
    baseURL: "https://api.siliconflow.com/v1",
    hosts: ["siliconflow.com", "siliconflow.cn"],
    keyVariables: ["SILICONFLOW_API_KEY"],
    compat: {
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
  xiaomi: {
    title: "Xiaomi MiMo",
    baseURL: "https://api.xiaomimimo.com/v1",
    hosts: ["xiaomimimo.com"],
    keyVariables: ["MIMO_API_KEY", "XIAOMI_API_KEY"],
    compat: {
      echoReasoning: "reasoning_content",
      echoReasoningOn: "all",
      // Clients fill it with one space; the empty string counts as missing elsewhere.
      reasoningFill: " ",
      nullContent: false,
      structuredOutput: "json_object",
      reasoningParam: "thinking",
      omit: ["logit_bias", ...openaiOnly],
    },
    answers:
      "Reasoning in `reasoning_content`, before the content; the limit of output counts both. While it thinks, `temperature` and `top_p` are taken and not heeded.",
    errors:
      'As OpenAI\'s, but the words stand in `param`: `{"error": {code: "400", message: "Param Incorrect", param: words}}`; the body may begin with `data:` (F104).',
  },
  perplexity: {
    title: "Perplexity",
    baseURL: "https://api.perplexity.ai",
    hosts: ["api.perplexity.ai"],
    keyVariables: ["PERPLEXITY_API_KEY"],
    compat: {
      maxTokensField: "max_tokens",
      systemFirstOnly: true,
      alternate: true,
      noAssistantLast: true,
      topK: true,
      streamUsage: false,
      thinkTags: "leading",
      omit: [
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "seed",
        "stop",
        "logit_bias",
        ...openaiOnly.filter((field) => field !== "web_search_options"),
      ],
      options: [
        "search_domain_filter",
        "search_recency_filter",
        "search_mode",
        "return_images",
        "return_related_questions",
        "web_search_options",
      ],
    },
    facts: { tools: false },
    answers:
      "Its models take no tools. Every chunk repeats the whole message so far beside the delta (F085), usage and citations too; there is no `[DONE]` (F158).",
    errors: "As OpenAI's, the code a number; a web page for a wrong key.",
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
    answers:
      "For Claude and Gemini models text and calls may come in different choices; the index may begin at 1 (F069); reasoning in `reasoning_text`, with `reasoning_opaque` that makes it whole.",
    errors: "As OpenAI's, or plain text.",
  },
};

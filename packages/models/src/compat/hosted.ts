// The room of servers run by vendors of models: a row each.
//
// Facts come from the vendors' documentation, their error messages and the failure catalogue (F-numbers). If a vendor
// accepts a field for some models only, the row says what all of them accept: a user can switch it on (`compat`), while a
// refused request helps nobody. Models whose names tell that they differ are in `vendor-models.ts`.

import { type ModelHost, modelHosts } from "./model-hosts.ts";
import type { CompatibleServer, HostedServer } from "./server.ts";
import { developer, gptOss, openaiOnly, openaiOnlyBut, penalties } from "./shared.ts";
import {
  alibabaModels,
  deepseekModels,
  mistralModels,
  moonshotModels,
  xaiModels,
  zaiModels,
} from "./vendor-models.ts";

const vendors: { readonly [name in Exclude<HostedServer, ModelHost>]: CompatibleServer } = {
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
    hosts: ["openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"],
    keyVariables: ["AZURE_OPENAI_API_KEY"],
    compat: { strictTools: true },
    models: [
      developer,
      gptOss,
      // Their thinking stands in the content.
      { match: /deepseek-?r1|\bds-?r1|phi-4\S*reasoning/i, compat: { thinkTags: "leading" } },
      // Its cache misses whatever follows reasoning that is not sent back.
      {
        match: /deepseek-?v[4-9]/i,
        compat: {
          echoReasoning: "reasoning_content",
          echoReasoningOn: "all",
          efforts: ["low", "medium", "high"],
        },
      },
    ],
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
      efforts: ["low", "high", "max"],
      forcedChoice: "without_reasoning",
      thinkTags: "leading",
      omit: ["parallel_tool_calls", ...openaiOnly],
      options: ["thinking", "user_id"],
    },
    models: deepseekModels,
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
      affinity: "prompt_cache_key",
      maxTokensField: "max_tokens",
      idForm: "mistral9",
      nullContent: false,
      seedField: "random_seed",
      toolChoiceAny: "any",
      bridgeToolUser: true,
      noAssistantLast: true,
      systemFirstOnly: true,
      streamUsage: false,
      echoReasoning: "thinking_parts",
      echoReasoningOn: "all",
      reasoningParam: "none",
      options: ["safe_prompt", "prompt_mode", "guardrails", "document_image_limit", "document_page_limit"],
      omit: ["user", "logit_bias", "logprobs", "top_logprobs", ...openaiOnlyBut("metadata", "prediction")],
    },
    models: mistralModels,
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
      affinity: "x-grok-conv-id",
      efforts: ["low", "high"],
      omit: [...penalties, "logit_bias", ...openaiOnly],
      options: ["search_parameters"],
    },
    models: xaiModels,
    answers:
      "The finish word may be missing before `[DONE]` (F011); reasoning may be told again as a whole (F085); reasoning tokens are counted beside the completion's.",
    errors: '`{"code": words, "error": words}`, also with status 200 (F123, F154).',
  },
  zai: {
    title: "Z.ai",
    baseURL: "https://api.z.ai/api/paas/v4",
    hosts: ["api.z.ai", "open.bigmodel.cn"],
    keyVariables: ["ZAI_API_KEY", "ZHIPU_API_KEY"],
    compat: {
      videos: "video_url",
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
      options: ["thinking", "do_sample", "tool_stream", "request_id", "user_id"],
    },
    models: zaiModels,
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
      videos: "video_url",
      affinity: "prompt_cache_key",
      maxTokensField: "max_tokens",
      // Its models think on from all that they have thought (K2.7 and later), or leave out what was before the last question.
      echoReasoning: "reasoning_content",
      echoReasoningOn: "all",
      // The empty string counts as missing there; one space is the shortest it accepts.
      reasoningFill: " ",
      reasoningParam: "thinking",
      forcedChoice: "never",
      omit: ["parallel_tool_calls", "logit_bias", ...openaiOnlyBut("prediction", "safety_identifier")],
      options: ["thinking"],
    },
    models: moonshotModels,
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
      audioFormats: ["wav", "mp3", "aac", "amr", "3gp"],
      audioUrls: true,
      videos: "video_url",
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
    models: alibabaModels,
    answers:
      "Later fragments of a call have an empty id and name (F072); fragments of parallel calls may interleave (F070).",
    errors: "As OpenAI's, with `request_id`; `data_inspection_failed` for a filtered text.",
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
        ...openaiOnlyBut("web_search_options"),
      ],
      options: [
        "search_domain_filter",
        "search_recency_filter",
        "search_language_filter",
        "search_after_date_filter",
        "search_before_date_filter",
        "last_updated_after_filter",
        "last_updated_before_filter",
        "search_mode",
        "disable_search",
        "enable_search_classifier",
        "language_preference",
        "return_images",
        "image_domain_filter",
        "image_format_filter",
        "media_response",
        "return_related_questions",
        "web_search_options",
      ],
    },
    facts: { tools: false },
    answers:
      "Its models take no tools. Every chunk repeats the whole message so far beside the delta (F085), usage and citations too; there is no `[DONE]` (F158).",
    errors: "As OpenAI's, the code a number; a web page for a wrong key.",
  },
};

export const hostedServers: { readonly [name in HostedServer]: CompatibleServer } = {
  ...vendors,
  ...modelHosts,
};

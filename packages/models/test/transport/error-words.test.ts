// What servers of the Chat Completions family say of overflow, money, filters and abilities, in words of their own.

import type { ErrorKind, Json } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { classifyHttpError } from "../../src/transport/errors.ts";

const kindOf = (status: number, body: Json): ErrorKind =>
  classifyHttpError({ status, header: () => null, body: JSON.stringify(body) }).kind;

const says = (message: string, more: { [member: string]: Json } = {}): Json => ({
  error: { message, ...more },
});

type Row = [title: string, status: number, body: Json];

const kinds: { readonly [kind in ErrorKind]?: readonly Row[] } = {
  context_overflow: [
    [
      "a gateway over several models",
      400,
      says(
        "Request requires approximately 278690 tokens, but the largest known context limit in this combo is 272000 tokens.",
      ),
    ],
    [
      "llama.cpp, which finds that out as it goes",
      500,
      says("Input prompt is too big compared to KV size. Please try increasing KV size.", {
        type: "server_error",
      }),
    ],
    ["vLLM, of what is left", 400, says("max_tokens must be at least 1, got -1234.")],
    ["Moonshot", 400, says("total message token length exceed model limit")],
    ["one more engine", 400, says("input token length exceeds 32768")],
    [
      "a gateway, of a sum",
      400,
      says("The total number of tokens in the request (210000) is larger than the allowed 200000"),
    ],
    ["another, of a sum", 400, says("Request contains 250000 tokens, exceeding the 200000 limit")],
    [
      "a proxy whose members have long names",
      400,
      {
        errorMessage: "prompt is too long: 208423 tokens > 200000 maximum",
        errorCode: "INVALID_REQUEST_BODY",
        statusCode: 400,
      },
    ],

    ["llama.cpp, which finds out as it goes", 500, says("Context size has been exceeded.", { code: 500 })],
    [
      "DeepInfra, under detail",
      400,
      {
        detail: {
          error: "This model's maximum context length is 32768 tokens. However, you requested 40000",
        },
      },
    ],
    ["LiteLLM by its class alone", 400, says("litellm.ContextWindowExceededError: prompt too large")],
    ["an older vLLM", 400, says("Input prompt (40000 tokens) is too long and exceeds limit of 32768")],
    ["an engine", 400, says("The engine prompt length 40000 exceeds the max_model_len 32768")],
    ["Volcengine", 400, says("Input length 140000 exceeds the maximum length 131072.")],
    ["Qianfan", 400, says("Prompt tokens too long", { code: "tokens_too_long" })],
    ["Qianfan by characters", 400, { error_code: 336007, error_msg: "the max input characters is 24000" }],
    ["Hunyuan", 400, says("输入长度超过模型最大上下文长度")],
    ["a server in Japanese", 400, says("入力が最大コンテキスト長を超えています")],
    ["a server in Korean", 400, says("입력이 모델의 최대 컨텍스트 길이를 초과했습니다")],
    ["a setting's name", 400, says("max_seq_len exceeded: 9000 > 8192")],
    [
      "GitHub Models behind a gateway that drops the code",
      413,
      says("Request body too large for gpt-4o model. Max size: 8000 tokens."),
    ],
    [
      "GitHub Models",
      413,
      says("Request body too large for gpt-4o model. Max size: 8000 tokens.", {
        code: "tokens_limit_reached",
      }),
    ],
    [
      "TensorRT-LLM",
      400,
      says("The sum of prompt length (40000.0), query length (0) should not exceed max_num_tokens (8192)"),
    ],
    [
      "a gateway whose connection broke over it",
      400,
      says("prompt is too long: 213462 tokens > 200000 maximum (connection reset by peer)"),
    ],
    ["a gateway", 400, says("Input exceeds the max input token limit")],
    ["another", 400, says("Failed to process prompt: context overflow")],
    [
      "OpenAI, of one message alone",
      400,
      says(
        "Invalid 'input[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 62114761 instead.",
        { param: "input[0].content", code: "string_above_max_length" },
      ),
    ],
    [
      "Alibaba, of one text alone",
      400,
      says(
        "String value length (20054016) exceeds the maximum allowed (20000000, from `StreamReadConstraints`)",
      ),
    ],
    ["Z.ai by its tokens", 400, says("tokens in request more than max tokens allowed", { code: "1210" })],
    ["a small server", 400, says("Prompt has 9,000 tokens, but the configured context size is 8,192 tokens")],
    [
      "SambaNova",
      400,
      says("The provided prompt length 17000 exceeds the maximum sequence length of 16384", {
        code: "invalid_request",
      }),
    ],
    [
      "SambaNova, of what it was asked to generate",
      400,
      says(
        "Requested generation length 5000 is not possible! The provided prompt length 14000 plus the requested generation length exceeds the maximum sequence length of 16384",
      ),
    ],
    ["a gateway, in one word", 400, says("context_overflow")],
    ["Claude on Bedrock, by bytes", 400, { message: "too many total text bytes: 9437184 > 9000000" }],
    ["GLM's gateways", 400, says("输入长度超限")],
    [
      "a gateway behind its own 502",
      502,
      says("Upstream: prompt is too long: 208423 tokens > 200000 maximum"),
    ],
    [
      "OpenAI, of a list of messages",
      400,
      says(
        "Invalid 'input': array too long. Expected an array with maximum length 16384, but got an array with length 16390 instead.",
        { param: "input", code: "array_above_max_length" },
      ),
    ],
    ["a server without words of a prompt", 400, says("Token limit exceeded")],
    ["of a request's tokens", 400, says("The number of tokens in your request exceeds the limit of 128000")],
    ["of what was too many", 400, says("Number of input tokens exceeded the maximum of 128000")],
    [
      "an older llama.cpp, of a prompt that fills its context",
      500,
      says("context shift is disabled", { code: 500 }),
    ],
    ["a gateway, of a limit", 400, says("The context window limit has been reached.")],
  ],
  invalid_request: [
    [
      "Alibaba behind a gateway that calls it unavailable",
      502,
      says(
        'Upstream error from Alibaba: <400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in JSON format.',
        { code: 502, metadata: { error_type: "provider_unavailable" } },
      ),
    ],
    ["a server in Python", 500, says("TypeError: create() got an unexpected keyword argument 'seed'")],
    ["a server that is told of no such tool", 400, says("tool 'x' not found")],
    ["a server that could not read the request", 400, says("Failed to parse JSON: invalid character 'x'")],
    ["an image that could not be had", 400, says("Failed to download image: connection reset by peer")],
    [
      "llama.cpp's template, of the order of roles",
      500,
      says(
        "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
        { code: 500 },
      ),
    ],
    ["a template without a system role", 500, says("System role not supported")],
    [
      "llama.cpp, which is to begin an answer",
      500,
      says("Cannot have 2 or more assistant messages at the end of the list."),
    ],
    ["Ollama's template, without a user", 500, says("no user query found")],
    ["minja, of any template", 500, says("Cannot subscript null at row 23, column 40:\n  {%- set x = y %}")],
    ["llama.cpp, of any template", 500, says("While executing FilterExpression at line 3, column 7")],
    ["an exception of a template", 500, says("Jinja Exception: Unknown operator + between null and string")],
    [
      "SGLang, without grammars",
      500,
      says(
        "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported when the server is launched with --grammar-backend none",
      ),
    ],
    ["llama.cpp, of a grammar", 500, says("Failed to initialize samplers: failed to parse grammar")],
    [
      "Alibaba's guard against loops, through a gateway",
      500,
      says("Repetitive tool calls detected in the conversation history.", { type: "invalid_request_error" }),
    ],
    [
      "an id that is too long, which is no history",
      400,
      says(
        "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64, but got a string with length 116 instead.",
      ),
    ],
    [
      "OpenAI, of a list of tools",
      400,
      says(
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 217 instead.",
      ),
    ],
    [
      "a gateway of a field, behind a 500",
      500,
      says("Unknown parameter: 'reasoning_summary'.", { type: "invalid_request_error" }),
    ],
    [
      "a gateway of a value, behind a 502",
      502,
      says("Expected one of the values.", { code: "invalid_value", type: "upstream_error" }),
    ],
    ["Cohere, of the output", 400, says("too many tokens: max tokens must be less than or equal to 4096")],
  ],
  quota_exhausted: [
    [
      "Volcengine, of what is free",
      429,
      says("Your account [2100] has exhausted its free trial quota for the [doubao] model.", {
        code: "QuotaExceeded",
      }),
    ],
    [
      "New API, of a key's own quota, with the status of a permission",
      403,
      says("token quota is not enough, token remain quota: ＄0.002, need quota: ＄0.03 (request id: x)", {
        code: "pre_consume_token_quota_failed",
        type: "new_api_error",
      }),
    ],
    [
      "Amazon, of a way to pay",
      403,
      {
        message:
          "Model access is denied due to INVALID_PAYMENT_INSTRUMENT:A valid payment instrument must be provided.. Your AWS Marketplace subscription for this model cannot be completed at this time.",
      },
    ],
    [
      "Novita, with the status of a permission",
      403,
      { code: 403, reason: "NOT_ENOUGH_BALANCE", message: "not enough balance", metadata: {} },
    ],
    [
      "Anthropic's extra usage",
      400,
      says("You're out of extra usage. Add more at claude.ai/settings/usage and keep going.", {
        type: "invalid_request_error",
      }),
    ],
    [
      "New API's user",
      403,
      says("用户额度不足, 剩余额度: ＄0.000000 (request id: 2026)", {
        type: "new_api_error",
        code: "insufficient_user_quota",
      }),
    ],
    [
      "Tencent Cloud's own envelope",
      400,
      {
        Response: {
          Error: {
            Code: "FailedOperation.ResourcePackExhausted",
            Message: "资源包余量已用尽，请购买资源包或开通后付费",
          },
          RequestId: "a",
        },
      },
    ],
    ["New API's reserve", 403, says("预扣费额度失败, 用户剩余额度: ＄0.12, 需要预扣费额度: ＄0.5")],
    [
      "Nous, of an empty account",
      404,
      says("Model 'x' requires available credits. Your account balance is too low to use paid models."),
    ],
    ["a plan that is used up, in Chinese, as a 400", 400, says("当前用量已超过套餐限制")],
    ["a plan that is used up, in Chinese, as a 403", 403, says("已超过套餐用量限制")],
    ["a plan's week, in Chinese", 429, says("您的账户已达到每周限制")],
    [
      "a plan's hours, in Chinese, without Zhipu's code",
      429,
      says("已达到 5\n小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。"),
    ],
    ["a plan's hours, as a 403", 403, says("You have exceeded your 5-hour usage limit. Resets in 2h.")],
    [
      "Volcengine's hours",
      429,
      says("You have exceeded the 5-hour usage quota. It will reset at 2026-01-10 14:11:16 +0800 CST.", {
        code: "AccountQuotaExceeded",
        type: "TooManyRequests",
      }),
    ],
    ["Alibaba's plan", 429, says("week allocated quota exceeded.", { code: "throttling" })],
    [
      "Cohere's month",
      429,
      { message: "You are using a Trial key, which is limited to 1000 API calls / month." },
    ],
    [
      "GitHub's day",
      429,
      says(
        "Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 61542 seconds before retrying.",
        { code: "RateLimitReached" },
      ),
    ],

    ["OpenCode's 401", 401, says("Insufficient balance. Manage your billing here: https://x.test")],
    [
      "OpenAI's credits",
      429,
      says("You have no credits remaining", { type: "insufficient_quota", code: "credit_balance_exhausted" }),
    ],
    [
      "Alibaba's free tier",
      403,
      says("The free tier of the model has been exhausted.", { code: "AllocationQuota.FreeTierOnly" }),
    ],
    ["xAI's new team", 403, { code: "x", error: "Your newly created team doesn't have any credits yet." }],
    ["Copilot's month", 429, says("quota exceeded", { code: "quota_exceeded" })],
    [
      "Perplexity's 401",
      401,
      says("You exceeded your current quota", { type: "insufficient_quota", code: 401 }),
    ],
    [
      "Volcengine's limit that was set",
      429,
      says("The model service has been paused.", { code: "SetLimitExceeded" }),
    ],
    ["Volcengine's debt", 403, says("Your account has an overdue balance.", { code: "AccountOverdueError" })],
    [
      "a plan's hours",
      429,
      says("Usage limit reached for 5 hour. Your limit will reset at 18:00.", { code: "1308" }),
    ],
    ["OpenRouter's key", 403, says("Key limit exceeded (total limit).", { code: 403 })],
    ["OpenAI's project", 429, says("request rejected", { code: "project_spend_limit_exceeded" })],
    ["LiteLLM's cap", 429, says("request failed", { code: "terminal_quota_exhausted" })],
    ["Nous, of a paid model", 404, says("Not Found", { code: "insufficient_credits_for_paid_model" })],
    ["a plan's week", 429, says("Weekly/Monthly Limit Exhausted.", { code: "1310" })],
    [
      "LiteLLM's budget",
      429,
      says("Budget has been exceeded! Current cost: 76.16, Max budget: 10.0", {
        type: "budget_exceeded",
        code: "429",
      }),
    ],
    [
      "LiteLLM's budget of a user",
      400,
      says("ExceededBudget: End User=x over budget. Spend=0.0008, Budget=0.0001", { type: "auth_error" }),
    ],
    [
      "LiteLLM's budget of a key",
      401,
      says("Authentication Error, ExceededTokenBudget: Current spend for token: 1.1", { type: "auth_error" }),
    ],
    ["LiteLLM's budget in other words", 429, says("Ask your administrator.", { type: "budget_exceeded" })],
    ["xAI's free day", 429, { code: "subscription:free-usage-exhausted", error: "tokens: 10/10" }],
    [
      "Google's prepaid account",
      429,
      says("Your prepayment credits are depleted. Please go to AI Studio.", { status: "RESOURCE_EXHAUSTED" }),
    ],
    [
      "Google's cap on spending",
      429,
      says("Your project has exceeded its monthly spending cap.", { status: "RESOURCE_EXHAUSTED" }),
    ],
    [
      "Google's plan of five hours",
      429,
      says("You have exhausted your capacity on this model. Your quota will reset after 5h59m59s.", {
        status: "RESOURCE_EXHAUSTED",
        details: [{ reason: "QUOTA_EXHAUSTED" }, { retryDelay: "21599.96s" }],
      }),
    ],
    [
      "Azure's gateway, as a 403",
      403,
      { statusCode: 403, message: "Out of call volume quota. Quota will be replenished in 07:01:20." },
    ],
    [
      "a day that is over for minutes",
      429,
      says("Rate limit reached on tokens per day (TPD): Limit 100000. Please try again in 5m45.6s.", {
        code: "rate_limit_exceeded",
      }),
    ],
  ],
  content_filter: [
    [
      "StepFun",
      451,
      says("The content you provided or machine outputted is blocked.", { type: "censorship_blocked" }),
    ],
    ["LiteLLM by its class alone", 400, says("litellm.ContentPolicyViolationError: flagged")],
    [
      "Google's Responsible AI",
      400,
      says(
        "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
        { status: "INVALID_ARGUMENT" },
      ),
    ],
    [
      "OpenRouter's moderation, which costs nothing",
      403,
      says(
        'openai/gpt-4o requires moderation on OpenAI. Your input was flagged for "violence/graphic". No credits were charged.',
        { code: 403 },
      ),
    ],
    [
      "Z.ai in English",
      400,
      says(
        "System detected potentially unsafe or sensitive content in input or generation. Please avoid using prompts that may generate sensitive content.",
        { code: "1301" },
      ),
    ],
    [
      "Volcengine, of the input",
      400,
      says("The request failed because the input text may contain sensitive information.", {
        code: "InputTextSensitiveContentDetected",
        type: "BadRequest",
      }),
    ],
    [
      "Volcengine by its code alone",
      400,
      says("Request id: 02", { code: "OutputImageSensitiveContentDetected" }),
    ],
    [
      "New API's list of words",
      400,
      says("sensitive words detected (request id: x)", { code: "sensitive_words_detected" }),
    ],
    [
      "Portkey's guardrails",
      446,
      says("The guardrail checks defined in the config failed.", { type: "hooks_failed" }),
    ],

    [
      "OpenRouter's moderation",
      403,
      says("Your chosen model requires moderation and your input was flagged", { code: 403 }),
    ],
    [
      "xAI's guidelines",
      403,
      { code: "x", error: "Content violates usage guidelines. Failed check: SAFETY" },
    ],
    ["MiniMax", 400, says("invalid params, input new_sensitive (1026)")],
  ],
  payload_too_large: [
    [
      "Moonshot",
      400,
      says("total message size 10176584 exceeds limit 2097152", { type: "invalid_request_error" }),
    ],
    ["a gateway", 400, says("Request body too large")],
    ["NVIDIA", 400, says("Please make sure your payload is below 26214400 bytes in size")],
  ],
  malformed_tool_call: [
    ["vLLM's reader of gpt-oss's channels", 400, says("Unknown role: <|start|>assistant")],
    ["the same, of a doubled role", 500, says("Unknown role: assistantassistant")],
    [
      "the same, of a channel",
      400,
      says("channel marker present but no channel value found in header", { type: "BadRequestError" }),
    ],
    [
      "Cerebras's parser",
      400,
      says(
        "Failed to generate tool_calls. Please adjust your prompt. See 'failed_generation' for more details. Exception: No valid function calls generated",
        { type: "invalid_request_error", param: "messages", code: "wrong_api_format" },
      ),
    ],
    [
      "Databricks' parser",
      400,
      {
        error_code: "BAD_REQUEST",
        message:
          "Error: Model response did not respect the required format. Please consider retrying or using a more straightforward prompt.",
      },
    ],
    [
      "Groq's parser",
      400,
      says("Parsing failed. The model generated output that could not be parsed.", {
        code: "output_parse_failed",
      }),
    ],
    ["llama.cpp", 500, says("Failed to parse input at pos 184: <tool_call>", { type: "server_error" })],
    [
      "llama.cpp, since it has a parser for every template",
      500,
      says("The model produced output that does not match the expected peg-native format", {
        code: 500,
        type: "server_error",
      }),
    ],
    ["Ollama", 500, { error: "error parsing tool call: raw='{}]', err=invalid character ']'" }],
    [
      "Ollama's Qwen Coder",
      500,
      { error: "XML syntax error on line 127: element <parameter> closed by </function>" },
    ],
    ["Ollama's Qwen", 500, { error: "expected element type <function> but have <parameter>" }],
    [
      "Ollama's GLM",
      500,
      {
        error: "failed to parse XML: XML syntax error on line 1: element <tool_call> closed by </arg_value>",
      },
    ],
    [
      "Ollama's GLM, of what goes in pairs",
      500,
      { error: "mismatched arg_key and arg_value counts: 1 keys, 2 values" },
    ],
    [
      "Ollama's Qwen 3",
      500,
      { error: "failed to parse JSON: invalid character 'l' after object key:value pair" },
    ],
    ["Ollama, of a call without a name", 500, says("empty function name", { type: "api_error" })],
    ["Ollama's Ministral, which looks for the tool itself", 500, { error: "tool 'reed' not found" }],
    [
      "Ollama's Laguna",
      500,
      { error: "failed to parse Laguna JSON tool call arguments: unexpected end of JSON input" },
    ],
    ["LM Studio", 400, says("Failed to parse tool call: Unexpected end of content.")],
    ["vLLM's gpt-oss", 500, says("Unexpected token 200002 while expecting start token 200006")],
    [
      "vLLM's gpt-oss, in a header",
      500,
      says('unexpected tokens remaining in message header: Some("to=functions.x")'),
    ],
  ],
  auth: [
    [
      "LiteLLM's key, with the status of a bad request,",
      400,
      says("Authentication Error, Expired Key. Key Expiry time 2026-01-01", { type: "expired_key" }),
    ],
    [
      "LiteLLM's missing key, with that status,",
      400,
      says("Authentication Error, Invalid proxy server token passed.", { type: "token_not_found_in_db" }),
    ],
    [
      "a gateway's key, with the status of a failing server,",
      500,
      says("key not allowed to access model. This key can only access models=['a'].", {
        type: "auth_error",
        code: "500",
      }),
    ],
  ],
  capability: [
    [
      "nscale",
      422,
      {
        code: "422",
        error_type: "UNSUPPORTED_OPENAI_PARAMS",
        message: "The following parameters are not supported for this model: tools, tool_choice",
      },
    ],
    [
      "Chutes",
      400,
      { detail: "moonshotai/Kimi-K2-Instruct on chutes does not currently support: ['tools']" },
    ],
    [
      "Databricks, of results",
      400,
      says("Bad request: Model does not support continuing the chat past the first tool call\n"),
    ],
    [
      "Ollama, on a machine too small for the model,",
      500,
      { error: "model requires more system memory (5.3 GiB) than is available (3.0 GiB)" },
    ],
    [
      "LM Studio, on such a machine,",
      404,
      says(
        'Failed to load model "m". Error: Model loading was stopped due to insufficient system resources. Under the current settings, this model requires approximately 36.00 GB of memory, and continuing to load it would likely overload your system and cause it to freeze.',
        { type: "invalid_request_error", param: "model", code: "model_not_found" },
      ),
    ],
    [
      "Google about a model with a dot in its name",
      404,
      says(
        "This model models/gemini-2.5-flash is no longer available to new users. Please update your code.",
      ),
    ],
    ["llama.cpp, without its templates", 400, says("Unsupported param: tools")],
    ["NVIDIA", 400, says("Validation: Unsupported parameter(s): tools, tool_choice")],
    [
      "Copilot, of a model of the other protocol",
      400,
      says('model "gpt-5.3-codex" is not accessible via the /chat/completions endpoint', {
        code: "unsupported_api_for_model",
      }),
    ],
    [
      "OpenAI, of a request of the one at the address of the other",
      400,
      says("Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.", {
        code: "unsupported_parameter",
      }),
    ],
    [
      "Azure, of a deployment",
      404,
      says("Requested API is currently not supported", { code: "api_not_supported" }),
    ],
    ["the same, of Responses", 400, says("The requested operation is unsupported.")],
    [
      "the same, of an older version",
      400,
      says("Azure OpenAI Responses API is enabled only for api-version 2025-03-01-preview and later"),
    ],
    [
      "OpenAI, of the same",
      404,
      says("This model is only supported in v1/responses and not in v1/chat/completions."),
    ],
    [
      "OpenAI, of a model that completes",
      404,
      says("This is not a chat model and thus not supported in the v1/chat/completions endpoint."),
    ],
    [
      "llama.cpp, of sounds",
      500,
      says("audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    ],
    [
      "OpenRouter, of settings",
      404,
      says("No endpoints found that can handle the requested parameters.", { code: 404 }),
    ],
    ["xAI", 400, { code: "x", error: "Image inputs are not supported by this model." }],

    [
      "llama.cpp without its projector",
      500,
      says("image input is not supported - hint: you may need the mmproj"),
    ],
    ["llama.cpp without a template", 500, says("tools param requires --jinja flag, tools are not supported")],
    ["llama.cpp without a template, in its own words", 500, says("tools param requires --jinja flag")],
    ["Groq", 400, says("`tool calling` is not supported with this model")],
    [
      "LiteLLM, of tools",
      400,
      says(
        "litellm.UnsupportedParamsError: ollama does not support parameters: {'tools': [{}]}, for model=m",
      ),
    ],
    [
      "SGLang without a parser",
      400,
      { object: "error", message: "Tool Call Parser Not Given!", type: "BadRequestError", code: 400 },
    ],
    [
      "Copilot, of a model that it has not",
      400,
      says("The requested model is not supported.", { code: "model_not_supported" }),
    ],
    [
      "Codex, of the same",
      400,
      { detail: "The 'gpt-5' model is not supported when using Codex with a ChatGPT account." },
    ],
    ["DeepSeek, of the same", 400, says("Model Not Exist", { code: "invalid_request_error" })],
    ["OpenRouter, of the same", 400, says("a/b is not a valid model ID", { code: 400 })],
    ["Mistral, of the same", 400, { object: "error", message: "Invalid model: m", type: "invalid_model" }],
    [
      "Groq, of a model that is gone",
      400,
      says("The model `m` has been decommissioned and is no longer supported.", {
        code: "model_decommissioned",
      }),
    ],
  ],
  // What sounds like one of those and is none.
  rate_limit: [
    ["a limit that is said as a ban", 403, says("Rate limit exceeded for this key", { code: "rate_limit" })],
    [
      "GitHub, of its other limit",
      403,
      {
        message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
      },
    ],
    ["a gateway, of a ban that passes", 403, "Terms of service: you have been rate limited"],
    [
      "Groq's minute, which names where one pays",
      429,
      says(
        "Rate limit reached for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Used 5800, Requested 500. Please try again in 3s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        { type: "tokens", code: "rate_limit_exceeded" },
      ),
    ],
    [
      "Alibaba's tokens of a minute",
      429,
      says("Allocated quota exceeded, please increase your quota limit.", {
        type: "insufficient_quota",
        code: "insufficient_quota",
      }),
    ],
    [
      "Alibaba's in OpenAI's words",
      429,
      says(
        "You exceeded your current quota, please check your plan and billing details. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit",
        { type: "insufficient_quota", code: "insufficient_quota" },
      ),
    ],
    ["a limit as a 400", 400, says("rate limit exceeded on this model")],
    ["Bedrock's, through a gateway", 400, says("ThrottlingException: Too many concurrent requests")],

    [
      "Scaleway, in whose words every limit is a quota",
      429,
      {
        status: 429,
        error: "INSUFFICIENT QUOTA",
        message: "You exceeded your current limit of concurrent requests.",
      },
    ],
    ["Alibaba's burst, through a gateway", 400, says("Upstream error: Request rate increased too quickly.")],
    ["tokens of a minute", 429, says("Too many tokens, please wait before trying again.")],
    ["a monthly plan's minute", 429, says("Rate limit exceeded: 20 requests per minute")],
    [
      "OpenAI, where a day's requests come back one by one",
      429,
      says(
        "Rate limit reached for gpt-4o on requests per day (RPD): Limit 10000, Used 10000, Requested 1. Please try again in 8.64s.",
        { type: "requests", code: "rate_limit_exceeded" },
      ),
    ],
  ],
  permission: [
    [
      "Anthropic, of an organization",
      400,
      says("This organization has been disabled.", { type: "invalid_request_error" }),
    ],
    [
      "OpenRouter's settings of an account",
      404,
      says(
        "No endpoints found matching your data policy (Paid model training). Configure: https://openrouter.ai/settings/privacy",
        { code: 404 },
      ),
    ],
    [
      "Google, from elsewhere",
      400,
      says("User location is not supported for the API use.", { status: "FAILED_PRECONDITION" }),
    ],
    [
      "LiteLLM's key",
      401,
      says("key not allowed to access model.", { type: "key_model_access_denied", code: "401" }),
    ],
    [
      "LiteLLM's user",
      401,
      says("user not allowed to access model.", { type: "user_model_access_denied", code: "401" }),
    ],
    [
      "Z.ai's plan without the model",
      429,
      says("Your current subscription plan does not yet include access to GLM-5", { code: "1311" }),
    ],
    ["a plain no", 403, says("You have no access to this model")],
  ],
  server_error: [
    [
      "New API, without a server for the model at the moment",
      400,
      says("No available channel for model gpt-5 under group default (distributor) (request id: x)", {
        code: "model_not_found",
      }),
    ],
    ["LM Studio, of a model that was put away", 400, { error: "Model is unloaded." }],
    ["a relay about its upstream", 400, says("Upstream request failed", { type: "upstream_error" })],
    [
      "a gateway about an empty answer, with possible causes",
      400,
      says("The model returned an empty response. Possible causes: very low max_tokens, content filter."),
    ],
    [
      "the same with a 500",
      500,
      says("The model returned an empty response. Possible causes: very low max_tokens, content filter."),
    ],
    ["a throttle behind a failure of a gateway's own", 500, says("Too many tokens, please wait.")],
    [
      "NVIDIA's function",
      400,
      { status: 400, title: "Bad Request", detail: "Function id 'x': DEGRADED function cannot be invoked" },
    ],
    [
      "LM Studio's crash",
      400,
      { error: "The model has crashed without additional information. (Exit code: 6)" },
    ],
    ["LM Studio's model that is gone", 400, { error: "Model unloaded." }],
    ["Ollama's cloud", 400, says("unexpected EOF", { type: "invalid_request_error" })],
    ["a gateway in Go", 400, says("read tcp 10.0.0.1:40000->10.0.0.2:443: read: connection reset by peer")],
    ["the same, that found no host", 400, says("dial tcp: lookup api.example on 10.0.0.2:53: no such host")],
    ["the same, that waited", 400, says("context deadline exceeded (Client.Timeout exceeded)")],
    ["the same, of HTTP/2", 422, says("stream error: stream ID 5; INTERNAL_ERROR; received from peer")],
    [
      "fasthttp",
      400,
      says(
        "the server closed connection before returning the first response byte. Make sure the server returns",
      ),
    ],
    ["a gateway in Node", 400, says("request to upstream failed, reason: socket hang up")],
    ["the same, by its fetch", 400, says("fetch failed", { type: "upstream_error" })],
    ["the same, by its code", 404, says("Error from provider: ECONNRESET")],
    ["a gateway in Python", 400, says("Server disconnected without sending a response.")],
    ["an SDK behind a gateway", 400, says("litellm.APIConnectionError: OpenAIException - Connection error.")],

    [
      "Cloudflare's gateway, in a list and as a 400",
      400,
      {
        success: false,
        result: [],
        error: [{ code: 2005, message: "Failed to get response from provider" }],
      },
    ],
    ["a plain 500", 500, says("The context of this request was lost")],
  ],
  overloaded: [
    ["Baseten", 400, { error: "Model is not ready, it is still building or deploying" }],
    [
      "Cloudflare",
      429,
      { errors: [{ message: "AiError: Capacity temporarily exceeded, please try again.", code: 3040 }] },
    ],
    [
      "a gateway's 400 about a model that is away",
      400,
      says("The requested model gpt-5.4 is currently unavailable. Please try again later."),
    ],
    ["a 404 about the same", 404, says("The model is temporarily unavailable")],
    [
      "a local server's guard of its memory",
      400,
      says("Prefill would require ~15.27 GB peak but the ceiling is 13.50 GB, or reduce context length."),
    ],
    [
      "the same for a process",
      400,
      says(
        "Request aborted: process memory limit exceeded (usage 22.3 GB, ceiling 17.0 GB). Reduce context size.",
      ),
    ],
    [
      "Ollama in its other protocol, whose code says no more than that it failed",
      503,
      says("server busy, please try again.  maximum pending requests exceeded", { type: "api_error" }),
    ],
    [
      "Azure's capacity",
      503,
      says("The system is currently experiencing high demand.", {
        type: "server_error",
        code: "no_capacity",
      }),
    ],
    [
      "SiliconFlow",
      429,
      { code: 50609, message: "System is too busy now. Please try again later.", data: null },
    ],
    [
      "SiliconFlow, whatever the status",
      400,
      { code: 50508, message: "System is too busy now. Please try again later.", data: null },
    ],
    [
      "Volcengine",
      429,
      says("The service is currently unable to handle additional requests due to server overload.", {
        code: "ServerOverloaded",
      }),
    ],
    [
      "Cerebras's queue",
      429,
      {
        message: "We're experiencing high traffic right now!",
        type: "too_many_requests_error",
        code: "queue_exceeded",
      },
    ],
    [
      "Google's servers",
      429,
      says("No capacity available for model m on the server", {
        status: "RESOURCE_EXHAUSTED",
        details: [{ reason: "MODEL_CAPACITY_EXHAUSTED" }],
      }),
    ],

    [
      "Z.ai",
      429,
      says("The service may be temporarily overloaded, please try again later", { code: "1305" }),
    ],
    ["Novita", 429, says("server overload, please try again later", { type: "server_overload" })],
    [
      "a gateway's 403 about who stands behind it",
      403,
      says("Please retry later.", { code: "upstream_unavailable" }),
    ],
    ["a 503 with such words", 503, says("Context size has been exceeded.")],
    [
      "OpenAI's 503",
      503,
      says("That model is currently overloaded with other requests.", { type: "server_error" }),
    ],
    [
      "Groq's flex tier",
      498,
      says("Flex tier capacity exceeded", { type: "capacity_exceeded", code: "capacity_exceeded" }),
    ],
  ],
};

describe.each(Object.entries(kinds))("%s", (kind, rows) => {
  it.each(rows)("is what %s says", (_title, status, body) => {
    expect(kindOf(status, body)).toBe(kind);
  });
});

describe("refusals that a status alone would misjudge", () => {
  it.each<[title: string, status: number, body: Json, kind: ErrorKind]>([
    ["Bedrock, of a key that expired", 403, { Message: "Bearer Token has expired" }, "auth"],
    [
      "Bedrock, of a key that is none",
      403,
      says("Authentication failed: Please make sure your API Key is valid.", {
        code: "AccessDeniedException",
      }),
      "auth",
    ],
    [
      "Bedrock, of a key's form",
      403,
      says("Invalid API Key format: Must start with pre-defined prefix", { type: "permission_error" }),
      "auth",
    ],
    [
      "Google, of a key that everybody knows",
      403,
      says("Your API key was reported as leaked. Please use another API key.", {
        status: "PERMISSION_DENIED",
      }),
      "auth",
    ],
    [
      "Google, of an account without billing",
      403,
      says("This API method requires billing to be enabled.", { status: "PERMISSION_DENIED" }),
      "quota_exhausted",
    ],
    [
      "watsonx, of a plan that is used up",
      403,
      { errors: [{ code: "token_quota_reached", message: "Request of 1 token(s) from quota was rejected" }] },
      "quota_exhausted",
    ],
    [
      "Azure's API Management",
      403,
      { statusCode: 403, message: "Token quota is exceeded. Try again in 12 hours." },
      "quota_exhausted",
    ],
    [
      "OpenRouter's filter",
      403,
      says("Request blocked: prompt injection patterns detected", { code: "permission_denied" }),
      "content_filter",
    ],
    [
      "Databricks, of a limit that is none",
      403,
      { error_code: "PERMISSION_DENIED", message: "The endpoint is disabled due to a rate limit set to 0." },
      "permission",
    ],
    [
      "LiteLLM, of a key that may not use a model",
      403,
      says("key not allowed to access model. This key can only access models=['a']", {
        type: "key_model_access_denied",
      }),
      "permission",
    ],
    [
      "SAP's filter",
      400,
      says(
        "400 - Filtering Module - Input Filter: Prompt filtered due to safety violations. Please modify it.",
      ),
      "content_filter",
    ],
    [
      "Amazon, of a country",
      400,
      {
        message:
          "Access to Anthropic models is not allowed from unsupported countries, regions, or territories.",
      },
      "permission",
    ],
    [
      "Azure, of a model of another protocol",
      400,
      says("The chatCompletion operation does not work with the specified model, gpt-5.4-pro.", {
        code: "OperationNotSupported",
      }),
      "capability",
    ],
    ["Groq, of money", 400, says("", { code: "blocked_api_access" }), "quota_exhausted"],
    ["Groq, of an organization", 400, says("x", { code: "organization_restricted" }), "permission"],
    ["Groq, of terms", 400, says("x", { code: "model_terms_required" }), "permission"],
    ["Portkey's budget", 412, { status: "failure", message: "Usage limits exhausted" }, "quota_exhausted"],
    ["any other 412", 412, { message: "The revision has changed." }, "invalid_request"],
    ["Amazon's API Gateway, of bytes", 413, { message: "Request Too Long" }, "payload_too_large"],
    ["anybody else, of a prompt", 400, says("Request too long"), "context_overflow"],
  ])("%s (%d)", (_title, status, body, kind) => {
    expect(kindOf(status, body)).toBe(kind);
  });
});

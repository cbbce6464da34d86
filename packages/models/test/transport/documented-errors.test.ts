// What providers' own documents, and threads of their users, say that a refusal looks like: the kind of each.

import type { ErrorKind, Json } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { classifyHttpError, classifyStreamError } from "../../src/transport/errors.ts";

const says = (message: string, more: { [name: string]: Json } = {}): Json => ({
  error: { message, ...more },
});
/** The form of Volcengine and Baidu, and of Alibaba for clients of OpenAI. */
const coded = (code: string, message: string): Json => ({ error: { code, message, type: code } });
const tencent = (Code: string, Message: string): Json => ({ Response: { Error: { Code, Message } } });

const response = (status: number, body: Json) => ({
  status,
  header: () => null,
  body: typeof body === "string" ? body : JSON.stringify(body),
});

type Row = readonly [who: string, status: number, body: Json];

const kinds: { readonly [kind in ErrorKind]?: readonly Row[] } = {
  quota_exhausted: [
    [
      "Baidu's plan",
      429,
      { error: { code: "coding_plan_week_quota_exceeded", message: "limit", type: "rate_limit_exceeded" } },
    ],
    ["Baidu's unpaid bill", 403, coded("account_overdue", "Your account is overdue, please recharge")],
    ["Huawei's unpaid bill", 403, { error_code: "ModelArts.81013", error_msg: "The account is in arrears." }],
    ["Alibaba's unpaid bill", 429, coded("PostpaidBillOverdue", "The postpaid bill is overdue.")],
    [
      "Alibaba, of what was not bought",
      429,
      coded("CommodityNotPurchased", "Commodity has not purchased yet."),
    ],
    [
      "ModelScope's day",
      429,
      { errors: { message: "You have exceeded today's quota for model m, please try again tomorrow" } },
    ],
    [
      "Tencent's cloud base",
      429,
      { code: "EXCEED_TOKEN_QUOTA_LIMIT", message: "Token usage exceeded quota limit." },
    ],
    [
      "Cloudflare's gateway",
      429,
      { success: false, error: [{ code: 2021, message: "Spend limit exceeded" }] },
    ],
    ["Tyk", 403, { error: "Quota exceeded" }],
    ["Higress", 403, says("Request denied by ai quota check, No quota left")],
    ["a limiter in Python", 429, { error: "Rate limit exceeded: 5 per 1 day" }],
    ["a Russian gateway", 403, says("Недостаточно средств на балансе")],
  ],
  rate_limit: [
    [
      "Scaleway's minute, in OpenAI's words for an empty account",
      429,
      {
        status: 429,
        error: "INSUFFICIENT QUOTA",
        message:
          "You exceeded your current quota of tokens per minute. Slow down your usage or increase your quotas.",
      },
    ],
    ["the same of requests", 429, says("You have exceeded your quota of 100 requests per minute")],
  ],
  overloaded: [
    ["Azure", 429, says("No capacity is available for the requested model", { code: "NoCapacity" })],
    ["DeepInfra", 429, says("Model busy, retry later")],
    [
      "Volcengine",
      400,
      coded(
        "InvalidEndpoint.ClosedEndpoint",
        "The request targeted an endpoint that is currently closed or temporarily unavailable.",
      ),
    ],
    [
      "MiniMax's plan, for the moment",
      429,
      says(
        "The Token Plan is designed for individual, interactive developer workflows. Traffic is currently high-please retry shortly. (2062)",
      ),
    ],
  ],
  server_error: [
    [
      "Alibaba, of a client that is still there",
      400,
      coded("ClientDisconnect", "Client disconnected before task finished!"),
    ],
    ["a platform with numbers of its own", 500, { code: 1000, message: "An error occurred", data: {} }],
  ],
  auth: [
    ["Baidu, of a token", 400, { error_code: 110, error_msg: "Access token invalid or no longer valid" }],
    ["Zhipu, of a token", 401, { error: { code: "1000", message: "身份验证失败" } }],
  ],
  permission: [
    [
      "Zhipu, of an account that was locked",
      429,
      { error: { code: "1121", message: "账户存在违规行为，已被锁定" } },
    ],
    [
      "MiniMax, of a model that is not in the plan",
      500,
      says("your current token plan not support model, MiniMax-M2.7-highspeed (2061)", { type: "api_error" }),
    ],
    ["Baidu", 400, { error_code: 6, error_msg: "No permission to access data" }],
    [
      "a page that a law keeps from this country",
      451,
      "<html><head><title>Unavailable</title></head></html>",
    ],
  ],
  capability: [
    [
      "Volcengine's plan",
      404,
      coded("UnsupportedModel", "The m model does not support the coding plan feature."),
    ],
    ["a Chinese gateway, of tools", 400, says("该模型不支持工具调用")],
    ["the same in other words", 400, says("当前模型不支持 function call")],
  ],
  content_filter: [
    ["StepFun", 451, says("request blocked", { type: "request_blocked" })],
    ["StepFun without a word", 451, ""],
    ["Baidu", 400, coded("unsafe_request", "the content of user's question is not safe")],
    ["Gemini, by the reason alone", 400, says("The request was blocked.", { code: "safety" })],
    ["Gemini, of what it recited", 400, says("The response was blocked.", { code: "recitation" })],
    [
      "Volcengine's detection",
      400,
      coded(
        "InputTextRiskDetection",
        "The request could not be processed because the input text includes sensitive content that violates ContentSecurityDetection.",
      ),
    ],
    [
      "Alibaba, of a right",
      400,
      coded("IPInfringementSuspect", "Input data is suspected of IP infringement."),
    ],
    ["Alibaba's rule", 400, coded("FaqRuleBlocked", "Input or output data is blocked by faq rule.")],
    [
      "SAP",
      400,
      says(
        "400 - Filtering Module - Input Filter: Filtering module blocked content: content violated a configured category.",
      ),
    ],
    [
      "Cloudflare's gateway, of data that must not leave",
      424,
      {
        success: false,
        error: [{ code: 2029, message: "Request content blocked due to DLP policy violations" }],
      },
    ],
    [
      "New API, of Gemini",
      400,
      says("request blocked by Gemini API: PROHIBITED_CONTENT", {
        type: "new_api_error",
        code: "prompt_blocked",
      }),
    ],
    ["Helicone", 400, says("Prompt threat detected. Your request cannot be processed.")],
    ["Cohere", 400, { message: "blocked input: please edit your prompt and try again." }],
    ["a Chinese gateway", 400, says("用户输入包含违规内容，请修改后重试")],
    ["the same in other words", 400, says("内容审核不通过")],
  ],
  context_overflow: [
    ["Baidu", 400, coded("tokens_too_long", "the max input tokens is 131072")],
    ["Writer", 400, { tpe: "t", errors: [{ description: "Your input exceeds the context window" }] }],
    ["Naver", 400, { status: { code: "40003", message: "Context length exceeded" }, result: null }],
    [
      "IONOS",
      422,
      {
        httpStatus: 422,
        messages: [{ errorCode: "422", message: "maximum context length is 32768 tokens" }],
      },
    ],
    ["a Russian gateway", 400, says("Количество запрашиваемых токенов превышает контекст модели.")],
    [
      "Google's studio",
      400,
      says(
        "[original: beyond::dependency::INVALID_ARGUMENT] Cannot truncate to 89998, required 355220: text:355351",
      ),
    ],
  ],
};

describe.each(Object.entries(kinds))("%s", (kind, rows) => {
  it.each(rows)("is what %s says", (_who, status, body) => {
    expect(classifyHttpError(response(status, body)).kind).toBe(kind);
  });
});

describe("an error in place of an answer", () => {
  it.each<[who: string, body: Json, kind: ErrorKind]>([
    ["Tencent, of a key", tencent("AuthFailure.SecretIdNotFound", "not found"), "auth"],
    [
      "Tencent's filter",
      tencent("OperationDenied.TextIllegalDetected", "文本包含违法违规信息"),
      "content_filter",
    ],
    ["Tencent, of an image", tencent("OperationDenied.ImageIllegalDetected", "审核不通过"), "content_filter"],
    ["Tencent, of a limit", tencent("FailedOperation.EngineServerLimitExceeded", "超过限额"), "rate_limit"],
    [
      "Tencent, of what is not in use",
      tencent("FailedOperation.ServiceNotActivated", "服务未开通"),
      "permission",
    ],
    ["Snowflake", { code: "390318", message: "OAuth access token expired. [1]", success: false }, "auth"],
    ["Replicate", { error: "The input or output was flagged as sensitive. (E005)" }, "content_filter"],
    ["iFlytek's filter", { header: { code: 10013, message: "input audit" } }, "content_filter"],
    ["iFlytek's second", { header: { code: 11202, message: "licc limit" } }, "rate_limit"],
    ["iFlytek's day", { header: { code: 11201, message: "licc limit" } }, "quota_exhausted"],
    ["iFlytek's window", { code: 10907, message: "token", sid: "s" }, "context_overflow"],
    ["MiniMax's connections", { base_resp: { status_code: 1041, status_msg: "conn limit" } }, "rate_limit"],
    ["MiniMax's plan", { base_resp: { status_code: 2061, status_msg: "not support model" } }, "permission"],
    ["MiniMax's load", { base_resp: { status_code: 2062, status_msg: "high traffic" } }, "overloaded"],
    ["MiniMax's characters", { base_resp: { status_code: 1042, status_msg: "ratio" } }, "invalid_request"],
  ])("is read by what %s says", (_who, body, kind) => {
    expect(classifyStreamError(body).kind).toBe(kind);
  });
});

describe("the window is the one that is named", () => {
  it.each<[who: string, message: string, window: number]>([
    [
      "watsonx",
      "the number of input tokens 140000 cannot exceed the total tokens limit 131072 for this model",
      131072,
    ],
    [
      "Cloudflare",
      "The estimated number of input and maximum output tokens (32100) exceeded this model context window limit (24000).",
      24000,
    ],
    ["Yandex", "number of input tokens must be no more than 32768, got 40000", 32768],
    ["Databricks", "Bad request: prompt token count (140000) cannot exceed 131072.", 131072],
    ["Alibaba", "Total message token length exceed model limit (10000000 tokens).", 10000000],
    ["Google's studio", "Cannot truncate to 89998, required 355220: text:355351", 89998],
  ])("by %s", (_who, message, window) => {
    const { kind, contextWindow } = classifyHttpError(response(400, says(message)));
    expect([kind, contextWindow]).toEqual(["context_overflow", window]);
  });
});

it("an output limit that is too high is the one that Scaleway names, also behind Hugging Face", () => {
  const message = "payload validation: max_completion_tokens is limited to 16384 for qwen3-235b";
  const { kind, maxOutputTokens } = classifyHttpError(
    response(400, { status: 400, error: "BAD REQUEST", message }),
  );
  expect([kind, maxOutputTokens]).toEqual(["invalid_request", 16384]);
});

it("Baidu names its output limit as a range", () => {
  const message = "max_completion_tokens should be in [2, 2048]";
  expect(classifyHttpError(response(400, says(message))).maxOutputTokens).toBe(2048);
});

describe("a file that is still being read is waited for", () => {
  it.each<[who: string, status: number, body: Json]>([
    ["Alibaba", 400, coded("InvalidParameter", "File parsing in progress, please try again later.")],
    [
      "Volcengine",
      403,
      coded(
        "OperationDenied.InvalidState",
        "The specified file is in invalid state: InProgress.Request ID: 1",
      ),
    ],
  ])("%s", (_who, status, body) => {
    const { kind, retryable, retryAfterMs } = classifyHttpError(response(status, body));
    expect([kind, retryable, retryAfterMs]).toEqual(["invalid_request", true, 5000]);
  });
});

describe("a file is left out", () => {
  it.each<[who: string, status: number, body: Json]>([
    ["Alibaba's size", 400, says("Exceeded limit on max bytes per data-uri item : 10485760'.")],
    ["Alibaba's length", 400, says("The video file is too long.")],
    ["Alibaba's number", 400, says("Too many files provided.")],
    [
      "Volcengine's place for a text",
      400,
      says(
        "The parameter `messages.content` specified in the request are not valid: expected a string, but got `[map[text:a type:text]]` instead.",
      ),
    ],
    ["Mistral", 400, { object: "error", message: "Image content is not enabled for this model" }],
    ["xAI", 412, { code: "state", error: "Fetching image failed with HTTP status code: 403 Forbidden." }],
    [
      "Volcengine's filter, of an image",
      400,
      coded("InputImageRiskDetection", "the input image includes sensitive content"),
    ],
    [
      "Volcengine's filter, of a video",
      400,
      coded("InputVideoSensitiveContentDetected", "the input video may contain sensitive information."),
    ],
  ])("%s", (_who, status, body) => {
    expect(openaiChat.errorOf(response(status, body)).repair).toBe("files");
  });
});

describe("a setting is left out", () => {
  it.each<[who: string, message: string, setting: string]>([
    [
      "Anthropic behind a gateway",
      "`max_tokens` must be greater than `thinking.budget_tokens`.",
      "reasoning",
    ],
    ["LiteLLM", "`thinking.budget_tokens` must be less than `max_tokens`", "reasoning"],
    [
      "Gemini behind one",
      "Unable to submit request because thinking_budget is out of range; supported values are integers from 1 to 24576.",
      "reasoning",
    ],
    [
      "Baseten",
      "Upstream request failed: [invalid_request_error] must be greater than 1024 to reserve tokens for a final answer when Baseten reasoning is enabled",
      "reasoning",
    ],
    ["Alibaba", "Parameter top_k be greater than or equal to 0", "topK"],
    [
      "OpenAI behind SAP",
      "400 - LLM Module: Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
      "parallelToolCalls",
    ],
  ])("%s", (_who, message, setting) => {
    const { kind, repair } = openaiChat.errorOf(response(400, says(message)));
    expect([kind, repair]).toEqual(["invalid_request", `settings.${setting}`]);
  });
});

it("an output limit that is too low by itself is no thinking that is too long", () => {
  const message = "`max_tokens` must be greater than or equal to 1";
  expect(openaiChat.errorOf(response(400, says(message))).repair).toBeUndefined();
});

describe("a refusal teaches what the server takes", () => {
  const target = (compat = {}) => ({
    origin: { provider: "p", api: "openai-chat", model: "m" },
    facts: {},
    compat,
  });
  it.each<[who: string, message: string, quirk: { [name: string]: Json } | undefined]>([
    [
      "Alibaba, without a forced call",
      'tool_choice is one of the strings that should be ["none", "auto"]',
      { forcedChoice: "never" },
    ],
    [
      "Alibaba, with it",
      'tool_choice is one of the strings that should be ["none", "auto", "required"]',
      undefined,
    ],
    [
      "LiteLLM, of DeepInfra",
      "DeepinfraException - Deepinfra doesn't support tool_choice={'type': 'function'}. To drop unsupported params",
      { forcedChoice: "never" },
    ],
    [
      "a server in Rust",
      "Failed to deserialize the JSON body into the target type: tool_choice: unknown variant `required`, expected `auto` or `none`",
      { forcedChoice: "never" },
    ],
    [
      "the same of the choice that forbids calls",
      "Failed to deserialize the JSON body into the target type: tool_choice: unknown variant `none`, expected `auto`",
      { noneChoice: false },
    ],
    [
      "Bedrock behind a gateway",
      "Malformed input request: #: required key [max_tokens] not found",
      expect.objectContaining({ maxTokensField: "max_tokens" }) as never,
    ],
  ])("%s", (_who, message, quirk) => {
    expect(openaiChat.learned?.(response(400, says(message)), target())).toEqual(quirk);
  });

  it("a server that does not know strict tools by that name", () => {
    const refusal = response(422, { message: "tools[0].function.strict: unknown field" });
    expect(openaiChat.learned?.(refusal, target({ strictTools: true }))).toEqual({ strictTools: false });
  });
});

describe("words of an answer, or of a user, are no errors of another kind", () => {
  it.each<[title: string, body: Json, kind: ErrorKind]>([
    [
      "an echoed text about safety",
      says("Invalid 'messages[1]': got 'is the content safe?'"),
      "invalid_request",
    ],
    [
      "a tool named after a file",
      says("Invalid 'tools[0].function.name': 'too_many_files'"),
      "invalid_request",
    ],
    ["a setting that is limited", says("n is limited to 1 for this model"), "invalid_request"],
    ["an account that was not verified", says("实名认证审核未通过"), "invalid_request"],
    ["a token that has expired, in Russian", says("Срок действия токена превышен"), "invalid_request"],
    ["a number in a message", says("invalid value (1000)", { code: "invalid_value" }), "invalid_request"],
  ])("%s", (_title, body, kind) => {
    expect(classifyHttpError(response(400, body)).kind).toBe(kind);
  });
});

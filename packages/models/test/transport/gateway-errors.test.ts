// What gateways hide of the error behind them, and what Zhipu's numbers mean: the kind is that of the real error.

import type { ErrorKind, Json } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { openaiChat } from "../../src/codecs/openai-chat.ts";
import { classifyHttpError, classifyStreamError } from "../../src/transport/errors.ts";

const ofStatus = (status: number, body: Json): ErrorKind =>
  classifyHttpError({
    status,
    header: () => null,
    body: typeof body === "string" ? body : JSON.stringify(body),
  }).kind;

const overflow = {
  type: "error",
  error: { type: "invalid_request_error", message: "prompt is too long: 250042 tokens > 200000 maximum" },
};
const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const broke = { error: { message: "no more", type: "insufficient_quota", code: "insufficient_quota" } };

describe("an error inside a gateway's error", () => {
  const rows: [title: string, status: number, body: Json, kind: ErrorKind][] = [
    [
      "in the attempts of Vercel's gateway",
      500,
      {
        error: { message: "No output generated.", type: "internal_server_error" },
        providerMetadata: {
          gateway: { routing: { attempts: [{ error: overflow.error.message, statusCode: 400 }] } },
        },
      },
      "context_overflow",
    ],
    ...[400, 424, 500].map((status): (typeof rows)[number] => [
      `in the name of Amazon's exception, with a ${status}`,
      status,
      {
        error: {
          message:
            "An error occurred (ThrottlingException) when calling the ConverseStream operation: Too many tokens, please wait before trying again.",
          type: "invalid_request_error",
        },
      },
      "rate_limit",
    ]),
    [
      "in the name of Amazon's exception for its own failure",
      400,
      { detail: "InternalServerException: The system encountered an unexpected error during processing." },
      "server_error",
    ],
    [
      "in the name of Amazon's exception for a fault of the request",
      500,
      {
        error: {
          message: "An error occurred (ValidationException) when calling the Converse operation: bad",
        },
      },
      "invalid_request",
    ],
    [
      "in the errors of a client that gave up",
      500,
      {
        error: {
          message: "Failed after 3 attempts",
          errors: [{ message: "no", statusCode: 429 }, broke.error],
        },
      },
      "quota_exhausted",
    ],
    [
      "in OpenRouter's raw text",
      502,
      { error: { message: "Provider returned error", code: 502, metadata: { raw: JSON.stringify(broke) } } },
      "quota_exhausted",
    ],
    [
      "in OpenRouter's raw value",
      400,
      { error: { message: "Provider returned error", code: 400, metadata: { raw: overflow } } },
      "context_overflow",
    ],
    [
      "in OpenRouter's earlier errors",
      502,
      {
        error: {
          message: "Provider returned error",
          code: 502,
          metadata: { previous_errors: [{ code: 400, message: overflow.error.message }] },
        },
      },
      "context_overflow",
    ],
    [
      "behind LiteLLM's words",
      500,
      {
        error: {
          message: `litellm.InternalServerError: AnthropicException - ${JSON.stringify(overloaded)}. Received Model Group=claude`,
          code: "500",
        },
      },
      "overloaded",
    ],
    [
      "in the bytes that Python prints",
      500,
      { error: { message: `litellm.APIError: b'${JSON.stringify(broke)}'. Model Group=x`, code: "500" } },
      "quota_exhausted",
    ],
    [
      "in an object that Python prints",
      500,
      {
        error: {
          message: "Error code: 400 - {'error': {'message': 'too much', 'code': 'context_length_exceeded'}}",
        },
      },
      "context_overflow",
    ],
    [
      "in JSON that was quoted once more",
      502,
      { error: { message: `upstream: ${JSON.stringify(JSON.stringify(overloaded)).slice(1, -1)}` } },
      "overloaded",
    ],
    [
      "by its status in words",
      500,
      { error: { message: "Upstream failed. Status code: 401, no key" } },
      "auth",
    ],
    ["as a text that is no JSON", 500, `Error from provider: ${JSON.stringify(broke)}`, "quota_exhausted"],
    [
      "as the cause",
      500,
      { error: { message: "fetch failed", cause: { message: "slow down", status: 429 } } },
      "rate_limit",
    ],
    [
      "in FastAPI's detail",
      400,
      { detail: { error: { message: overflow.error.message, type: "invalid_request_error" } } },
      "context_overflow",
    ],
    [
      "in SageMaker's original message",
      424,
      {
        ErrorCode: "CLIENT_ERROR_FROM_MODEL",
        Message: "Received client error (422) from primary",
        OriginalStatusCode: 422,
        OriginalMessage: JSON.stringify({ error: "`inputs` must have less than 1024 tokens. Given: 1500" }),
      },
      "context_overflow",
    ],
    [
      "in Databricks's message of an external model, as its words alone",
      400,
      {
        error: "Received error from amazon-bedrock",
        external_model_message: { message: "prompt is too long: 208423 tokens > 200000 maximum" },
      },
      "context_overflow",
    ],
    [
      "in Databricks's message of an external model, as an error",
      400,
      {
        error_code: "BAD_REQUEST",
        message: "Received error from openai",
        external_model_message: { error: { message: "The prompt was refused.", code: "content_filter" } },
      },
      "content_filter",
    ],
    [
      "in an attempt with a status of its own",
      503,
      { error: { message: "All providers failed", attempts: [{ status: 429, error: { message: "slow" } }] } },
      "rate_limit",
    ],
    [
      "with a quota of a day among its details",
      500,
      {
        error: {
          message: `got status: 429. ${JSON.stringify({
            error: {
              code: 429,
              message: "You exceeded your current quota",
              status: "RESOURCE_EXHAUSTED",
              details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] }],
            },
          })}`,
        },
      },
      "quota_exhausted",
    ],
    [
      "nowhere: arguments in its words are no error",
      500,
      { error: { message: 'could not run {"status": "open", "name": "f"}' } },
      "server_error",
    ],
    [
      "nowhere: Google's details are no attempts",
      503,
      {
        error: {
          code: 503,
          message: "busy",
          details: [{ "@type": "type.googleapis.com/google.rpc.DebugInfo", message: "401 no key" }],
        },
      },
      "overloaded",
    ],
  ];
  it.each(rows)("%s (%d)", (_title, status, body, kind) => {
    expect(ofStatus(status, body)).toBe(kind);
  });

  it("keeps the gateway's status, and both messages", () => {
    const body = {
      error: { message: "Provider returned error", metadata: { raw: JSON.stringify(overflow) } },
    };
    const error = classifyHttpError({ status: 502, header: () => null, body: JSON.stringify(body) });
    expect(error).toMatchObject({ kind: "context_overflow", status: 502, contextWindow: 200_000 });
    expect(error.message).toContain("Provider returned error: prompt is too long");
  });

  it("has its own wait", () => {
    const google = {
      error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "x", details: [{ retryDelay: "34s" }] },
    };
    const body = { error: { message: "Provider returned error", metadata: { raw: JSON.stringify(google) } } };
    const error = classifyHttpError({ status: 429, header: () => null, body: JSON.stringify(body) });
    expect(error).toMatchObject({ kind: "rate_limit", retryAfterMs: 34_000 });
  });

  it("is found in a stream too", () => {
    const body = { error: { message: `litellm.APIError: ${JSON.stringify(overloaded)}`, code: "500" } };
    expect(classifyStreamError(body).kind).toBe("overloaded");
  });
});

describe("Zhipu's codes", () => {
  const rows: [code: string | number, kind: ErrorKind][] = [
    ["1002", "auth"],
    ["1113", "quota_exhausted"],
    ["1210", "invalid_request"],
    ["1234", "server_error"],
    ["1261", "context_overflow"],
    ["1301", "content_filter"],
    ["1302", "rate_limit"],
    [1302, "rate_limit"],
    ["1305", "overloaded"],
    ["1308", "quota_exhausted"],
    ["1311", "permission"],
    ["1312", "overloaded"],
  ];
  it.each(rows)("%s means %s, whatever the words are", (code, kind) => {
    expect(classifyStreamError({ error: { code, message: "请稍后再试" } }).kind).toBe(kind);
  });
});

describe("unlisted codes", () => {
  const rows: [code: string, kind: ErrorKind][] = [
    ["provider_unavailable", "overloaded"],
    ["model_overloaded", "overloaded"],
    ["RateLimitReached", "rate_limit"],
    ["too_many_concurrent_requests", "rate_limit"],
    ["credits_exhausted", "quota_exhausted"],
    ["payment-required", "quota_exhausted"],
    ["monthly_limit_exceeded", "quota_exhausted"],
    ["context_window_exceeded", "context_overflow"],
    ["model_max_prompt_tokens_exceeded", "context_overflow"],
    ["content_blocked", "content_filter"],
    ["token_expired", "auth"],
    ["access_denied", "permission"],
    ["upstream_timeout", "timeout"],
    ["something_else", "invalid_request"],
    ["upstream_error", "invalid_request"],
  ];
  it.each(rows)("%s means %s, if the words say nothing", (code, kind) => {
    expect(ofStatus(400, { error: { code, message: "x" } })).toBe(kind);
  });

  it("about failures are used for what the status does not say", () => {
    expect(ofStatus(500, { error: { code: "credits_exhausted", message: "x" } })).toBe("quota_exhausted");
    expect(ofStatus(502, { error: { code: "request_timeout", message: "x" } })).toBe("server_error");
  });

  it("do not override the words", () => {
    const message = "This model's maximum context length is 8192 tokens";
    expect(ofStatus(400, { error: { code: "rate_limited_error", message } })).toBe("context_overflow");
  });
});

it("an answer whose reasoning alone reached the limit, refused because of that, is a truncated one", () => {
  const message =
    "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.";
  const body = JSON.stringify({ error: { message, type: "invalid_request_error" } });
  const target = { origin: { api: "openai-chat", provider: "openai", model: "m" }, facts: {} };
  const answer = openaiChat.answerOf?.({ status: 400, header: () => null, body }, target);
  expect(answer).toMatchObject({ content: [], stop: { kind: "max_tokens" } });
});

describe("an error in a form of its own", () => {
  const rows: [title: string, status: number, body: Json, kind: ErrorKind][] = [
    ["OAuth's", 400, { error: "invalid_grant", error_description: "Token has been revoked." }, "auth"],
    ["Apigee's", 429, { fault: { faultstring: "Quota violation", detail: {} } }, "rate_limit"],
    ["of a list of words", 503, { error: ["Model is overloaded"] }, "overloaded"],
    ["Cloudflare's, without its page", 403, "error code: 1015", "rate_limit"],
    [
      "Groq's, of its flexible tier",
      498,
      { error: { message: "Flex tier capacity exceeded" } },
      "overloaded",
    ],
    [
      "watsonx's",
      403,
      { errors: [{ message: "This account has reached its token quota" }] },
      "quota_exhausted",
    ],
  ];
  it.each(rows)("is recognised: %s (%d)", (_title, status, body, kind) => {
    expect(ofStatus(status, body)).toBe(kind);
  });
});

describe("Chinese words", () => {
  it.each<[number, string, ErrorKind]>([
    [429, "当前模型负载已饱和，请稍后再试", "overloaded"],
    [429, "该模型当前访问量过大", "overloaded"],
    [401, "该令牌额度已用尽", "quota_exhausted"],
  ])("%d %s", (status, message, kind) => {
    expect(ofStatus(status, { error: { message } })).toBe(kind);
  });
});

describe("a plan that is used up", () => {
  it.each<[number, string, ErrorKind]>([
    [500, "You've reached your Fable 5 limit.", "quota_exhausted"],
    [500, "Your group's usage limit is set to $0", "quota_exhausted"],
    [429, "You've hit your usage limit.", "quota_exhausted"],
    [429, "You've hit your limit · resets 3pm (UTC)", "quota_exhausted"],
    [429, "You have exceeded the 5-hour usage quota.", "quota_exhausted"],
    [429, "You have used all your free requests for today", "quota_exhausted"],
    [403, "You've run out of premium requests", "quota_exhausted"],
    [403, "Your subscription has expired", "quota_exhausted"],
    [
      403,
      "You have either run out of available resources or do not have an active Grok subscription.",
      "quota_exhausted",
    ],
    [400, "Insufficient USD or Diem balance to complete request.", "quota_exhausted"],
    [429, "You've hit your rate limit", "rate_limit"],
    [429, "You have reached your requests per minute limit", "rate_limit"],
    [429, "You have reached your concurrent requests limit", "rate_limit"],
  ])("%d %s", (status, message, kind) => {
    expect(ofStatus(status, { error: { message } })).toBe(kind);
  });

  it("is not, if Alibaba throttles", () => {
    const message = "You exceeded your current quota, please check your plan and billing details";
    expect(ofStatus(429, { code: "Throttling.RateQuota", message })).toBe("rate_limit");
    const limited = { error: { code: "insufficient_quota", message: "Requests rate limit exceeded" } };
    expect(ofStatus(429, limited)).toBe("rate_limit");
  });
});

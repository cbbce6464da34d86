import { readFileSync } from "node:fs";
import type { ErrorKind, Json } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { anthropicMessages } from "../../src/codecs/anthropic-messages.ts";
import { classifyHttpError, classifyStreamError } from "../../src/transport/errors.ts";
import { isOverflowText } from "../../src/transport/overflow-words.ts";

interface Row {
  id: string;
  provider: string;
  title: string;
  status: number;
  headers: { [name: string]: string };
  body: Json;
  kind: ErrorKind;
}

const rows = JSON.parse(readFileSync(new URL("errors.cases.json", import.meta.url), "utf8")) as Row[];

function response(status: number, body: Json, headers: { [name: string]: string } = {}) {
  return {
    status,
    header: (name: string) => headers[name] ?? null,
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

describe("the catalogue's error responses", () => {
  it.each(rows)("$id $provider: $title is $kind", (row) => {
    const near = row.id === "F181b";
    const error = classifyHttpError(response(row.status, row.body, row.headers), { nearContextLimit: near });
    expect(error.kind).toBe(row.kind);
    expect(error.status).toBe(row.status);
  });

  it("has every case of the catalogue that answers with an error status", () => {
    expect(rows.length).toBe(50);
  });
});

describe("responses that the catalogue only describes", () => {
  const more: [
    title: string,
    kind: ErrorKind,
    status: number,
    body: Json,
    headers?: { [n: string]: string },
  ][] = [
    [
      "F173 Groq's 413 for a request over the minute's tokens",
      "request_too_large_for_tier",
      413,
      {
        error: {
          message:
            "Request too large for model `llama-3.3-70b-versatile` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      },
    ],
    [
      "F173b OpenAI's 429 for the same",
      "request_too_large_for_tier",
      429,
      {
        error: {
          message:
            "Request too large for gpt-4o in organization o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      },
    ],
    [
      "F176 Anthropic's 529",
      "overloaded",
      529,
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ],
    [
      "F179 Azure's content filter",
      "content_filter",
      400,
      {
        error: {
          message:
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          type: null,
          param: "prompt",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      },
    ],
    [
      "F151 Groq's failed generation",
      "malformed_tool_call",
      400,
      {
        error: {
          message: "Tool call validation failed",
          type: "invalid_request_error",
          code: "tool_use_failed",
        },
      },
    ],
    [
      "F183 an output limit that does not fit beside the input",
      "context_overflow",
      400,
      {
        error: {
          message:
            "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens (22139 of text input, 262144 in the output).",
          code: 400,
        },
      },
    ],
    [
      "F172 no money left at xAI",
      "quota_exhausted",
      403,
      { code: "x", error: "Your team has run out of credits" },
    ],
    ["402 is about money", "quota_exhausted", 402, { error: { message: "Insufficient credits", code: 402 } }],
    ["a plain 503", "overloaded", 503, "upstream unavailable"],
    ["Cloudflare's 520", "server_error", 520, "<html><head><title>520</title></head></html>"],
    [
      "Google's array of one",
      "invalid_request",
      400,
      [{ error: { code: 400, message: "bad", status: "INVALID_ARGUMENT" } }],
    ],
    [
      "Google's free tier that is none",
      "quota_exhausted",
      429,
      { error: { code: 429, message: "Quota exceeded, limit: 0, model: x", status: "RESOURCE_EXHAUSTED" } },
    ],
    [
      "Bedrock's expired token in a 403",
      "auth",
      403,
      { message: "The security token included in the request is expired" },
      { "x-amzn-errortype": "ExpiredTokenException:http://internal.amazon.com/" },
    ],
    [
      "an unknown model",
      "invalid_request",
      404,
      { type: "error", error: { type: "not_found_error", message: "model: nope" } },
    ],
    [
      "OpenRouter without an endpoint for tools",
      "capability",
      404,
      { error: { message: "No endpoints found that support tool use.", code: 404 } },
    ],
    ["xAI's wrong key in a 400", "auth", 400, { code: "x", error: "Incorrect API key provided: xa***zz." }],
    [
      "FastAPI's detail",
      "invalid_request",
      422,
      { detail: [{ loc: ["body"], msg: "field required", type: "missing" }] },
    ],
    [
      "an engine's overload in a 429",
      "overloaded",
      429,
      { error: { type: "engine_overloaded_error", message: "busy" } },
    ],
    ["a redirect", "invalid_request", 308, ""],
    [
      "Google's broken-off work, which nobody here cancelled",
      "server_error",
      499,
      [{ error: { code: 499, message: "The operation was cancelled.", status: "CANCELLED" } }],
    ],
    [
      "a model of Bedrock's that failed",
      "server_error",
      424,
      { message: "The model returned the following errors: x", originalStatusCode: 500 },
      { "x-amzn-errortype": "ModelErrorException:http://internal.amazon.com/" },
    ],
    [
      "a prototype's name as a code",
      "invalid_request",
      400,
      { error: { code: "constructor", type: "__proto__", message: "x" } },
    ],
  ];
  it.each(more)("%s is %s", (_title, kind, status, body, headers) => {
    expect(classifyHttpError(response(status, body, headers)).kind).toBe(kind);
  });

  it("a list of details is shown with the places", () => {
    const place = ["body", "messages", 3, "assistant", "reasoning_content"];
    const detail = [{ type: "extra_forbidden", loc: place, msg: "Extra inputs are not permitted" }];
    for (const body of [{ detail }, { object: "error", message: { detail } }])
      expect(classifyHttpError(response(422, body)).message).toContain(
        "Extra inputs are not permitted: messages.3.assistant.reasoning_content",
      );
  });

  it.each([
    [
      "beside the status in words (NestJS)",
      (text: string) => ({ message: ["one", text], error: "Bad Request" }),
    ],
    ["in the error itself", (text: string) => ({ error: { message: [text] } })],
    ["as the errors", (text: string) => ({ errors: [text] })],
    ["as the error", (text: string) => ({ error: [text] })],
    ["as the detail", (text: string) => ({ detail: [text] })],
    ["in an error of JSON:API", (text: string) => ({ errors: [{ title: "Bad Request", detail: text }] })],
  ])("a message that is a list of texts counts as its texts: %s", (_title, body) => {
    const text = "prompt is too long: 210000 tokens > 200000 maximum";
    const error = classifyHttpError(response(400, body(text)));
    expect(error.kind).toBe("context_overflow");
    expect(error.message).toContain(text);
  });

  it("a server's own field about retrying overrides the table", () => {
    const no = classifyHttpError(response(503, "{}", { "x-should-retry": "false" }));
    const yes = classifyHttpError(response(400, "{}", { "x-should-retry": "true" }));
    expect([no.retryable, yes.retryable]).toEqual([false, true]);
  });

  it("a conflict may be retried, a bad request may not", () => {
    for (const status of [409, 425]) expect(classifyHttpError(response(status, "{}")).retryable).toBe(true);
    expect(classifyHttpError(response(400, "{}")).retryable).toBe(false);
  });

  it("no page of a proxy gets into the message or the raw error", () => {
    const error = classifyHttpError(
      response(
        524,
        "<!DOCTYPE html><html><head><title>a | 524: A timeout occurred</title></head><body>secret</body></html>",
      ),
    );
    expect(error.message).toContain("524: A timeout occurred");
    expect(JSON.stringify(error)).not.toContain("<body>");
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("reads a body with the field of an event before it, and text in a member named parameter (F104)", () => {
    const param = "The reasoning_content in the thinking mode must be passed back to the API.";
    const error = { code: "400", message: "Param Incorrect", param, type: "" };
    const told = classifyHttpError(response(400, `data:${JSON.stringify({ error })}`));
    expect(told.message).toContain(`Param Incorrect: ${param}`);
    expect(told.raw).toEqual({ error });
    const framed = `event: error\r\ndata: ${JSON.stringify({ error })}\r\n\r\ndata: [DONE]\n\n`;
    expect(classifyHttpError(response(400, framed))).toEqual(told);
    const field = classifyHttpError(response(400, { error: { ...error, param: "messages[0].content" } }));
    expect(field.message).not.toContain("messages[0].content");
  });

  it("has the wait that was requested, and treats a wait of a day as permanent", () => {
    const error = classifyHttpError(response(429, "{}", { "retry-after": "3600" }));
    expect(error.retryAfterMs).toBe(3_600_000);
    expect(error.message).toContain("3600 s");
  });

  it("has a wait if the same request may be sent again, and not otherwise", () => {
    const asked = (status: number, more: Record<string, string> = {}): number | undefined =>
      classifyHttpError(response(status, "{}", { "retry-after": "3", ...more })).retryAfterMs;
    expect([408, 409, 425, 429, 499, 500, 503, 504, 529].map((status) => asked(status))).toEqual(
      Array(9).fill(3000),
    );
    expect(asked(400, { "x-should-retry": "true" })).toBe(3000);
    expect([400, 401, 403, 404].map((status) => asked(status))).toEqual(Array(4).fill(undefined));
  });

  it("keeps a small body unchanged and cuts a large one", () => {
    const small = { error: { message: "m", failed_generation: '{"name":"f"}' } };
    expect(classifyHttpError(response(400, small)).raw).toEqual(small);
    const large = classifyHttpError(response(400, { error: { message: "m".repeat(100_000) } }));
    expect(JSON.stringify(large).length).toBeLessThan(10_000);
  });
});

it("a file that is not ready after its upload is waited for", () => {
  const message = "The File 4d21d8wxg1pe is not in an ACTIVE state and usage is not allowed.";
  const body = JSON.stringify({ error: { code: 400, message, status: "FAILED_PRECONDITION" } });
  expect(classifyHttpError(response(400, body))).toMatchObject({
    kind: "invalid_request",
    retryable: true,
    retryAfterMs: 5000,
  });
});

describe("errors inside a successful answer", () => {
  const frames: [title: string, kind: ErrorKind, body: Json, code?: string][] = [
    [
      "F149 Anthropic's overload",
      "overloaded",
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ],
    [
      "F150 vLLM's",
      "server_error",
      { error: { message: "EngineCore encountered an issue", type: "InternalServerError", code: 500 } },
    ],
    ["F152 Google's", "overloaded", { error: { code: 503, message: "high demand", status: "UNAVAILABLE" } }],
    [
      "F153 OpenAI's quota",
      "quota_exhausted",
      { type: "error", error: { code: "insufficient_quota", message: "m" } },
    ],
    [
      "F154 xAI's text in a 200",
      "overloaded",
      { code: "The service is currently unavailable", error: "Timed out waiting for first token" },
    ],
    ["F157 plain text", "stream_error", "error: CUDA out of memory"],
    // The same numbers mean other things at Zhipu: a filter, and keys.
    [
      "Mistral's limit",
      "rate_limit",
      { object: "error", message: "Rate limit exceeded", type: "rate_limited", param: null, code: "1300" },
    ],
    [
      "Mistral's limit, by its status",
      "rate_limit",
      { object: "error", message: "m", type: "m", param: null, code: "3505", raw_status_code: 429 },
    ],
    [
      "MiniMax's limit",
      "rate_limit",
      { base_resp: { status_code: 1002, status_msg: "rate limit exceeded(RPM)" } },
    ],
    ["MiniMax's time", "timeout", { base_resp: { status_code: 1001, status_msg: "request timeout" } }],
    ["MiniMax's fault", "server_error", { base_resp: { status_code: "1000", status_msg: "unknown error" } }],
    ["Zhipu's filter", "content_filter", { error: { code: "1300", message: "m" } }],
    ["F161", "server_error", { error: { message: "model crashed", type: "server_error" } }],
    ["F162 throttling", "rate_limit", { message: "Too many tokens, please wait" }, "throttlingException"],
    ["F162b unavailable", "server_error", { message: "m" }, "serviceUnavailableException"],
    ["F162c internal", "server_error", { message: "m" }, "internalServerException"],
    ["F162d the model's stream", "server_error", { message: "m" }, "modelStreamErrorException"],
    ["F162e validation", "invalid_request", { message: "m" }, "validationException"],
    [
      "an overflow",
      "context_overflow",
      { message: "Input is too long for requested model." },
      "validationException",
    ],
    [
      "OpenAI's overload, by its code",
      "overloaded",
      {
        error: {
          type: "service_unavailable_error",
          code: "server_is_overloaded",
          message: "Our servers are currently overloaded. Please try again later.",
        },
      },
    ],
    [
      "an overload that only asks to come back later",
      "overloaded",
      { error: { message: "Our servers are currently overloaded. Please try again later." } },
    ],
    [
      "a rate limit that says it is busy too",
      "rate_limit",
      { error: { message: "Rate limit reached: the model is overloaded. Please try again in 2s." } },
    ],
    [
      "OpenAI's policy, by its code",
      "content_filter",
      { code: "cyber_policy", message: "This content was flagged." },
    ],
    [
      "where the data may be",
      "permission",
      { code: "data_residency_mismatch", message: "It does not match." },
    ],
    [
      "OpenAI's policy, in the words of a bad prompt",
      "content_filter",
      {
        error: {
          code: "invalid_prompt",
          message: "Invalid prompt: we've limited access to this content for safety reasons.",
        },
      },
    ],
    ["a prompt that is bad in itself", "invalid_request", { code: "invalid_prompt", message: "m" }],
    ["an image that cannot be read", "invalid_request", { code: "invalid_base64_image", message: "m" }],
    ["an image too small", "invalid_request", { code: "image_too_small", message: "m" }],
    [
      "an image of a kind that is not taken",
      "invalid_request",
      { code: "unsupported_image_media_type", message: "m" },
    ],
    [
      "an image that breaks a policy",
      "content_filter",
      { code: "image_content_policy_violation", message: "m" },
    ],
    ["a model that Bedrock does not have", "invalid_request", { message: "m" }, "resourceNotFoundException"],
    [
      "Google's broken-off work",
      "server_error",
      { error: { code: 499, message: "The operation was cancelled.", status: "CANCELLED" } },
    ],
    ["money, in words alone", "quota_exhausted", { error: "you have reached your weekly usage limit" }],
    [
      "money, of a request that is called a bad one",
      "quota_exhausted",
      {
        type: "error",
        error: { type: "invalid_request_error", message: "Your credit balance is too low to go on." },
      },
    ],
    [
      "a server that failed over its bills",
      "server_error",
      { error: { type: "server_error", message: "The billing service did not answer" } },
    ],
    [
      "Baidu's requests of a second",
      "rate_limit",
      { error_code: 18, error_msg: "Open api qps request limit reached" },
    ],
    [
      "a worker's own count of requests, which is no limit of ours",
      "overloaded",
      { error: { message: "ResourceExhausted: Worker local total request limit reached (7/7)" } },
    ],
    ["nothing known", "stream_error", {}],
  ];
  it.each(frames)("%s is %s", (_title, kind, body, code) => {
    expect(classifyStreamError(body, { code }).kind).toBe(kind);
  });

  it("a provider's own codes override the table", () => {
    expect(
      classifyStreamError({ error: { code: "odd", message: "m" } }, { codes: { odd: "capability" } }).kind,
    ).toBe("capability");
  });
});

describe("what servers say in words only", () => {
  const said = (status: number, body: Json): ErrorKind => classifyHttpError(response(status, body)).kind;

  it.each([
    "length of prompt_tokens (57535) must be less than max_seq_len (32768).",
    "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
    "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough.",
    "Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again.",
    "`inputs` must have less than 4096 tokens. Given: 5000",
    "Prompt 超长",
  ])("a prompt that is too long (F182): %s", (message) => {
    expect(said(400, { error: { message, type: "invalid_request_error" } })).toBe("context_overflow");
    expect(said(400, { object: "error", message, type: "BadRequestError", param: null, code: 400 })).toBe(
      "context_overflow",
    );
  });

  it.each([
    [400, { error: { message: "Content Exists Risk", code: "invalid_request_error" } }, "content_filter"],
    [
      400,
      {
        error: {
          message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
          type: "invalid_request_error",
          code: "invalid_prompt",
        },
      },
      "content_filter",
    ],
    [400, { error: { message: "refused", code: "DataInspectionFailed" } }, "content_filter"],
    [
      400,
      { error: { code: "1301", message: "系统检测到输入或生成内容可能包含不安全或敏感内容" } },
      "content_filter",
    ],
    [403, { code: "INSUFFICIENT_BALANCE", message: "Insufficient account balance" }, "quota_exhausted"],
    [403, { code: 30001, message: "Sorry, your account balance is insufficient" }, "quota_exhausted"],
    [429, { error: { code: "1113", message: "您的账户已欠费，请充值后重试" } }, "quota_exhausted"],
    [
      400,
      {
        error: {
          code: 400,
          message: "Request payload size exceeds the limit: 20971520 bytes.",
          status: "INVALID_ARGUMENT",
        },
      },
      "payload_too_large",
    ],
    [400, { error: { message: "the pattern flagged here is invalid" } }, "invalid_request"],
  ] as const)("%d %j", (status, body, kind) => {
    expect(said(status, body)).toBe(kind);
  });
});

describe("overflow phrases", () => {
  it.each([
    "Rate limit reached: too many tokens per minute",
    "Too many tokens, please wait before trying again.",
    "Tokens per minute limit exceeded - too many tokens processed.",
  ])("are overridden by a rate limit's: %s", (text) => {
    expect(isOverflowText(text)).toBe(false);
  });
});

describe("a limit of a plan is not waited out, whatever the words and the status beside its code", () => {
  it.each([
    "FreeUsageLimitError",
    "subscription_sharing_usage_limit_exceeded",
    "subscription_sharing_workplace_individual_usage_limit_exceeded",
  ])("%s", (code) => {
    const body = { error: { type: code, code, message: "See your plan." } };
    const told = { kind: "quota_exhausted", retryable: false };
    expect(classifyHttpError(response(429, JSON.stringify(body)), { provider: "p" })).toMatchObject(told);
    expect(classifyStreamError(body, { provider: "p" })).toMatchObject(told);
  });
});

// Anthropic: the words of an error can change, its `details.error_code` does not.
describe("Anthropic's error codes count before the types and words beside them", () => {
  it.each([
    [429, "rate_limit_error", "contract_spend_limit_reached", "quota_exhausted", false],
    [429, "rate_limit_error", "enforced_spend_limit_reached", "quota_exhausted", false],
    [429, "rate_limit_error", "ramp_limit_exceeded", "rate_limit", true],
    [402, "billing_error", "linked_organization_spend_limit_reached", "quota_exhausted", false],
    [400, "invalid_request_error", "organization_on_hold", "permission", false],
    [400, "invalid_request_error", "cmek_key_disabled", "permission", false],
    [503, "api_error", "cmek_key_unreachable", "server_error", true],
    [529, "overloaded_error", "compaction_unavailable", "overloaded", true],
    [413, "invalid_request_error", "request_body_too_large_after_decoding", "payload_too_large", false],
    [400, "invalid_request_error", "available_tools_limit_exceeded", "invalid_request", false],
    [400, "invalid_request_error", "a_code_of_tomorrow", "invalid_request", false],
  ])("%i %s, %s: %s", (status, type, error_code, kind, retryable) => {
    const body = { type: "error", error: { type, message: "See the details.", details: { error_code } } };
    expect(anthropicMessages.errorOf(response(status, JSON.stringify(body)))).toMatchObject({
      kind,
      retryable,
    });
    const decoder = anthropicMessages.decoder(
      { origin: { api: "anthropic-messages", provider: "anthropic", model: "claude" }, facts: {} },
      () => {},
    );
    expect(() => decoder.push({ event: "error", data: JSON.stringify(body) })).toThrow(
      expect.objectContaining({ kind, retryable }),
    );
  });

  it("an image whose sides are too long is left out", () => {
    const details = {
      error_code: "image_dimensions_too_large",
      max_side_length_pixels: 8000,
      paths: ["messages.0.content.1"],
    };
    const error = { type: "invalid_request_error", message: "Too long a side.", details };
    expect(anthropicMessages.errorOf(response(400, JSON.stringify({ type: "error", error })))).toMatchObject({
      kind: "invalid_request",
      repair: "files",
    });
  });
});

// What a gateway's guardrail would not let through, and what else gateways tell in a form of their own.

import type { ErrorKind, Json } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { classifyHttpError, classifyStreamError } from "../../src/transport/errors.ts";

const errorOf = (status: number, body: Json) =>
  classifyHttpError({ status, header: () => null, body: JSON.stringify(body) });

describe("what a guardrail stopped is filtered, and not retried", () => {
  const rows: [title: string, status: number, body: Json][] = [
    ["Portkey's status, without its code", 446, { status: "failure", message: "Guardrail checks failed" }],
    [
      "WSO2's",
      446,
      { code: "900514", type: "Status report", message: "Runtime Error", description: "Violation of X" },
    ],
    [
      "Cloudflare's, of the prompt",
      424,
      { success: false, error: [{ code: 2016, message: "Prompt blocked due to security configurations" }] },
    ],
    [
      "Cloudflare's, of the answer",
      400,
      { success: false, error: [{ code: 2017, message: "Response blocked due to security configurations" }] },
    ],
    [
      "LiteLLM's, as a value in place of the message",
      400,
      {
        error: {
          message: { error: "Violated guardrail policy", bedrock_guardrail_response: { outputs: [] } },
          type: "None",
          code: "400",
        },
      },
    ],
    [
      "LiteLLM's, as Python prints it",
      400,
      { error: { message: "{'error': 'Violated guardrail_policy', 'lakera_ai_response': {}}", code: "400" } },
    ],
    [
      "LiteLLM's, as a failure of the server",
      500,
      {
        error: {
          message: "The response was filtered due to Azure OpenAI's content management policy",
          code: "500",
        },
      },
    ],
    ["by its code", 400, { error: { message: "Not allowed here", code: "guardrail_blocked" } }],
    ["Kong's", 400, { error: { message: "bad request: prompt pattern is blocked" } }],
    [
      "in plain words",
      400,
      { error: { message: "Your request was blocked because it violates the content safety policy." } },
    ],
    ["of a moderation", 403, { error: { message: "The request was rejected by content moderation" } }],
    ["API Management's", 403, { statusCode: 403, message: "Request failed content safety check." }],
    [
      "Kong's, of Azure's service",
      400,
      { error: { message: "request failed content safety check: breached category [Hate] at level 2" } },
    ],
    [
      "LiteLLM's, of a service that it asks",
      400,
      { error: { message: { error: "Violated content safety policy", lakera_ai_response: {} } } },
    ],
    [
      "LiteLLM's, of another, as a failure of the server",
      500,
      {
        error: {
          message: "Content blocked by Zscaler AI Guard: {'blockingDetectors': ['toxicity']}",
          type: "None",
          param: "None",
          code: "500",
        },
      },
    ],
    [
      "LiteLLM's own",
      403,
      { error: { message: "{'error': \"Content blocked: keyword 'kumquat' detected\"}", code: "403" } },
    ],
    ["LiteLLM's, of a keyword", 400, { error: { message: "{'error': 'Keyword banned. Keyword=kumquat'}" } }],
    [
      "LiteLLM's, of an injection",
      400,
      { error: { message: "{'error': 'Rejected message. This is a prompt injection attack.'}" } },
    ],
    [
      "Google's, behind a gateway",
      400,
      {
        reason: "MODEL_ARMOR",
        message: "Blocked by Model Armor Floor Setting: The prompt violated X filters.",
        error: true,
      },
    ],
    [
      "Databricks', as JSON in the message",
      400,
      {
        error_code: "BAD_REQUEST",
        message: JSON.stringify({
          usage: { prompt_tokens: 0, total_tokens: 0 },
          input_guardrail: [{ flagged: false, pii_detection: true }],
          finishReason: "input_guardrail_triggered",
        }),
      },
    ],
    ["APISIX's, of toxicity", 400, { message: "request body exceeds toxicity threshold" }],
    ["APISIX's, of a category", 400, { message: "request body exceeds HATE_SPEECH threshold" }],
    ["APISIX's, of a pattern", 400, { message: "Request contains prohibited content" }],
    ["Oracle's", 400, { code: "400", message: "Inappropriate content detected!!!" }],
    [
      "by its code, although the status is a permission's",
      403,
      { error: { message: "No.", code: "guardrail_blocked" } },
    ],
  ];
  it.each(rows)("%s (%d)", (_title, status, body) => {
    expect(errorOf(status, body)).toMatchObject({ kind: "content_filter", retryable: false });
  });

  it("has the reason, if the message is a value", () => {
    const message = {
      interveningGuardrail: "Words",
      action: "GUARDRAIL_INTERVENED",
      actionReason: "A word is barred.",
    };
    expect(errorOf(446, { code: "900514", type: "REGEX_GUARDRAIL", message }).message).toContain(
      "A word is barred.",
    );
  });

  it("is not a filter if it left an endpoint out, or if a network blocks", () => {
    const routes = { error: { message: "No endpoints available matching your guardrail restrictions" } };
    expect(errorOf(404, routes).kind).not.toBe("content_filter");
    const network = { error: { message: "Request blocked by network security rules" } };
    expect(errorOf(403, network).kind).toBe("permission");
  });

  it("is not a filter if the body is too large", () => {
    const size = { message: "Request body exceeds size threshold" };
    expect([errorOf(400, size).kind, errorOf(413, size).kind]).toEqual([
      "payload_too_large",
      "payload_too_large",
    ]);
  });
});

describe("other forms of gateways' errors", () => {
  const rows: [title: string, status: number, body: Json, kind: ErrorKind][] = [
    ["Portkey, of a budget", 412, { error: { message: "Budget exhausted" } }, "quota_exhausted"],
    [
      "SiliconFlow, of a minute",
      403,
      { code: 30011, message: "RPM limit exceeded. Please verify." },
      "rate_limit",
    ],
    [
      "OpenRouter, of a day",
      429,
      { error: { message: "Rate limit exceeded: free-models-per-day", code: 429 } },
      "quota_exhausted",
    ],
  ];
  it.each(rows)("%s (%d)", (_title, status, body, kind) => {
    expect(errorOf(status, body).kind).toBe(kind);
  });

  it("Vercel's gateway, which could not read the refusal it got", () => {
    const refusal = {
      error: {
        message:
          "This model's maximum context length is 40960 tokens. However, you requested 100 output tokens",
      },
    };
    const value = { error_type: "validation_error", error_message: JSON.stringify(refusal) };
    const error = { code: "error", message: "Stream error occurred", name: "AI_TypeValidationError", value };
    expect(classifyStreamError({ error })).toMatchObject({ kind: "context_overflow", contextWindow: 40_960 });
  });

  it("text generation inference, by its status", () => {
    const error = { message: "Request failed during generation", http_status_code: 500 };
    expect(classifyStreamError({ error }).kind).toBe("server_error");
  });
});

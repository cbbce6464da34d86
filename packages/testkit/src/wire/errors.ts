// The room of refusals: what each provider's server says when it does not answer, in its own form and words.

import type { ErrorKind, Json, JsonObject } from "@rondo/core";
import type { StatusOptions, WaitForm } from "./faults.ts";
import { frame, type Protocol, ScriptError, type WireFrame } from "./reply.ts";

export interface Refusal {
  status: number;
  /** The provider's type or code. */
  code: string;
  message: string;
  /** OpenAI: the member of the request that is wrong. */
  param?: string;
}

/** A refusal as a response. */
export interface ErrorResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

type Row = readonly [status: number, code: string, message: string];
type House = "anthropic" | "openai" | "google" | "bedrock";

const houses: { readonly [P in Protocol]: House } = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai",
  "google-generative-ai": "google",
  "bedrock-converse": "bedrock",
};

/** By status: what is said with it where the script does not say. */
const byStatus: { readonly [H in House]: { readonly [status: number]: readonly [string, string] } } = {
  anthropic: {
    400: ["invalid_request_error", "messages: roles must be known"],
    401: ["authentication_error", "invalid x-api-key"],
    403: [
      "permission_error",
      "Your account does not have access to this model. Please contact sales to request access.",
    ],
    404: ["not_found_error", "model: no-such-model"],
    413: ["request_too_large", "Request exceeds the maximum size"],
    429: [
      "rate_limit_error",
      "This request would exceed your organization's rate limit of 50 requests per minute.",
    ],
    500: ["api_error", "Internal server error"],
    503: ["api_error", "Service Unavailable"],
    504: ["timeout_error", "The request timed out"],
    529: ["overloaded_error", "Overloaded"],
  },
  openai: {
    400: ["invalid_request_error", "Invalid request."],
    401: [
      "invalid_api_key",
      "Incorrect API key provided: sk-wr**********0000. You can find your API key at https://platform.openai.com/account/api-keys.",
    ],
    403: ["insufficient_permissions", "You have insufficient permissions for this operation."],
    404: ["model_not_found", "The model `no-such-model` does not exist or you do not have access to it."],
    413: ["request_too_large", "Request body too large."],
    429: [
      "rate_limit_exceeded",
      "Rate limit reached for this model on requests per min (RPM): Limit 3, Used 3, Requested 1.",
    ],
    500: ["server_error", "The server had an error while processing your request. Sorry about that!"],
    503: ["server_is_overloaded", "Our servers are currently overloaded. Please try again later."],
    504: ["", "The request timed out."],
    529: ["server_is_overloaded", "Our servers are currently overloaded. Please try again later."],
  },
  google: {
    400: ["INVALID_ARGUMENT", "Request contains an invalid argument."],
    401: [
      "UNAUTHENTICATED",
      "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    ],
    403: ["PERMISSION_DENIED", "The caller does not have permission"],
    404: [
      "NOT_FOUND",
      "models/no-such-model is not found for API version v1beta, or is not supported for generateContent.",
    ],
    413: ["INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."],
    429: ["RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."],
    500: ["INTERNAL", "An internal error has occurred. Please retry or report."],
    503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
    504: ["DEADLINE_EXCEEDED", "The request timed out. Please try again."],
    529: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
  },
  bedrock: {
    400: ["ValidationException", "The provided request is not valid"],
    401: ["UnrecognizedClientException", "The security token included in the request is invalid."],
    403: ["AccessDeniedException", "You don't have access to the model with the specified model ID."],
    404: ["ResourceNotFoundException", "Could not resolve the foundation model from the model identifier."],
    408: ["ModelTimeoutException", "Model has timed out in processing the request. Try your request again."],
    413: ["ValidationException", "The request payload is too large"],
    424: ["ModelErrorException", "The model returned an error while processing the request."],
    429: ["ThrottlingException", "Too many requests, please wait before trying again."],
    500: ["InternalServerException", "The system encountered an unexpected error during processing."],
    503: ["ServiceUnavailableException", "Bedrock is unable to process your request."],
    504: ["ModelTimeoutException", "Model has timed out in processing the request."],
    529: ["ServiceUnavailableException", "Bedrock is unable to process your request."],
  },
};

/** Failures whose status or code is not that of `byStatus`. The rest share a status: see `statusOf`. */
const byKind: { readonly [H in House]: { readonly [K in ErrorKind]?: Row } } = {
  anthropic: {
    quota_exhausted: [
      400,
      "invalid_request_error",
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
    ],
    context_overflow: [400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"],
    capability: [400, "invalid_request_error", "This model does not support image input."],
    content_filter: [400, "invalid_request_error", "Output blocked by content filtering policy"],
  },
  openai: {
    quota_exhausted: [
      429,
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details.",
    ],
    request_too_large_for_tier: [
      429,
      "rate_limit_exceeded",
      "Request too large for this model on tokens per min (TPM): Limit 30000, Requested 45000.",
    ],
    context_overflow: [
      400,
      "context_length_exceeded",
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
    ],
    capability: [400, "unsupported_value", "This model does not support tools."],
    timeout: [408, "request_timeout", "Request timed out."],
    content_filter: [400, "content_policy_violation", "This request was rejected by our safety system."],
  },
  google: {
    quota_exhausted: [
      429,
      "RESOURCE_EXHAUSTED",
      "You exceeded your current quota: 250 requests per day. Please check your plan and billing details.",
    ],
    auth: [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."],
    context_overflow: [
      400,
      "INVALID_ARGUMENT",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ],
    capability: [400, "INVALID_ARGUMENT", "This model does not support function calling."],
  },
  bedrock: {
    quota_exhausted: [400, "ServiceQuotaExceededException", "Your account's daily quota is used up."],
    auth: [403, "UnrecognizedClientException", "The security token included in the request is invalid."],
    overloaded: [429, "ModelNotReadyException", "Model is not ready for inference. Try again in a moment."],
    context_overflow: [400, "ValidationException", "Input is too long for requested model."],
    capability: [400, "ValidationException", "This model doesn't support tool use."],
    timeout: [
      408,
      "ModelTimeoutException",
      "Model has timed out in processing the request. Try your request again.",
    ],
  },
};

const statusOf: { readonly [K in ErrorKind]?: number } = {
  rate_limit: 429,
  overloaded: 529,
  auth: 401,
  permission: 403,
  invalid_request: 400,
  payload_too_large: 413,
  server_error: 500,
  timeout: 504,
};

/** How a provider says that a call fails so. Throws where it could not: the failure is no server's. */
export function refusalOf(protocol: Protocol, kind: ErrorKind): Refusal {
  const house = houses[protocol];
  const own = byKind[house][kind];
  if (own !== undefined) return { status: own[0], code: own[1], message: own[2] };
  const code = kind === "overloaded" && house !== "anthropic" ? 503 : statusOf[kind];
  if (code === undefined)
    throw new ScriptError(
      `the script fails with \`${kind}\`, which ${protocol}'s server cannot say: use a wire word such as status(), cutAt() or raw()`,
    );
  return refusalWith(protocol, code);
}

/** What a provider says with this status. */
export function refusalWith(protocol: Protocol, status: number): Refusal {
  const known = byStatus[houses[protocol]][status] ?? byStatus[houses[protocol]][status >= 500 ? 500 : 400];
  const [code = "", message = ""] = known ?? [];
  return { status, code, message };
}

/** The provider's error body. */
export function errorBody(protocol: Protocol, refusal: Refusal, details: readonly Json[] = []): JsonObject {
  const { status, code, message } = refusal;
  switch (houses[protocol]) {
    case "anthropic":
      return { type: "error", error: { type: code, message }, request_id: "req_wire" };
    case "openai":
      return {
        error: { message, type: openaiType(refusal), param: refusal.param ?? null, code: code || null },
      };
    case "google": {
      const reasons: Json[] = /API key not valid/.test(message)
        ? [
            {
              "@type": "type.googleapis.com/google.rpc.ErrorInfo",
              reason: "API_KEY_INVALID",
              domain: "googleapis.com",
            },
          ]
        : [];
      const all = [...reasons, ...details];
      return {
        error: { code: status, message, status: code, ...(all.length === 0 ? {} : { details: all }) },
      };
    }
    case "bedrock":
      return { message };
  }
}

function openaiType({ status, code }: Refusal): string {
  if (code === "insufficient_quota") return code;
  if (code === "rate_limit_exceeded") return "requests";
  if (code === "server_is_overloaded") return "service_unavailable_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** A refusal as the provider's response, with the wait it asks for. `now`: milliseconds since the epoch. */
export function errorResponse(
  protocol: Protocol,
  base: Refusal,
  options: StatusOptions,
  now: number,
): ErrorResponse {
  const { retryAfterMs: wait, headers = {}, body } = options;
  const refusal: Refusal = {
    ...base,
    ...(options.code === undefined ? {} : { code: options.code }),
    ...(options.message === undefined ? {} : { message: options.message }),
  };
  const form: WaitForm =
    wait === undefined
      ? "none"
      : (options.form ?? (houses[protocol] === "google" ? "retry_info" : "seconds"));
  if (form === "retry_info" && houses[protocol] !== "google")
    throw new ScriptError(
      `the script tells a wait as retry_info, which is Google's form and not ${protocol}'s`,
    );
  const details: Json[] =
    form === "retry_info"
      ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${(wait ?? 0) / 1000}s` }]
      : [];
  if (form === "words") refusal.message += ` Please try again in ${(wait ?? 0) / 1000}s.`;
  const value = body ?? errorBody(protocol, refusal, details);
  return {
    status: refusal.status,
    headers: {
      "content-type": typeof value === "string" ? "text/plain" : "application/json",
      ...(houses[protocol] === "bedrock" ? { "x-amzn-errortype": refusal.code } : {}),
      ...waitHeaders(protocol, form, wait ?? 0, now),
      ...headers,
    },
    body: typeof value === "string" ? value : JSON.stringify(value),
  };
}

function waitHeaders(protocol: Protocol, form: WaitForm, wait: number, now: number): Record<string, string> {
  switch (form) {
    case "seconds":
      return { "retry-after": String(wait / 1000) };
    case "ms":
      return { "retry-after-ms": String(wait) };
    case "date":
      return { date: new Date(now).toUTCString(), "retry-after": new Date(now + wait).toUTCString() };
    case "resets":
      return houses[protocol] === "anthropic"
        ? {
            date: new Date(now).toUTCString(),
            "anthropic-ratelimit-requests-remaining": "0",
            // The header `date` has whole seconds: the reset is told from there.
            "anthropic-ratelimit-requests-reset": new Date(
              Math.floor(now / 1000) * 1000 + wait,
            ).toISOString(),
          }
        : {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": `${wait}ms`,
          };
    default:
      return {};
  }
}

/** An error inside a stream that had begun with 200. */
export function errorFrames(protocol: Protocol, refusal: Refusal): WireFrame[] {
  const body = errorBody(protocol, refusal);
  switch (protocol) {
    case "anthropic-messages":
      return [frame("error", body)];
    case "openai-responses":
      return [
        frame("error", {
          type: "error",
          code: refusal.code,
          message: refusal.message,
          param: null,
          sequence_number: 9_999,
        }),
      ];
    case "openai-chat":
    case "google-generative-ai":
      return [frame(undefined, body)];
    case "bedrock-converse":
      return [
        {
          event: `${refusal.code.charAt(0).toLowerCase()}${refusal.code.slice(1)}`,
          data: JSON.stringify({ message: refusal.message }),
          exception: true,
        },
      ];
  }
}

// The room of provider errors: one typed error from what a provider said, the same for every provider.
//
// The rule: status and code are read before any message, because messages mislead. "Too many tokens" is a rate limit at one
// provider and a context overflow at another; "250042 tokens" contains a 500. A 429 is never an overflow, and the words of
// a rate limit veto every overflow pattern. Only what neither status nor code decides is decided by the message.

import { type ErrorKind, type Json, RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";
import { refusesFiles } from "../refusals/files.ts";
import { refusedSetting } from "../refusals/settings.ts";
import { familyOf } from "./code-families.ts";
import { type ErrorFacts, readErrorBody } from "./error-body.ts";
import { isFieldCode, isRequestCode, kindOfCode } from "./error-codes.ts";
import { sentence } from "./error-sentence.ts";
import {
  bodyWords,
  brokenWords,
  busyWords,
  callWords,
  capabilityWords,
  failedCallWords,
  fieldWords,
  goneWords,
  keyWords,
  lostFileWords,
  minuteQuotaWords,
  moneyWords,
  otherApiWords,
  overloadWords,
  passingLimitWords,
  pendingFileWords,
  permissionWords,
  planWords,
  rateWords,
  templateWords,
  upstreamWords,
} from "./error-words.ts";
import { filterWords } from "./filter-words.ts";
import { namedWindow } from "./named-window.ts";
import { garbledWords, isBare } from "./on-the-way.ts";
import { fittingOutput, mostOutput, paidOutput } from "./output-limit.ts";
import { isOverflowText, seemsOverflow } from "./overflow-words.ts";
import { retryAfterMs, shouldRetry } from "./retry-after.ts";

/** What the codec, or whoever sent the request, knows besides the response. */
export interface ErrorHints {
  /** The provider's name in messages, e.g. `anthropic` or `groq/llama-3.3`. Default: `the provider`. */
  provider?: string;
  /** Codes or types with a meaning of their own at this provider. They win over the shared table. Lower case. */
  codes?: { readonly [code: string]: ErrorKind };
  /** The request filled more than 90 % of the model's window by our own estimate: decides what an empty 400 or 413 means. */
  nearContextLimit?: boolean;
  /**
   * Milliseconds since the epoch: the time from which waits until a date are computed, if the response has no `Date`
   * header. Default: now.
   */
  now?: number;
}

/**
 * The typed error of a failed HTTP response. For `Codec.errorOf`:
 *
 *     errorOf: (response) => classifyHttpError(response, { provider: "anthropic" })
 *
 * Never throws. `status`, `raw` (the body, cut) and `retryAfterMs` are set where they are known; `x-should-retry`
 * overrides `retryable`.
 */
export function classifyHttpError(response: ErrorResponse, hints: ErrorHints = {}): RondoError {
  const facts = readErrorBody(response.body);
  const amazon = response.header("x-amzn-errortype")?.split(/[:;]/)[0];
  if (amazon) facts.codes.unshift(amazon);
  return errorOf({ status: response.status, header: (name) => response.header(name), facts, hints });
}

/**
 * The typed error for an error inside a successful response: an SSE error frame, a JSON error with status 200,
 * an AWS exception frame (give its type as `code`). `body` is the frame's JSON, or its text.
 * An error that says nothing recognisable becomes `stream_error`, retryable.
 */
export function classifyStreamError(
  body: Json,
  hints: ErrorHints & { code?: string | undefined } = {},
): RondoError {
  const facts = readErrorBody(body);
  if (hints.code) facts.codes.unshift(hints.code);
  return errorOf({ status: undefined, header: () => null, facts, hints });
}

/** The output limit that would have been accepted, for refusals about it. */
const outputLimits: { readonly [kind in ErrorKind]?: (words: string) => number | undefined } = {
  context_overflow: fittingOutput,
  invalid_request: mostOutput,
  quota_exhausted: paidOutput,
};

/** Kinds of errors for which a wait is read: the request may be sent again. */
const waiting: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "rate_limit",
  "overloaded",
  "server_error",
  "timeout",
  "quota_exhausted",
]);

/** How long a file that was just uploaded is waited for: about as often as Google's own examples ask. */
const pendingMs = 5000;

/** All that is known of a failure. */
interface Failure {
  /** The HTTP status; undefined for an error inside a successful response. */
  status: number | undefined;
  header(name: string): string | null;
  facts: ErrorFacts;
  hints: ErrorHints;
}

function errorOf(failure: Failure): RondoError {
  const { header, facts, hints } = failure;
  const status = failure.status ?? facts.status;
  const kind = kindOf(judgedStatus(status, facts), facts, hints);
  const said = shouldRetry(header);
  const body = facts.json ?? (facts.html ? undefined : facts.message);
  const isPending = pendingFileWords.test(facts.message);
  // 409 and 425 are temporary: the same request may succeed a little later.
  const mayPass = status === 409 || status === 425 || isPending || (status === 400 && isBare(facts));
  const retryable = said ?? (mayPass && kind === "invalid_request" ? true : undefined);
  const wait =
    waiting.has(kind) || retryable === true
      ? retryAfterMs({
          header,
          ...(body === undefined ? {} : { body }),
          ...(hints.now === undefined ? {} : { now: hints.now }),
          resets: status === 429,
        })
      : undefined;
  const later = wait ?? (isPending ? pendingMs : undefined);
  const maxOutputTokens = outputLimits[kind]?.(facts.message);
  const contextWindow =
    kind === "context_overflow" ? (facts.window ?? namedWindow(facts.message)) : undefined;
  return new RondoError(kind, sentence(kind, { ...failure, provider: hints.provider }, wait), {
    ...(retryable === undefined ? {} : { retryable }),
    ...(later === undefined ? {} : { retryAfterMs: later }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(status === undefined ? {} : { status }),
    ...(facts.raw === undefined ? {} : { raw: facts.raw }),
  });
}

/** The status to judge by. If the gateway itself failed, or there is no status, the status of the server behind it says more. */
function judgedStatus(status: number | undefined, { upstream }: ErrorFacts): number | undefined {
  // Amazon's 424 stands for a failure of the model's server.
  return status === undefined || status >= 500 || status === 424 ? (upstream ?? status) : status;
}

/** The kind of a failure. The order of the lines matters: the first that knows it decides. */
function kindOf(status: number | undefined, facts: ErrorFacts, hints: ErrorHints): ErrorKind {
  const codes = facts.codes.map((code) => code.toLowerCase());
  for (const code of codes) {
    const own = hints.codes?.[code];
    if (own !== undefined) return own;
  }
  const byCode = codes.map((code) => kindOfCode(code, status)).find((kind) => kind !== undefined);
  const text = wordsOf(facts);

  if (status !== 402 && minuteQuotaWords.test(facts.message)) return "rate_limit";
  // Alibaba's code: the message may also have OpenAI's phrase for an account without money.
  if (codes.some((code) => code.startsWith("throttling."))) return "rate_limit";
  if (byCode === "quota_exhausted" || status === 402) return "quota_exhausted";
  // Portkey's status for a budget that is used up.
  if (status === 412 && (isSpent(text) || /\b(?:budget|limits?|exhausted)\b/i.test(text)))
    return "quota_exhausted";
  if (byCode === "overloaded" && status !== 400) return "overloaded";
  if (status === 429 && byCode === undefined && isBusy(text)) return "overloaded";
  // A plan without the model (Z.ai): waiting does not change it.
  if (status === 429 && byCode === "permission") return byCode;
  if (status === 429 || byCode === "rate_limit") return limitKind(facts, codes);
  // With a 403, or in a stream, the code of a permission says no more than the status would: the words may.
  const isForbidden = status === 403 || (status === undefined && byCode === "permission");
  const saysLess = byCode === "server_error" || (isForbidden && byCode === "permission");
  if (byCode !== undefined && !saysLess) return byCode;
  if (status === 401) return isSpent(text) ? "quota_exhausted" : "auth";
  if (isForbidden) return kindOfForbidden(text, facts, codes);
  if (status === 408) return "timeout";
  // StepFun's status for what its filter found; a page in its place is kept from a country.
  if (status === 451) return facts.html || permissionWords.test(text) ? "permission" : "content_filter";
  // Portkey's and WSO2's status for a request that a guardrail denied.
  if (status === 446) return "content_filter";
  // A filter's refusal that a gateway passes on with a status of its own.
  if (
    (status === 424 || status === 500 || status === 502) &&
    filterWords.test(text) &&
    !upstreamWords.test(text)
  )
    return "content_filter";
  // The server behind it broke off: Google's 499 is not an abort of ours, Amazon's 424 is a failure of the model's server.
  if (status === 499 || status === 424) return "server_error";
  // Anthropic's 529, and Groq's 498 for its flex tier.
  if (status === 529 || status === 498) return "overloaded";
  if (status !== undefined && status >= 500) return kindOfServerFailure(status, byCode, facts, codes);
  if (status === 413 && rateWords.test(text)) return limitKind(facts, codes);
  if (text === "" && facts.json === undefined && (status === 400 || status === 413) && !facts.html) {
    if (hints.nearContextLimit === true) return "context_overflow";
    return status === 413 ? "payload_too_large" : "invalid_request";
  }
  return kindOfWords(status, byCode, facts);
}

/** A quota that Tyk and Higress call forbidden: with a 429 it may as well be one of a minute. */
const forbiddenQuota: RegExp = /\bno quota left\b|^quota exceeded\.?$/i;

/** The kind of a 403: as a rule a permission, but it also stands for keys, limits, money and filters. */
function kindOfForbidden(text: string, facts: ErrorFacts, codes: readonly string[]): ErrorKind {
  // Cloudflare's rate limit, as plain text instead of its HTML page.
  if (/^error code: 1015\b/.test(text)) return "rate_limit";
  if (keyWords.test(text)) return "auth";
  // Before the words about money: a filter's refusal may say "No credits were charged".
  if (filterWords.test(text)) return "content_filter";
  const family = familyIn(facts);
  if (isSpent(text) || forbiddenQuota.test(text) || family === "quota_exhausted") return "quota_exhausted";
  // The account is not at fault, but the request: the file is gone, or not there yet.
  if (lostFileWords.test(text) || pendingFileWords.test(text)) return "invalid_request";
  if (passingLimitWords.test(text) || family === "rate_limit") return limitKind(facts, codes);
  return family === "content_filter" ? family : "permission";
}

/** The kind of a status from 500 on: as a rule the server's failure, but its words may say that the request was at fault. */
function kindOfServerFailure(
  status: number,
  byCode: ErrorKind | undefined,
  facts: ErrorFacts,
  codes: readonly string[],
): ErrorKind {
  const text = wordsOf(facts);
  if (templateWords.test(text)) return "invalid_request";
  if (callWords.test(text) || failedCallWords.test(text)) return "malformed_tool_call";
  // llama.cpp notices only while it runs that a prompt is too long, or that it lacks a feature, and answers 500. Gateways
  // give the refusal of the server behind them a status of their own.
  if (status === 500 || status === 502) {
    if (isOverflowText(text)) return "context_overflow";
    if (codes.some(isFieldCode) || fieldWords.test(text)) return "invalid_request";
  }
  if (planWords.test(text)) return "quota_exhausted";
  if (status === 500 && permissionWords.test(text)) return "permission";
  if (status === 500 && capabilityWords.test(text)) return "capability";
  if (passingLimitWords.test(text)) return limitKind(facts, codes);
  const family = familyIn(facts);
  // The code's words count unless they only say what the status says too.
  if (family !== undefined && !failures.has(family))
    return family === "rate_limit" ? limitKind(facts, codes) : family;
  return status === 503 && (byCode === undefined || isBusy(text)) ? "overloaded" : "server_error";
}

/** Kinds that say no more than the status of a failing server. */
const failures: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["timeout", "overloaded"]);

/** The kind that the codes' words suggest. */
const familyIn = ({ codes }: ErrorFacts): ErrorKind | undefined =>
  codes.map(familyOf).find((kind) => kind !== undefined);

/** Judges by the message: for statuses 400, 404, 413, 422 and the like, and errors without a status. */
function kindOfWords(
  status: number | undefined,
  byCode: ErrorKind | undefined,
  facts: ErrorFacts,
): ErrorKind {
  const text = wordsOf(facts);
  if (keyWords.test(text)) return "auth";
  if (callWords.test(text) || (status === undefined && failedCallWords.test(text)))
    return "malformed_tool_call";
  if (upstreamWords.test(text)) return "server_error";
  if (filterWords.test(text)) return "content_filter";
  // Amazon's API Gateway counts bytes.
  if (status === 413 && /^request too long\.?$/i.test(text.trim())) return "payload_too_large";
  if (status !== 404 && isOverflowText(text) && mostOutput(text) === undefined) return "context_overflow";
  if (capabilityWords.test(text) || otherApiWords.test(text) || goneWords.test(text)) return "capability";
  if (bodyWords.test(text)) return "payload_too_large";
  // Alibaba's words, whatever status comes with them.
  if (/request rate increased too quickly/i.test(text)) return "rate_limit";
  if (permissionWords.test(text)) return "permission";
  if (status !== undefined && status !== 404 && seemsOverflow(text) && !hasOtherReason(text))
    return "context_overflow";
  if (status === 413) return "payload_too_large";
  const family = byCode === undefined ? familyIn(facts) : undefined;
  if (family === "rate_limit") return limitKind(facts, []);
  // LiteLLM checks the budget of a key together with the key; Kimi calls an account without money one without permission.
  const mayBeSpent = family === "auth" || family === "permission";
  if (family !== undefined && !(mayBeSpent && isSpent(text))) return family;
  if (status !== undefined) {
    if (isSpent(text)) return "quota_exhausted";
    if (passingLimitWords.test(text)) return limitKind(facts, []);
    return isBusy(text) ? "overloaded" : unlessBroken(text);
  }
  if (byCode !== undefined) return byCode;
  if (isSpent(text)) return limitKind(facts, []);
  if (facts.codes.some((code) => isRequestCode(code.toLowerCase()))) return unlessBroken(text);
  // "Currently overloaded. Please try again later." is not a rate limit, although it asks to retry.
  if (isBusy(text)) return "overloaded";
  // Nor is an internal error that asks to retry.
  if (rateWords.test(text) && !/\binternal (?:server )?error\b/i.test(text)) return limitKind(facts, []);
  return busyWords.test(`${facts.codes.join(" ")} ${text}`) ? "overloaded" : "stream_error";
}

/**
 * What would otherwise be a bad request may be a gateway's broken connection, or a request damaged on its way, which only the
 * message shows. But a URL in the request that the server could not fetch is the request's fault.
 */
const unlessBroken = (text: string): ErrorKind =>
  garbledWords.test(text) || (brokenWords.test(text) && !refusesFiles(text))
    ? "server_error"
    : "invalid_request";

/** Whether words about too much of something are about the output, a setting, or a connection. */
const hasOtherReason = (text: string): boolean =>
  mostOutput(text) !== undefined || refusedSetting(text) !== undefined || brokenWords.test(text);

/** The message without URLs: a rate limit of a minute may link to the billing page as well. */
const wordsOf = ({ message }: ErrorFacts): string => message.replace(/\bhttps?:\/\/\S+/gi, "");

/** Whether money or a plan is used up. */
const isSpent = (text: string): boolean => moneyWords.test(text) || planWords.test(text);

/** Whether the server is under load, as opposed to a limit of the account. */
function isBusy(text: string): boolean {
  return overloadWords.test(text) && !/rate[ _-]?limit|too many requests|quota/i.test(text);
}

/** The kind of limit that was hit: per minute (wait), per day or money (give up), or one that this request alone exceeds. */
function limitKind(facts: ErrorFacts, codes: readonly string[]): ErrorKind {
  const quotas = quotaIds(facts.json);
  if (quotas.length > 0 && !/limit: 0\b/.test(facts.message))
    return quotas.some((id) => /perday/i.test(id)) ? "quota_exhausted" : "rate_limit";
  if (codes.includes("model_capacity_exhausted")) return "overloaded";
  const text = wordsOf(facts);
  // Google has one status for all limits; the message says which one it was, or that the money is gone.
  if (codes.some((code) => usedUp.has(code)) || /credits are depleted|spending cap/i.test(text))
    return "quota_exhausted";
  // OpenAI frees a daily limit request by request: with ten thousand a day, the next one is available after nine seconds.
  if (/\b[TR]PD\b.*\btry again in \d{1,2}(?:\.\d+)?s\b/i.test(text)) return "rate_limit";
  if (
    /(?:(?:\b|_)per|\/)[ _-]?(?:1 )?(?:day|month|86400s)(?![a-z])|\b[TR]PD\b|\bdaily\b|\btoday's quota\b|limit: 0\b/i.test(
      text,
    )
  )
    return "quota_exhausted";
  const limit = /limit:? (\d+)/i.exec(text)?.[1];
  const requested = /requested:? (\d+)/i.exec(text)?.[1];
  if (/request too large/i.test(text) || (limit && requested && Number(requested) > Number(limit)))
    return "request_too_large_for_tier";
  // Google says "you exceeded your current quota" for a limit per minute too.
  return isSpent(text) && !codes.includes("resource_exhausted") ? "quota_exhausted" : "rate_limit";
}

/** Reasons that Google states beside its one status. */
const usedUp: ReadonlySet<string> = new Set(["quota_exhausted", "insufficient_g1_credits_balance"]);

/** Google's `QuotaFailure` and `ErrorInfo`: which quotas were hit, e.g. `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
function quotaIds(json: Json | undefined, depth = 0): string[] {
  if (typeof json !== "object" || json === null || depth > 6) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    (key === "quotaId" || key === "quota_limit") && typeof value === "string"
      ? [value]
      : quotaIds(value, depth + 1),
  );
}

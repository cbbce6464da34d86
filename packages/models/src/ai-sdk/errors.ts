// The room of errors between the two libraries: what an AI SDK model throws becomes our error, and ours become errors that
// the AI SDK understands.
//
// Both sides recognise errors by structure, not by class, because two copies of a package have two classes. Status and body
// are read like any provider's; the retry flag is followed if it says something that the status does not.

import { causesOf, type ErrorKind, errorWith, type Json, messageOf, RondoError } from "@rondo/core";
import { ownMember } from "@rondo/core/checks";
import { withRepair } from "../codecs/with-repair.ts";
import { classifyHttpError, classifyStreamError } from "../transport/errors.ts";
import { codeOf, networkError } from "../transport/network.ts";
import { asRecord } from "./finish-and-usage.ts";

const byName: { readonly [name: string]: ErrorKind } = {
  AI_LoadAPIKeyError: "auth",
  AI_LoadSettingError: "invalid_request",
  AI_NoSuchModelError: "invalid_request",
  AI_NoSuchProviderReferenceError: "invalid_request",
  AI_InvalidPromptError: "invalid_request",
  AI_InvalidArgumentError: "invalid_request",
  AI_UnsupportedModelVersionError: "invalid_request",
  AI_UnsupportedFunctionalityError: "capability",
  AI_EmptyResponseBodyError: "empty_response",
  AI_NoContentGeneratedError: "empty_response",
  AI_InvalidResponseDataError: "protocol",
  AI_JSONParseError: "protocol",
  AI_TypeValidationError: "protocol",
  TimeoutError: "timeout",
};

/** Our error for whatever an AI SDK model threw, or sent in its stream. */
export function errorFrom(thrown: unknown, id: string, inStream: boolean = false): RondoError {
  const rondo = ownError(thrown);
  if (rondo !== undefined) return rondo;
  const { name, statusCode, isRetryable, responseBody, lastError, url } = asRecord(thrown);
  if (lastError !== undefined) return errorFrom(lastError, id, inStream);
  // An error with a success status comes from a body that broke off: it is not a refusal.
  if (typeof statusCode === "number" && statusCode >= 300) {
    const body = typeof responseBody === "string" && responseBody !== "" ? responseBody : messageOf(thrown);
    const response = { status: statusCode, header: headerOf(thrown), body };
    const error = withRepair(classifyHttpError(response, { provider: id }), response);
    // The SDK's own conclusion from the status adds nothing; a provider that says otherwise does.
    const usual = [408, 409, 429].includes(statusCode) || statusCode >= 500;
    const retryable =
      typeof isRetryable === "boolean" && isRetryable !== usual ? isRetryable : error.retryable;
    return errorWith(error, { retryable, cause: thrown });
  }
  const kind = typeof name === "string" ? ownMember(byName, name) : undefined;
  if (kind !== undefined) return new RondoError(kind, `${id}: ${messageOf(thrown)}`, { cause: thrown });
  if (typeof isRetryable === "boolean" || codeOf(thrown) !== undefined || thrown instanceof TypeError) {
    const error = networkError(thrown, typeof url === "string" ? url : "");
    return errorWith(error, {
      message: `${id}: ${error.message}`,
      ...(typeof isRetryable === "boolean" ? { retryable: isRetryable } : {}),
      cause: thrown,
    });
  }
  if (!inStream) return new RondoError("internal", `${id}: ${messageOf(thrown)}`, { cause: thrown });
  // In a stream, providers pass on the event as it came: an object, or its text.
  const body = thrown instanceof Error ? { message: thrown.message } : (thrown as Json);
  const error = classifyStreamError(body ?? "the stream failed", { provider: id });
  return errorWith(error, { cause: thrown });
}

/** One of our errors that went through the AI SDK and came back. */
const ownError = (thrown: unknown): RondoError | undefined =>
  causesOf(thrown).find((one) => one instanceof RondoError);

function headerOf(thrown: unknown): (name: string) => string | null {
  const headers = asRecord(asRecord(thrown).responseHeaders);
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = lower.get(name);
    return typeof value === "string" ? value : null;
  };
}

/** One of our errors as an AI SDK call error, which it recognises by these symbols: it retries, and waits as long as stated. */
export class CallError extends Error {
  override readonly name: string = "AI_APICallError";
  readonly url: string = "";
  readonly requestBodyValues: unknown = {};
  readonly statusCode: number | undefined;
  readonly responseHeaders: Record<string, string> | undefined;
  readonly responseBody: string | undefined;
  readonly isRetryable: boolean;
  readonly data: unknown;

  constructor(error: RondoError) {
    super(error.message, { cause: error });
    this.statusCode = error.status;
    this.isRetryable = error.retryable;
    if (error.retryAfterMs !== undefined)
      this.responseHeaders = { "retry-after-ms": String(error.retryAfterMs) };
    if (error.raw !== undefined)
      this.responseBody = typeof error.raw === "string" ? error.raw : JSON.stringify(error.raw);
    this.data = error.toJSON();
    for (const marker of ["vercel.ai.error", "vercel.ai.error.AI_APICallError"])
      Object.defineProperty(this, Symbol.for(marker), { value: true });
  }
}

/** What a Rondo model threw, for the AI SDK. An abort is thrown as the signal's own reason. */
export function errorTo(thrown: unknown, signal: AbortSignal | undefined): unknown {
  const error =
    thrown instanceof RondoError ? thrown : new RondoError("internal", messageOf(thrown), { cause: thrown });
  if (signal?.aborted === true) {
    const reason: unknown = signal.reason;
    const known = asRecord(reason).name;
    return known === "AbortError" || known === "TimeoutError"
      ? reason
      : new DOMException("the call was aborted", "AbortError");
  }
  return new CallError(error);
}

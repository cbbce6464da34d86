// The room of Anthropic's errors: its error types, in addition to the classification that all providers share.

import { errorWith, type Json, type RondoError } from "@rondo/core";
import type { ErrorResponse } from "../../codec.ts";
import { classifyHttpError, classifyStreamError, type ErrorHints } from "../../transport/errors.ts";
import { withRepair, withStreamRepair } from "../with-repair.ts";

const hints: ErrorHints = {
  provider: "anthropic",
  codes: {
    overloaded_error: "overloaded",
    timeout_error: "timeout",
    insufficient_balance_error: "quota_exhausted",
  },
};

export function anthropicHttpError(response: ErrorResponse): RondoError {
  return withRepair(refined(classifyHttpError(response, hints)), response);
}

/** A long request that the plan does not cover: no waiting helps, but a shorter request passes. */
function refined(error: RondoError): RondoError {
  const isLong = /extra usage is required for long context/i.test(error.message);
  return isLong ? errorWith(error, { kind: "request_too_large_for_tier", retryable: false }) : error;
}

/** An error inside a stream, or an error body with a success status. */
export function anthropicStreamError(body: Json, provider: string): RondoError {
  return withStreamRepair(refined(classifyStreamError(body, { ...hints, provider })), body);
}

// The room of Anthropic's errors: its error types, on top of the classes every provider shares.

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

/** A long request that the plan does not cover: it never passes, however long one waits, and a shorter one does. */
function refined(error: RondoError): RondoError {
  const isLong = /extra usage is required for long context/i.test(error.message);
  return isLong ? errorWith(error, { kind: "request_too_large_for_tier", retryable: false }) : error;
}

/** An error inside a stream that had begun well, or an error body under a status that said success. */
export function anthropicStreamError(body: Json, provider: string): RondoError {
  return withStreamRepair(refined(classifyStreamError(body, { ...hints, provider })), body);
}

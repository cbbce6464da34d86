// The room of Anthropic's errors: its error types, on top of the classes every provider shares.

import type { Json, RondoError } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";
import { classifyHttpError, classifyStreamError, type ErrorHints } from "../transport/errors.ts";
import { withRepair } from "./with-repair.ts";

const hints: ErrorHints = {
  provider: "anthropic",
  codes: { overloaded_error: "overloaded", timeout_error: "timeout" },
};

export function anthropicHttpError(response: ErrorResponse): RondoError {
  return withRepair(classifyHttpError(response, hints), response);
}

/** An error inside a stream that had begun well, or an error body under a status that said success. */
export function anthropicStreamError(body: Json, provider: string): RondoError {
  return classifyStreamError(body, { ...hints, provider });
}

// The room of Anthropic's errors: its error types, on top of the classes every provider shares.

import { type AssistantMessage, errorWith, type Json, type RondoError, type Usage } from "@rondo/core";
import type { ErrorResponse } from "../codec.ts";
import { classifyHttpError, classifyStreamError, type ErrorHints } from "../transport/errors.ts";
import { withRepair } from "./with-repair.ts";

const hints: ErrorHints = {
  provider: "anthropic",
  codes: { overloaded_error: "overloaded", api_error: "server_error", timeout_error: "timeout" },
};

export function anthropicHttpError(response: ErrorResponse): RondoError {
  return withRepair(classifyHttpError(response, hints), response);
}

/** An error inside a stream that had begun well, or an error body under a status that said success. */
export function anthropicStreamError(body: Json, provider: string): RondoError {
  return classifyStreamError(body, { ...hints, provider });
}

/** An error of a stream, with what had arrived of the answer and what it had cost. */
export function withArrived(
  error: RondoError,
  partial: AssistantMessage | undefined,
  usage: Usage | undefined,
): RondoError {
  const counted = usage === undefined || Object.keys(usage).length === 0 ? undefined : { ...usage };
  return errorWith(error, { partial, usage: counted });
}

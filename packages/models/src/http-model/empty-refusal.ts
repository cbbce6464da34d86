// The room of refusals without a word: a 400 or 413 whose body is empty, or JSON that says nothing.
//
// For a request that nearly fills the window it means that the prompt is too long: some servers say nothing else (F181). For
// any other, Cerebras means a field that it does not take, every time. A gateway that sends a 400 so has failed at something
// else: the same request passes a moment later.

import { errorWith, type ModelFacts, type RondoError } from "@rondo/core";
import type { ErrorResponse, Target } from "../codec.ts";
import { bareAdvice, isSilent } from "../transport/on-the-way.ts";
import { shouldRetry } from "../transport/retry-after.ts";

/** Low, so that an empty refusal is taken for an overflow too rarely rather than too often. */
const charsPerToken = 4;

/** The error of a refusal; of one without a word, what it means. @param chars the length of the request's body */
export function ofEmptyRefusal(
  error: RondoError,
  { header, body }: ErrorResponse,
  chars: number,
  { contextWindow = Number.POSITIVE_INFINITY }: ModelFacts,
  { compat }: Target,
): RondoError {
  if ((error.status !== 400 && error.status !== 413) || !isSilent(body)) return error;
  if (chars / charsPerToken >= contextWindow * 0.9)
    return errorWith(error, { kind: "context_overflow", retryable: false });
  const mayPass = error.status === 400 && compat?.emptyRefusals !== true && shouldRetry(header) !== false;
  if (!mayPass || error.kind !== "invalid_request") return error;
  return errorWith(error, { retryable: true, message: `${error.message} ${bareAdvice}` });
}

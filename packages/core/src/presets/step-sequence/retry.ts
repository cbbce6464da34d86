// The room of the step sequence's retries: its policies by name, and the notice of a retry.
//
// The wait is the first one, doubled each time up to a maximum, or as long as the provider asks for, without a maximum. A
// random share is added to either. Only failures of the server or the network are retried, never an answer.

import type { ErrorData, ErrorKind } from "../../errors.ts";
import type { RondoEvent } from "../../events.ts";
import type { Retry } from "../../rules/retry.ts";

const passing: readonly ErrorKind[] = [
  "rate_limit",
  "overloaded",
  "server_error",
  "timeout",
  "network",
  "stream_idle",
  "stream_truncated",
  "stream_error",
];

function policy(retries: number, baseSeconds: number, capSeconds: number, jitter: number): Retry {
  return {
    attempts: retries + 1,
    baseMs: baseSeconds * 1_000,
    capMs: capSeconds * 1_000,
    jitter,
    longestRetryAfterMs: Number.POSITIVE_INFINITY,
    shortestRetryAfterMs: 0,
    kinds: passing,
  };
}

/** Number of retries, first wait, longest wait, and random share: 5, 1 s, 60 s, 10 %; 10, 0.5 s, 120 s, 20 %; 3, 2 s, 30 s, 10 %; none. */
export const retryPolicies: {
  readonly standard: Retry;
  readonly aggressive: Retry;
  readonly conservative: Retry;
  readonly disabled: null;
} = {
  standard: policy(5, 1, 60, 0.1),
  aggressive: policy(10, 0.5, 120, 0.2),
  conservative: policy(3, 2, 30, 0.1),
  disabled: null,
};

/** A retry, before its wait. */
export interface RetryNotice {
  /** From 1. */
  attempt: number;
  maxRetries: number;
  error: ErrorData;
  /** `Rate limit exceeded`, `Server error (500)`, `Request timeout` or `Network error`. */
  reason: string;
  delaySeconds: number;
  remainingRetries: number;
}

/** The notice in a live event; undefined for any event that is not a retry. */
export function retryNotice(event: RondoEvent): RetryNotice | undefined {
  if (event.type !== "retry") return undefined;
  const { attempt, allowed } = event.evidence;
  if (typeof attempt !== "number" || typeof allowed !== "number") return undefined;
  const maxRetries = allowed - 1;
  const { error, delayMs } = event;
  return {
    attempt,
    maxRetries,
    error,
    reason: reasonOf(error),
    delaySeconds: delayMs / 1_000,
    remainingRetries: maxRetries - attempt,
  };
}

function reasonOf({ kind, status }: ErrorData): string {
  // A gateway's timeout counts as a server error, because the server answered.
  if (kind === "timeout" && status !== undefined && status >= 500) return `Server error (${status})`;
  switch (kind) {
    case "rate_limit":
      return "Rate limit exceeded";
    case "overloaded":
    case "server_error":
      return status === undefined ? "Server error" : `Server error (${status})`;
    case "timeout":
    case "stream_idle":
      return "Request timeout";
    default:
      return "Network error";
  }
}

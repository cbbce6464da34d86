// The room of the step sequence's retries: its policies by name, and what it says of one.
//
// A wait is the first one doubled each time up to a cap, or what the provider asks for, however long; a share is added
// at random to either. Only what the server or the network did is tried again, never what the answer was.

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
    kinds: passing,
  };
}

/** Retries, first wait, longest wait, and the share added at random: 5 from 1 s to 60 s with 10 %; 10 from 0.5 s to 120 s with 20 %; 3 from 2 s to 30 s with 10 %; none. */
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

/** A retry that is about to be waited for. */
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

/** What a live event says of a retry; undefined for any other event. */
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
  // A gateway's time-out is the server's: that one answered.
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

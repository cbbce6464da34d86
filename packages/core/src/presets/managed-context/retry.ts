// The room of the managed retries: two ways to retry a failed model call. Both are off by default.
//
// `by_status` retries the statuses of a list, with doubled waits. `by_kind` retries failures that may pass, waits as the
// provider asks up to a maximum, stays within a period, and ends with an error text of its own.

import { type ChecksOf, finite0, from0, listOf, oneOf, whole } from "../../checks.ts";
import type { ErrorData } from "../../errors.ts";
import { nextModel } from "../../rules/retry.ts";
import type { Judgement, Rule } from "../../rules/rule.ts";
import { failureKind, failureTexts, isPassing } from "./failures.ts";

export interface ManagedRetry {
  /**
   * How failures are selected and waits are computed. Default: `by_status` if any other of these options is given, else
   * nothing is retried.
   */
  llmRetry?: "by_status" | "by_kind";
  /** Retries after the first call. Default: 5 (`by_status`), 2 (`by_kind`). */
  llmMaxRetries?: number;
  /** Default: 1,000 ms. */
  llmRetryBaseDelayMs?: number;
  /** Default: 60,000 ms. */
  llmRetryMaxDelayMs?: number;
  /**
   * `by_status`: statuses that are retried, in addition to rate limits, timeouts and lost connections. Default: 429, 500,
   * 502, 503, 504.
   */
  llmRetryableStatusCodes?: readonly number[];
  /** `by_kind`: the longest wait that a provider may ask for. Default: 60,000 ms. */
  llmMaxRetryAfterMs?: number;
  /** `by_kind`: how long after the first call a wait may end and a call may start. Default: 1,200,000 ms. */
  llmRetryWindowMs?: number;
}

/** The checks of the retry options. */
export const retryChecks: ChecksOf<ManagedRetry> = {
  llmRetry: oneOf("by_status", "by_kind"),
  llmMaxRetries: whole,
  llmRetryBaseDelayMs: finite0,
  llmRetryMaxDelayMs: from0,
  llmRetryableStatusCodes: listOf(whole),
  llmMaxRetryAfterMs: from0,
  llmRetryWindowMs: from0,
};

/** The chosen way; undefined: none. */
export function retryWay(options: ManagedRetry): NonNullable<ManagedRetry["llmRetry"]> | undefined {
  const given = Object.entries(options).some(([name, value]) => isRetryOption(name) && value !== undefined);
  return options.llmRetry ?? (given ? "by_status" : undefined);
}

const isRetryOption = (name: string): boolean => /^llm(MaxRetr|Retry)/.test(name);

/** The rule of the chosen way. */
export function managedRetry(options: ManagedRetry): Rule<number> | undefined {
  const way = retryWay(options);
  if (way === undefined) return undefined;
  return {
    name: "llm_retry",
    version: 1,
    init: () => 0,
    // When the first call of the step was made.
    fold: { model_started: (startedAt, { attempt, at }) => (attempt === 1 ? at : startedAt) },
    judge(startedAt, state): Judgement | undefined {
      const { run } = state;
      const failure = run?.failure;
      if (run === undefined || failure === undefined) return undefined;
      const { error, at, rand } = failure;
      const failed: Failed = { error, attempt: run.failures + 1, rand, elapsedMs: at - startedAt };
      const plan = way === "by_status" ? byStatus(failed, options) : byKind(failed, options);
      const evidence = {
        kind: error.kind,
        failureKind: failureKind(error) ?? "unknown",
        attempts: failed.attempt,
        maxAttempts: plan.maxAttempts,
      };
      if ("waitMs" in plan) {
        const { waitMs, delaySource } = plan;
        const follows = { do: "ask_again" as const, until: at + waitMs };
        return { follows, evidence: { ...evidence, waitMs, delaySource } };
      }
      // If the agent has another model, the agent's own rule decides.
      if (nextModel(state, error) !== undefined) return undefined;
      return { follows: { do: "stop", reason: "error", error: plan.error }, evidence };
    },
  };
}

interface Failed {
  error: ErrorData;
  /** The attempt that failed, from 1. */
  attempt: number;
  rand: number;
  elapsedMs: number;
}

type Plan = { maxAttempts: number } & (
  | { waitMs: number; delaySource: "provider" | "backoff" }
  | { error: ErrorData }
);

function byStatus({ error, attempt, rand }: Failed, options: ManagedRetry): Plan {
  const {
    llmMaxRetries = 5,
    llmRetryBaseDelayMs = 1_000,
    llmRetryMaxDelayMs = 60_000,
    llmRetryableStatusCodes = [429, 500, 502, 503, 504],
  } = options;
  const maxAttempts = llmMaxRetries + 1;
  const kind = failureKind(error);
  const listed = error.status !== undefined && llmRetryableStatusCodes.includes(error.status);
  const retried = kind === "rate_limit" || kind === "timeout" || kind === "network" || listed;
  if (!retried || kind === "hard_quota" || attempt >= maxAttempts) return { maxAttempts, error };
  const delay = Math.min(llmRetryBaseDelayMs * 2 ** (attempt - 1), llmRetryMaxDelayMs);
  // The provider's own wait is ignored here.
  return { maxAttempts, waitMs: Math.round(delay * (1 + rand / 10)), delaySource: "backoff" };
}

const exhausted = " Automatic retry attempts were exhausted.";
const tooLong = " The provider requested a wait longer than Codelia's automatic retry limit.";
const tooLate = " The automatic retry window elapsed before another attempt could start.";

function byKind({ error, attempt, rand, elapsedMs }: Failed, options: ManagedRetry): Plan {
  const {
    llmMaxRetries = 2,
    llmRetryBaseDelayMs = 1_000,
    llmRetryMaxDelayMs = 60_000,
    llmMaxRetryAfterMs = 60_000,
    llmRetryWindowMs = 1_200_000,
  } = options;
  const maxAttempts = llmMaxRetries + 1;
  const kind = failureKind(error);
  // An error without a known kind is passed on unchanged.
  if (kind === undefined) return { maxAttempts, error };
  const { status } = error;
  const ended = (suffix: string): Plan => ({
    maxAttempts,
    error: {
      kind: error.kind,
      message: `${failureTexts[kind]}${suffix}`,
      retryable: false,
      ...(status === undefined ? {} : { status }),
    },
  });
  if (!isPassing(error)) return ended("");
  if (attempt >= maxAttempts) return ended(exhausted);
  if ((error.retryAfterMs ?? 0) > llmMaxRetryAfterMs) return ended(tooLong);
  const backOff = llmRetryBaseDelayMs * 2 ** (attempt - 1) * (0.5 + 0.5 * rand);
  const waitMs = error.retryAfterMs ?? Math.round(Math.min(backOff, llmRetryMaxDelayMs));
  if (elapsedMs + waitMs > llmRetryWindowMs) return ended(tooLate);
  return { maxAttempts, waitMs, delaySource: error.retryAfterMs === undefined ? "backoff" : "provider" };
}

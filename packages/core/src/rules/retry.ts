// The room of retries: what follows if a model call failed.
//
// The same request is sent again, after a wait, as often as allowed; then the next model is asked; then the run ends. The first
// wait is what the provider asks for; a further one has a shortest length that grows, because some providers ask for a moment
// again and again. Without a wish of the provider the waits are our own, doubled each time. A wait is computed
// from the failure's record (its time and its random number), so that a replay computes the same. Nothing is decided by the
// error's text.

import {
  type Check,
  checkGiven,
  count,
  finite0,
  from0,
  listOf,
  membersOf,
  oneOf,
  rising,
} from "../checks.ts";
import { type ErrorData, type ErrorKind, errorKinds } from "../errors.ts";
import { modelInUse, type State, withRun } from "../loop/state.ts";
import type { Judgement, Rule } from "./rule.ts";

export interface Retry {
  /** Attempts at one step, including the first: 1 means no retry. Default: 4. */
  attempts?: number;
  /** The first wait in milliseconds, doubled each time. Default: 500. */
  baseMs?: number;
  /** The longest wait in milliseconds, before the random share, if the provider names none. Default: 30,000, or `baseMs` if that is longer. */
  capMs?: number;
  /** The longest wait in milliseconds that a provider may ask for; if it asks for more, the call has failed for good. Default: 60,000. */
  longestRetryAfterMs?: number;
  /**
   * The shortest second wait in milliseconds where a provider names one, doubled for each further one: the first time it is taken
   * at its word, but many name a moment again and again, until all attempts are used up. Default: `baseMs`. 0: always what it asks for.
   */
  shortestRetryAfterMs?: number;
  /** Jitter: the largest share of a wait that is added to it at random. Default: 0.5; for a wait the provider asks for, 0.1. */
  jitter?: number;
  /** Retry only these kinds of the retryable errors. Default: all of them. */
  kinds?: readonly ErrorKind[];
}

/** Failures of the answer rather than of the server: retried less often. */
export const fewerAttempts: { readonly [kind in ErrorKind]?: number } = {
  malformed_tool_call: 3,
  empty_response: 3,
};

/** Failures that another model would have as well. */
const ofAll: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "aborted",
  "internal",
  "invalid_request",
  "content_filter",
]);

/**
 * Whether another model may do better. What is not found is this model, which its provider may have taken away, or its
 * address; and a refusal that might have passed says nothing against the request.
 */
export const mayFallBack = ({ kind, status, retryable }: Failed): boolean =>
  !ofAll.has(kind) ||
  (kind === "invalid_request" && (status === 404 || status === 410 || retryable === true));

/** What of a failure decides which model is asked next. */
type Failed = Pick<ErrorData, "kind" | "status"> & Partial<Pick<ErrorData, "retryable">>;

/** Checks the options of `retry`. */
export const retryOptions: Check = rising(
  membersOf<Retry>({
    attempts: count,
    baseMs: finite0,
    capMs: from0,
    longestRetryAfterMs: from0,
    shortestRetryAfterMs: finite0,
    jitter: finite0,
    kinds: listOf(oneOf(...errorKinds)),
  }),
  { baseMs: 500, capMs: Number.POSITIVE_INFINITY },
);

/** Retries a failed model call with back-off, then falls back to the next model, then ends the run. */
export function retry(options: Retry = {}): Rule {
  checkGiven(retryOptions, options, "retry");
  const { attempts = 4, baseMs = 500, longestRetryAfterMs = 60_000, jitter, kinds } = options;
  const { capMs = Math.max(baseMs, 30_000), shortestRetryAfterMs = baseMs } = options;
  return {
    name: "retry",
    version: 4,
    judge(_memory, state): Judgement | undefined {
      const { run } = state;
      if (run?.failure === undefined) return undefined;
      const { failure } = run;
      const { error } = failure;
      const attempt = run.failures + 1;
      const allowed = Math.min(attempts, fewerAttempts[error.kind] ?? attempts);
      const evidence = { kind: error.kind, attempt, allowed };
      const tooLong = (error.retryAfterMs ?? 0) > longestRetryAfterMs;
      const mayPass = error.retryable && (kinds === undefined || kinds.includes(error.kind));
      if (mayPass && attempt < allowed && !tooLong) {
        const asked = error.retryAfterMs;
        const doubled = (first: number, times: number): number => Math.min(capMs, first * 2 ** times);
        const shortest = attempt === 1 ? 0 : doubled(shortestRetryAfterMs, attempt - 2);
        const wait = asked === undefined ? doubled(baseMs, attempt - 1) : Math.max(asked, shortest);
        const added = failure.rand * (jitter ?? (asked === undefined ? 0.5 : 0.1));
        const waitMs = Math.round(wait * (1 + added));
        return {
          follows: { do: "ask_again", until: failure.at + waitMs },
          evidence: { ...evidence, waitMs },
        };
      }
      const model = nextModel(state, error);
      if (model !== undefined) return { follows: { do: "ask_again", model }, evidence };
      if (!tooLong) return { follows: { do: "stop", reason: "error", error }, evidence };
      const message = waitsTooLong(error, longestRetryAfterMs);
      return {
        follows: { do: "stop", reason: "error", error: { ...error, message } },
        evidence: { ...evidence, longestRetryAfterMs },
      };
    },
  };
}

/** Falls back to the next model without retrying: for agents without the rule above. */
export function fallback(): Rule {
  return {
    name: "fallback",
    version: 3,
    judge(_memory, state): Judgement | undefined {
      const error = state.run?.failure?.error;
      if (error === undefined) return undefined;
      const model = nextModel(state, error);
      if (model === undefined) return undefined;
      return { follows: { do: "ask_again", model }, evidence: { kind: error.kind } };
    },
  };
}

/** The index of the model to fall back to after a permanent failure; undefined if there is none, or if it would fail as well. */
export function nextModel(state: State, error: Failed): number | undefined {
  if (!mayFallBack(error)) return undefined;
  const { run, options } = withRun(state);
  // If a hook chose the model for the step, the run's own model is asked next.
  if (modelInUse(run) !== run.model) return run.model;
  const { models, fallbacks = models.length - 1 } = options;
  return run.model < fallbacks ? run.model + 1 : undefined;
}

/** The text of a failure whose wait is too long. The length is added only if the error's own text lacks it. */
function waitsTooLong({ message, retryAfterMs = 0 }: ErrorData, longestMs: number): string {
  const asked = `${retryAfterMs / 1000} s`;
  const what = message.includes(` ${asked}`) ? "that" : `the provider asks to wait ${asked}, which`;
  return `${message} (${what} is longer than ${longestMs / 1000} s, the longest that is waited: longestRetryAfterMs of retry)`;
}

// The room of retries: what follows when a model call failed.
//
// The same request again, after a wait, as often as allowed; then the next model; then the end. The wait is decided
// from the failure's own record (its time and its random number), so a replay waits as long. Never on the error's text.

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
import { modelInUse, optionsOf, runOf, type State } from "../loop/state.ts";
import type { Judgement, Rule } from "./rule.ts";

export interface Retry {
  /** Attempts at one step, the first among them: 1 is none again. Default: 4. */
  attempts?: number;
  /** The first wait, doubled each time. Default: 500 ms. */
  baseMs?: number;
  /** The longest wait of our own choosing. Default: 30,000 ms, or `baseMs` where that is longer. */
  capMs?: number;
  /** The longest wait a provider may ask for; a longer one counts as a failure for good. Default: 60,000 ms. */
  longestRetryAfterMs?: number;
  /** The largest share of a wait that is added to it at random. Default: 0.5; of a wait the provider asks for, 0.1. */
  jitter?: number;
  /** Of the failures that may pass, only these are tried again. Default: all. */
  kinds?: readonly ErrorKind[];
}

/** Failures that say more about the answer than about the server: asked again less often. */
export const fewerAttempts: { readonly [kind in ErrorKind]?: number } = {
  malformed_tool_call: 3,
  empty_response: 3,
};

/** Failures that another model would meet just the same. */
export const noFallback: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "aborted",
  "internal",
  "invalid_request",
  "content_filter",
]);

/** What the options of retries must be. */
export const retryOptions: Check = rising(
  membersOf<Retry>({
    attempts: count,
    baseMs: finite0,
    capMs: from0,
    longestRetryAfterMs: from0,
    jitter: finite0,
    kinds: listOf(oneOf(...errorKinds)),
  }),
  { baseMs: 500, capMs: Number.POSITIVE_INFINITY },
);

/** Retries a failed model call with back-off, then falls back to the next model, then ends the run. */
export function retry(options: Retry = {}): Rule {
  checkGiven(retryOptions, options, "retry");
  const { attempts = 4, baseMs = 500, longestRetryAfterMs = 60_000, jitter, kinds } = options;
  const { capMs = Math.max(baseMs, 30_000) } = options;
  return {
    name: "retry",
    version: 1,
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
        const wait = asked ?? Math.min(capMs, baseMs * 2 ** (attempt - 1));
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

/** Falls back to the next model, and tries none again: for agents without the rule above. */
export function fallback(): Rule {
  return {
    name: "fallback",
    version: 1,
    judge(_memory, state): Judgement | undefined {
      const error = state.run?.failure?.error;
      if (error === undefined) return undefined;
      const model = nextModel(state, error);
      if (model === undefined) return undefined;
      return { follows: { do: "ask_again", model }, evidence: { kind: error.kind } };
    },
  };
}

/** The model to fall back to after a failure for good; undefined when there is none, or it would meet the same. */
export function nextModel(state: State, error: Pick<ErrorData, "kind">): number | undefined {
  if (noFallback.has(error.kind)) return undefined;
  const run = runOf(state);
  // One that a hook chose for the step stood in for the run's own.
  if (modelInUse(run) !== run.model) return run.model;
  const { models, fallbacks = models.length - 1 } = optionsOf(state);
  return run.model < fallbacks ? run.model + 1 : undefined;
}

/** The words of a failure whose wait is not waited. Whose own words say how long it is does not hear it twice. */
function waitsTooLong({ message, retryAfterMs = 0 }: ErrorData, longestMs: number): string {
  const asked = `${retryAfterMs / 1000} s`;
  const what = message.includes(` ${asked}`) ? "that" : `the provider asks to wait ${asked}, which`;
  return `${message} (${what} is longer than ${longestMs / 1000} s, the longest that is waited: longestRetryAfterMs of retry)`;
}

// The room of waits: how long a provider asks us to wait, in every form it may use.
//
// The rule: a wait is a positive number of milliseconds, or unknown. Garbage, a negative number, a past date and an absent
// header are all `undefined`, never 0: a 0 would make the client hammer the server.

import { durationMs, number, positive, untilMs } from "./retry-after/duration.ts";
import { waitInBody } from "./retry-after/in-body.ts";
import { resetMs } from "./retry-after/resets.ts";
import type { WaitSource } from "./retry-after/source.ts";

/**
 * The wait that a response asks for, in milliseconds; undefined if there is none that can be understood. Order:
 * `retry-after-ms`, `retry-after` (seconds, a duration, or an HTTP date relative to the response's own clock), a member of
 * the body, its message ("retry in 12.5s"), and last, with `resets`, the reset times of exhausted limits.
 */
export function retryAfterMs(source: WaitSource): number | undefined {
  const now = clockOf(source);
  return (
    firstOf(inMs, source, (value) => positive(number(value))) ??
    firstOf(inSeconds, source, (value) => fromRetryAfter(value, now)) ??
    (source.body === undefined ? undefined : waitInBody(source.body, now)) ??
    (source.resets === true ? resetMs(source, now) : undefined)
  );
}

/** Headers with the wait in milliseconds; the second is Azure's older name. */
const inMs = ["retry-after-ms", "x-ms-retry-after-ms", "x-retry-after-ms"];
/** In seconds, or as a date. LiteLLM passes on its provider's header under a name of its own. */
const inSeconds = [
  "retry-after",
  "x-retry-after",
  "retry-after-seconds",
  "x-ms-retry-after",
  "x-ratelimit-retry-after",
  "x-ratelimit-reset-after",
  "llm_provider-retry-after",
];

/** The wait in the first of these headers that can be understood. */
function firstOf(
  names: readonly string[],
  { header }: WaitSource,
  read: (value: string) => number | undefined,
): number | undefined {
  for (const name of names) {
    const value = header(name);
    const wait = value === null ? undefined : read(value);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** Whether the server itself says that the same request may, or must not, be sent again. */
export function shouldRetry(header: (name: string) => string | null): boolean | undefined {
  const said = header("x-should-retry")?.trim().toLowerCase();
  return said === "true" ? true : said === "false" ? false : undefined;
}

function fromRetryAfter(told: string, now: number): number | undefined {
  // Proxies may quote it, add a comment after it, or send it twice.
  const value = told.replace(/^\s*"(.*)"\s*$/, "$1").replace(/^(\s*[\d.]+)\s*[,;].*$/, "$1");
  // Some send a point in time, in seconds or milliseconds since the epoch.
  const wait = number(value) === undefined ? durationMs(value) : untilMs(value, now);
  if (wait !== undefined) return wait;
  // Date.parse also takes "-5" and "soon 1"; a real HTTP date names a month and has a time.
  const isDate = /[a-z]{3}.*\d:\d\d/i.test(value) || /^\s*\d{4}-\d\d-\d\dT/.test(value);
  // A date without a time zone is UTC, wherever this runs.
  const zoned = /[a-z]\s*$|[+-]\d\d:?\d\d\s*$/i.test(value) ? value : `${value.trim()} GMT`;
  return isDate ? positive(Date.parse(zoned) - now) : undefined;
}

/** The response's own clock, since ours may be wrong by more than the wait. */
function clockOf(source: WaitSource): number {
  const date = Date.parse(source.header("date") ?? "");
  return Number.isNaN(date) ? (source.now ?? Date.now()) : date;
}

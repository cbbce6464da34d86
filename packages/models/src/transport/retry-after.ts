// The room of waits: how long a provider asks us to stay away, in every form they say it.
//
// The rule: a wait is a positive number of milliseconds or it is unknown. Garbage, a negative number, a date gone by
// and an absent header are all `undefined`, never 0: a zero here is a client that hammers.

import type { Json } from "@rondo/core";

export interface WaitSource {
  header(name: string): string | null;
  /** The body's text, or the value parsed from it. */
  body?: Json;
  /** Milliseconds since the epoch, for dates in a response without a `Date` header. Default: now. */
  now?: number;
  /** Read the reset times that rate-limited providers put on every response. Only sensible for a 429. */
  resets?: boolean;
}

/**
 * The wait a response asks for, in milliseconds; undefined where it asks for none that can be understood.
 * Order: `retry-after-ms`, `retry-after` (seconds, a duration, or an HTTP date against the response's own clock),
 * Google's RetryInfo, the words "retry in 12.5s", and last, with `resets`, the reset times of exhausted limits.
 */
export function retryAfterMs(source: WaitSource): number | undefined {
  return (
    positive(number(source.header("retry-after-ms"))) ??
    fromRetryAfter(source.header("retry-after"), clockOf(source)) ??
    (source.body === undefined ? undefined : retryInfoMs(source.body)) ??
    (source.body === undefined ? undefined : waitInWords(source.body)) ??
    (source.resets === true ? resetMs(source) : undefined)
  );
}

/** Whether the server itself says that the same request may, or must not, be sent again. */
export function shouldRetry(header: (name: string) => string | null): boolean | undefined {
  const said = header("x-should-retry")?.trim().toLowerCase();
  return said === "true" ? true : said === "false" ? false : undefined;
}

/** `120ms`, `5s`, `1m30s`, `1h`, `2d`, or a bare number of seconds, in milliseconds. */
function durationMs(text: string): number | undefined {
  const trimmed = text.trim();
  const bare = number(trimmed);
  if (bare !== undefined) return positive(bare * 1000);
  if (trimmed.length > 40 || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)\s*)+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    total += Number(amount) * (unitMs[unit as keyof typeof unitMs] ?? 0);
  return positive(total);
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function fromRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const duration = durationMs(value);
  if (duration !== undefined) return duration;
  // Date.parse also takes "-5" and "soon 1"; a real HTTP date names a month and has a time.
  const isDate = /[a-z]{3}.*\d:\d\d/i.test(value) || /^\s*\d{4}-\d\d-\d\dT/.test(value);
  // Where it names no zone it is Greenwich's, wherever this runs.
  const zoned = /[a-z]\s*$|[+-]\d\d:?\d\d\s*$/i.test(value) ? value : `${value.trim()} GMT`;
  return isDate ? positive(Date.parse(zoned) - now) : undefined;
}

/** The response's own clock, since ours may be wrong by more than the wait. */
function clockOf(source: WaitSource): number {
  const date = Date.parse(source.header("date") ?? "");
  return Number.isNaN(date) ? (source.now ?? Date.now()) : date;
}

/** `{"@type": "…RetryInfo", "retryDelay": "34.4s"}` anywhere in the error's details. */
function retryInfoMs(body: Json, depth = 0): number | undefined {
  if (typeof body !== "object" || body === null || depth > 6) return undefined;
  for (const [key, value] of Object.entries(body)) {
    if (key === "retryDelay" && typeof value === "string") return durationMs(value);
    const found = retryInfoMs(value, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function waitInWords(body: Json): number | undefined {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const words =
    /(?:retry|try again|wait)[^.\d]{0,30}?(?:in|after|for)? ((?:\d+(?:\.\d+)?(?:ms|s|m|h)(?![a-z]) ?)+|\d+(?:\.\d+)? ?(?:milliseconds?|seconds?|minutes?|hours?))/i.exec(
      text.slice(0, 20_000),
    );
  if (words?.[1] === undefined) return undefined;
  return durationMs(
    words[1]
      .toLowerCase()
      .replace(/ ?milliseconds?/, "ms")
      .replace(/ ?(s)econds?| ?(m)inutes?| ?(h)ours?/, "$1$2$3")
      .replaceAll(" ", ""),
  );
}

/**
 * OpenAI's `x-ratelimit-reset-*` (durations) and Anthropic's `anthropic-ratelimit-*-reset` (RFC 3339, or seconds since the
 * epoch for the limit of a subscription). A limit that is
 * known to be exhausted counts first, and of several the longest; else requests go before tokens.
 */
function resetMs(source: WaitSource): number | undefined {
  const now = clockOf(source);
  const limits = resetHeaders.map(([reset, remaining]) => {
    const value = source.header(reset);
    const wait =
      value === null
        ? undefined
        : reset.startsWith("anthropic")
          ? positive((number(value) === undefined ? Date.parse(value) : Number(value) * 1000) - now)
          : durationMs(value);
    const left = source.header(remaining);
    return { wait, exhausted: number(left) === 0 || left === "rejected" };
  });
  const exhausted = limits.flatMap((limit) =>
    limit.exhausted && limit.wait !== undefined ? [limit.wait] : [],
  );
  if (exhausted.length > 0) return Math.max(...exhausted);
  return limits.find((limit) => limit.wait !== undefined)?.wait;
}

const resetHeaders: readonly (readonly [reset: string, remaining: string])[] = [
  ["x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"],
  ["x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"],
  ["anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"],
  ["anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"],
  ["anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"],
  ["anthropic-ratelimit-unified-reset", "anthropic-ratelimit-unified-status"],
  ["anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"],
];

/** A plain decimal number. `Number(null)` and `Number("")` are 0, which is the bug this is here against. */
function number(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function positive(ms: number | undefined): number | undefined {
  return ms !== undefined && Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined;
}

import type { Json } from "@rondo/core";
import { describe, expect, it } from "vitest";
import { retryAfterMs, shouldRetry } from "../../src/transport/retry-after.ts";

const now = Date.parse("2026-10-21T07:28:00Z");

function wait(headers: { [name: string]: string }, body?: Json): number | undefined {
  return retryAfterMs({
    header: (name) => headers[name] ?? null,
    now,
    resets: true,
    ...(body === undefined ? {} : { body }),
  });
}

describe("the retry-after headers", () => {
  it.each([
    ["whole seconds", { "retry-after": "7" }, 7000],
    ["seconds with a fraction", { "retry-after": "1.5" }, 1500],
    ["milliseconds before seconds", { "retry-after-ms": "1500", "retry-after": "30" }, 1500],
    ["seconds where the milliseconds are garbage", { "retry-after-ms": "x", "retry-after": "30" }, 30_000],
    ["Azure's milliseconds", { "x-ms-retry-after-ms": "1500", "retry-after": "30" }, 1500],
    ["an HTTP date", { "retry-after": "Wed, 21 Oct 2026 07:28:05 GMT" }, 5000],
    [
      "an HTTP date against the server's own clock",
      { "retry-after": "Wed, 21 Oct 2026 09:00:05 GMT", date: "Wed, 21 Oct 2026 09:00:00 GMT" },
      5000,
    ],
    ["an HTTP date in its oldest form", { "retry-after": "Wednesday, 21-Oct-26 07:28:05 GMT" }, 5000],
    ["an HTTP date in C's form, which names no zone", { "retry-after": "Wed Oct 21 07:28:05 2026" }, 5000],
    ["a date as a timestamp", { "retry-after": "2026-10-21T07:28:05Z" }, 5000],
    ["a duration", { "retry-after": "1m30s" }, 90_000],
    ["the moment, in seconds", { "retry-after": String(now / 1000 + 5) }, 5000],
    ["the moment, in milliseconds", { "retry-after": String(now + 5000) }, 5000],
    ["a number in quotes", { "retry-after": '"5"' }, 5000],
    ["a number that came twice", { "retry-after": "5, 5" }, 5000],
    ["a number with a comment", { "retry-after": "5;comment=slow" }, 5000],
    ["another name", { "x-retry-after": "5" }, 5000],
    ["another name in milliseconds", { "x-retry-after-ms": "700" }, 700],
    ["the name that says its unit", { "retry-after-seconds": "5" }, 5000],
    ["what a limit's reset is called", { "x-ratelimit-reset-after": "3.5" }, 3500],
    ["what a limit is called", { "x-ratelimit-retry-after": "5" }, 5000],
    ["LiteLLM hands it on", { "llm_provider-retry-after": "5" }, 5000],
    ["LiteLLM hands a limit on", { "llm_provider-x-ratelimit-reset-requests": "1m2s" }, 62_000],
    ["a limit of input", { "x-ratelimit-reset-input-tokens": "10s" }, 10_000],
    ["a limit in other letters", { "x-rate-limit-reset": "12" }, 12_000],
    ["the last of several limits in one field", { ratelimit: '"day";r=900;t=40000, "a, b";r=0;t=4' }, 4000],
    ["the longest of several that are used up", { ratelimit: '"s";r=5;t=2, "m";r=0;t=6, "h";r=0;t=3' }, 6000],
    [
      "a plan that is used up",
      {
        "anthropic-ratelimit-unified-5h-status": "rejected",
        "anthropic-ratelimit-unified-5h-reset": String(now / 1000 + 60),
        "anthropic-ratelimit-unified-7d-status": "allowed",
        "anthropic-ratelimit-unified-7d-reset": String(now / 1000 + 6000),
      },
      60_000,
    ],
    [
      "a limit of Anthropic's priority tier",
      {
        "anthropic-priority-input-tokens-remaining": "0",
        "anthropic-priority-input-tokens-reset": "2026-10-21T07:28:30Z",
      },
      30_000,
    ],
  ])("are understood as %s", (_title, headers, expected) => {
    expect(wait(headers as unknown as { [name: string]: string })).toBe(expected);
  });

  it.each([
    "soon",
    "-5",
    "",
    "0",
    "NaN",
    "Infinity",
    "1e9",
    "soon 1",
    "Wed, 21 Oct 2020 07:28:00 GMT",
    "0.0",
  ])("give no wait, and not zero, with %j", (value) => {
    expect(wait({ "retry-after": value })).toBeUndefined();
    expect(wait({ "retry-after-ms": value })).toBeUndefined();
  });

  it("give no wait with a date without a time zone, wherever this runs", () => {
    const zone = process.env.TZ;
    try {
      for (const TZ of ["America/Los_Angeles", "UTC", "Asia/Shanghai"]) {
        process.env.TZ = TZ;
        for (const moment of ["2026-10-21T07:28:30", "2026-10-21 07:28:30.5", "2026-10-22"]) {
          expect(wait({ "retry-after": moment })).toBeUndefined();
          expect(wait({ "x-ratelimit-reset": moment, "x-ratelimit-remaining": "0" })).toBeUndefined();
          expect(wait({}, { error: { resets_at: moment } })).toBeUndefined();
        }
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it("give no wait with a past date", () => {
    expect(wait({ "retry-after": String(now / 1000 - 5) })).toBeUndefined();
  });

  it("give no wait if they are absent", () => {
    expect(wait({})).toBeUndefined();
  });
});

describe("the wait in a body", () => {
  it.each<[string, Json, number | undefined]>([
    ["Google's RetryInfo", { error: { details: [{ "@type": "x.RetryInfo", retryDelay: "34.4s" }] } }, 34_400],
    [
      "the same as gRPC has it",
      { error: { details: [{ retryDelay: { seconds: "3", nanos: 500_000_000 } }] } },
      3_500,
    ],
    ["a header that a gateway quotes", { error: { message: "Rate limited. Retry-After: 5" } }, 5000],
    ["a date behind such a word", { error: { message: "Retry after 2020-01-01" } }, undefined],
    ["Chinese seconds", { error: { message: "请求过于频繁，请 5 秒后再试" } }, 5000],
    ["Chinese minutes", { error: { message: "请在2分钟后重试" } }, 120_000],
    ["retry in", { error: { message: "Please retry in 12.5s." } }, 12_500],
    ["try again in", "Please try again in 4.77s. Visit", 4770],
    ["minutes and seconds", "Please try again in 7m12.5s.", 432_500],
    ["milliseconds", "Please try again in 850ms.", 850],
    ["seconds in full", "Please wait 20 seconds and try again", 20_000],
    ["a minute in full", "try again after 1 minute", 60_000],
    ["a minute and seconds in full", "Try again in 1 minute and 30 seconds.", 90_000],
    ["short names of units", "Weekly usage limit reached. Resets in 6hr 29min.", 23_340_000],
    ["an unsure plural", "Please retry after 20 second(s).", 20_000],
    ["days", "Your limit resets in 2 days.", 172_800_000],
    ["a quota that resets", "Your quota will reset after 18h31m10s.", 66_670_000],
    ["a date", "It will reset at 2026-10-21 15:28:05 +0800 CST.", 5000],
    ["a timestamp", "Rate limit exceeded, retry after 2026-10-21T07:28:05Z", 5000],
    ["a date that names no zone", "Your limit will reset at 2026-10-21 15:28:05", undefined],
    ["a date gone by", "Resets at 2026-10-21T07:27:05Z", undefined],
    ["Code Assist's metadata", { error: { details: [{ metadata: { quotaResetDelay: "3.95s" } }] } }, 3950],
    ["seconds of a gateway", { error: { message: "slow down", retry_after: 12 } }, 12_000],
    ["seconds as a text", { retryAfter: "12" }, 12_000],
    ["milliseconds of a gateway", { error: { retry_after_ms: 1500 } }, 1500],
    ["seconds of a plan", { error: { resets_in_seconds: 30, resets_at: 1_792_567_700 } }, 30_000],
    [
      "the moment a plan starts anew",
      { error: { resets_at: Date.parse("2026-10-21T07:28:30Z") / 1000 } },
      30_000,
    ],
    ["seconds under another name", { error: { retryAfterSeconds: 4, wait_seconds: 9 } }, 4000],
    ["seconds to a reset", { error: { reset_in_seconds: 4 } }, 4000],
    ["the moment of a reset", { error: { resetAt: "2026-10-21T07:28:30Z" } }, 30_000],
    ["about so many", { error: { message: "try again in ~20s" } }, 20_000],
    ["again available", { error: { message: "The model is available again in 20 seconds" } }, 20_000],
    ["how long a model loads", { error: "Model m is currently loading", estimated_time: 20.5 }, 20_500],
    [
      "nothing in a member",
      {
        error: { retry_after: null, retryAfter: 0, retry_after_ms: "soon", wait_ms: true, wait_seconds: [5] },
      },
      undefined,
    ],
    ["no number", "Please try again later", undefined],
    ["a number that is no wait", "Limit 6000, Requested 3s", undefined],
    ["an address", "retry in v2.0.1", undefined],
  ])("%s", (_title, body, expected) => {
    expect(wait({}, body)).toBe(expected);
  });
});

describe("the reset headers", () => {
  it.each<[string, { [name: string]: string }, number | undefined]>([
    ["milliseconds", { "x-ratelimit-reset-requests": "120ms" }, 120],
    ["seconds", { "x-ratelimit-reset-requests": "5s" }, 5000],
    ["minutes", { "x-ratelimit-reset-requests": "2m" }, 120_000],
    ["hours", { "x-ratelimit-reset-requests": "1h" }, 3_600_000],
    ["mixed", { "x-ratelimit-reset-requests": "1m30s" }, 90_000],
    ["bare seconds", { "x-ratelimit-reset-requests": "30" }, 30_000],
    [
      "requests before tokens",
      { "x-ratelimit-reset-tokens": "1s", "x-ratelimit-reset-requests": "2s" },
      2000,
    ],
    [
      "what is exhausted before what is not",
      {
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-requests": "10",
        "x-ratelimit-reset-tokens": "9s",
        "x-ratelimit-remaining-tokens": "0",
      },
      9000,
    ],
    [
      "the longest of those that are exhausted",
      {
        "x-ratelimit-reset-requests": "9s",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-tokens": "2s",
        "x-ratelimit-remaining-tokens": "0",
      },
      9000,
    ],
    ["Anthropic's date", { "anthropic-ratelimit-tokens-reset": "2026-10-21T07:28:20Z" }, 20_000],
    ["a date gone by", { "anthropic-ratelimit-tokens-reset": "2026-10-21T07:27:20Z" }, undefined],
    ["garbage", { "x-ratelimit-reset-requests": "later" }, undefined],
    [
      "Cerebras's, which counts below zero",
      {
        "x-ratelimit-remaining-tokens-minute": "-300",
        "x-ratelimit-reset-tokens-minute": "11.382867",
        "x-ratelimit-remaining-requests-day": "14000",
        "x-ratelimit-reset-requests-day": "33011.38",
      },
      11_383,
    ],
    ["Mistral's", { "ratelimitbysize-remaining": "0", "ratelimitbysize-reset": "35" }, 35_000],
    [
      "seconds of a limit without a name",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "12" },
      12_000,
    ],
    ["seconds since the epoch", { "x-ratelimit-reset": String(now / 1000 + 30) }, 30_000],
    ["milliseconds since the epoch", { "x-ratelimit-reset": String(now + 30_000) }, 30_000],
    [
      "a limit without a name of which something is left",
      { "x-ratelimit-remaining": "9", "x-ratelimit-reset": "12" },
      undefined,
    ],
    ["the older field of a draft", { "ratelimit-remaining": "0", "ratelimit-reset": "17" }, 17_000],
    ["the newer field of a draft", { ratelimit: '"default";r=0;t=17' }, 17_000],
    ["one field for all", { ratelimit: "limit=100, remaining=0, reset=17" }, 17_000],
    ["one field of a limit that is not reached", { ratelimit: '"default";r=9;t=17' }, undefined],
  ])("%s", (_title, headers, expected) => {
    expect(wait(headers)).toBe(expected);
  });

  it("are read from the body, where OpenRouter puts them", () => {
    const headers = {
      "X-RateLimit-Limit": "20",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(now + 30_000),
    };
    expect(wait({}, { error: { message: "Rate limit exceeded", code: 429, metadata: { headers } } })).toBe(
      30_000,
    );
  });

  it("come after the retry-after header, and count only for a rate limit", () => {
    const headers: { [name: string]: string } = { "x-ratelimit-reset-requests": "2s" };
    expect(wait({ ...headers, "retry-after": "1" })).toBe(1000);
    expect(retryAfterMs({ header: (name) => headers[name] ?? null })).toBeUndefined();
  });
});

it("x-should-retry is read in upper and lower case, and other values are ignored", () => {
  expect(["true", "FALSE", "maybe", null].map((value) => shouldRetry(() => value))).toEqual([
    true,
    false,
    undefined,
    undefined,
  ]);
});

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
  ])("say nothing, and not zero, with %j", (value) => {
    expect(wait({ "retry-after": value })).toBeUndefined();
    expect(wait({ "retry-after-ms": value })).toBeUndefined();
  });

  it("say nothing when they are absent", () => {
    expect(wait({})).toBeUndefined();
  });
});

describe("the wait in a body", () => {
  it.each<[string, Json, number | undefined]>([
    ["Google's RetryInfo", { error: { details: [{ "@type": "x.RetryInfo", retryDelay: "34.4s" }] } }, 34_400],
    ["retry in", { error: { message: "Please retry in 12.5s." } }, 12_500],
    ["try again in", "Please try again in 4.77s. Visit", 4770],
    ["minutes and seconds", "Please try again in 7m12.5s.", 432_500],
    ["milliseconds", "Please try again in 850ms.", 850],
    ["seconds in full", "Please wait 20 seconds and try again", 20_000],
    ["a minute in full", "try again after 1 minute", 60_000],
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
    ["Anthropic's date", { "anthropic-ratelimit-tokens-reset": "2026-10-21T07:28:20Z" }, 20_000],
    ["a date gone by", { "anthropic-ratelimit-tokens-reset": "2026-10-21T07:27:20Z" }, undefined],
    ["garbage", { "x-ratelimit-reset-requests": "later" }, undefined],
  ])("%s", (_title, headers, expected) => {
    expect(wait(headers)).toBe(expected);
  });

  it("come after the retry-after header, and count only for a rate limit", () => {
    const headers: { [name: string]: string } = { "x-ratelimit-reset-requests": "2s" };
    expect(wait({ ...headers, "retry-after": "1" })).toBe(1000);
    expect(retryAfterMs({ header: (name) => headers[name] ?? null })).toBeUndefined();
  });
});

it("x-should-retry is read in either case, and nothing else means anything", () => {
  expect(["true", "FALSE", "maybe", null].map((value) => shouldRetry(() => value))).toEqual([
    true,
    false,
    undefined,
    undefined,
  ]);
});

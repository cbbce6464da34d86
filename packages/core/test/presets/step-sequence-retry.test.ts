// The step sequence's retries: how long is waited, for what, and what a watcher is told.

import { Agent, type ErrorKind } from "@rondo/core";
import { type RetryNotice, retryNotice, retryPolicies, stepSequence } from "@rondo/core/presets";
import { type FailOptions, fail, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { jumpingClock } from "../support.ts";

type RetryName = keyof typeof retryPolicies;

async function waits(
  kind: ErrorKind,
  options: FailOptions = {},
  retry: RetryName = "standard",
  chance = 0,
): Promise<{ waits: number[]; calls: number; notices: RetryNotice[]; thrown: unknown }> {
  const clock = jumpingClock(chance);
  const model = scripted([fail(kind, options)], { repeatLast: true });
  const notices: RetryNotice[] = [];
  const thrown = await new Agent({ ...stepSequence({ model, retry }), clock })
    .run("go", {
      onEvent: (event) => {
        const notice = retryNotice(event);
        if (notice !== undefined) notices.push(notice);
      },
    })
    .catch((error: unknown) => error);
  return { waits: clock.waits, calls: model.calls, notices, thrown };
}

const seconds = (...list: number[]): number[] => list.map((one) => one * 1_000);

describe("the policies", () => {
  test.each<[RetryName, number[], number]>([
    ["standard", seconds(1, 2, 4, 8, 16), 0.1],
    ["aggressive", seconds(0.5, 1, 2, 4, 8, 16, 32, 64, 120, 120), 0.2],
    ["conservative", seconds(2, 4, 8), 0.1],
    ["disabled", [], 0],
  ])("B8.48 %s waits so long and adds so much at most", async (name, expected, jitter) => {
    const bare = await waits("overloaded", {}, name, 0);
    expect([bare.waits, bare.calls]).toEqual([expected, expected.length + 1]);
    expect(bare.thrown).toMatchObject({ code: "llmError" });
    const most = await waits("overloaded", {}, name, 0.5);
    expect(most.waits).toEqual(expected.map((ms) => Math.round(ms * (1 + jitter / 2))));
  });

  test("B8.48 is capped; a provider's wait replaces it, with a random share, and is not capped", async () => {
    const long = scripted([fail("overloaded")], { repeatLast: true });
    const clock = jumpingClock(0);
    const retry = { ...retryPolicies.standard, attempts: 9 };
    await new Agent({ ...stepSequence({ model: long, retry }), clock }).run("go").catch(() => {});
    expect(clock.waits).toEqual(seconds(1, 2, 4, 8, 16, 32, 60, 60));
    const careful = jumpingClock(0);
    const more = { ...retryPolicies.conservative, attempts: 7 };
    const again = scripted([fail("overloaded")], { repeatLast: true });
    await new Agent({ ...stepSequence({ model: again, retry: more }), clock: careful })
      .run("go")
      .catch(() => {});
    expect(careful.waits).toEqual(seconds(2, 4, 8, 16, 30, 30));
    const asked = await waits("rate_limit", { retryAfterMs: 90_000 }, "conservative", 0.5);
    expect(asked.waits).toEqual([94_500, 94_500, 94_500]);
    const short = await waits("rate_limit", { retryAfterMs: 20 }, "conservative", 0.5);
    expect(short.waits).toEqual([21, 21, 21]);
  });

  test("B8.48 does not affect the default of an agent that is no step sequence", async () => {
    const clock = jumpingClock(0.5);
    const model = scripted([fail("overloaded")], { repeatLast: true });
    await new Agent({ model, clock }).run("go");
    expect(clock.waits).toEqual([625, 1_250, 2_500]);
  });
});

describe("a failure", () => {
  test.each<[ErrorKind, FailOptions]>([
    ["rate_limit", { status: 429 }],
    ["server_error", { status: 500 }],
    ["server_error", { status: 599 }],
    ["overloaded", { status: 529 }],
    ["timeout", {}],
    ["network", {}],
  ])("B8.49 of the kind %s %j is tried again", async (kind, options) => {
    const model = scripted([fail(kind, options), say("there")]);
    const { text } = await new Agent({ ...stepSequence({ model }), clock: jumpingClock(0) }).run("go");
    expect([text, model.calls]).toEqual(["there", 2]);
  });

  test.each<[ErrorKind, FailOptions]>([
    ["auth", { status: 401 }],
    ["invalid_request", { status: 400 }],
    ["invalid_request", { status: 404 }],
    ["invalid_request", { status: 400, repair: "settings.maxOutputTokens" }],
    ["context_overflow", { status: 400, maxOutputTokens: 100 }],
    ["empty_response", {}],
    ["protocol", {}],
    ["malformed_tool_call", {}],
    ["content_filter", {}],
    ["capability", {}],
  ])("B8.49 of the kind %s %j is not", async (kind, options) => {
    expect((await waits(kind, options)).calls).toBe(1);
  });
});

describe("the notice of a retry", () => {
  test("B8.50 counts attempts and the remaining ones, and has the error and the wait", async () => {
    const { notices } = await waits("rate_limit", { status: 429, message: "slow down" }, "conservative");
    const error = { kind: "rate_limit", message: "slow down", status: 429 };
    expect(notices).toMatchObject([
      { attempt: 1, maxRetries: 3, error, delaySeconds: 2, remainingRetries: 2 },
      { attempt: 2, maxRetries: 3, error, delaySeconds: 4, remainingRetries: 1 },
      { attempt: 3, maxRetries: 3, error, delaySeconds: 8, remainingRetries: 0 },
    ]);
  });

  test.each<[ErrorKind, number | undefined, string]>([
    ["rate_limit", 429, "Rate limit exceeded"],
    ["server_error", 500, "Server error (500)"],
    ["overloaded", 529, "Server error (529)"],
    ["timeout", 504, "Server error (504)"],
    ["timeout", 408, "Request timeout"],
    ["timeout", undefined, "Request timeout"],
    ["network", undefined, "Network error"],
  ])("B8.50 says of %s %s: %s", async (kind, status, reason) => {
    const { notices } = await waits(kind, status === undefined ? {} : { status }, "conservative");
    expect(notices[0]?.reason).toBe(reason);
  });
});

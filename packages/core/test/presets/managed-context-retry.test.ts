// The managed retries: which failures are asked again, how long is waited, and what is said at the end.

import { type Clock, type ErrorKind, type Model, RondoError, type RondoErrorOptions } from "@rondo/core";
import { failureKind, type ManagedRetry } from "@rondo/core/presets";
import { fail, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { only, play } from "./managed-support.ts";

/** Time passes only when somebody waits; chance is fixed. */
function jumping(random: number): Clock {
  let time = 1_000;
  return {
    now: () => time,
    random: () => random,
    after(ms, then) {
      const timer = setImmediate(() => {
        time += ms;
        then();
      });
      return () => clearImmediate(timer);
    },
  };
}

interface Played {
  delays: number[];
  calls: number;
  failure?: { kind: ErrorKind; message: string; retryable: boolean; status?: number };
  evidence?: Record<string, unknown>;
}

async function run(script: readonly Turn[], retry: ManagedRetry, random = 0): Promise<Played> {
  const model = scripted(script, { repeatLast: true });
  let evidence: Record<string, unknown> | undefined;
  const { events, failure } = await play(
    { model, ...retry },
    {
      agent: { clock: jumping(random) },
      run: {
        onEvent: (event) => {
          if (event.type === "run_end") evidence = event.end.evidence;
        },
      },
    },
  );
  return {
    delays: only(events, "llm.retry").map((event) => event.delay_ms),
    calls: model.calls,
    ...(failure === undefined ? {} : { failure: failure as never }),
    ...(evidence === undefined ? {} : { evidence }),
  };
}

const again = (kind: ErrorKind, options: RondoErrorOptions = {}): Turn => fail(kind, options as never);
const rateLimit = again("rate_limit", { status: 429 });

describe("without options for retries", () => {
  test("D7.33 nothing is retried by the loop: a failure ends the run unchanged", async () => {
    for (const turn of [rateLimit, again("server_error", { status: 503 }), again("network")]) {
      const { calls, delays, failure } = await run([turn], {});
      expect([calls, delays]).toEqual([1, []]);
      expect(failure?.message).toContain("the script fails this call");
    }
  });
});

describe("by status", () => {
  test("D1.2 D7.33 the planned defaults: 5 retries from 1 s, doubled up to 60 s, on 429, 500, 502, 503 and 504", async () => {
    const { delays, calls, failure } = await run([rateLimit], { llmRetry: "by_status" });
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    expect([calls, failure?.kind, failure?.status]).toEqual([6, "rate_limit", 429]);
    for (const status of [500, 502, 503, 504]) {
      const server = again(status === 503 ? "overloaded" : "server_error", { status });
      expect((await run([server, say("done")], { llmRetry: "by_status" })).calls).toBe(2);
    }
    const many = await run([rateLimit], { llmMaxRetries: 9 });
    expect(many.delays.slice(5)).toEqual([32_000, 60_000, 60_000, 60_000]);
  });

  test("D7.34 each option has an effect, and any one of them turns retries on", async () => {
    const given = { llmMaxRetries: 3, llmRetryBaseDelayMs: 10, llmRetryMaxDelayMs: 25 };
    expect((await run([rateLimit], given)).delays).toEqual([10, 20, 25]);
    expect((await run([rateLimit, say("done")], { llmRetryBaseDelayMs: 7 })).delays).toEqual([7]);
    const teapot = again("server_error", { status: 418 });
    expect((await run([teapot], { llmMaxRetries: 3 })).calls).toBe(1);
    expect((await run([teapot, say("done")], { llmRetryableStatusCodes: [418] })).calls).toBe(2);
    // A rate limit is retried whatever the list says.
    expect((await run([rateLimit, say("done")], { llmRetryableStatusCodes: [] })).calls).toBe(2);
  });

  test("D7.34 waits have a random share of up to a tenth", async () => {
    expect((await run([rateLimit], { llmMaxRetries: 2 }, 0.5)).delays).toEqual([1_050, 2_100]);
    expect((await run([rateLimit], { llmMaxRetries: 1 }, 0.999)).delays).toEqual([1_100]);
  });

  test("D7.34 timeouts and lost connections are retried, also those of foreign errors; others are not", async () => {
    for (const turn of [again("timeout"), again("network"), again("stream_truncated")])
      expect((await run([turn, say("done")], { llmRetry: "by_status" })).calls).toBe(2);
    for (const message of ["Request timed out", "connection refused"])
      expect((await run([strange(new Error(message)), say("x")], { llmRetry: "by_status" })).calls).toBe(2);
    for (const turn of [strange(new Error("odd")), again("auth", { status: 401 })])
      expect((await run([turn], { llmRetry: "by_status" })).calls).toBe(1);
  });
});

/** A call that throws something of its own. */
const strange = (thrown: unknown): Turn => ({ act: "throw", thrown, sync: false });

describe("by kind", () => {
  const byKind = { llmRetry: "by_kind" } as const;

  test("D1.2 D7.35 the later defaults: 2 retries from 1 s up to 60 s, half of each wait random", async () => {
    expect((await run([rateLimit], byKind, 0)).delays).toEqual([500, 1_000]);
    expect((await run([rateLimit], byKind, 0.5)).delays).toEqual([750, 1_500]);
    const many = { ...byKind, llmMaxRetries: 8 };
    expect((await run([rateLimit], many, 0.999999)).delays).toEqual([
      ...[1_000, 2_000, 4_000, 8_000, 16_000, 32_000],
      ...[60_000, 60_000],
    ]);
  });

  test("D7.35 the provider's wait is used unchanged; a longer one than the limit ends the run", async () => {
    const asks = (retryAfterMs: number): Turn => again("rate_limit", { status: 429, retryAfterMs });
    expect((await run([asks(59_999), say("done")], byKind, 0.7)).delays).toEqual([59_999]);
    expect((await run([asks(60_000), say("done")], byKind)).delays).toEqual([60_000]);
    const { calls, failure } = await run([asks(60_001)], byKind);
    expect([calls, failure?.kind, failure?.retryable]).toEqual([1, "rate_limit", false]);
    expect(
      failure?.message.endsWith(
        " The provider requested a wait longer than Codelia's automatic retry limit.",
      ),
    ).toBe(true);
    expect((await run([asks(50), say("x")], { ...byKind, llmMaxRetryAfterMs: 40 })).calls).toBe(1);
  });

  test("D7.35 at the end the kind is kept, the error is not retryable, and the count is in the evidence", async () => {
    const { failure, evidence } = await run([again("server_error", { status: 500 })], byKind);
    expect(failure).toMatchObject({ kind: "server_error", status: 500, retryable: false });
    expect(failure?.message.endsWith(" Automatic retry attempts were exhausted.")).toBe(true);
    expect(evidence).toMatchObject({ attempts: 3, maxAttempts: 3, failureKind: "provider" });
  });

  test("D7.35 no wait ends and no attempt starts after the window, while a call may take as long as it likes", async () => {
    const hint = again("overloaded", { status: 529, retryAfterMs: 50_000 });
    const window = { ...byKind, llmMaxRetries: 9, llmRetryWindowMs: 120_000 };
    const { delays, failure } = await run([hint], window);
    expect(delays).toEqual([50_000, 50_000]);
    expect(
      failure?.message.endsWith(" The automatic retry window elapsed before another attempt could start."),
    ).toBe(true);
    // The default is 20 minutes: 20 waits of a minute fit, and no more.
    const minute = again("overloaded", { status: 529, retryAfterMs: 60_000 });
    expect((await run([minute], { ...byKind, llmMaxRetries: 99 })).delays).toHaveLength(20);
    const twenty = Array.from({ length: 20 }, () => minute);
    const moment = again("overloaded", { status: 529, retryAfterMs: 1 });
    expect((await run([...twenty, moment, say("x")], { ...byKind, llmMaxRetries: 99 })).calls).toBe(21);
  });

  test("D7.35 what may pass is retried, what cannot is not, and each kind has its text", async () => {
    const kinds: [ErrorKind, RondoErrorOptions, string, number][] = [
      ["rate_limit", {}, "rate_limit", 2],
      ["overloaded", {}, "overloaded", 2],
      ["timeout", {}, "timeout", 2],
      ["stream_idle", {}, "timeout", 2],
      ["network", {}, "network", 2],
      ["server_error", { status: 500 }, "provider", 2],
      ["invalid_request", { status: 409 }, "provider", 2],
      ["quota_exhausted", { status: 429 }, "hard_quota", 1],
      ["auth", { status: 401 }, "auth", 1],
      ["permission", { status: 403 }, "permission", 1],
      ["invalid_request", { status: 400 }, "validation", 1],
      ["context_overflow", { status: 400 }, "validation", 1],
      ["server_error", { status: 418 }, "provider", 1],
    ];
    for (const [kind, options, word, calls] of kinds) {
      const played = await run([again(kind, options), say("done")], byKind);
      expect([kind, played.calls, failureKind({ kind, ...options })]).toEqual([kind, calls, word]);
    }
    expect(failureKind({ kind: "aborted" })).toBe("cancelled");
  });

  test.each([
    [400, "validation", 1],
    [401, "auth", 1],
    [402, "hard_quota", 1],
    [403, "permission", 1],
    [404, "validation", 1],
    [408, "timeout", 2],
    [409, "provider", 2],
    [422, "validation", 1],
    [429, "rate_limit", 2],
    [499, "provider", 1],
    [500, "provider", 2],
    [503, "overloaded", 2],
    [529, "overloaded", 2],
  ])("D7.35 status %i alone is %s, and %i calls are made", async (status, word, calls) => {
    const played = await run([again("protocol", { status }), say("done")], byKind);
    expect([played.calls, failureKind({ kind: "protocol", status })]).toEqual([calls, word]);
  });

  test("D7.35 a foreign error is classified by its name, and an unknown one is thrown unchanged", async () => {
    class APIConnectionTimeoutError extends Error {}
    class ConnectionError extends Error {}
    for (const thrown of [
      new TypeError("fetch failed"),
      new ConnectionError("x"),
      new APIConnectionTimeoutError("y"),
    ])
      expect((await run([strange(thrown), say("done")], byKind)).calls).toBe(2);
    const { calls, failure } = await run([strange(new Error("connection to my bug"))], byKind);
    expect([calls, failure?.kind, failure?.message]).toEqual([1, "internal", "connection to my bug"]);
  });

  test("D7.35 no message contains the provider's own text", async () => {
    const secret = "org-12345 exceeded";
    for (const kind of [
      "rate_limit",
      "auth",
      "server_error",
      "quota_exhausted",
      "invalid_request",
      "network",
    ] as const) {
      const model: Model = {
        id: "m",
        origin: { api: "a", provider: "p", model: "m" },
        call: () => Promise.reject(new RondoError(kind, secret, { raw: { message: secret } })),
      };
      const { failure } = await play({ model, ...byKind }, { agent: { clock: jumping(0) } });
      expect(failure?.message).not.toContain(secret);
      expect(JSON.stringify(failure)).not.toContain(secret);
      expect(failure?.message).toMatch(/^(The|A) .*\.$/);
    }
  });

  test.each(["context_overflow", "payload_too_large"] as const)(
    "D7.35 nor if a request of %s could not be made smaller, whose kind is kept",
    async (kind) => {
      const refused = fail(kind, { status: 413, message: "too large for org-4711" });
      const { calls, failure } = await run([refused], { llmRetry: "by_kind" });
      expect([calls, failure?.kind, failure?.status, failure?.message]).toEqual([
        ...[1, kind, 413],
        "The model provider refused the request as invalid.",
      ]);
      const { failure: told } = await run([refused], { llmRetry: "by_status" });
      expect(told?.message).toBe("too large for org-4711");
    },
  );

  test("D7.35 the event comes before the wait", async () => {
    const order: string[] = [];
    const time = jumping(0);
    const clock: Clock = {
      ...time,
      after(ms, then) {
        if (ms === 500) order.push("waits");
        return time.after(ms, then);
      },
    };
    const model = scripted([again("overloaded"), say("done")]);
    const onEvent = (event: { type: string }): void => {
      if (event.type === "retry") order.push("told");
      if (event.type === "request") order.push("asked");
    };
    await play({ model, ...byKind }, { agent: { clock }, run: { onEvent } });
    expect(order).toEqual(["asked", "told", "waits", "asked"]);
  });
});

// What a provider's server says when it does not answer, over sockets: every one of its errors is a typed one of ours, with
// the wait it asks for, and no key in it.

import { type ErrorKind, textOf } from "@rondo/core";
import { cut, fail, say } from "@rondo/testkit";
import { cutAt, raw, reset, status, type WaitForm } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { errorOf, type Row, rows, serve } from "./stack.ts";

describe.each(rows)("errors of $name", (row: Row) => {
  const kinds: { kind: ErrorKind; retryable: boolean; only?: readonly string[] }[] = [
    { kind: "rate_limit", retryable: true },
    { kind: "overloaded", retryable: true },
    { kind: "quota_exhausted", retryable: false },
    { kind: "request_too_large_for_tier", retryable: false, only: ["openai", "openai-chat"] },
    { kind: "auth", retryable: false },
    { kind: "permission", retryable: false },
    { kind: "invalid_request", retryable: false },
    { kind: "context_overflow", retryable: false },
    { kind: "capability", retryable: false },
    { kind: "content_filter", retryable: false, only: ["anthropic", "openai", "openai-chat"] },
    { kind: "payload_too_large", retryable: false },
    { kind: "server_error", retryable: true },
    { kind: "timeout", retryable: true },
  ];

  it.each(kinds.filter(({ only }) => only?.includes(row.name) !== false))(
    "an error of kind $kind is told as such, with its status, and is worth another try or not",
    async ({ kind, retryable }) => {
      for (const stream of [true, false]) {
        const wire = await serve([fail(kind)]);
        const error = await errorOf(row.model(wire, { stream }));
        expect([error.kind, error.retryable, error.message]).toEqual([kind, retryable, error.message]);
        expect(error.status).toBeGreaterThanOrEqual(400);
        expect(error.message).toContain(row.model(wire).id.split("/")[0]);
        expect(error.message).not.toContain("key-of-the-tests");
      }
    },
  );

  it.each([
    [400, "invalid_request"],
    [401, "auth"],
    [403, "permission"],
    [404, "invalid_request"],
    [413, "payload_too_large"],
    [429, "rate_limit"],
    [500, "server_error"],
    [502, "server_error"],
    [503, "overloaded"],
    [504, "timeout"],
    [529, "overloaded"],
  ] as const)("status %i is %s, also with a proxy's page as the body", async (code, kind) => {
    const wire = await serve([
      status(code),
      raw(`<html><head><title>${code} from a proxy</title></head></html>`, {
        status: code,
        headers: { "content-type": "text/html" },
      }),
    ]);
    const model = row.model(wire);
    const told = await errorOf(model);
    // These two say by their code what others say by the status.
    const own: { [name: string]: ErrorKind } =
      row.name === "bedrock"
        ? { 401: "auth", 403: "permission", 503: "server_error", 529: "overloaded" }
        : row.name === "anthropic"
          ? { 503: "server_error" }
          : row.name === "google"
            ? {}
            : { 504: "server_error" };
    expect([told.status, told.kind]).toEqual([code, own[code] ?? kind]);
    const page = await errorOf(model);
    const bare: { [code: number]: ErrorKind } = { 504: "server_error" };
    expect([page.status, page.kind]).toEqual([code, bare[code] ?? kind]);
    expect(page.message).toContain(`${code} from a proxy`);
  });

  const forms: readonly WaitForm[] = ["seconds", "ms", "date", "words", "resets", "retry_info"];
  it.each(forms.filter((form) => form !== "retry_info" || row.name === "google"))(
    "a wait told as %s is understood",
    async (form) => {
      const wire = await serve([status(429, { retryAfterMs: 7000, form })]);
      const error = await errorOf(row.model(wire));
      expect([error.kind, error.retryable]).toEqual(["rate_limit", true]);
      expect(error.retryAfterMs).toBe(7000);
    },
  );

  it("a wrong key and a missing one are refused, and the error says where the key comes from", async () => {
    const wire = await serve([say("hi")], { key: "another-key-entirely" });
    const error = await errorOf(row.model(wire));
    expect([error.kind, error.retryable]).toEqual(["auth", false]);
    expect(error.message).toContain("the option apiKey");
    expect(error.message).not.toContain("key-of-the-tests");
  });

  it("an unknown model is named in the error, with what to check", async () => {
    const wire = await serve([say("hi")], { models: ["the-only-one"] });
    const error = await errorOf(row.model(wire));
    expect([error.kind, error.status]).toEqual(["invalid_request", 404]);
    expect(error.message).toMatch(/Check the model's name/);
  });

  it("an error inside a stream is typed, and has the partial answer", async () => {
    for (const [kind, wanted] of [
      ["overloaded", "overloaded"],
      ["rate_limit", "rate_limit"],
      ["server_error", "server_error"],
    ] as const) {
      const wire = await serve([[say("I was about"), fail(kind)]]);
      const error = await errorOf(row.model(wire));
      expect([kind, error.kind, error.retryable]).toEqual([kind, wanted, true]);
      expect(error.partial && textOf(error.partial)).toBe("I was about");
    }
  });

  it("a stream that ends without its finish is truncated, and has the partial answer", async () => {
    const wire = await serve([[say("I was about"), cut()]]);
    const error = await errorOf(row.model(wire));
    expect([error.kind, error.retryable]).toEqual(["stream_truncated", true]);
    expect(error.partial && textOf(error.partial)).toBe("I was about");
  });

  it("a connection that is reset, or closed before an answer, is a network error", async () => {
    for (const turn of [reset(), cutAt(0, "close")]) {
      const wire = await serve([turn]);
      const error = await errorOf(row.model(wire));
      expect([error.kind, error.retryable]).toEqual(["network", true]);
    }
  });
});

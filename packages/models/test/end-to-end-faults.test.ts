// What goes wrong between a provider and us, over sockets: every fault is a typed error or a whole answer, never half
// of one, and the loop's retries and fall-backs do with it what they promise.

import {
  Agent,
  type AssistantMessage,
  type ErrorKind,
  type Model,
  RondoError,
  textOf,
  tool,
  userText,
} from "@rondo/core";
import { call, cut, fail, say, stall, think } from "@rondo/testkit";
import {
  type CutHow,
  contentType,
  corrupt,
  cutAt,
  delayed,
  duplicate,
  garbage,
  plainJson,
  raw,
  reset,
  slow,
  stallAfter,
  status,
  type WaitForm,
  type WireTurn,
} from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { expectValid, of, type Row, rows, serve, watched } from "./end-to-end-stack.ts";

const weather = tool({
  name: "weather",
  description: "Weather of a city",
  inputSchema: z.object({ city: z.string() }),
  effect: "read",
  execute: ({ city }) => `-5 degrees in ${city}`,
});

/** One attempt: the answer, or its error. */
async function attempt(model: Model): Promise<AssistantMessage | RondoError> {
  try {
    return await model.call(
      {
        messages: [userText("hi")],
        tools: [weather.definition],
        toolChoice: "auto",
        settings: { maxOutputTokens: 4000 },
      },
      { signal: new AbortController().signal, emit: () => {} },
    );
  } catch (thrown) {
    if (thrown instanceof RondoError) return thrown;
    throw thrown;
  }
}

async function errorOf(model: Model): Promise<RondoError> {
  const outcome = await attempt(model);
  if (outcome instanceof RondoError) return outcome;
  throw new Error(`it answered: ${JSON.stringify(outcome)}`);
}

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
  ] as const)("status %i is %s, also behind a proxy's page", async (code, kind) => {
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

  it("a wrong key and a missing one are refused at the door, and the error says where the key comes from", async () => {
    const wire = await serve([say("hi")], { key: "another-key-entirely" });
    const error = await errorOf(row.model(wire));
    expect([error.kind, error.retryable]).toEqual(["auth", false]);
    expect(error.message).toContain("the option apiKey");
    expect(error.message).not.toContain("key-of-the-tests");
  });

  it("an unknown model is told with its name and what to check", async () => {
    const wire = await serve([say("hi")], { models: ["the-only-one"] });
    const error = await errorOf(row.model(wire));
    expect([error.kind, error.status]).toEqual(["invalid_request", 404]);
    expect(error.message).toMatch(/Check the model's name/);
  });

  it("an error inside a stream is typed, and brings what had arrived", async () => {
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

  it("a stream that ends without its finish is truncated, and brings what had arrived", async () => {
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

const telling: WireTurn = [
  think("Let me see."),
  say("Looking for it."),
  call("weather", { city: "Ōsaka" }),
  call("weather", { city: "Rome" }),
];

describe.each(
  rows.flatMap((row) =>
    [true, false].map((stream) => ({ row, stream, name: `${row.name}, ${stream ? "streamed" : "whole"}` })),
  ),
)("an answer of $name that is cut", ({ row, stream }) => {
  it.each(["end", "close"] as const)(
    "at any byte (%s) is whole or an error, and half a call never shows",
    async (how: CutHow) => {
      const wire = await serve(
        (_, number) => (number === 1 ? telling : [telling, cutAt(places[number - 2] ?? 0, how)]),
        { chunk: 5 },
      );
      const model = row.model(wire, { stream });
      const size = await sizeOf(row, stream);
      // Every byte would take minutes: a stride that is prime to the frames' lengths, and the ends.
      const places = [
        0,
        1,
        ...Array.from({ length: Math.floor(size / 29) }, (_, at) => at * 29 + 2),
        size - 2,
        size - 1,
      ];
      const whole = await attempt(model);
      if (whole instanceof RondoError) throw whole;
      const told: { [kind: string]: number } = {};
      for (const at of places) {
        const outcome = await attempt(model);
        if (outcome instanceof RondoError) {
          told[outcome.kind] = (told[outcome.kind] ?? 0) + 1;
          expect(
            ["stream_truncated", "network", "empty_response", "stream_error"],
            `${at}: ${outcome.message}`,
          ).toContain(outcome.kind);
          expect(outcome.retryable, `${at}: ${outcome.kind}`).toBe(true);
          for (const part of outcome.partial?.content ?? []) expect(part.type).not.toBe("tool_call");
        } else {
          // Only what followed the finish is missing: counts, or the end of the line.
          expect(callsIn(outcome), `cut at ${at} of ${size}`).toEqual(callsIn(whole));
          expect(textOf(outcome)).toBe(textOf(whole));
        }
      }
      expect(Object.keys(told)).not.toEqual([]);
    },
  );
});

function callsIn(message: AssistantMessage): object[] {
  return message.content.flatMap((part) =>
    part.type === "tool_call" ? [{ name: part.name, args: part.args, error: part.argsError }] : [],
  );
}

/** The bytes of the telling answer's body. */
async function sizeOf(row: Row, stream: boolean): Promise<number> {
  const wire = await serve([telling], { chunk: 5 });
  let size = 0;
  const model = row.model(wire, {
    stream,
    fetch: async (url, init) => {
      const response = await fetch(url as string, init as RequestInit);
      const bytes = new Uint8Array(await response.arrayBuffer());
      size = bytes.length;
      return new Response(bytes, { status: response.status, headers: response.headers });
    },
  });
  await attempt(model);
  return size;
}

describe("a stream that is damaged", () => {
  it("of AWS's: a flipped bit anywhere is noticed", async () => {
    const row = rows.find(({ name }) => name === "bedrock") as Row;
    const size = await sizeOf(row, true);
    const places = Array.from({ length: Math.floor(size / 13) }, (_, at) => at * 13);
    const wire = await serve((_, number) => [telling, corrupt(places[number - 1] ?? 0)], { chunk: 5 });
    const model = row.model(wire);
    for (const at of places) {
      const outcome = await attempt(model);
      expect(outcome instanceof RondoError ? outcome.kind : `whole, though byte ${at} was wrong`).toMatch(
        /^stream_(?:error|truncated)$/,
      );
    }
  });

  it.each(rows)(
    "$name: a frame of nonsense is an error that shows it, never skipped in silence",
    async (row) => {
      const wire = await serve([[say("One, two, three."), garbage("!{nonsense", 2)]]);
      const error = await errorOf(row.model(wire));
      expect(["stream_error", "protocol", "stream_truncated"]).toContain(error.kind);
      expect(error.retryable).toBe(true);
    },
  );

  it.each(rows)("$name: bytes that dribble in one at a time are the same answer", async (row) => {
    const wire = await serve([[telling, slow(1)], telling]);
    const dribbled = await attempt(row.model(wire));
    const plain = await attempt(row.model(wire));
    const bare = (one: AssistantMessage | RondoError): unknown =>
      one instanceof RondoError ? one : [textOf(one), callsIn(one), one.stop];
    expect(bare(dribbled)).toEqual(bare(plain));
  });

  it.each(rows)(
    "$name: a stream under another content type, and plain JSON in place of a stream, are read",
    async (row) => {
      const wire = await serve([
        [telling, contentType("text/plain")],
        [telling, plainJson()],
        [telling, plainJson(), contentType("text/event-stream")],
      ]);
      const model = row.model(wire);
      for (let nth = 0; nth < 3; nth++) {
        const outcome = await attempt(model);
        if (outcome instanceof RondoError) throw outcome;
        expect([textOf(outcome), callsIn(outcome)]).toEqual([
          "Looking for it.",
          [
            { name: "weather", args: { city: "Ōsaka" }, error: undefined },
            { name: "weather", args: { city: "Rome" }, error: undefined },
          ],
        ]);
      }
    },
  );

  it("Anthropic's and Responses' and Bedrock's: a start that comes twice does not double the answer", async () => {
    for (const row of rows.filter(({ name }) => ["anthropic", "openai", "bedrock"].includes(name))) {
      const wire = await serve([[telling, duplicate(0)]]);
      const outcome = await attempt(row.model(wire));
      if (outcome instanceof RondoError) throw outcome;
      expect(textOf(outcome)).toBe("Looking for it.");
    }
  });
});

describe.each(rows)("the loop over $name", (row: Row) => {
  it("asks again after failures that pass, without storing anything of them, and tells the waits", async () => {
    const wire = await serve([
      status(529),
      [say("half a"), cut()],
      [say("half"), fail("overloaded")],
      [call("weather", { city: "Oslo" })],
      status(429, { retryAfterMs: 30, form: "ms" }),
      say("Cold."),
    ]);
    const agent = new Agent({ model: row.model(wire), tools: [weather], retry: { baseMs: 1 } });
    const { result, events } = await watched(agent, "Weather?");
    expect(result).toMatchObject({ text: "Cold.", end: { reason: "completed" }, steps: 2 });
    const retries = of(events, "retry");
    expect(retries.map((event) => event.error.kind)).toEqual([
      "overloaded",
      "stream_truncated",
      "overloaded",
      "rate_limit",
    ]);
    expect(retries.at(-1)?.delayMs).toBeGreaterThanOrEqual(30);
    expect(JSON.stringify(result.messages)).not.toContain("half");
    expectValid(wire, result);
  });

  it("gives up at once where another try is senseless, with the provider's words", async () => {
    const wire = await serve([fail("quota_exhausted")]);
    const result = await new Agent({ model: row.model(wire) }).run("hi");
    expect(result.end).toMatchObject({ reason: "error", error: { kind: "quota_exhausted" } });
    expect(wire.requests).toHaveLength(1);
  });

  it("gives up after its attempts, and then falls back to another provider's model", async () => {
    const other = rows[(rows.indexOf(row) + 2) % rows.length] as Row;
    const wire = await serve((_, number) => (number <= 2 ? status(500) : say("From the other.")));
    const agent = new Agent({
      model: row.model(wire),
      fallback: [other.model(wire)],
      retry: { attempts: 2, baseMs: 1 },
    });
    const { result, events } = await watched(agent, "hi");
    expect(result).toMatchObject({ text: "From the other.", end: { reason: "completed" } });
    expect(of(events, "fallback")).toHaveLength(1);
    expect(wire.requests.map(({ protocol }) => protocol)).toEqual([
      row.model(wire).origin.api,
      row.model(wire).origin.api,
      other.model(wire).origin.api,
    ]);
    expectValid(wire, result);
  });

  it("does not wait for ever: silence before an answer, in it, and behind pings are told apart", async () => {
    const wire = await serve([
      stall(),
      [say("I was"), stall()],
      [say("I was about to say"), stallAfter({ frames: 3 }, { pings: true })],
      delayed(60_000),
    ]);
    const clocks = { firstByteMs: 150, idleMs: 150 };
    const agent = (): Agent => new Agent({ model: row.model(wire), retry: { attempts: 1 }, clocks });
    const silent = await agent().run("hi");
    // Whatever came first, a head without content or nothing, it is a time-out of ours and no answer.
    expect(silent.end?.error?.kind).toMatch(/^(?:timeout|stream_idle)$/);
    const idle = await agent().run("hi");
    expect(idle.end?.error?.kind).toBe("stream_idle");
    const pings = await agent().run("hi");
    expect(pings.end?.error?.kind).toMatch(/^(?:timeout|stream_idle)$/);
    const late = await agent().run("hi");
    expect(late.end?.error?.kind).toBe("timeout");
  });

  it("an abort ends a stalled call at once, and the server sees the connection go", async () => {
    const held = stall({ afterText: "I was" });
    const wire = await serve([held]);
    const controller = new AbortController();
    const running = new Agent({ model: row.model(wire) }).run("hi", { signal: controller.signal });
    await held.reached;
    controller.abort("enough");
    await expect(running).rejects.toMatchObject({ kind: "aborted" });
  });

  it("an answer of a proxy's page in place of a model's is told as such", async () => {
    const wire = await serve([
      raw("<html><title>Please log in</title></html>", { headers: { "content-type": "text/html" } }),
    ]);
    const error = await errorOf(row.model(wire));
    expect(error.message).toMatch(/Please log in|web page|broken/);
  });
});

// The loop against a provider's faults, over sockets: retries, fall-backs, clocks and aborts do what they promise, and
// nothing of a failed answer is kept.

import { Agent } from "@rondo/core";
import { call, cut, fail, say, stall } from "@rondo/testkit";
import { delayed, raw, stallAfter, status, type WireTurn } from "@rondo/testkit/wire";
import { describe, expect, it } from "vitest";
import { errorOf, expectValid, of, type Row, rows, serve, watched, weather } from "./stack.ts";

describe.each(rows)("the loop over $name", (row: Row) => {
  it("retries failures that pass, without storing anything of them, and reports the waits", async () => {
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

  it("gives up at once if a retry is useless, with the provider's words", async () => {
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

  it("an abort ends a stalled call at once, and the server sees the connection close", async () => {
    const held = stall({ afterText: "I was" });
    const wire = await serve([held]);
    const controller = new AbortController();
    const running = new Agent({ model: row.model(wire) }).run("hi", { signal: controller.signal });
    await held.reached;
    controller.abort("enough");
    await expect(running).rejects.toMatchObject({ kind: "aborted" });
  });

  it("a proxy's page in place of an answer is reported as such", async () => {
    const wire = await serve([
      raw("<html><title>Please log in</title></html>", { headers: { "content-type": "text/html" } }),
    ]);
    const error = await errorOf(row.model(wire));
    expect(error.message).toMatch(/Please log in|web page|broken/);
  });
});

describe("timeouts", () => {
  it("on every provider distinguish silence before an answer from silence in it, and ignore pings", async () => {
    const turns: { [task: string]: WireTurn } = {
      silent: stall(),
      late: delayed(60_000),
      idle: [say("I was"), stall()],
      pings: [say("I was about to say"), stallAfter({ frames: 3 }, { pings: true })],
    };
    // One clock is short where only it is to strike, the other long enough for a slow machine.
    const expected = [
      { task: "silent", clocks: { firstByteMs: 200 }, kind: /^timeout$/ },
      { task: "late", clocks: { firstByteMs: 200 }, kind: /^timeout$/ },
      { task: "idle", clocks: { firstByteMs: 3000, idleMs: 200 }, kind: /^stream_idle$/ },
      { task: "pings", clocks: { firstByteMs: 3000, idleMs: 200 }, kind: /^(?:stream_idle|timeout)$/ },
    ];
    const wire = await serve((request) => {
      const task = Object.keys(turns).find((name) => request.text.includes(`task ${name}`));
      return turns[task ?? ""] ?? say("what?");
    });
    await Promise.all(
      rows.flatMap((row) =>
        expected.map(async ({ task, clocks, kind }) => {
          const agent = new Agent({ model: row.model(wire), retry: { attempts: 1 }, clocks });
          const { end } = await agent.run(`task ${task}`);
          expect(end?.error?.kind, `${row.name}, ${task}`).toMatch(kind);
        }),
      ),
    );
    expect(wire.requests).toHaveLength(rows.length * expected.length);
  });
});

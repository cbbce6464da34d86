import { expect, test } from "vitest";
import { Agent, type Clock, type Model, RondoError } from "../src/index.ts";
import { jumpingClock } from "./support.ts";

test("a back-off waits by the clock of the agent's options, and its record tells that clock's time", async () => {
  const origin = { api: "test", provider: "test", model: "m" };
  let calls = 0;
  const model: Model = {
    id: "test/m",
    origin,
    call: () => {
      calls += 1;
      if (calls < 3) return Promise.reject(new RondoError("overloaded", "later", { retryAfterMs: 30_000 }));
      return Promise.resolve({
        role: "assistant",
        content: [{ type: "text", text: "there" }],
        origin,
        stop: { kind: "end_turn", wire: "end_turn" },
      });
    },
  };
  const clock = jumpingClock(0);
  const { text, end } = await new Agent({ model, clock }).run("go");
  expect(text).toBe("there");
  expect(end?.reason).toBe("completed");
  expect(clock.waits).toEqual([30_000, 30_000]);
});

test("a stream that stalls after its first event is given up at the idle clock, not at the one for the first byte", async () => {
  const origin = { api: "test", provider: "test", model: "m" };
  const model: Model = {
    id: "test/m",
    origin,
    call: (_request, io) => {
      setImmediate(() => io.emit({ type: "text_delta", index: 0, text: "He" }));
      return new Promise(() => {});
    },
  };
  // A clock whose alarms go off in the order of their times, once nothing else is left to do.
  let time = 0;
  const alarms: { at: number; then: () => void }[] = [];
  const ring = (): void => {
    alarms.sort((one, other) => one.at - other.at);
    const first = alarms.shift();
    if (first === undefined) return;
    time = Math.max(time, first.at);
    first.then();
  };
  const clock: Clock = {
    now: () => time,
    random: () => 0,
    after(ms, then) {
      const alarm = { at: time + ms, then };
      alarms.push(alarm);
      setTimeout(() => alarms.includes(alarm) && ring(), 20);
      return () => {
        const place = alarms.indexOf(alarm);
        if (place >= 0) alarms.splice(place, 1);
      };
    },
  };
  const { end } = await new Agent({ model, clock, retry: { attempts: 1 } }).run("go");
  expect([end?.error?.kind, time]).toEqual(["stream_idle", 60_000]);
});

test("a failed model call without a retry rule ends the run with its error, not as an answer", async () => {
  const origin = { api: "test", provider: "test", model: "m" };
  const model: Model = {
    id: "test/m",
    origin,
    call: () => Promise.reject(new RondoError("auth", "no key")),
  };
  const { end, steps } = await new Agent({ model, retry: null }).run("go");
  expect([end?.reason, end?.error?.kind, steps]).toEqual(["error", "auth", 0]);
});

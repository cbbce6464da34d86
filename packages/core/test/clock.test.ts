import { fail, say, scripted } from "@rondo/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  Agent,
  type Clock,
  type MemoryJournal,
  type Model,
  memoryJournal,
  RondoError,
} from "../src/index.ts";
import { jumpingClock } from "./support.ts";

test("a retry waits by the clock in the agent's options, and its record has that clock's time", async () => {
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

describe("a clock that returns invalid values", () => {
  const sound: Clock = { now: Date.now, random: () => 0.5, after: (_ms, _then) => () => {} };
  const runBy = (clock: Partial<Record<keyof Clock, unknown>>) =>
    new Agent({ model: scripted([say("there")]), clock: { ...sound, ...clock } as Clock }).run("go");

  test.each([
    ["a timer, as setTimeout does", () => setTimeout(() => {}, 0), "an object"],
    ["nothing", () => undefined, "undefined"],
  ])("ends the run where after gives %s: nobody could call the wait off", async (_what, after, given) => {
    const { end } = await runBy({ after });
    expect(end?.error).toMatchObject({
      kind: "invalid_request",
      message: `option clock: a function from after() that calls the wait off is needed, not ${given}`,
    });
  });

  test("makes the wait fail that it refused, so that nothing happens after it", async () => {
    const due: (() => void)[] = [];
    const { end } = await runBy({ after: (_ms: number, then: () => void) => due.push(then) });
    expect(end?.reason).toBe("error");
    for (const then of due) then();
  });

  test.each([
    [{ now: () => new Date() }, "a number from now(), of milliseconds since 1970, is needed, not a Date"],
    [{ random: () => Number.NaN }, "a number from 0 to below 1 from random() is needed, not NaN"],
  ])("is refused: %o", async (clock, words) => {
    await expect(runBy(clock)).rejects.toMatchObject({
      kind: "invalid_request",
      message: `option clock: ${words}`,
    });
  });
});

describe("a clock that is behind", () => {
  const origin = { api: "test", provider: "test", model: "m" };
  /** Fails once, then answers; the first answer of a session is there at once. */
  const model = (calls: Model["call"][]): Model => ({
    id: "test/m",
    origin,
    call: (...of) => (calls.shift() ?? said)(...of),
  });
  const said: Model["call"] = () =>
    Promise.resolve({
      role: "assistant",
      content: [{ type: "text", text: "there" }],
      origin,
      stop: { kind: "end_turn", wire: "end_turn" },
    });
  const later: Model["call"] = () => Promise.reject(new RondoError("overloaded", "later"));
  const day = 86_400_000;

  /** A session whose records are of tomorrow, for a clock of today. */
  async function fromTomorrow(): Promise<{ journal: MemoryJournal; clock: ReturnType<typeof jumpingClock> }> {
    const journal = memoryJournal();
    const tomorrow = jumpingClock(0);
    tomorrow.pass(day);
    await new Agent({ model: model([]), clock: tomorrow, journal }).run("go", { session: "s" });
    return { journal, clock: jumpingClock(0) };
  }

  test("the records (e.g. another machine's) does not delay a retry until it has caught up", async () => {
    const { journal, clock } = await fromTomorrow();
    const agent = new Agent({ model: model([later]), clock, journal, retry: { baseMs: 400 } });
    const { text } = await agent.run("again", { session: "s" });
    expect(text).toBe("there");
    expect(clock.waits.filter((ms) => ms > 60_000)).toEqual([]);
    const times = journal.read("s").map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("the records settles an abort within its grace, even if everything ignores its signal", async () => {
    const { journal, clock } = await fromTomorrow();
    const deaf: Model["call"] = () => {
      session.abort("enough");
      return new Promise(() => {});
    };
    const session = await new Agent({ model: model([deaf]), clock, journal, abortGraceMs: 300 }).open("s");
    const { end } = await session.send("again");
    expect(end?.reason).toBe("aborted");
    expect(clock.waits.filter((ms) => ms > 60_000)).toEqual([]);
  });

  test("the records is followed again from the next run on, once it has caught up", async () => {
    const { journal, clock } = await fromTomorrow();
    const session = await new Agent({ model: model([]), clock, journal }).open("s");
    await session.send("again");
    clock.pass(3 * day);
    await session.send("and again");
    expect(journal.read("s").at(-1)?.at).toBeLessThanOrEqual(clock.now());
  });

  test("because it was set back during a wait restarts that wait, and no more", async () => {
    const clock = jumpingClock(0);
    const failing: Model["call"] = () => {
      // Behind the record of the failure.
      setImmediate(() => clock.pass(-day));
      return later({} as never, {} as never);
    };
    const agent = new Agent({ model: model([failing]), clock, retry: { baseMs: 400 } });
    expect((await agent.run("go")).text).toBe("there");
    expect(clock.waits.filter((ms) => ms > 60_000)).toEqual([]);
  });
});

test("a stream that stalls after its first event is given up at the idle timeout, not at that for the first byte", async () => {
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

test("a retry's wait ends under a test runner's fake timers", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const running = new Agent({ model: scripted([fail("overloaded"), say("there")]) }).run("go");
  await vi.runAllTimersAsync();
  expect((await running).text).toBe("there");
});

// What comes of a model call that was given up is late, whatever is being asked by then: it is nobody else's answer.

import {
  Agent,
  type AssistantMessage,
  type Clock,
  deadline,
  type Model,
  memoryJournal,
  textOf,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { deferred } from "./support.ts";

const origin = { api: "own", provider: "own", model: "deaf" };
const said = (text: string): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  origin,
  stop: { kind: "end_turn", wire: "end_turn" },
});

/** A model that hears no signal: what its calls come to, and when, is the test's to say. */
function deaf() {
  const calls: ReturnType<typeof deferred<AssistantMessage>>[] = [];
  let reached = deferred();
  const model: Model = {
    id: "deaf",
    origin,
    call() {
      const call = deferred<AssistantMessage>();
      calls.push(call);
      reached.resolve();
      return call.promise;
    },
  };
  /** The next call, once it has been made. */
  const next = async (): Promise<ReturnType<typeof deferred<AssistantMessage>>> => {
    await reached.promise;
    reached = deferred();
    return calls.at(-1) as (typeof calls)[number];
  };
  return { model, next };
}

/** A clock whose time passes when the test says so. */
function handClock(): Clock & { pass(ms: number): void } {
  let time = 1_700_000_000_000;
  const waits = new Map<() => void, number>();
  return {
    now: () => time,
    random: () => 0,
    after(ms, then) {
      waits.set(then, time + ms);
      return () => void waits.delete(then);
    },
    pass(ms) {
      time += ms;
      for (const [then, at] of [...waits]) if (at <= time && waits.delete(then)) then();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe.each([
  ["an answer", (call: ReturnType<typeof deferred<AssistantMessage>>) => call.resolve(said("the first"))],
  ["a failure", (call: ReturnType<typeof deferred<AssistantMessage>>) => call.reject(new Error("gone"))],
])("%s that comes after its call was given up", (_what, comes) => {
  test("does not count for the next run's call", async () => {
    const { model, next } = deaf();
    const journal = memoryJournal();
    const session = await new Agent({ model, journal, abortGraceMs: 0 }).open("s");
    const one = session.send("one");
    const first = await next();
    session.abort("enough");
    expect((await one).end?.reason).toBe("aborted");
    const two = session.send("two");
    const second = await next();
    comes(first);
    await turn();
    second.resolve(said("the second"));
    expect([(await two).end?.reason, (await two).text]).toEqual(["completed", "the second"]);
    expect(session.messages.filter(({ role }) => role === "assistant").map(textOf)).toEqual(["the second"]);
    expect(journal.read("s").map(({ type }) => type)).toContain("late_result");
  });

  test("does not count for the last call of a landing", async () => {
    const { model, next } = deaf();
    const clock = handClock();
    const rules = [deadline(clock.now() + 1_000)];
    const session = await new Agent({ model, clock, abortGraceMs: 0, rules }).open("s");
    const running = session.send("one");
    const first = await next();
    await turn();
    clock.pass(1_000);
    await turn();
    clock.pass(0);
    const landing = await next();
    comes(first);
    await turn();
    landing.resolve(said("landed"));
    const { end, text } = await running;
    expect([end?.reason, end?.landed, text]).toEqual(["deadline", true, "landed"]);
  });

  test("does not count for a summary, nor a summary for a call", async () => {
    const { model, next } = deaf();
    const session = await new Agent({
      model,
      abortGraceMs: 0,
      context: { compaction: { minGain: null } },
    }).open("s");
    const first = session.send("a first task");
    (await next()).resolve(said("a first answer, of some length"));
    await first;
    const second = session.send("a second task");
    const given = await next();
    session.abort("enough");
    await second;
    const compacting = session.compact();
    const summary = await next();
    comes(given);
    await turn();
    session.abort("enough");
    await compacting;
    const third = session.send("a third task");
    const asked = await next();
    comes(summary);
    await turn();
    asked.resolve(said("the third"));
    expect([(await third).end?.reason, (await third).text]).toEqual(["completed", "the third"]);
    expect(JSON.stringify(session.messages)).not.toContain("the first");
  });
});

test("what an answer cost that comes after its run has ended counts for the session, also when it is opened again", async () => {
  const { model, next } = deaf();
  const priced: Model = { ...model, facts: { price: { input: 1, output: 2 } } };
  const journal = memoryJournal();
  const agent = new Agent({ model: priced, journal, abortGraceMs: 0 });
  const session = await agent.open("s");
  const running = session.send("one");
  const call = await next();
  session.abort("enough");
  expect((await running).end?.reason).toBe("aborted");
  expect(session.spent).toMatchObject({ tokens: 0, modelCalls: 1 });
  call.resolve({ ...said("late"), usage: { inputTokens: 1_000_000, outputTokens: 500_000 } });
  await turn();
  expect(session.spent).toMatchObject({ tokens: 1_500_000, usd: 2, modelCalls: 1 });
  expect(session.messages.some((message) => textOf(message) === "late")).toBe(false);
  await session.settled();
  expect((await agent.open("s")).spent).toEqual(session.spent);
});

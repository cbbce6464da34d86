// Forks: another session from a point of one, under other options. With another result: `fork-result.test.ts`.

import {
  Agent,
  type AgentOptions,
  type ForkOptions,
  type Hooks,
  type MemoryJournal,
  type Message,
  memoryJournal,
  type Session,
  subAgent,
  toolResult,
  userText,
} from "@rondo/core";
import { call, calls, fail, say, scripted, stall } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, jumpingClock, quick, shortly } from "./support.ts";

const script = [call("look"), call("look"), say("the end")];

/** A run of three steps, in a journal. */
async function threeSteps() {
  const journal = memoryJournal();
  const agent = new Agent({
    ...quick,
    model: scripted(script),
    system: "old",
    tools: [echo("look")],
    journal,
  });
  const session = await agent.open("s");
  await session.send("go");
  return { agent, journal, session, before: JSON.stringify(journal.read("s")) };
}

const lastOpened = (journal: MemoryJournal, id: string) =>
  journal.read(id).findLast((record) => record.type === "opened" && record.by === "fork");

describe("a fork at a step", () => {
  test("shares what came before, calls another model with another prompt, and does not change the original", async () => {
    const { session, journal, before } = await threeSteps();
    const model = scripted([say("otherwise")], { id: "other" });
    const fork = await session.fork("t", { at: 2, model, system: "new" });
    expect(fork.status).toBe("interrupted");
    const { end, text } = await fork.resume();
    expect([end?.reason, text]).toEqual(["completed", "otherwise"]);
    expect(model.requests.map(({ system, messages }) => [system, shortly(messages)])).toEqual([
      ["new", ["user: go", "assistant: look()", "tool: look ran"]],
    ]);
    const opened = lastOpened(journal, "t");
    expect(opened).toMatchObject({ from: { session: "s", step: 2 } });
    const seq = (opened as { from: { seq: number } }).from.seq;
    expect(journal.read("t").slice(0, seq)).toEqual(journal.read("s").slice(0, seq));
    expect(JSON.stringify(journal.read("s"))).toBe(before);
    expect((await fork.replay()).firstDifference).toBeUndefined();
  });

  test("makes the rules' decisions about the step again: a run that landed continues under a higher limit", async () => {
    const journal = memoryJournal();
    const model = scripted([call("look"), say("landed"), say("went on")]);
    const agent = new Agent({ ...quick, model, tools: [echo("look")], maxSteps: 1, journal });
    const session = await agent.open("s");
    expect((await session.send("go")).end?.reason).toBe("max_steps");
    const fork = await session.fork("t", { at: 2, agent: { maxSteps: 5 } });
    expect((await fork.resume()).end).toMatchObject({ reason: "completed" });
    expect(shortly(fork.messages).at(-1)).toBe("assistant: went on");
  });

  test("makes room again only if necessary: a model with a larger window reads all of it", async () => {
    const journal = memoryJournal();
    const long = "long ".repeat(1_000);
    const tools = [echo("look", { execute: () => long })];
    const context = { trim: { budgetTokens: 100, keep: "none" } } as const;
    const model = scripted([call("look"), say("done"), say("again")]);
    const agent = new Agent({ ...quick, model, tools, journal, context });
    const session = await agent.open("s");
    await session.send("go");
    await (await session.fork("t", { at: 2 })).resume();
    expect(model.requests[2]?.messages).toEqual(model.requests[1]?.messages);
    const other = scripted([say("seen")]);
    await (await session.fork("u", { at: 2, model: other, agent: { context: {} } })).resume();
    expect(shortly(other.lastRequest.messages).at(-1)).toBe(`tool: ${long}`);
  });

  test("with another model calls that one, even if the step had another chosen model", async () => {
    const journal = memoryJournal();
    const spare = scripted([say("from the spare")], { id: "spare" });
    const agent = new Agent({
      ...quick,
      model: scripted(script),
      fallback: [spare],
      hooks: { prepareStep: () => ({ model: spare }) },
      journal,
    });
    const session = await agent.open("s");
    await session.send("go");
    const chosen = journal.read("s").findIndex(({ type }) => type === "hook_answered");
    const model = scripted([say("otherwise")], { id: "other" });
    const fork = await session.fork("t", { seq: chosen + 1, model, agent: { fallback: [], hooks: {} } });
    const { end, text } = await fork.resume();
    expect([end?.reason, text]).toEqual(["completed", "otherwise"]);
  });

  test("delivers the step's messages again, once", async () => {
    const journal = memoryJournal();
    const model = scripted([call("look"), say("a"), say("b")]);
    const agent = new Agent({ ...quick, model, tools: [echo("look")], journal });
    const session = await agent.open("s");
    session.subscribe((event) => event.type === "tool_start" && session.steer("hurry"));
    await session.send("go");
    const fork = await session.fork("t", { at: 2 });
    await fork.resume();
    expect(shortly(fork.messages).filter((line) => line === "user: hurry")).toHaveLength(1);
  });

  test("asks the hooks of the step again, and those of the run's end", async () => {
    const journal = memoryJournal();
    const asked: string[] = [];
    const hooks: Hooks = {
      prepareStep: ({ step }) => void asked.push(`prepareStep ${step}`),
      transformContext: (_messages, { step }) => void asked.push(`transformContext ${step}`),
      onFinish: ({ text }) => void asked.push(`onFinish ${text}`),
    };
    const model = scripted([call("look"), say("a"), say("b")]);
    const agent = new Agent({ ...quick, model, tools: [echo("look")], hooks, journal });
    const session = await agent.open("s");
    await session.send("go");
    asked.length = 0;
    await (await session.fork("t", { at: 2 })).resume();
    expect(asked).toEqual(["prepareStep 2", "transformContext 2", "onFinish b"]);
  });

  test("with work from the onFinish hook asks that hook again, whatever it returns then", async () => {
    const work = ["and this", "or that"];
    const hooks: Hooks = { onFinish: () => work.shift() };
    const model = scripted((request) => say(`${request.messages.length}`));
    const session = await new Agent({ ...quick, model, hooks }).open("s");
    await session.send("go");
    expect(shortly(session.messages)[2]).toBe("user: and this");
    const fork = await session.fork("t", { at: 2 });
    await fork.resume();
    expect(shortly(fork.messages).slice(1)).toEqual(["assistant: 1", "user: or that", "assistant: 3"]);
  });

  test("can be made by the agent from a session that is not open", async () => {
    const { agent, journal, before } = await threeSteps();
    await agent.fork("s", "t", { at: 1 });
    expect(JSON.stringify(journal.read("s"))).toBe(before);
    const other = new Agent({ ...quick, model: scripted([say("x")]), tools: [echo("look")], journal });
    expect((await (await other.open("t")).resume()).text).toBe("x");
  });
});

describe("a fork of a run that was interrupted or aborted", () => {
  /** A run that is aborted while its first call works; the call's own result comes when it is let go. */
  async function aborted() {
    const journal = memoryJournal();
    const came = deferred<string>();
    const tools = [echo("look"), echo("slow", { execute: () => came.promise })];
    const model = scripted([calls([["look"], ["slow"]])]);
    const session = await new Agent({ ...quick, model, tools, journal }).open("s");
    session.subscribe((event) => event.type === "tool_end" && session.abort("enough"));
    expect((await session.send("go")).end?.reason).toBe("aborted");
    return { session, journal, came };
  }
  const cut = ["user: go", "assistant: look() slow()"];
  const ended = "tool: slow was aborted before it finished.";

  test("continues after its last step, whatever messages or late results came since", async () => {
    const { session, journal, came } = await aborted();
    for (const since of ["nothing", "words", "a late result"]) {
      if (since === "words") session.steer("what now?");
      if (since === "a late result") came.resolve("at last");
      if (since === "a late result")
        await expect.poll(() => journal.read("s").some(({ type }) => type === "late_result")).toBe(true);
      const model = scripted([say("went on")]);
      const fork = await session.fork(since, { at: 2, model });
      expect([since, fork.status]).toEqual([since, "interrupted"]);
      const { end, text } = await fork.resume();
      expect([since, end?.reason, text]).toEqual([since, "completed", "went on"]);
      expect(shortly(model.lastRequest.messages)).toEqual([...cut, "tool: look ran", ended]);
      expect((await fork.replay()).firstDifference).toBeUndefined();
    }
  });

  test("continues with another result for a call", async () => {
    const { session } = await aborted();
    session.steer("what now?");
    const model = scripted([say("went on")]);
    const fork = await session.fork("t", { edit: { call: "call_1", result: "edited" }, model });
    expect((await fork.resume()).text).toBe("went on");
    expect(shortly(model.lastRequest.messages)).toEqual([...cut, "tool: edited", ended]);
  });

  test("continues where the session is, if it is made there", async () => {
    const { session, journal } = await aborted();
    for (const [id, point] of Object.entries({ t: {}, u: { seq: journal.read("s").length - 1 } }))
      expect((await (await session.fork(id, point)).resume()).end?.reason).toBe("aborted");
  });

  test.each<[string, Partial<AgentOptions>, (session: Session) => unknown]>([
    ["a denial", {}, (session) => session.deny("call_1", "no", { stop: true })],
    ["a hook", { hooks: { permission: () => ({ answer: "stop" }) } }, () => {}],
    ["its result", {}, (session) => session.answer("call_1", toolResult("all done", { done: true }))],
  ])("by a call that ended it, by %s, has no step behind that", async (by, options, answer) => {
    const model = scripted([call("guarded"), say("went on"), say("went on")]);
    const tools = [echo("guarded", { permission: "ask" })];
    const session = await new Agent({ ...quick, model, tools, ...options }).open("s");
    await session.send("go");
    await answer(session);
    expect(session.status).toBe("idle");
    await expect(session.fork("t", { at: 2 })).rejects.toThrow(
      "ended with step 1: fork it at 1 to have that one again, or without a step to go on after it",
    );
    expect((await (await session.fork("u")).continue()).text).toBe("went on");
    if (by !== "its result") return;
    const edit = { call: "call_1", result: "not yet" };
    for (const [id, point] of Object.entries({ v: {}, w: { at: 2 } })) {
      const other = scripted([say("went on")]);
      await (await session.fork(id, { ...point, edit, model: other })).resume();
      expect(shortly(other.lastRequest.messages).at(-1)).toBe("tool: not yet");
    }
  });

  test("in a model call repeats that step, and has no later one", async () => {
    const model = scripted([call("look"), stall(), say("went on")]);
    const session = await new Agent({ ...quick, model, tools: [echo("look")] }).open("s");
    const sent = session.send("go");
    await expect.poll(() => model.calls).toBe(2);
    session.abort("enough");
    await sent;
    await expect(session.fork("t", { at: 3 })).rejects.toThrow("ended with step 2: fork it at 2");
    expect((await (await session.fork("t", { at: 2 })).resume()).text).toBe("went on");
  });

  test("by its time limit, in a call, has the time limit of its own options, and does not land again", async () => {
    const clock = jumpingClock(0.5);
    const slow = echo("slow", { execute: () => new Promise(() => {}) });
    const model = scripted([call("slow"), say("landed"), call("look"), say("went on")]);
    const agent = new Agent({ ...quick, model, tools: [slow, echo("look")], budget: { ms: 1_000 }, clock });
    const session = await agent.open("s");
    expect((await session.send("go")).end).toMatchObject({ landed: true });
    const fork = await session.fork("t", { at: 2, agent: { budget: { ms: 600_000 } } });
    const { end, text } = await fork.resume();
    expect([end?.landed, text]).toEqual([false, "went on"]);
  });
});

test("the time between a run and its fork does not count for the fork's time limit", async () => {
  const journal = memoryJournal();
  let now = 1_000;
  const clock = { now: () => now, random: () => 0.5, after: () => () => {} };
  const model = scripted([call("look"), say("a"), say("b")]);
  const agent = new Agent({ ...quick, model, tools: [echo("look")], budget: { ms: 60_000 }, journal, clock });
  const session = await agent.open("s");
  await session.send("go");
  now += 3_600_000;
  const fork = await session.fork("t", { at: 2 });
  expect((await fork.resume()).end?.reason).toBe("completed");
});

test("a fork after an earlier run shares everything up to its end, and another message follows", async () => {
  const model = scripted((request) => say(`${request.messages.length}`));
  const session = await new Agent({ ...quick, model }).open("chat");
  for (const text of ["one", "two", "three"]) await session.send(text);
  const fork = await session.fork("otherwise", { run: 1 });
  expect([fork.status, shortly(fork.messages)]).toEqual(["idle", ["user: one", "assistant: 1"]]);
  const { text } = await fork.send("TWO");
  expect([text, shortly(fork.messages).at(-2)]).toEqual(["3", "user: TWO"]);
  expect(session.messages).toHaveLength(6);
  expect((await fork.replay()).difference).toBeUndefined();
});

test("a fork after an earlier run has no messages that were sent since that run ended", async () => {
  const model = scripted((request) => say(`${request.messages.length}`));
  const session = await new Agent({ ...quick, model }).open("chat");
  await session.send("one");
  session.steer("in blue");
  await session.send("two");
  const fork = await session.fork("otherwise", { run: 1 });
  expect(fork.queued).toEqual([]);
  await fork.send("in red");
  expect(shortly(fork.messages)).toEqual(["user: one", "assistant: 1", "user: in red", "assistant: 3"]);
});

describe("a fork that is not possible", () => {
  test.each([
    [{ at: 9 }, "run 1 of session s has no step 9: it has 1 to 3"],
    [{ at: 4 }, "ended with step 3: fork it at 3"],
    [{ at: 1, run: 2 }, "session s has no run 2: it has one"],
    [{ seq: 99 }, /session s has \d+ records: it cannot be forked after 99/],
    [{ seq: 3, at: 1 }, "give `at` or `seq`"],
    [{ run: 2 }, "session s has no run 2: it has one"],
    [{ run: 1, seq: 3 }, "`run` says in which run `at` counts: give `at` as well, or `run` alone"],
    [{ run: 1, edit: { call: "x", result: "y" } }, "`run` says in which run `at` counts"],
  ])("%j is refused with an explanation", async (options, message) => {
    const { session } = await threeSteps();
    await expect(session.fork("t", options)).rejects.toThrow(message);
  });

  test("an id that is taken is refused", async () => {
    const { session } = await threeSteps();
    await expect(session.fork("s")).rejects.toThrow('there is a session "s" already');
  });

  test("the second of two forks to one id at the same time is refused, as if it had come later", async () => {
    const { agent, journal } = await threeSteps();
    const outcomes = await Promise.allSettled([
      agent.fork("s", "t", { at: 2 }),
      agent.fork("s", "t", { at: 3 }),
    ]);
    expect(outcomes[0]).toMatchObject({ status: "fulfilled" });
    expect(outcomes[1]).toMatchObject({
      status: "rejected",
      reason: { kind: "invalid_request", message: expect.stringContaining('there is a session "t" already') },
    });
    expect(lastOpened(journal, "t")).toMatchObject({ from: { step: 2 } });
  });
});

test("a fork where a sub-agent waits starts a sub-agent of its own, and leaves the other one waiting", async () => {
  const journal = memoryJournal();
  let ran = 0;
  const ask = echo("ask", {
    permission: "ask",
    execute: () => {
      ran += 1;
      return "asked";
    },
  });
  const child = new Agent({
    ...quick,
    model: scripted([call("ask"), call("ask"), say("child done")]),
    tools: [ask],
  });
  const helper = subAgent({ name: "helper", description: "helps", agent: child });
  const model = scripted([call("helper", { task: "x" }), say("over")]);
  const session = await new Agent({ ...quick, model, tools: [helper], journal }).open("s");
  await session.send("go");
  expect(session.pending.map(({ name }) => name)).toEqual(["ask"]);
  const before = JSON.stringify([journal.read("s"), journal.list().map(({ id }) => id)]);
  const fork = await session.fork("t");
  await fork.resume();
  const [inside] = fork.pending;
  expect(inside?.child?.session).toMatch(/^t:/);
  const { end, text } = await fork.approve(inside?.id ?? "");
  expect([end?.reason, text, ran]).toEqual(["completed", "over", 1]);
  expect(session.pending).toHaveLength(1);
  expect(before.startsWith(JSON.stringify([journal.read("s")]).slice(0, -1))).toBe(true);
});

test("a fork in the middle of a write says that its outcome is unknown, wherever it branches", async () => {
  const journal = memoryJournal();
  const model = scripted([call("put"), fail("auth")]);
  const tools = [echo("put", { effect: "write" })];
  const session = await new Agent({ ...quick, model, tools, journal }).open("s");
  await session.send("go");
  const records = journal.read("s");
  const seq = records.findIndex((record) => record.type === "tool_started") + 1;
  const other = scripted([say("I see")]);
  const fork = await session.fork("t", { seq, model: other });
  await fork.resume();
  expect(shortly(other.requests[0]?.messages ?? []).at(-1)).toContain("outcome is unknown");
});

test("a fork of a waiting run, of an agent without a journal, can be opened like that run", async () => {
  const tools = [echo("guarded", { permission: "ask" })];
  const model = scripted([call("guarded"), say("done"), say("done as well")]);
  const agent = new Agent({ ...quick, model, tools });
  const { session } = await agent.run("go");
  await agent.fork(session, "f");
  await (await agent.open(session)).fork("g");
  for (const [id, text] of [
    ["f", "done"],
    ["g", "done as well"],
  ] as const) {
    const fork = await agent.open(id);
    expect(fork.pending.map(({ name }) => name)).toEqual(["guarded"]);
    expect((await fork.approve("call_1")).text).toBe(text);
  }
  expect((await agent.open("other")).messages).toEqual([]);
});

test("a fork with other options asks their hooks about the step where it branches, even if the old hooks have answered", async () => {
  const journal = memoryJournal();
  const hooks = { transformContext: (): Message[] => [userText("for the old one")] };
  const agent = new Agent({ ...quick, model: scripted([say("old")]), hooks, journal });
  const session = await agent.open("s");
  await session.send("go");
  const asked = journal.read("s").findIndex(({ type }) => type === "hook_answered") + 1;
  const sent = async (id: string, options: ForkOptions): Promise<string[]> => {
    const model = scripted([say("new")]);
    await (await session.fork(id, { seq: asked, model, ...options })).resume();
    return shortly(model.lastRequest.messages);
  };
  expect(await sent("none", { agent: { hooks: {} } })).toEqual(["user: go"]);
  const own = { transformContext: (): Message[] => [userText("for the new one")] };
  expect(await sent("own", { agent: { hooks: own } })).toEqual(["user: for the new one"]);
});

// When rules are heard, when the loop waits and for how long, who is asked: the pure rooms, on states made by hand.

import type { Call, Rule, Rules } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { askApprovals, reconcileCalls, useGrant } from "../../src/loop/deciding/approvals.ts";
import {
  graceEnd,
  ruleDecision,
  spokenAgainst,
  timedDecision,
  timeoutAt,
  wait,
  waitForRetry,
  wakeTime,
} from "../../src/loop/deciding/consulting.ts";
import { allow, countGrantUse, revoke } from "../../src/loop/folding/grants.ts";
import {
  acting,
  answerOf,
  callOf,
  finished,
  recordOf,
  rules,
  stateOf,
  toolOf,
  unknownCall,
} from "./support.ts";

type Bare = Omit<Rule, "version">;
const withRules = (...list: Bare[]): Rules => ({
  ...rules,
  list: list.map((rule) => ({ version: 1, ...rule })),
});
const none = withRules();
const running = callOf("5.0", { startedAt: 500, tool: toolOf("write", { timeoutMs: 200 }) });
const landing = { reason: "max_steps" as const, rule: "steps", evidence: {} };
const because = { rule: "talker", evidence: { seen: 1 } };

describe("the time to wake", () => {
  test("is when the first of the running calls times out", () => {
    const other = callOf("5.1", { startedAt: 100, tool: toolOf("write", { timeoutMs: 5_000 }) });
    expect(wakeTime(acting([other, running, callOf("5.2")]), none)).toBe(700);
    expect(wakeTime(acting([callOf("5.2")]), none)).toBeUndefined();
    expect(wait(acting([running]), none)).toStrictEqual({ do: "wait", until: 700 });
    expect(wait(acting([]), none)).toStrictEqual({ do: "wait" });
  });

  test("of a call with an unknown tool is at once", () => {
    expect(timeoutAt(unknownCall("5.0", { startedAt: 500 }))).toBe(500);
    expect(timeoutAt(callOf("5.0"))).toBe(1_000);
  });

  test("is a rule's, if that comes first and has not passed", () => {
    const at = (time: number | undefined): Bare => ({ name: "clock", wakeAt: () => time });
    const silent: Bare = { name: "silent" };
    expect(wakeTime(stateOf({}, { now: 50 }), withRules(silent, at(90), at(80), at(undefined)))).toBe(80);
    expect(wakeTime(stateOf({}, { now: 80 }), withRules(at(80)))).toBeUndefined();
    expect(wakeTime(stateOf({}, { now: 81 }), withRules(at(80)))).toBeUndefined();
    expect(wakeTime(stateOf({ landing }, { now: 50 }), withRules(at(80)))).toBeUndefined();
  });

  test("is a rule's also while a landing waits for a tool or a summary, but not for its last answer", () => {
    const waking = (run: object): number | undefined =>
      wakeTime(stateOf({ landing, ...run }, { now: 50 }), withRules({ name: "clock", wakeAt: () => 80 }));
    const call = { startedAt: 1, attempt: 1, step: 1, model: 0 };
    // A summary that waits for its retry does not if the time is up before.
    expect(waking({ compacting: {} })).toBe(80);
    expect(waking({ call })).toBe(80);
    expect(waking({ call: { ...call, lands: true } })).toBeUndefined();
  });

  test("of a rule comes from its own memory", () => {
    const clock = (name: string): Bare => ({ name, wakeAt: (memory) => memory as number });
    expect(wakeTime(stateOf({}, { now: 1, memories: [70, 60] }), withRules(clock("a"), clock("b")))).toBe(60);
  });

  test("of a retry is when it is due, or when something else comes first", () => {
    const late: Bare = { name: "clock", wakeAt: () => 300 };
    const early: Bare = { name: "clock", wakeAt: () => 150 };
    const retrying = stateOf({ notBefore: 200 }, { now: 100 });
    expect(waitForRetry(retrying, none)).toStrictEqual({ do: "wait", until: 200 });
    expect(waitForRetry(retrying, withRules(late))).toStrictEqual({ do: "wait", until: 200 });
    expect(waitForRetry(retrying, withRules(early))).toStrictEqual({ do: "wait", until: 150 });
    expect(waitForRetry(stateOf({ notBefore: 200 }, { now: 200 }), none)).toBeUndefined();
    expect(waitForRetry(stateOf({ notBefore: 200 }, { now: 201 }), none)).toBeUndefined();
    expect(waitForRetry(stateOf(), none)).toBeUndefined();
  });

  test("after a cancellation is when the grace is over", () => {
    expect(graceEnd(stateOf({ cancelledAt: 40 }))).toBe(140);
    expect(graceEnd(stateOf())).toBe(100);
  });
});

describe("a rule that decides", () => {
  const deciding = (decision: object | undefined, change: Partial<Rule> = {}): Bare =>
    ({ name: "talker", decide: () => decision, ...change }) as Bare;
  const heard = (decision: object, run: object = {}): unknown =>
    ruleDecision(stateOf(run), withRules(deciding({ evidence: { seen: 1 }, ...decision })));
  const fact = (one: object): object => ({ do: "record", facts: [one] });

  test("becomes one record, with its name and its evidence", () => {
    expect(heard({ do: "land", reason: "max_steps" })).toStrictEqual(
      fact({ type: "mode", mode: "landing", reason: "max_steps", cancel: false, ...because }),
    );
    expect(heard({ do: "land", reason: "max_steps", cancel: true })).toStrictEqual(
      fact({ type: "mode", mode: "landing", reason: "max_steps", cancel: true, ...because }),
    );
    expect(heard({ do: "nudge", text: "look again" })).toStrictEqual(
      fact({ type: "noted", text: "look again", ...because }),
    );
    expect(heard({ do: "hide_tool", tool: "write" })).toStrictEqual(
      fact({ type: "mode", mode: "hide_tool", tool: "write", ...because }),
    );
    expect(heard({ do: "stop", reason: "turn_stopped" })).toStrictEqual(
      fact({
        type: "run_ended",
        end: { reason: "turn_stopped", ...because, landed: false, resumable: true },
        text: "",
      }),
    );
  });

  const error = { kind: "internal", message: "broke", retryable: false };

  test("to stop ends the run at once only if nothing is open, and its error is recorded", () => {
    expect(heard({ do: "stop", reason: "error", error })).toMatchObject(
      fact({ type: "run_ended", end: { reason: "error", error } }),
    );
    const stopping = { type: "mode", mode: "stopping", reason: "turn_stopped", cancel: true, ...because };
    const turn = { seq: 5, message: answerOf([]), calls: [callOf("5.0")] };
    expect(heard({ do: "stop", reason: "turn_stopped" }, { turn })).toStrictEqual(fact(stopping));
    const call = { startedAt: 1, step: 1, attempt: 1 };
    expect(heard({ do: "stop", reason: "turn_stopped" }, { call })).toStrictEqual(fact(stopping));
    expect(heard({ do: "stop", reason: "turn_stopped", error }, { call })).toStrictEqual(
      fact({ ...stopping, error }),
    );
  });

  test("to stop a run that is stopping already counts only if something is in flight, or it would stop for ever", () => {
    const stopping = { reason: "turn_stopped" as const, ...because };
    const { turn } = acting([callOf("5.0")]).run ?? {};
    const stop = { do: "stop", reason: "turn_stopped" };
    expect(heard(stop, { turn, stopping })).toBeUndefined();
    expect(heard(stop, { stopping })).toBeUndefined();
    const { turn: at } = acting([running]).run ?? {};
    expect(heard(stop, { turn: at, stopping })).toMatchObject({
      facts: [{ mode: "stopping", cancel: true }],
    });
    expect(heard({ do: "land", reason: "deadline" }, { turn, stopping })).toMatchObject({
      facts: [{ mode: "landing" }],
    });
  });

  test("to give a notice does so once between two model calls, and lets the next rule decide", () => {
    const talks = withRules(
      deciding({ do: "nudge", text: "again", evidence: {} }),
      deciding({ do: "hide_tool", tool: "write", evidence: {} }, { name: "hider" }),
      deciding({ do: "land", reason: "max_steps", evidence: {} }, { name: "lander" }),
    );
    const says = (spoken: string[]): unknown => ruleDecision(stateOf({ spoken }), talks);
    expect(says([])).toMatchObject(fact({ type: "noted" }));
    expect(says(["talker"])).toMatchObject(fact({ mode: "hide_tool" }));
    expect(says(["talker", "hider", "lander"])).toMatchObject(fact({ mode: "landing" }));
  });

  test("is ignored while the run lands, or if it returns nothing", () => {
    expect(heard({ do: "stop", reason: "turn_stopped" }, { landing })).toBeUndefined();
    const two = withRules(
      { name: "mute" },
      deciding(undefined),
      deciding({ do: "nudge", text: "x", evidence: {} }),
    );
    expect(ruleDecision(stateOf(), two)).toMatchObject(fact({ type: "noted" }));
    expect(ruleDecision(stateOf(), withRules(deciding(undefined)))).toBeUndefined();
  });

  test("gets its own memory", () => {
    const remembering: Bare = {
      name: "r",
      decide: (memory) => (memory === "mine" ? { do: "nudge", text: "x", evidence: {} } : undefined),
    };
    const state = stateOf({}, { memories: ["other", "mine"] });
    expect(ruleDecision(state, withRules({ name: "first" }, remembering))).toBeDefined();
    expect(ruleDecision(state, withRules(remembering))).toBeUndefined();
  });

  test("by the clock counts from its time on", () => {
    const timed = (time: number | undefined): Rules =>
      withRules(
        deciding({ do: "nudge", text: "never", evidence: {} }),
        deciding({ do: "land", reason: "deadline", evidence: {} }, { wakeAt: () => time }),
      );
    const state = stateOf({}, { now: 100 });
    expect(timedDecision(state, timed(101))).toBeUndefined();
    expect(timedDecision(state, timed(100))).toMatchObject(fact({ mode: "landing" }));
    expect(timedDecision(state, timed(99))).toMatchObject(fact({ mode: "landing" }));
    expect(timedDecision(state, timed(undefined))).toBeUndefined();
    // One that only wants to be woken has nothing to say.
    expect(timedDecision(state, withRules({ name: "clock", wakeAt: () => 100 }))).toBeUndefined();
  });

  test("against a call: the first one that decides says why, and is named", () => {
    const against = (text: string, key: string): Bare => ({
      name: text,
      judgeStart: (memory, call) =>
        call.key === key
          ? {
              code: "limit",
              text: `${text} ${String(memory)}`,
              ...(text === "three" ? { evidence: { seen: 3 } } : {}),
            }
          : undefined,
    });
    const both = withRules(
      { name: "mute" },
      against("one", "5.0"),
      against("two", "5.0"),
      against("three", "5.1"),
    );
    const state = stateOf({}, { memories: ["a", "b", "c", "d"] });
    expect(spokenAgainst(callOf("5.0"), state, both)).toStrictEqual({
      code: "limit",
      text: "one b",
      rule: "one",
    });
    expect(spokenAgainst(callOf("5.1"), state, both)).toStrictEqual({
      code: "limit",
      text: "three d",
      rule: "three",
      evidence: { seen: 3 },
    });
    expect(spokenAgainst(callOf("5.2"), state, both)).toBeUndefined();
  });
});

describe("people are asked", () => {
  const guarded = toolOf("write", { permission: "ask" });
  const parallel = { toolOrder: "parallel" as const };
  const ask = (calls: Call[], change: object = parallel): unknown =>
    askApprovals(acting(calls, {}, {}, change));

  test("about each call that needs an approval, once", () => {
    expect(
      ask([callOf("5.0", { tool: guarded }), callOf("5.1"), callOf("5.2", { tool: guarded })]),
    ).toStrictEqual({
      do: "ask",
      calls: ["5.0", "5.2"],
    });
    expect(ask([callOf("5.0", { tool: guarded, asked: true })])).toBeUndefined();
    expect(ask([callOf("5.0")])).toBeUndefined();
    expect(
      ask([
        callOf("5.0", {
          permission: { answer: "ask" },
          result: { content: [], isError: true },
          settled: false,
        }),
      ]),
    ).toBeUndefined();
  });

  test("about the call as it would run: after the beforeTool hook", () => {
    const hooks = { ...parallel, hooks: ["beforeTool"] };
    expect(ask([callOf("5.0", { tool: guarded })], hooks)).toBeUndefined();
    expect(ask([callOf("5.0", { tool: guarded, prepared: true })], hooks)).toStrictEqual({
      do: "ask",
      calls: ["5.0"],
    });
  });

  test("but not about one that a grant covers, whose use is counted", () => {
    const grants = [
      { id: "other", tool: "read", used: 0 },
      { id: "writes", tool: "write", used: 0 },
    ];
    const use = (calls: Call[], given = grants): unknown =>
      useGrant(acting(calls, {}, { grants: given }, parallel));
    expect(use([callOf("5.0"), callOf("5.1", { tool: guarded })])).toStrictEqual({
      do: "record",
      facts: [{ type: "approval_given", call: "5.1", approval: { answer: "approve", grant: "writes" } }],
    });
    expect(use([callOf("5.1", { tool: guarded })], [])).toBeUndefined();
    expect(use([callOf("5.1", { tool: guarded, interrupted: true })])).toBeUndefined();
    expect(
      use([callOf("5.1", { tool: guarded, name: "guarded" }), callOf("5.2", { tool: guarded })]),
    ).toMatchObject({
      facts: [{ call: "5.2" }],
    });
    expect(use([callOf("5.0")])).toBeUndefined();
  });
});

describe("tools of interrupted calls", () => {
  const tool = toolOf("write", { reconciles: true, timeoutMs: 200 });
  const cut = (key: Call["key"], change: Partial<Call> = {}): Call =>
    callOf(key, { interrupted: true, tool, ...change });
  const asks = (...calls: Call[]): unknown => reconcileCalls(acting(calls), none);

  test("are asked for the outcome, each once", () => {
    expect(asks(cut("5.0"), callOf("5.1", { tool }), cut("5.2"))).toStrictEqual({
      do: "reconcile",
      calls: ["5.0", "5.2"],
    });
    expect(asks(cut("5.0", { reconciled: "unknown" }))).toBeUndefined();
    expect(asks(cut("5.0", { result: { content: [], isError: true } }))).toBeUndefined();
    expect(asks(cut("5.0", { tool: toolOf("write") }))).toBeUndefined();
    expect(asks(unknownCall("5.0", { interrupted: true }))).toBeUndefined();
  });

  test("are waited for until something else must be done", () => {
    expect(asks(cut("5.0"), callOf("5.1", { startedAt: 500, tool }))).toStrictEqual({
      do: "reconcile",
      calls: ["5.0"],
      until: 700,
    });
  });
});

describe("grants", () => {
  const grant = { id: "g", tool: "write" };
  const held = (...grants: object[]): ReturnType<typeof stateOf> =>
    acting([callOf("5.0")], {}, { grants: grants as never });

  test("are stored once, however often they are sent", () => {
    const once = allow(held(), grant);
    expect(once.grants).toStrictEqual([{ ...grant, used: 0, version: null }]);
    expect(allow(once, { ...grant, tool: "read" })).toBe(once);
    expect(allow(once, { id: "h", tool: "read" }).grants.map(({ id }) => id)).toStrictEqual(["g", "h"]);
  });

  test("are revoked by their id", () => {
    const both = held({ ...grant, used: 1 }, { ...grant, id: "h", used: 0 });
    expect(revoke(both, "g").grants).toStrictEqual([
      { ...grant, used: 1, revoked: true },
      { ...grant, id: "h", used: 0 },
    ]);
  });

  const used = (approval: object, state = held({ ...grant, used: 1 }), call = "5.0"): unknown =>
    countGrantUse(state, state.run as never, recordOf({ type: "approval_given", call, approval }) as never);

  test("are used up by the approvals that name them", () => {
    const approval = { answer: "approve", grant: "g" };
    const state = held({ ...grant, used: 1 }, { ...grant, id: "h", used: 0 });
    expect(used(approval, state)).toMatchObject({
      grants: [
        { id: "g", used: 2 },
        { id: "h", used: 0 },
      ],
    });
    expect(used(approval, held({ ...grant, used: 1, uses: 2 }))).toMatchObject({ grants: [{ used: 2 }] });
  });

  test("let nothing run that they do not cover, or no longer", () => {
    const approval = { answer: "approve", grant: "g" };
    expect(used({ answer: "approve", grant: "nobody's" })).toBeUndefined();
    expect(used(approval, held({ ...grant, used: 2, uses: 2 }))).toBeUndefined();
    expect(used(approval, held({ ...grant, used: 0, revoked: true }))).toBeUndefined();
    expect(used(approval, held({ ...grant, tool: "read", used: 0 }))).toBeUndefined();
    const cut = acting([callOf("5.0", { interrupted: true })], {}, { grants: [{ ...grant, used: 0 }] });
    expect(used(approval, cut)).toBeUndefined();
  });

  test("are made by an approval with always, and by no other", () => {
    const state = held({ ...grant, used: 1 });
    expect(used({ answer: "approve", always: { id: "h", tool: "write" } }, state)).toMatchObject({
      grants: [{ id: "g" }, { id: "h", used: 0 }],
    });
    expect(used({ answer: "approve" }, state)).toBe(state);
    expect(used({ answer: "deny", grant: "g" }, state)).toBe(state);
    expect(used({ answer: "approve", grant: "g" }, state, "9.9")).toBe(state);
    const idle = stateOf({}, { grants: [{ ...grant, used: 1 }] });
    expect(used({ answer: "approve", grant: "g" }, idle)).toBe(idle);
  });
});

test("a finished call is not running", () => {
  expect(
    wakeTime(acting([finished("5.0", { tool: toolOf("write", { timeoutMs: 1 }) })]), none),
  ).toBeUndefined();
});

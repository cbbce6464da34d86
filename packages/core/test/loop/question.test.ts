// A question of a call's tool, in states made by hand: what a record of it changes, what is told, and what comes too late.

import { type Call, type Fact, type LogRecord, type RondoEvent, reduce, type State } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { isPrepared, permissionOf, startable } from "../../src/loop/batch.ts";
import { isAnswerTo, nothingSpent, waitingInside } from "../../src/loop/children.ts";
import { unstartedResult } from "../../src/loop/deciding/closing.ts";
import { announce, viewOf } from "../../src/loop/driving/announce.ts";
import { answerIn, toldBy } from "../../src/loop/driving/external-result.ts";
import { isOutcome, timely } from "../../src/loop/driving/late-results.ts";
import { awaitsAnswer, hasBegun } from "../../src/loop/state.ts";
import { echo } from "../support.ts";
import { acting, callOf, finished, options, recordOf, rules, stateOf, toolOf } from "./support.ts";

const asked = { asked: "Why?", round: 1 };
const running = callOf("5.0", { startedAt: 1 });
const waiting = callOf("5.0", { question: asked });
const answered = callOf("5.0", { question: { ...asked, answer: { value: "so" } } });
const waits: Fact = { type: "tool_waits", call: "5.0", question: "Why?" };

const after = (state: State, fact: object): Call | undefined =>
  reduce(state, recordOf(fact) as LogRecord, rules).run?.turn?.calls[0];

function told(before: State, fact: object): RondoEvent[] {
  const record = recordOf(fact) as LogRecord;
  return announce(record, before, reduce(before, record, rules), "session");
}

describe("a call whose tool asks", () => {
  test("has stopped, with the number of its question, and keeps what had let it run", () => {
    const { startedAt: _started, ...stopped } = running;
    const said = after(acting([running]), waits) as Call;
    expect(said).toStrictEqual({ ...stopped, question: asked });
    const judging = options({ hooks: ["permission", "beforeTool"] });
    expect([permissionOf(said, judging), isPrepared(said, judging)]).toStrictEqual(["allow", true]);
    const again = { ...answered, startedAt: 2, permission: { answer: "allow", approved: true } as const };
    expect(after(acting([again]), waits)).toMatchObject({
      permission: { approved: true },
      question: { asked: "Why?", round: 2 },
    });
    expect(after(acting([again]), waits)?.question).not.toHaveProperty("answer");
  });

  test("asks nothing if it is not running", () => {
    for (const call of [callOf("5.0"), waiting]) expect(after(acting([call]), waits)).toBe(call);
  });

  test("takes the first answer, and none without a question", () => {
    const answer = { type: "tool_answered", call: "5.0", answer: "so" };
    expect(after(acting([waiting]), answer)).toStrictEqual(answered);
    for (const call of [
      callOf("5.0"),
      answered,
      { ...running, question: { ...asked, answer: { value: 1 } } },
    ])
      expect(after(acting([call]), answer)).toBe(call);
  });

  test("has begun, waits until it is answered or has a result, and starts only then", () => {
    expect([hasBegun(waiting), hasBegun(callOf("5.0"))]).toEqual([true, false]);
    const over = finished("5.0", { question: asked });
    expect([waiting, answered, callOf("5.0"), over].map(awaitsAnswer)).toEqual([true, false, false, false]);
    expect([waiting, answered].map((call) => startable([call], options()))).toEqual([[], ["5.0"]]);
  });

  test("is shown with its question while that is open", () => {
    expect(viewOf(waiting).question).toStrictEqual(asked);
    for (const call of [answered, running]) expect(viewOf(call)).not.toHaveProperty("question");
    expect(told(acting([running]), waits)).toStrictEqual([
      { type: "answer_request", call: { ...viewOf(running), question: asked } },
    ]);
    expect(told(acting([]), waits)).toStrictEqual([]);
  });

  test("is not said to be unstarted if the run is cancelled before it goes on", () => {
    expect(unstartedResult(answered, rules).code).toBe("outcome_unknown");
    expect(unstartedResult(callOf("5.0"), rules).code).toBe("aborted");
  });
});

describe("a question that comes too late", () => {
  test("is an outcome of the work, and is kept as a late result", () => {
    expect(isOutcome(waits)).toBe(true);
    expect(timely(waits, acting([running]))).toBe(waits);
    const result = { content: [{ type: "text", text: "it asked a question" }], isError: true };
    for (const state of [acting([finished("5.0")]), stateOf()])
      expect(timely(waits, state)).toStrictEqual({ type: "late_result", call: "5.0", result });
  });
});

describe("what is given to a call that asks", () => {
  const tool = toolOf("write", { resumes: true });
  const given = { content: [], isError: false, value: "so" };

  test("is the answer if its tool goes on with one, and else the result", () => {
    expect(answerIn(given, { ...waiting, tool })).toBe("so");
    expect(answerIn({ content: [], isError: true }, { ...waiting, tool })).toBeUndefined();
    const { tool: _tool, ...gone } = waiting;
    for (const call of [waiting, gone, { ...answered, tool }, { ...running, tool }])
      expect(answerIn(given, call)).toBeUndefined();
  });

  test("is the result if its arguments were taken as a text", () => {
    const raw = { ok: true, args: { _raw: "x" }, keys: null, raw: true } as const;
    expect(answerIn(given, { ...waiting, tool, check: raw })).toBeUndefined();
  });
});

describe("what is given in place of running a call", () => {
  const failures = { texts: rules.texts, masked: false, report: () => {} };
  const shouting = { ...echo("write"), tell: (said: unknown) => String(said).toUpperCase() };
  const given = { content: [{ type: "text" as const, text: "so" }], isError: false, value: "so" };

  test("is rendered as its tool renders what it returns, unless it was recorded", async () => {
    const text = (words: string): object => ({ content: [{ type: "text", text: words }], isError: false });
    const told = await toldBy(shouting, "write", given, rules, failures);
    expect(told).toStrictEqual({ ...text("SO"), code: "answered" });
    const recorded = await toldBy(shouting, "write", { ...given, recorded: true }, rules, failures);
    expect(recorded).toStrictEqual({ ...text("so"), code: "answered" });
  });
});

describe("a question inside a sub-agent", () => {
  const first = { id: "a", name: "buy", args: {}, session: "s", agents: [], question: asked };
  const second = { ...first, question: { asked: "Sure?", round: 2 } };
  const parent = (change: Partial<NonNullable<Call["child"]>> = {}): Call =>
    callOf("5.0", {
      startedAt: 1,
      child: {
        session: "s",
        reserved: {},
        spent: nothingSpent,
        parked: false,
        waiting: [first],
        answers: [],
        told: 0,
        ...change,
      },
    });
  const said = { answer: "result", content: [], isError: false } as const;
  const passed = { type: "approval_passed", call: "5.0", inside: "a", round: 1, said };

  test("is answered by an answer of its round", () => {
    expect(isAnswerTo({ inside: "a", round: 1 }, first)).toBe(true);
    for (const other of [{ inside: "a" }, { inside: "a", round: 2 }, { inside: "b", round: 1 }])
      expect(isAnswerTo(other, first)).toBe(false);
    const { question: _question, ...approval } = first;
    expect(isAnswerTo({ inside: "a" }, approval)).toBe(true);
  });

  test("waits though an earlier one was answered, and takes an answer of its own", () => {
    const call = after(acting([parent()]), passed) as Call;
    expect(waitingInside(acting([call]))).toEqual([]);
    const next = parent({ waiting: [second], answers: call.child?.answers ?? [] });
    expect(waitingInside(acting([next]))).toEqual([{ call: next, inside: second }]);
    expect(after(acting([next]), { ...passed, round: 2 })?.child?.answers).toStrictEqual([
      { inside: "a", round: 1, said },
      { inside: "a", round: 2, said },
    ]);
    expect(after(acting([next]), passed)).toBe(next);
  });

  test("is told when it is new, of the call that it is in", () => {
    const fact = { type: "child_waits", call: "5.0", pending: [second], parked: false };
    expect(told(acting([parent()]), fact)).toMatchObject([
      { type: "answer_request", call: { id: "id-5.0/a", question: { round: 2 } } },
    ]);
    expect(told(acting([parent({ waiting: [second] })]), fact)).toStrictEqual([]);
    const other = { ...parent(), key: "5.1", id: "id-5.1" } as Call;
    const both = acting([parent(), { ...other, child: { ...other.child, waiting: [] } as never }]);
    expect(told(both, { ...fact, call: "5.1" })).toMatchObject([{ call: { id: "id-5.1/a" } }]);
  });
});

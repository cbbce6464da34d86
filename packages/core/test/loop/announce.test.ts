// What a watcher is told of each record: a pure function, on states made by hand.

import { type Call, type LogRecord, type Part, type RondoEvent, reduce, type State } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { nothingSpent } from "../../src/loop/children.ts";
import { announce, viewInside, viewOf } from "../../src/loop/driving/announce.ts";
import { acting, answerOf, callOf, finished, options, recordOf, rules, stateOf } from "./support.ts";

const because = { rule: "some_rule", evidence: { seen: 1 } };
const error = { kind: "internal", message: "it broke", retryable: false } as const;
const compacting = { ...because, summaries: [], failures: 0 };
const modelCall = { startedAt: 1, step: 1, attempt: 1 };
const user = (text: string): object => ({ role: "user", content: [{ type: "text", text }] });

/** What the record comes to, and what is told of it. */
function told(before: State, fact: object): RondoEvent[] {
  const record = recordOf(fact) as LogRecord;
  return announce(record, before, reduce(before, record, rules), "session");
}
const view = { key: "5.0", id: "id-5.0", name: "write", args: {} } as const;

describe("a call in an event", () => {
  test("has its key, its id, its name and its arguments, and whether it was interrupted", () => {
    expect(viewOf(callOf("5.0"))).toStrictEqual(view);
    expect(viewOf(callOf("5.0", { interrupted: true }))).toStrictEqual({ ...view, interrupted: true });
  });

  test("inside a sub-agent names the agents above it", () => {
    const inside = { id: "i", name: "read", args: { at: 1 }, session: "s", agents: ["b"] };
    expect(viewInside(callOf("5.0"), inside)).toStrictEqual({
      key: "5.0",
      id: "id-5.0/i",
      name: "read",
      args: { at: 1 },
      child: { session: "s", agents: ["write", "b"] },
    });
  });
});

describe("events of a run", () => {
  const start = { type: "run_started", format: 1, input: [user("go")], options: options() };
  const { run: _run, ...idle } = stateOf();

  test("report its start, with its input, and the compaction that it is for", () => {
    expect(told(idle, start)).toStrictEqual([
      { type: "run_start", session: "session", run: 1, input: [user("go")] },
    ]);
    expect(told(idle, { ...start, input: [], history: [user("a"), user("b"), user("c")] })).toMatchObject([
      { input: [user("c")] },
    ]);
    expect(told(idle, { ...start, only: "compaction" })).toMatchObject([
      { type: "run_start" },
      { type: "compaction_start", rule: "asked", evidence: {} },
    ]);
    expect(told(stateOf(), start)).toStrictEqual([]);
  });

  test("report a limit that ends it at once before its end, but a reported limit not again", () => {
    const end = { reason: "max_steps", ...because, landed: false, resumable: true };
    const typesWith = (run: object): string[] =>
      told(stateOf(run), { type: "run_ended", end, text: "bye" }).map(({ type }) => type);
    expect(typesWith({})).toStrictEqual(["limit", "run_end"]);
    expect(typesWith({ landing: { reason: "max_steps", ...because } })).toStrictEqual(["run_end"]);
    expect(typesWith({ stopping: { reason: "max_steps", ...because } })).toStrictEqual(["run_end"]);
  });

  test.each([
    ...(["max_steps", "token_budget", "cost_budget", "deadline"] as const),
    ...(["duplicate_call", "tool_call_limit", "no_progress"] as const),
  ])("report an end by a limit as one: %s", (reason) => {
    const met = { type: "limit", ...because, reason, lands: false };
    const end = { reason, ...because, landed: false, resumable: true };
    expect(told(stateOf(), { type: "run_ended", end })[0]).toStrictEqual(met);
  });

  test("end a step without an answer before the run's end, and no other step", () => {
    const end = { reason: "error", ...because, landed: false, resumable: true };
    const ended = (run: object): unknown[] => told(stateOf(run), { type: "run_ended", end });
    expect(ended({ stepBegun: true, steps: 2 })).toStrictEqual([
      { type: "step_end", step: 3 },
      { type: "run_end", end, text: "" },
    ]);
    expect(ended({ steps: 2 })).toHaveLength(1);
  });

  test("report an end without a limit as an end only", () => {
    const end = { reason: "completed", ...because, landed: false, resumable: true };
    expect(told(stateOf(), { type: "run_ended", end })).toStrictEqual([{ type: "run_end", end, text: "" }]);
  });

  test("report its end once", () => {
    const end = { reason: "completed", ...because, landed: false, resumable: true };
    expect(told(stateOf(), { type: "run_ended", end, text: "bye" })).toStrictEqual([
      { type: "run_end", end, text: "bye" },
    ]);
    expect(told(stateOf(), { type: "run_ended", end })).toStrictEqual([{ type: "run_end", end, text: "" }]);
    expect(told(stateOf({ end: end as never }), { type: "run_ended", end })).toStrictEqual([]);
    expect(told(idle, { type: "run_ended", end })).toStrictEqual([]);
  });

  test("report messages as they are delivered", () => {
    const inbox = ["a", "b"].map((id) => ({ id, lane: "steer", message: user(id) })) as never;
    expect(told(stateOf({}, { inbox }), { type: "delivered", lane: "steer", ids: ["b"] })).toStrictEqual([
      { type: "message_delivered", lane: "steer", id: "b", message: user("b") },
    ]);
    expect(told(stateOf({}, { inbox }), { type: "withdrawn", id: "b" })).toStrictEqual([
      { type: "message_withdrawn", lane: "steer", id: "b", message: user("b") },
    ]);
    const work = { type: "hook_answered", hook: "onFinish", messages: [user("x"), user("y")] };
    expect(told(stateOf(), work)).toStrictEqual([]);
    expect(told(idle, work)).toStrictEqual([]);
    expect(told(stateOf({ answer: { text: "so" } }), work)).toStrictEqual(
      ["x", "y"].map((text, at) => ({
        type: "message_delivered",
        lane: "follow_up",
        id: `onFinish_10_${at}`,
        message: user(text),
        hook: "onFinish",
      })),
    );
  });

  test("report notes, limits and modes with their rule", () => {
    const mode = (change: object, run: object = {}): RondoEvent[] =>
      told(stateOf(run), { type: "mode", ...because, ...change });
    expect(told(stateOf(), { type: "noted", text: "look", ...because })).toStrictEqual([
      { type: "nudge", rule: "some_rule", text: "look" },
    ]);
    expect(mode({ mode: "landing", reason: "max_steps" })).toStrictEqual([
      { type: "limit", ...because, reason: "max_steps", lands: true },
    ]);
    expect(
      mode({ mode: "landing", reason: "max_steps" }, { landing: { reason: "deadline", ...because } }),
    ).toStrictEqual([]);
    expect(mode({ mode: "stopping", reason: "no_progress" })).toStrictEqual([
      { type: "limit", ...because, reason: "no_progress", lands: false },
    ]);
    expect(mode({ mode: "compacting" })).toStrictEqual([{ type: "compaction_start", ...because }]);
    expect(mode({ mode: "compacting" }, { compacting })).toStrictEqual([]);
    expect(mode({ mode: "hide_tool", tool: "write" })).toStrictEqual([
      { type: "nudge", rule: "some_rule", text: "the tool write is no longer offered" },
    ]);
    expect(mode({ mode: "output", attempt: 0 })).toStrictEqual([]);
    expect(mode({ mode: "output", attempt: 1 })).toStrictEqual([
      { type: "nudge", rule: "some_rule", text: "the output did not fit and is asked for again" },
    ]);
  });

  test("do not report what only the loop needs", () => {
    for (const fact of [
      { type: "woke" },
      { type: "queued", id: "a", lane: "steer", message: user("a") },
      { type: "abort_asked", reason: "enough" },
      { type: "summary_started" },
      { type: "output_checked", ok: true },
      { type: "hook_answered", hook: "prepareStep", step: 1 },
    ])
      expect(told(stateOf(), fact)).toStrictEqual([]);
  });

  test("report a late result as a warning", () => {
    const late = (call: string | null): RondoEvent[] => told(stateOf(), { type: "late_result", call });
    expect(late("5.0")).toStrictEqual([
      { type: "warning", code: "late_result", message: "a result came after it was given up: 5.0" },
    ]);
    expect(late(null)).toMatchObject([
      { message: "a result came after it was given up: the model's answer" },
    ]);
  });
});

test("do not report that an abandoned sub-agent has ended", () => {
  const one = { call: "5.0", name: "write", session: "s:5.0", told: nothingSpent, until: 9 } as const;
  const late = (call: string, content: object[]): number =>
    told({ ...stateOf(), left: [one] }, { type: "late_result", call, result: { content, isError: true } })
      .length;
  expect(late("5.0", [])).toBe(0);
  expect(told({ ...stateOf(), left: [one] }, { type: "late_result", call: "5.0" })).toStrictEqual([]);
  const two = { ...stateOf(), left: [one, { ...one, call: "5.2" as const }] };
  expect(told(two, { type: "late_result", call: "5.2" })).toStrictEqual([]);
  expect(late("5.0", [{ type: "text", text: "late" }])).toBe(1);
  expect(late("5.1", [])).toBe(1);
});

describe("events of a model call", () => {
  const begun = { stepBegun: true } as const;
  const started = (change: object, state: State = stateOf(begun)): RondoEvent[] =>
    told(state, { type: "model_started", step: 2, attempt: 1, model: 0, digest: "d", ...change });
  const [first] = options().models;
  const request = {
    type: "request",
    step: 2,
    attempt: 1,
    model: "first",
    origin: first?.origin,
    digest: "d",
  };

  test("report the step once, the changes to the history, and the request", () => {
    expect(started({}, stateOf())).toStrictEqual([{ type: "step_start", step: 2 }, request]);
    // Also where an attempt is the first of another model's.
    expect(started({})).toStrictEqual([request]);
    expect(started({ attempt: 2 })).toStrictEqual([{ ...request, attempt: 2 }]);
    const stage = { stage: "prune", before: 9, after: 3, note: "n" };
    expect(started({ stages: [stage], broke: "message 1" }, stateOf())).toStrictEqual([
      { type: "step_start", step: 2 },
      { type: "context", ...stage },
      { ...request, broke: "message 1" },
    ]);
    expect(started({ attempt: 2, model: 7 })).toStrictEqual([
      { ...request, attempt: 2, model: "", origin: { api: "", provider: "", model: "" } },
    ]);
  });

  test("say that the request asks for the typed output", () => {
    const output = { output: { schema: {}, decodeRetries: 0 } };
    expect(started({ attempt: 2 }, stateOf({ ...begun, output: { attempt: 0 } }, {}, output))).toStrictEqual([
      { ...request, attempt: 2, output: true },
    ]);
    expect(started({ attempt: 2 }, stateOf(begun, {}, output))).toStrictEqual([{ ...request, attempt: 2 }]);
    expect(started({ attempt: 2 }, stateOf({ ...begun, output: { attempt: 0 } }))).toStrictEqual([
      { ...request, attempt: 2 },
    ]);
  });

  test("report the answer as it is in the turn", () => {
    const call = { type: "tool_call", id: "", name: "write", args: {}, rawArgs: "{}" };
    const message = answerOf([call as never]);
    const [event] = told(stateOf({ call: modelCall, steps: 1 }), {
      type: "model_finished",
      message,
      checks: [],
    });
    expect(event).toMatchObject({ type: "message", step: 2, message: { content: [{ id: "call_10_0" }] } });
    expect(told(stateOf(), { type: "model_finished", message, checks: [] })).toStrictEqual([
      { type: "message", step: 1, message },
    ]);
  });
});

describe("events of a judgement", () => {
  const failure = { error, at: 1_000, rand: 0.5 };
  const turn = {
    seq: 5,
    message: answerOf([{ type: "text", text: "so" }], { usage: { inputTokens: 1 } }),
    calls: [],
  };
  const judged = (run: object, follows: object, change: object = {}): RondoEvent[] =>
    told(stateOf({ steps: 1, ...run }), {
      type: "turn_judged",
      verdicts: [],
      follows,
      store: true,
      ...because,
      ...change,
    });
  const end = { type: "step_end", step: 2, usage: { inputTokens: 1 } };

  test("end the step once nothing in it is open", () => {
    expect(judged({ turn }, { do: "finish" })).toStrictEqual([end]);
    expect(judged({ turn: { ...turn, message: answerOf([]) } }, { do: "finish" })).toStrictEqual([
      { type: "step_end", step: 2 },
    ]);
    expect(judged({ turn: { ...turn, calls: [callOf("5.0")] } }, { do: "act" })).toStrictEqual([]);
    expect(judged({}, { do: "finish" })).toStrictEqual([]);
    expect(judged({ turn }, { do: "finish" }, { store: false })).toStrictEqual([end]);
  });

  test("report a landing and a compaction", () => {
    expect(judged({ turn }, { do: "land", reason: "max_steps" })).toStrictEqual([
      { type: "limit", ...because, reason: "max_steps", lands: true },
      end,
    ]);
    expect(judged({ failure }, { do: "ask_again", reduce: "compact" })).toStrictEqual([
      { type: "compaction_start", ...because },
    ]);
    // One that was asked for has begun already, and both have one end.
    const compacting = { rule: "asked", evidence: {}, summaries: [], failures: 0 };
    expect(judged({ failure, compacting }, { do: "ask_again", reduce: "compact" })).toStrictEqual([]);
    expect(judged({ failure }, { do: "stop", reason: "error" })).toStrictEqual([]);
  });

  test("report a limit that stops the run", () => {
    const met = { type: "limit", ...because, reason: "tool_call_limit", lands: false };
    expect(judged({ turn }, { do: "stop", reason: "tool_call_limit" })).toStrictEqual([met, end]);
  });

  test("report a retry with its wait, and whether shown deltas are void", () => {
    const retry = { type: "retry", step: 2, error, delayMs: 500, discard: false, ...because };
    expect(judged({ failure }, { do: "ask_again", until: 1_500 })).toStrictEqual([retry]);
    expect(judged({ failure: { ...failure, partial: answerOf([]) } }, { do: "ask_again" })).toStrictEqual([
      { ...retry, delayMs: 0, discard: true },
    ]);
    expect(judged({ failure: { ...failure, shown: true } }, { do: "ask_again", until: 1_500 })).toStrictEqual(
      [{ ...retry, discard: true }],
    );
    expect(judged({ failure }, { do: "ask_again", until: 1_500, reduce: "cut" })).toStrictEqual([retry]);
  });

  test("report a fallback with both models", () => {
    const fallback = { type: "fallback", step: 2, from: "first", to: "second", error, discard: false };
    expect(judged({ failure }, { do: "ask_again", model: 1 })).toStrictEqual([fallback]);
    expect(judged({ failure, model: 1 }, { do: "ask_again", model: 7 })).toStrictEqual([
      { ...fallback, from: "second", to: "" },
    ]);
    expect(judged({ failure, model: 9 }, { do: "ask_again", model: 0 })).toMatchObject([
      { from: "", to: "first" },
    ]);
  });

  describe("of an answer that is requested again", () => {
    const again = { do: "ask_again" };
    const saying = (content: Part[]): object => ({
      turn: { ...turn, message: { ...turn.message, content } },
    });

    test("report the note for the model", () => {
      const nothing = saying([]);
      expect(judged(nothing, { ...again, note: "say more" }, { store: false })).toStrictEqual([
        { type: "nudge", rule: "some_rule", text: "say more" },
        end,
      ]);
      expect(judged(nothing, again, { store: false })).toMatchObject([
        { text: "the same request is sent again" },
        {},
      ]);
      expect(judged(nothing, again)).toStrictEqual([end]);
    });

    test("say that what was shown of it is to be dropped, unless it is kept", () => {
      for (const type of ["text", "reasoning"] as const) {
        const shown = saying([{ type, text: "a secret" }]);
        expect(judged(shown, { ...again, note: "say less" }, { store: false })).toStrictEqual([
          { type: "nudge", rule: "some_rule", text: "say less", discard: true },
          end,
        ]);
        expect(judged(shown, again)).toStrictEqual([end]);
      }
    });
  });
});

describe("events of a call", () => {
  const open = (call: Call, run: object = {}): State => acting([call, callOf("5.1")], { steps: 2, ...run });
  const finish = (call: Call, result: object = {}): RondoEvent[] =>
    told(open(call), {
      type: "tool_finished",
      call: "5.0",
      result: { content: [], isError: false, ...result },
    });
  const end = { type: "tool_end", call: view, content: [], isError: false, ms: 1_100 };

  test("report its start", () => {
    expect(told(open(callOf("5.0")), { type: "tool_started", call: "5.0" })).toStrictEqual([
      { type: "tool_start", call: view },
    ]);
    expect(told(open(callOf("5.0")), { type: "tool_started", call: "9.9" })).toStrictEqual([]);
    expect(told(stateOf(), { type: "tool_started", call: "5.0" })).toStrictEqual([]);
  });

  const runs = callOf("5.0", { startedAt: 900 });
  test("report its result and its duration", () => {
    expect(finish(runs)).toStrictEqual([end]);
    expect(finish(runs, { code: "threw", isError: true, done: "bye" })).toStrictEqual([
      { ...end, code: "threw", isError: true, done: "bye" },
    ]);
    expect(finish(runs, { details: { rows: 2 } })).toStrictEqual([{ ...end, details: { rows: 2 } }]);
    expect(finish(runs, { done: false })).toStrictEqual([{ ...end, done: false }]);
    expect(finish(finished("5.0", { settled: false }))).toStrictEqual([]);
    expect(
      told(stateOf(), { type: "tool_finished", call: "5.0", result: { content: [], isError: false } }),
    ).toStrictEqual([]);
  });

  test("are the same for one that got its result without running", () => {
    expect(finish(callOf("5.0"), { code: "denied" })).toStrictEqual([
      { type: "tool_start", call: view, code: "denied" },
      { ...end, ms: 0, code: "denied" },
    ]);
    expect(finish(callOf("5.0"))).toStrictEqual([
      { type: "tool_start", call: view },
      { ...end, ms: 0 },
    ]);
    const stopped = finish(callOf("5.0", { permission: { answer: "stop" } }));
    expect(stopped[1]).toStrictEqual({ ...end, ms: 0, done: true });
    expect(finish(callOf("5.0", { permission: { answer: "deny" } }))[1]).toStrictEqual({ ...end, ms: 0 });
  });

  test("report what was cut of its result, with the ref of the full text", () => {
    const capped = { bytes: 90, keptBytes: 10, lines: 3 };
    const cut = { type: "context", stage: "cap", before: 90, after: 10 };
    expect(finish(runs, { capped })).toStrictEqual([
      { ...cut, note: "the result of write was cut: it had 90 bytes in 3 lines" },
      end,
    ]);
    expect(finish(runs, { capped, ref: "r1" })).toMatchObject([
      { note: "the result of write was cut: it had 90 bytes in 3 lines, kept as r1" },
      {},
    ]);
  });

  test("end the step with the last result, or with what the afterTool hook made of it", () => {
    const last = acting([callOf("5.0", { startedAt: 900 })], { steps: 2 });
    expect(
      told(last, { type: "tool_finished", call: "5.0", result: { content: [], isError: false } }),
    ).toStrictEqual([end, { type: "step_end", step: 2 }]);
    const unseen = acting([finished("5.0", { settled: false })], { steps: 2 });
    expect(told(unseen, { type: "hook_answered", hook: "afterTool", call: "5.0" })).toStrictEqual([
      { type: "step_end", step: 2 },
    ]);
  });

  test("are the same for one that a hook answered, and come once", () => {
    const result = { content: [{ type: "text", text: "given" }], isError: false };
    const given = { type: "hook_answered", hook: "beforeTool", call: "5.0", result } as const;
    const start = { type: "tool_start", call: view };
    const { ms: _ms, ...ends } = end;
    expect(told(acting([callOf("5.0")], { steps: 2 }), given)).toStrictEqual([
      start,
      { ...ends, content: result.content, ms: 0 },
      { type: "step_end", step: 2 },
    ]);
    const failed = { ...given, error: "boom", result: { ...result, isError: true, code: "hook_failed" } };
    expect(told(open(callOf("5.0")), failed)).toMatchObject([
      { ...start, code: "hook_failed" },
      { type: "tool_end", isError: true, code: "hook_failed" },
    ]);
    expect(told(open(finished("5.0")), given)).toStrictEqual([]);
    const { result: _none, ...passed } = given;
    for (const none of [passed, { ...passed, result: undefined }])
      expect(told(open(callOf("5.0")), none)).toStrictEqual([]);
  });

  test("report the cap of a result that a hook gave in place of the tool's", () => {
    const capped = { bytes: 90, keptBytes: 10, lines: 3 };
    const given = (result: object | undefined, call: string = "5.0"): object => ({
      type: "hook_answered",
      hook: "afterTool",
      call,
      ...(result && { result: { content: [], isError: false, ...result } }),
    });
    const ran = (result: object) => open(finished("5.0", { settled: false, result: result as never }));
    const whole = { content: [], isError: false };
    expect(told(ran(whole), given({ capped }))).toMatchObject([
      { type: "context", stage: "cap", before: 90 },
    ]);
    expect(told(ran(whole), given({}))).toStrictEqual([]);
    expect(told(ran({ ...whole, capped }), given({ capped }))).toStrictEqual([]);
    expect(told(ran({ ...whole, capped }), given({ capped: { ...capped, bytes: 91 } }))).toMatchObject([
      { before: 91 },
    ]);
    expect(told(ran({ ...whole, capped }), given(undefined))).toStrictEqual([]);
    expect(told(ran(whole), given({ capped }, "9.9"))).toStrictEqual([]);
  });

  test("report a request for approval, and the answer", () => {
    expect(told(open(callOf("5.0")), { type: "approval_asked", calls: ["5.0", "9.9"] })).toStrictEqual([
      { type: "approval_request", call: view },
    ]);
    const approval = { answer: "approve" };
    expect(told(open(callOf("5.0")), { type: "approval_given", call: "5.0", approval })).toStrictEqual([
      { type: "approval_result", call: view, approval },
    ]);
    expect(told(open(callOf("5.0")), { type: "approval_given", call: "9.9", approval })).toStrictEqual([]);
  });

  test("report once that a sub-agent waits for an approval", () => {
    const waiting = ["a", "b"].map((id) => ({ id, name: "read", args: {}, session: "s", agents: [] }));
    const spent = { usage: {}, tokens: 0, uncounted: 0, modelCalls: 0, agents: 0 };
    const child = {
      session: "s",
      reserved: {},
      spent,
      parked: false,
      waiting: waiting.slice(0, 1),
      answers: [],
      told: 0,
    };
    const other = callOf("5.1", {
      child: { ...child, waiting: [{ id: "c", name: "x", args: {}, session: "t", agents: [] }] },
    });
    const state = acting([callOf("5.0", { startedAt: 1, child }), other]);
    expect(told(state, { type: "child_waits", call: "5.0", pending: waiting, parked: false })).toStrictEqual([
      { type: "approval_request", call: viewInside(callOf("5.0"), waiting[1] as never) },
    ]);
  });
});

describe("events of making room", () => {
  test("report what was cut and what was summarised", () => {
    const note = { before: 9, after: 3, note: "n" };
    expect(told(stateOf(), { type: "trimmed", edits: [], stage: "trim", ...note })).toStrictEqual([
      { type: "context", stage: "trim", ...note },
    ]);
    expect(told(stateOf(), { type: "summary_failed", error })).toStrictEqual([
      { type: "warning", code: "summary_failed", message: "it broke" },
    ]);
    const compacted = (change: object): RondoEvent[] =>
      told(stateOf({ compacting }), { type: "compacted", stage: "compaction", ...note, ...change });
    expect(compacted({})).toStrictEqual([
      { type: "compaction_end", ...note, helped: false },
      { type: "context", stage: "compaction", ...note },
    ]);
    expect(compacted({ edit: [] })).toMatchObject([{ helped: true }, {}]);
  });

  test("report a compaction that was given up as ended", () => {
    const end = { reason: "completed", ...because, landed: false, resumable: true };
    const givenUp = (more: object = {}, run: object = { compacting }): RondoEvent[] =>
      told(stateOf(run, more), { type: "run_ended", end, text: "" });
    const over = (size: number): object => ({
      type: "compaction_end",
      before: size,
      after: size,
      helped: false,
      note: "it was given up: the run has to end",
    });
    expect(givenUp({ counted: { tokens: 7, length: 1 }, lastTokens: 5 })).toStrictEqual([
      over(7),
      { type: "run_end", end, text: "" },
    ]);
    expect(givenUp({ lastTokens: 5 })[0]).toStrictEqual(over(5));
    expect(givenUp()[0]).toStrictEqual(over(0));
    expect(givenUp({}, {})).toHaveLength(1);
    const ended = stateOf({ compacting, end: end as never });
    const started = { type: "run_started", format: 1, input: [user("go")], options: options() };
    expect(announce(recordOf(started), ended, stateOf(), "session")).toMatchObject([{ type: "run_start" }]);
    expect(told(stateOf({ compacting }), { type: "woke" })).toStrictEqual([]);
  });
});

test("accept a record without a run: no view may fail on one", () => {
  const { run: _run, ...idle } = stateOf();
  const between = (fact: object, before: State, after: State): RondoEvent[] =>
    announce(recordOf(fact), before, after, "session");
  const message = answerOf([{ type: "text", text: "so" }]);
  const judged = { type: "turn_judged", follows: { do: "ask_again" }, store: false, ...because };
  expect(between({ type: "approval_asked", calls: ["5.0"] }, idle, idle)).toStrictEqual([]);
  expect(between({ type: "model_finished", message, checks: [] }, idle, idle)).toMatchObject([
    { type: "message", message },
  ]);
  expect(between(judged, idle, idle)).toMatchObject([{ type: "nudge" }]);
  expect(between(judged, acting([finished("5.0")]), idle)).toMatchObject([
    { type: "nudge" },
    { type: "step_end" },
  ]);
  expect(between({ type: "woke" }, stateOf({ compacting }), idle)).toMatchObject([
    { type: "compaction_end" },
  ]);
  const start = { type: "run_started", format: 1, input: [user("go")], options: options() };
  expect(between(start, stateOf(), idle)).toMatchObject([{ type: "run_start", run: 0 }]);
});

test("report once that an abandoned sub-agent could not be ended, if that is not tried again", () => {
  const one = { call: "5.0", name: "write", session: "s:5.0", told: nothingSpent, until: 9 } as const;
  const failed = (failures: number, open?: true): RondoEvent[] =>
    told(
      { ...stateOf(), left: [{ ...one, failures }] },
      { type: "late_result", call: "5.0", error: "disk full", ...(open && { open }) },
    );
  const message = "the sub-agent s:5.0 waits on, though nobody wants it any more: disk full";
  const warning = [{ type: "warning", code: "child_left", message }];
  expect([failed(0, true), failed(1, true)]).toStrictEqual([[], []]);
  expect([failed(2, true), failed(0)]).toStrictEqual([warning, warning]);
});

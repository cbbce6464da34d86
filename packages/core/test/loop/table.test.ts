// The table of decisions: what it says of itself, and which row applies, on states made by hand.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Action,
  type Call,
  decide,
  emptyState,
  type Fact,
  type Message,
  next,
  type Phase,
  phaseOf,
  type Rules,
  reduce,
  type State,
  table,
  userText,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { Log } from "../../src/loop/log.ts";
import { hasNothingToAnswer, withRun } from "../../src/loop/state.ts";
import { acting, answerOf, callOf, finished, rules, stateOf, toolOf, unknownCall } from "./support.ts";

const { texts } = rules;
const because = { rule: "some_rule", evidence: {} };
const error = { kind: "internal", message: "it broke", retryable: false } as const;
const modelCall = { startedAt: 1, step: 1, attempt: 1 };
const failure = { error, at: 1, rand: 0.5 };
const compacting = { ...because, summaries: [], failures: 0 };
const abort = { at: 1, reason: "enough" };
const queued = (id: string, lane: string): State["inbox"][number] =>
  ({ id, lane, message: { role: "user", content: [{ type: "text", text: id }] } }) as never;
const rowOf = (state: State): string => decide(state, rules).row.when;
const said = (state: State): Action => next(state, rules);
const onlyFact = (state: State): unknown => {
  const action = said(state);
  if (action.do !== "record") throw new Error(`a record was expected, not ${action.do}`);
  expect(action.facts).toHaveLength(1);
  return action.facts[0];
};

test("the architecture page shows the table as it is: each phase, its rows, and what may follow", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../../ARCHITECTURE.md"), "utf8");
  const told: Record<string, string[]> = {};
  let phase = "";
  for (const line of text.slice(text.indexOf("<!-- table"), text.indexOf("<!-- /table")).split("\n")) {
    phase = /^\*\*(\w+)\*\*$/.exec(line)?.[1] ?? phase;
    const [, row] = /^\d+\. (.*)$/.exec(line) ?? [];
    if (row !== undefined) told[phase] = [...(told[phase] ?? []), row];
  }
  const is = Object.fromEntries(
    Object.entries(table).map(([name, rows]) => [
      name,
      rows.map(({ when, does, to }) => `When ${when}: ${does}. *(${to.join(", ")})*`),
    ]),
  );
  expect(is).toStrictEqual(told);
});

describe("the phase", () => {
  const paused = { paused: true, compacting: { ...compacting, rule: "asked" } };
  const turn = (judged: boolean): object => ({
    turn: {
      seq: 5,
      message: answerOf([]),
      calls: [],
      ...(judged ? { judged: { follows: { do: "act" }, store: true, text: "", ...because } } : {}),
    },
  });
  const cases: [Phase, string, object][] = [
    ["ready", "of a run with nothing open", {}],
    ["idle", "of a run that has ended", { end: { reason: "completed" }, abort }],
    ["cancelling", "of an aborted run", { abort, answer: { text: "x" } }],
    ["cancelling", "of a run whose model call was cancelled", { cancelledAt: 1, call: modelCall }],
    ["ready", "of a run with nothing left to cancel", { cancelledAt: 1 }],
    ["thinking", "of a run whose model is asked", { call: modelCall, failure }],
    ["judging", "of a run whose model failed", { failure, compacting }],
    ["judging", "of a turn that nobody judged", turn(false)],
    ["acting", "of a turn that was judged", { ...turn(true), compacting }],
    ["compacting", "of a run that compacts", { compacting, answer: { text: "x" } }],
    ["compacting", "of a paused answer that does not fit", { paused: true, compacting }],
    ["compacting", "of a run that was asked to compact", { compacting: paused.compacting }],
    ["ready", "of a paused answer, where somebody asked for a compaction", paused],
    ["finishing", "of a run that has an answer", { answer: { text: "" } }],
  ];
  test.each(cases)("is %s %s", (phase, _why, run) => {
    expect(phaseOf(stateOf(run))).toBe(phase);
  });

  test("is idle if there is no run", () => {
    const { run: _run, ...idle } = stateOf();
    expect(phaseOf(idle)).toBe("idle");
    expect(said(idle)).toStrictEqual({ do: "done" });
  });
});

test("without a run is a defect if a run is needed, and the error says so", () => {
  expect(() => withRun(emptyState)).toThrow(/no run: this is a defect/);
});

describe("a run that was ended by a judged turn", () => {
  const stopping = (reason: string): object => ({ stopping: { reason, ...because } });
  const inbox = [queued("more", "follow_up"), queued("word", "steer")];

  test("continues with queued messages if everything was done, and ends otherwise", () => {
    expect(onlyFact(stateOf(stopping("completed"), { inbox }))).toStrictEqual({
      type: "delivered",
      lane: "steer",
      ids: ["word"],
    });
    expect(onlyFact(stateOf(stopping("completed"), { inbox: inbox.slice(0, 1) }))).toMatchObject({
      lane: "follow_up",
      ids: ["more"],
    });
    expect(onlyFact(stateOf(stopping("completed")))).toMatchObject({
      type: "run_ended",
      end: { reason: "completed" },
    });
    expect(onlyFact(stateOf(stopping("refused"), { inbox }))).toMatchObject({
      type: "run_ended",
      end: { reason: "refused" },
    });
  });
});

describe("a run that continues without a new message", () => {
  const goesOn = { goesOn: true } as const;
  const said = { history: emptyState.history.push(answerOf([{ type: "text", text: "hi" }])) };

  test("ends if its model has nothing to answer, and does not call it", () => {
    for (const state of [stateOf(goesOn, { history: emptyState.history }), stateOf(goesOn, said)])
      expect(onlyFact(state)).toStrictEqual({
        type: "run_ended",
        end: { reason: "completed", rule: "continue", evidence: {}, landed: false, resumable: true },
        text: "",
      });
  });

  test("gets the queued messages", () => {
    const inbox = [queued("more", "follow_up")];
    expect(onlyFact(stateOf(goesOn, { ...said, inbox }))).toMatchObject({ type: "delivered", ids: ["more"] });
  });

  test.each([
    ["there is something to answer", stateOf(goesOn, { history: said.history.push(userText("go")) })],
    ["it has answered", stateOf({ ...goesOn, steps: 1 }, said)],
    ["its answer paused", stateOf({ ...goesOn, paused: true }, said)],
    ["it was begun with a message", stateOf({}, said)],
  ])("asks its model where %s", (_when, state) => {
    expect(rowOf(state)).not.toMatch(/without a new message/);
  });
});

test("a call that needs an approval runs if a grant covers it", () => {
  const asking = callOf("5.0", { tool: toolOf("write", { permission: "ask" }) });
  const state = acting([asking], {}, { grants: [{ id: "g", tool: "write", used: 0 }] });
  expect(rowOf(state)).toBe("a grant covers a call");
  expect(onlyFact(state)).toMatchObject({ call: "5.0", approval: { answer: "approve", grant: "g" } });
});

describe("a run that is cancelled", () => {
  const cancelled = { abort, cancelledAt: 950 };

  test("waits for work in flight, as long as its grace lasts", () => {
    const inGrace = (now: number): State => stateOf({ ...cancelled, call: modelCall }, { now });
    expect(said(inGrace(1_049))).toStrictEqual({ do: "wait", until: 1_050 });
    expect(onlyFact(inGrace(1_050))).toMatchObject({ type: "model_failed" });
    expect(
      onlyFact(
        stateOf({ ...cancelled, compacting: { ...compacting, call: { startedAt: 1 } } }, { now: 2_000 }),
      ),
    ).toMatchObject({
      type: "summary_failed",
    });
  });

  test("closes what is open, with what is known of it, and ends", () => {
    const calls = [
      callOf("5.0"),
      callOf("5.1", { startedAt: 1 }),
      callOf("5.2", { interrupted: true }),
      finished("5.3"),
    ];
    expect(said(acting(calls, cancelled, { now: 2_000 }))).toMatchObject({
      do: "record",
      facts: [
        { call: "5.0", result: { code: "not_executed", content: [{ text: texts.notExecuted("write") }] } },
        { call: "5.1", result: { code: "aborted", content: [{ text: texts.aborted("write") }] } },
        // A crash cut it off, and no abort: nobody knows what came of it.
        { call: "5.2", result: { code: "outcome_unknown" } },
      ],
    });
    expect(onlyFact(stateOf(cancelled))).toMatchObject({ type: "run_ended", end: { reason: "aborted" } });
    expect(
      onlyFact(stateOf({ ...cancelled, turn: { seq: 5, message: answerOf([]), calls: [] } })),
    ).toMatchObject({
      type: "turn_judged",
      follows: { reason: "aborted" },
    });
  });
});

describe("a run that is ready", () => {
  test("ends if one of its hooks failed", () => {
    for (const run of [{ broken: error }, { broken: error, answer: { text: "x" } }])
      expect(onlyFact(stateOf(run))).toMatchObject({
        type: "run_ended",
        end: { reason: "error", rule: "hooks", evidence: {}, error },
      });
  });

  test("that only compacts ends after that, unless a message came meanwhile", () => {
    const only = { only: "compaction" as const };
    expect(onlyFact(stateOf(only))).toMatchObject({ type: "run_ended", end: { rule: "compaction" } });
    expect(
      onlyFact(stateOf(only, { inbox: [queued("a", "follow_up"), queued("b", "steer")] })),
    ).toStrictEqual({
      type: "delivered",
      lane: "steer",
      ids: ["b"],
    });
    expect(onlyFact(stateOf(only, { inbox: [queued("a", "follow_up")] }))).toStrictEqual({
      type: "delivered",
      lane: "follow_up",
      ids: ["a"],
    });
  });

  test("that only clears ends at once, and leaves queued messages to the next run", () => {
    for (const inbox of [[], [queued("a", "follow_up"), queued("b", "steer")]])
      expect(onlyFact(stateOf({ only: "clearing" }, { inbox }))).toStrictEqual({
        type: "run_ended",
        end: { reason: "completed", rule: "clearing", evidence: {}, landed: false, resumable: true },
        text: "",
      });
  });

  test("delivers queued messages, but not into a paused answer", () => {
    const inbox = [queued("a", "steer"), queued("b", "follow_up"), queued("c", "steer")];
    expect(onlyFact(stateOf({}, { inbox }))).toStrictEqual({
      type: "delivered",
      lane: "steer",
      ids: ["a", "c"],
    });
    expect(said(stateOf({ paused: true }, { inbox })).do).toBe("call_model");
    expect(said(stateOf({}, { inbox: [queued("b", "follow_up")] })).do).toBe("call_model");
  });

  test("asks the hooks of the step, each once for each step", () => {
    const hooks = { hooks: ["prepareStep" as const, "transformContext" as const] };
    const asks = (run: object): Action => said(stateOf({ steps: 2, ...run }, {}, hooks));
    expect(asks({})).toStrictEqual({ do: "run_hook", hooks: [{ hook: "prepareStep", step: 3 }] });
    expect(asks({ prepared: { step: 2 } })).toStrictEqual({
      do: "run_hook",
      hooks: [{ hook: "prepareStep", step: 3 }],
    });
    const transform = { do: "run_hook", hooks: [{ hook: "transformContext", step: 3 }] };
    expect(asks({ prepared: { step: 3 } })).toStrictEqual(transform);
    expect(asks({ prepared: { step: 3 }, transformed: { step: 2 } })).toStrictEqual(transform);
    expect(asks({ landing: { reason: "max_steps", ...because } })).toStrictEqual(transform);
    expect(asks({ prepared: { step: 3 }, transformed: { step: 3 } }).do).toBe("call_model");
    expect(said(stateOf()).do).toBe("call_model");
  });

  test("calls the model in use, or the one the step was prepared with", () => {
    const asks = (run: object): Action =>
      said(stateOf({ steps: 2, failures: 1, model: 1, ...run }, { rewritten: ["trim"] }));
    expect(asks({})).toMatchObject({
      do: "call_model",
      step: 3,
      attempt: 2,
      model: 1,
      shape: { rewritten: ["trim"], by: [], notes: 0 },
    });
    expect(asks({})).not.toHaveProperty("stages");
    expect(asks({ prepared: { step: 3, model: 0 } })).toMatchObject({ model: 0 });
    expect(asks({ prepared: { step: 3 } })).toMatchObject({ model: 1 });
    expect(asks({ prepared: { step: 2, model: 0 } })).toMatchObject({ model: 1 });
    expect(asks({ notes: ["look"] })).toMatchObject({ shape: { notes: 1 } });
  });

  test("says in the request's shape that its model is told of offered tools in place, if it can be", () => {
    const by = (models: unknown[], run: object = {}): unknown =>
      said(stateOf(run, {}, { models: models as never }));
    const origin = { api: "checked", provider: "checked", model: "checked" };
    const [able, unable] = [{ origin, facts: { offersInPlace: true } }, { origin }];
    expect(by([able])).toMatchObject({ shape: { offersInPlace: true } });
    expect(by([able, unable], { model: 1 })).not.toHaveProperty("shape.offersInPlace");
    expect(by([{ origin, facts: {} }])).not.toHaveProperty("shape.offersInPlace");
  });
});

describe("a run that acts", () => {
  const rule = { hooks: [] };
  const answered = (calls: Call[], run: object = {}, more: object = {}, change: object = rule): Action =>
    said(acting(calls, run, more, change));
  const closing = (action: Action): unknown[] =>
    action.do === "record"
      ? action.facts.map((fact) =>
          fact.type === "tool_finished" ? [fact.call, fact.result.code, fact.result.content] : fact,
        )
      : [action];
  const text = (words: string): object[] => [{ type: "text", text: words }];

  test("gives calls their results that were judged not to run", () => {
    expect(
      closing(
        answered([callOf("5.0", { verdict: { do: "answer", code: "limit", text: "no" } }), callOf("5.1")]),
      ),
    ).toStrictEqual([["5.0", "limit", text("no")]]);
    expect(answered([(({ verdict: _verdict, ...call }) => call)(callOf("5.0"))])).toStrictEqual({
      do: "park",
    });
  });

  test("gives an edited call that does not fit an error result, unless it runs", () => {
    const check = { ok: false, error: "at is missing", code: "invalid_args" } as const;
    expect(closing(answered([callOf("5.0", { check })]))).toStrictEqual([
      ["5.0", "invalid_args", text(texts.invalidArgs("write", "at is missing"))],
    ]);
    expect(answered([callOf("5.0", { check, startedAt: 900 })])).toStrictEqual({ do: "wait", until: 1_900 });
  });

  test("skips calls that have not started once the run must end or land", () => {
    const calls = [callOf("5.0"), callOf("5.1", { startedAt: 900 }), finished("5.2")];
    const stopped = [["5.0", "skipped", text(texts.skippedForEnd("write"))]];
    expect(closing(answered(calls, { stopping: { reason: "done_tool", ...because } }))).toStrictEqual(
      stopped,
    );
    expect(closing(answered(calls, { landing: { reason: "max_steps", ...because } }))).toStrictEqual(stopped);
    const child = { session: "c", reserved: {}, spent: {}, parked: true, waiting: [], answers: [], told: 0 };
    expect(
      closing(
        answered([callOf("5.0", { child: child as never })], {
          stopping: { reason: "done_tool", ...because },
        }),
      ),
    ).toStrictEqual([["5.0", "aborted", text(texts.aborted("write"))]]);
  });

  test("skips calls that have not started if a message came, in sequence", () => {
    const calls = [callOf("5.0"), callOf("5.1", { interrupted: true, again: true }), callOf("5.2")];
    const inbox = [queued("a", "steer")];
    const skipped = closing(
      answered(calls, {}, { inbox }, { toolOrder: "sequential", onInterrupted: "ask" }),
    );
    const said = (key: string) => [key, "skipped", text(texts.skippedForMessage("write"))];
    expect(skipped).toStrictEqual([said("5.2")]);
    const inTurn = (first: object) =>
      answered([callOf("5.0", first), callOf("5.1")], {}, { inbox }, { toolOrder: "sequential" });
    expect(inTurn({}).do).toBe("start_tools");
    expect(closing(inTurn({ asked: true }))).toStrictEqual([said("5.0"), said("5.1")]);
    for (const first of [{ startedAt: 900 }, finished("5.0"), { child: {} }, { begun: true }])
      expect(closing(inTurn(first))).toStrictEqual([said("5.1")]);
    expect(answered([callOf("5.0")], {}, { inbox }).do).toBe("start_tools");
    expect(
      answered([callOf("5.0")], {}, { inbox: [queued("a", "follow_up")] }, { toolOrder: "sequential" }).do,
    ).toBe("start_tools");
    const patient = { toolOrder: "sequential", steering: "after_calls" } as const;
    expect(answered([callOf("5.0")], {}, { inbox }, patient).do).toBe("start_tools");
    expect(answered([callOf("5.0")], {}, {}, { toolOrder: "sequential" }).do).toBe("start_tools");
  });

  test("gives a call that timed out its result", () => {
    const call = callOf("5.0", { startedAt: 500, tool: toolOf("write", { timeoutMs: 200 }) });
    expect(closing(answered([call], {}, { now: 700 }))).toStrictEqual([
      ["5.0", "timeout", text(texts.timeout("write", 200))],
    ]);
    expect(answered([call], {}, { now: 699 })).toStrictEqual({ do: "wait", until: 700 });
    expect(closing(answered([unknownCall("5.0", { startedAt: 500 })]))).toStrictEqual([
      ["5.0", "timeout", text(texts.timeout("nobody", 0))],
    ]);
    expect(answered([callOf("5.0", { tool: toolOf("write", { timeoutMs: 0 }) })]).do).toBe("start_tools");
  });

  const agent = toolOf("write", { agent: { maxDepth: 1, most: { tokens: 5 } } });
  test("starts what may start, with the share of each sub-agent", () => {
    expect(answered([callOf("5.0")])).toStrictEqual({ do: "start_tools", calls: ["5.0"] });
    expect(
      answered([callOf("5.0", { tool: agent }), callOf("5.1")], {}, {}, { toolOrder: "parallel" }),
    ).toStrictEqual({
      do: "start_tools",
      calls: ["5.0", "5.1"],
      reserved: { "5.0": { agents: 63, tokens: 5 } },
    });
    expect(answered([callOf("5.0"), callOf("5.1", { tool: agent })])).toStrictEqual({
      do: "start_tools",
      calls: ["5.0"],
    });
    const child = {
      session: "c",
      reserved: { tokens: 2 },
      spent: {},
      parked: false,
      waiting: [],
      answers: [],
      told: 0,
    };
    expect(answered([callOf("5.0", { tool: agent, child: child as never })])).toMatchObject({
      reserved: { "5.0": { tokens: 2 } },
    });
  });

  test("gives sub-agents an error result if nothing is left for them", () => {
    const deep = toolOf("write", { agent: { maxDepth: 0 } });
    const [one] = closing(answered([callOf("5.0", { tool: deep }), callOf("5.1")])) as [unknown[]];
    expect(one?.slice(0, 2)).toStrictEqual(["5.0", "limit"]);
    expect(JSON.stringify(one?.[2])).toContain("deep");
    expect(answered([finished("5.0", { tool: deep }), callOf("5.1")]).do).toBe("start_tools");
  });

  test("and continues with a compaction requested meanwhile, which the table allows", () => {
    const state = acting([callOf("5.0", { tool: toolOf("write", { agent: { maxDepth: 0 } }) })], {
      compacting,
    });
    const { action, row } = decide(state, rules);
    const [fact] = action.do === "record" ? action.facts : [];
    const after = reduce(state, { ...(fact as Fact), seq: 6, at: 1, rand: 0 }, rules);
    expect([row.when, phaseOf(after)]).toEqual(["a sub-agent may not start", "compacting"]);
    expect(row.to).toContain("compacting");
  });

  test("asks the hooks about calls: first permission, then the call as it will run, then its result", () => {
    const hooks = {
      hooks: ["permission" as const, "beforeTool" as const, "afterTool" as const],
      toolOrder: "parallel" as const,
    };
    const asked = (...calls: Call[]): Action => answered(calls, {}, {}, hooks);
    expect(
      asked(
        callOf("5.0"),
        callOf("5.1", { permission: { answer: "allow" } }),
        finished("5.2", { settled: false }),
      ),
    ).toStrictEqual({
      do: "run_hook",
      hooks: [
        { hook: "permission", call: "5.0" },
        { hook: "beforeTool", call: "5.1" },
        { hook: "afterTool", call: "5.2" },
      ],
    });
    expect(asked(callOf("5.0", { permission: { answer: "ask" } }))).toMatchObject({
      hooks: [{ hook: "beforeTool", call: "5.0" }],
    });
    const runs = callOf("5.1", { startedAt: 900, permission: { answer: "allow" } });
    expect(asked(callOf("5.0"), runs)).toStrictEqual({
      do: "run_hook",
      hooks: [{ hook: "permission", call: "5.0" }],
      until: 1_900,
    });
    expect(asked(runs)).toStrictEqual({ do: "wait", until: 1_900 });
    expect(asked(callOf("5.0", { permission: { answer: "ask" }, prepared: true }))).toStrictEqual({
      do: "ask",
      calls: ["5.0"],
    });
    expect(
      asked(callOf("5.0", { permission: { answer: "ask" }, prepared: true, asked: true })),
    ).toStrictEqual({ do: "park" });
  });

  test("parks if only a person's answer is missing", () => {
    expect(answered([callOf("5.0", { permission: { answer: "ask" }, asked: true })])).toStrictEqual({
      do: "park",
    });
    const clock = { ...rules, list: [{ name: "clock", version: 1, wakeAt: () => 5_000 }] };
    expect(
      next(acting([callOf("5.0", { permission: { answer: "ask" }, asked: true })]), clock),
    ).toStrictEqual({ do: "park", until: 5_000 });
  });
});

describe("a run that finishes", () => {
  const answer = { text: "so" };
  const output = { schema: { type: "object" }, decodeRetries: 0 };
  const finishing = (run: object, more: object = {}, change: object = {}): State =>
    stateOf({ answer, ...run }, more, change);

  test("requests the typed output if tools were in use before, then checks it", () => {
    expect(onlyFact(finishing({}, {}, { output }))).toMatchObject({
      type: "mode",
      mode: "output",
      attempt: 0,
    });
    expect(said(finishing({}, {}, { output, tools: [] }))).toStrictEqual({ do: "check_output", text: "so" });
    expect(said(finishing({ output: { attempt: 0 } }, {}, { output }))).toStrictEqual({
      do: "check_output",
      text: "so",
    });
    expect(
      onlyFact(finishing({ output: { attempt: 0 }, checked: { ok: true } }, {}, { output })),
    ).toMatchObject({ end: { reason: "completed" } });
    expect(
      onlyFact(finishing({ output: { attempt: 0 }, checked: { ok: false, error: "no" } }, {}, { output })),
    ).toMatchObject({
      end: { reason: "output_invalid" },
    });
  });

  test("delivers steering, asks the last hook, delivers follow-ups, and ends", () => {
    const inbox = [queued("a", "follow_up"), queued("b", "steer")];
    expect(onlyFact(finishing({}, { inbox }))).toMatchObject({
      type: "delivered",
      lane: "steer",
      ids: ["b"],
    });
    const hooks = { hooks: ["onFinish" as const] };
    expect(said(finishing({}, { inbox: inbox.slice(0, 1) }, hooks))).toStrictEqual({
      do: "run_hook",
      hooks: [{ hook: "onFinish" }],
    });
    expect(onlyFact(finishing({ finishAsked: true }, { inbox: inbox.slice(0, 1) }, hooks))).toMatchObject({
      lane: "follow_up",
    });
    expect(onlyFact(finishing({ finishAsked: true, steps: 3 }, {}, hooks))).toMatchObject({
      type: "run_ended",
      end: { reason: "completed", rule: "answer", evidence: { steps: 3 } },
    });
    expect(rowOf(finishing({}))).toBe("the answer is final");
  });

  test("waits for a retry of a run whose time is up only as long as an abort has", () => {
    const landing = { reason: "deadline" as const, ...because };
    const { now, options: facts } = stateOf();
    const last = now + (facts?.abortGraceMs ?? 0);
    expect(said(stateOf({ landing, notBefore: last }))).toMatchObject({ do: "wait", until: last });
    expect(onlyFact(stateOf({ landing, notBefore: last + 1 }))).toMatchObject({
      type: "run_ended",
      end: { reason: "deadline", error: { kind: "timeout" }, evidence: { waitMs: last + 1 - now } },
    });
    const other = { ...landing, reason: "max_steps" as const };
    for (const run of [{ notBefore: last + 1 }, { landing: other, notBefore: last + 1 }])
      expect(said(stateOf(run))).toMatchObject({ do: "wait", until: last + 1 });
    // A run that lands for another reason has until its time is up, and as long as an abort.
    const timed = (until: number): Rules => ({
      ...rules,
      list: [{ name: "timed", version: 1, left: () => ({ until }) }],
    });
    const waits = stateOf({ landing: other, notBefore: last + 1 });
    expect(next(waits, timed(now + 1))).toMatchObject({ do: "wait", until: last + 1 });
    for (const until of [now, now - 1])
      expect(next(waits, timed(until))).toMatchObject({ facts: [{ end: { reason: "max_steps" } }] });
  });

  test("waits for the last answer of a run whose time is limited for a minute from when it is up", () => {
    const landing = { reason: "deadline" as const, ...because };
    const call = { ...modelCall, startedAt: 1_500, lands: true as const };
    const until = call.startedAt + 60_000;
    const late = { type: "mode", mode: "stopping", reason: "deadline", cancel: true };
    expect(said(stateOf({ landing, call }))).toStrictEqual({ do: "wait", until });
    expect(said(stateOf({ landing, call }, { now: until - 1 }))).toStrictEqual({ do: "wait", until });
    expect(onlyFact(stateOf({ landing, call }, { now: until }))).toMatchObject({
      ...late,
      ...because,
      evidence: { ...because.evidence, answerMs: 60_000 },
      error: { kind: "timeout", retryable: true },
    });
    const own = { landing: { omitTools: false, keepOut: false, timeoutMs: 7 } };
    expect(onlyFact(stateOf({ landing, call }, { now: call.startedAt + 7 }, own))).toMatchObject(late);

    const other = { landing: { ...landing, reason: "max_steps" as const }, call };
    expect(said(stateOf(other, { now: until }))).toStrictEqual({ do: "wait" });
    const timed = (at: number): Rules => ({
      ...rules,
      list: [{ name: "timed", version: 1, left: () => ({ until: at }) }],
    });
    expect(next(stateOf(other), timed(0))).toStrictEqual({ do: "wait", until });
    expect(next(stateOf(other), timed(until))).toStrictEqual({ do: "wait", until: until + 60_000 });
    // One that was asked for before the landing has only its clocks.
    expect(said(stateOf({ landing, call: modelCall }, { now: until }))).toStrictEqual({ do: "wait" });
    expect(next(stateOf({ call }, { now: until }), timed(5))).toStrictEqual({ do: "wait" });
  });

  test("has nothing to answer only if it was started without a message, and its model has not answered", () => {
    const user = userText("a");
    const history = Log.of<Message>([user, answerOf([{ type: "text", text: "b" }])]);
    const at = (run: object, given: object = {}): boolean =>
      hasNothingToAnswer(stateOf(run, { history, ...given }));
    expect(at({ goesOn: true })).toBe(true);
    expect(at({ goesOn: true }, { history: Log.of<Message>() })).toBe(true);
    expect(at({})).toBe(false);
    expect(at({ goesOn: true, steps: 1 })).toBe(false);
    expect(at({ goesOn: true, paused: true })).toBe(false);
    expect(at({ goesOn: true }, { history: Log.of<Message>([user]) })).toBe(false);
  });

  test("delivers follow-ups together or one by one, and steering always together", () => {
    const follows = { inbox: [queued("a", "follow_up"), queued("b", "follow_up")] };
    const steers = { inbox: [queued("c", "steer"), queued("d", "steer")] };
    const single = { followUps: "one_by_one" } as const;
    expect(onlyFact(finishing({}, follows))).toMatchObject({ ids: ["a", "b"] });
    expect(onlyFact(finishing({}, follows, single))).toMatchObject({ ids: ["a"] });
    expect(onlyFact(finishing({}, steers))).toMatchObject({ ids: ["c", "d"] });
    expect(onlyFact(finishing({}, steers, single))).toMatchObject({ ids: ["c", "d"] });
  });
});

describe("a run whose model is asked, or that compacts", () => {
  test("waits for the answer", () => {
    expect(said(stateOf({ call: modelCall }))).toStrictEqual({ do: "wait" });
    expect(said(stateOf({ compacting: { ...compacting, call: { startedAt: 1 } } }))).toStrictEqual({
      do: "wait",
    });
  });

  test("asks the rules whose time has come", () => {
    const clock = {
      ...rules,
      list: [
        {
          name: "clock",
          version: 1,
          wakeAt: () => 900,
          decide: () => ({ do: "land" as const, reason: "deadline" as const, evidence: {} }),
        },
      ],
    };
    const landing = { do: "record", facts: [{ type: "mode", mode: "landing", reason: "deadline" }] };
    for (const state of [
      stateOf({ call: modelCall }),
      stateOf({ compacting: { ...compacting, call: { startedAt: 1 } } }),
      acting([callOf("5.0", { startedAt: 900 })]),
      stateOf(),
    ])
      expect(next(state, clock)).toMatchObject(landing);
  });

  test("ends the compaction if there is nothing to summarise", () => {
    expect(onlyFact(stateOf({ compacting }))).toMatchObject({ type: "compacted", stage: "compaction" });
  });
});

describe("a row", () => {
  test("about grants lets a call run that one covers, and counts that", () => {
    const guarded = callOf("5.0", { tool: toolOf("write", { permission: "ask" }) });
    const grants = [{ id: "writes", tool: "write", used: 0 }];
    expect(onlyFact(acting([guarded], {}, { grants }))).toStrictEqual({
      type: "approval_given",
      call: "5.0",
      approval: { answer: "approve", grant: "writes" },
    });
    expect(said(acting([guarded]))).toStrictEqual({ do: "ask", calls: ["5.0"] });
  });

  test("about a turn that completes the run first delivers queued messages, but not about another end", () => {
    const inbox = [queued("more", "follow_up")];
    const stopped = (reason: "completed" | "done_tool"): unknown =>
      onlyFact(stateOf({ stopping: { reason, ...because } }, { inbox }));
    expect(stopped("completed")).toMatchObject({ type: "delivered" });
    expect(stopped("done_tool")).toMatchObject({ type: "run_ended", end: { reason: "done_tool" } });
  });
});

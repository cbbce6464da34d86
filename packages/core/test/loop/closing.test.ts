// How calls are closed, and how a run ends: the pure rooms, on states made by hand.

import type { Action, Call, Fact, Rule, Rules } from "@rondo/core";
import { describe, expect, test } from "vitest";
import {
  abandonedResult,
  callsOfTurn,
  closeAll,
  closing,
  deniedResult,
  endedResult,
  interruptedResult,
  isFresh,
  result,
  unstartedResult,
} from "../../src/loop/deciding/closing.ts";
import {
  askForOutput,
  badOutput,
  checkLanded,
  end,
  endAborted,
  endCompaction,
  endStopped,
  givenUpModel,
  unjudgedAfterAbort,
} from "../../src/loop/deciding/ending.ts";
import { acting, answerOf, callOf, finished, rules, stateOf, textResult, toolOf } from "./support.ts";

const { texts } = rules;
const because = { rule: "some_rule", evidence: { told: 1 } };
const failed = { kind: "internal", message: "it broke", retryable: false } as const;

function factOf(action: Action | undefined): Fact {
  if (action?.do !== "record" || action.facts.length !== 1) throw new Error("one fact was expected");
  return action.facts[0] as Fact;
}

type Judge = NonNullable<Rule["judge"]>;
const ruledBy = (judge: Judge): Rules => ({ ...rules, list: [{ name: "reader", version: 1, judge }] });
const fails: Judge = () => {
  throw new Error("it broke");
};

describe("closing calls", () => {
  const three = [finished("5.0"), callOf("5.1"), callOf("5.2", { startedAt: 3 })];

  test("gives each one without a result the given text, in their order", () => {
    expect(closing((call) => result("skipped", call.key))(acting(three), rules)).toStrictEqual({
      do: "record",
      facts: ["5.1", "5.2"].map((call) => ({
        type: "tool_finished",
        call,
        result: { content: [{ type: "text", text: call }], isError: true, code: "skipped" },
      })),
    });
  });

  test("says for an approved one what prevented it, if anything did", () => {
    const approved = { permission: { answer: "allow", approved: true } } as never;
    const skipped = (reason?: string) => result("skipped", texts.skippedForEnd("write", reason));
    const ended = (change: object, run: object): unknown =>
      endedResult(callOf("5.0", change), stateOf(run), rules);
    const landing = { reason: "deadline", ...because };
    const stopping = { reason: "cost_budget", ...because };
    expect(ended(approved, {})).toStrictEqual(skipped());
    expect(ended(approved, { landing })).toStrictEqual(skipped("deadline"));
    expect(ended(approved, { landing, stopping })).toStrictEqual(skipped("cost_budget"));
    expect(ended({}, { landing })).toStrictEqual(skipped());
    expect(ended({ ...(approved as object), startedAt: 1 }, { landing })).toBeUndefined();
  });

  test("says not started for one whose start was cancelled, but not if it had begun before", () => {
    const child = (more: object): object => ({ child: { waiting: [], spent: { modelCalls: 0 }, ...more } });
    const not = result("aborted", "write was not started: the run was cancelled");
    const aborted = result("aborted", texts.aborted("write"));
    const unknown = result("outcome_unknown", texts.outcomeUnknown("write"));
    const write = { tool: toolOf("look", { effect: "write" }) };
    const read = { tool: toolOf("look", { effect: "idempotent" }) };
    const { tool: _tool, ...gone } = callOf("5.0", { begun: true });
    expect(unstartedResult(callOf("5.0", write), rules)).toStrictEqual(not);
    expect(unstartedResult(callOf("5.0", { ...write, ...child({}) }), rules)).toStrictEqual(not);
    expect(unstartedResult(callOf("5.0", { ...write, begun: true }), rules)).toStrictEqual(unknown);
    expect(unstartedResult(callOf("5.0", { ...read, begun: true }), rules)).toStrictEqual(aborted);
    expect(unstartedResult(gone as Call, rules)).toStrictEqual(aborted);
    for (const more of [{ waiting: [{ id: "c" }] }, { spent: { modelCalls: 1 } }])
      expect(unstartedResult(callOf("5.0", { ...read, ...child(more) }), rules)).toStrictEqual(aborted);
  });

  test("does nothing if no call is open", () => {
    expect(closing(() => undefined)(acting(three), rules)).toBeUndefined();
    expect(closing(() => result("skipped", ""))(acting([finished("5.0")]), rules)).toBeUndefined();
    expect(closing(() => result("skipped", ""))(stateOf(), rules)).toBeUndefined();
    expect(callsOfTurn(stateOf())).toStrictEqual([]);
  });

  test("asks no hook about them afterwards", () => {
    const calls = [finished("5.0", { settled: false }), finished("5.1"), callOf("5.2", { settled: false })];
    expect(closeAll(acting(calls), rules, () => result("aborted", "over"))).toStrictEqual({
      do: "record",
      facts: [
        { type: "hook_answered", hook: "afterTool", call: "5.0" },
        { type: "tool_finished", call: "5.2", result: result("aborted", "over") },
      ],
    });
    expect(closeAll(acting([finished("5.0")]), rules, () => result("aborted", ""))).toBeUndefined();
    expect(
      factOf(closeAll(acting([finished("5.0", { settled: false })]), rules, () => result("aborted", ""))),
    ).toStrictEqual({
      type: "hook_answered",
      hook: "afterTool",
      call: "5.0",
    });
  });

  test("a call is fresh if it never started and was not interrupted", () => {
    expect(isFresh(callOf("5.0"))).toBe(true);
    expect(isFresh(callOf("5.0", { startedAt: 0 }))).toBe(false);
    expect(isFresh(callOf("5.0", { interrupted: true }))).toBe(false);
  });
});

describe("an interrupted write", () => {
  const cut = (change: Partial<Call> = {}): Call => callOf("5.0", { interrupted: true, ...change });
  const unknown = result("outcome_unknown", texts.outcomeUnknown("write"));
  const asking = { onInterrupted: "ask" as const };

  test("says that its outcome is unknown, and no other call does", () => {
    expect(interruptedResult(cut(), acting([]), rules)).toStrictEqual(unknown);
    expect(interruptedResult(callOf("5.0"), acting([]), rules)).toBeUndefined();
  });

  test("that is abandoned says the same, as far as is known; other calls say that they were aborted", () => {
    const reconciled = { ...textResult, content: [...textResult.content] };
    expect(abandonedResult(cut({ reconciled }), stateOf(), rules)).toBe(reconciled);
    for (const call of [cut(), cut({ reconciled: "unknown" })])
      expect(abandonedResult(call, stateOf(), rules)).toStrictEqual(unknown);
    expect(abandonedResult(callOf("5.0", { reconciled }), stateOf(), rules)).toMatchObject({
      code: "not_executed",
    });
    for (const change of [{ startedAt: 1 }, { begun: true }] as const)
      expect(abandonedResult(callOf("5.0", change), stateOf(), rules)).toMatchObject({ code: "aborted" });
  });

  test("says what its tool found out", () => {
    const reconciled = { ...textResult, content: [...textResult.content] };
    expect(interruptedResult(cut({ reconciled }), acting([]), rules)).toBe(reconciled);
    expect(interruptedResult(cut({ reconciled: "unknown" }), acting([]), rules)).toStrictEqual(unknown);
  });

  test("waits for the person who is asked, or for its second run", () => {
    const state = acting([], {}, {}, asking);
    expect(interruptedResult(cut({ permission: { answer: "ask" } }), state, rules)).toBeUndefined();
    expect(
      interruptedResult(cut({ permission: { answer: "allow" }, again: true }), state, rules),
    ).toBeUndefined();
  });

  test("causes no question if the run ends or lands", () => {
    const call = cut({ permission: { answer: "ask" } });
    const stopping = { reason: "turn_stopped" as const, ...because };
    expect(interruptedResult(call, acting([], { stopping }, {}, asking), rules)).toStrictEqual(unknown);
    const landing = { reason: "max_steps" as const, ...because };
    expect(interruptedResult(call, acting([], { landing }, {}, asking), rules)).toStrictEqual(unknown);
  });

  test("says why it does not run again: it was denied, or its arguments do not fit", () => {
    const state = acting([], {}, {}, asking);
    const denied = cut({ permission: { answer: "deny", reason: "twice is once too often" } });
    expect(interruptedResult(denied, state, rules)).toStrictEqual(
      result(
        "outcome_unknown",
        `${texts.outcomeUnknown("write")} ${texts.denied("twice is once too often")}`,
      ),
    );
    expect(interruptedResult(cut({ permission: { answer: "deny" } }), state, rules)?.content).toStrictEqual([
      { type: "text", text: `${texts.outcomeUnknown("write")} ${texts.denied(undefined)}` },
    ]);
    expect(interruptedResult(cut(), state, rules)?.content).toStrictEqual([
      { type: "text", text: `${texts.outcomeUnknown("write")} ${texts.denied(undefined)}` },
    ]);
    const bad = cut({
      permission: { answer: "allow" },
      check: { ok: false, error: "at is missing", code: "invalid_args" },
    });
    expect(interruptedResult(bad, state, rules)).toStrictEqual(
      result(
        "outcome_unknown",
        `${texts.outcomeUnknown("write")} ${texts.invalidArgs("write", "at is missing")}`,
      ),
    );
  });
});

describe("an abandoned call", () => {
  const abandoned = (change: Partial<Call>): unknown =>
    abandonedResult(callOf("5.0", change), stateOf(), rules);
  const unknown = result("outcome_unknown", texts.outcomeUnknown("write"));

  test("did not run, or was aborted", () => {
    expect(abandoned({})).toStrictEqual(result("not_executed", texts.notExecuted("write")));
    expect(abandoned({ startedAt: 1 })).toStrictEqual(result("aborted", texts.aborted("write")));
  });

  test("was interrupted by a crash and not an abort: its result is what its tool found out, or that it is unknown", () => {
    const found = { content: [...textResult.content], isError: false, code: "reconciled" as const };
    expect(abandoned({ interrupted: true })).toStrictEqual(unknown);
    expect(abandoned({ interrupted: true, reconciled: "unknown" })).toStrictEqual(unknown);
    expect(abandoned({ interrupted: true, reconciled: found })).toStrictEqual(found);
    expect(abandoned({ startedAt: 1, reconciled: found })).toStrictEqual(
      result("aborted", texts.aborted("write")),
    );
  });
});

describe("a denied call", () => {
  const denied = (
    permission: Call["permission"],
    change: Partial<Call> = {},
  ): ReturnType<typeof deniedResult> =>
    deniedResult(callOf("5.0", { ...(permission && { permission }), ...change }), acting([]), rules);

  test("has the reason as its result, or none", () => {
    expect(denied({ answer: "deny", reason: "not today" })).toStrictEqual(
      result("denied", texts.denied("not today")),
    );
    expect(denied({ answer: "stop" })).toStrictEqual(result("denied", texts.denied(undefined)));
    expect(denied(undefined, { tool: toolOf("write", { permission: "deny" }) })).toStrictEqual(
      result("denied", texts.denied(undefined)),
    );
  });

  test("says that the hook failed, if nobody denied it", () => {
    expect(denied({ answer: "deny", reason: "boom", failed: true })).toStrictEqual(
      result("hook_failed", texts.permissionFailed("boom")),
    );
    expect(denied({ answer: "deny", failed: true })).toStrictEqual(
      result("hook_failed", texts.permissionFailed("")),
    );
  });

  test("was not allowed, is not waiting, has not begun and was not interrupted", () => {
    expect(denied({ answer: "allow" })).toBeUndefined();
    expect(denied({ answer: "ask" })).toBeUndefined();
    expect(denied({ answer: "deny" }, { startedAt: 1 })).toBeUndefined();
    expect(denied({ answer: "deny" }, { interrupted: true })).toBeUndefined();
  });
});

const output = { schema: { type: "object" }, decodeRetries: 1 };

describe("typed output", () => {
  test("is requested by a mode, with a message in the history only if it is stored", () => {
    const plain = { type: "mode", mode: "output", attempt: 2, rule: "output", evidence: { attempt: 2 } };
    expect(factOf(askForOutput(2, stateOf(), rules))).toStrictEqual(plain);
    expect(factOf(askForOutput(2, stateOf({}, {}, { output }), rules))).toStrictEqual(plain);
    const stored = { output: { ...output, request: "stored" as const } };
    const words = (error: string | undefined): object => ({
      ...plain,
      message: { role: "user", content: [{ type: "text", text: texts.finalOutput(error) }] },
    });
    expect(factOf(askForOutput(2, stateOf({}, {}, stored), rules))).toMatchObject(words(undefined));
    const checked = { ok: false, error: "at is no number" };
    expect(factOf(askForOutput(2, stateOf({ checked }, {}, stored), rules))).toMatchObject(
      words("at is no number"),
    );
  });

  test("that does not fit is requested again as often as allowed, and then ends the run", () => {
    const checked = { ok: false, error: "no" };
    expect(badOutput(stateOf({}, {}, { output }), rules)).toBeUndefined();
    expect(badOutput(stateOf({ checked: { ok: true } }, {}, { output }), rules)).toBeUndefined();
    expect(factOf(badOutput(stateOf({ checked }, {}, { output }), rules))).toMatchObject({
      mode: "output",
      attempt: 1,
    });
    const ended = {
      type: "run_ended",
      end: {
        reason: "output_invalid",
        rule: "output",
        evidence: { attempts: 2, error: "no" },
        error: { kind: "structured_output", retryable: false },
        landed: false,
        resumable: true,
      },
    };
    expect(
      factOf(badOutput(stateOf({ checked, output: { attempt: 1 } }, {}, { output }), rules)),
    ).toMatchObject(ended);
    expect(factOf(badOutput(stateOf({ checked }), rules))).toMatchObject({
      ...ended,
      end: { ...ended.end, evidence: { attempts: 1, error: "no" } },
    });
    const silent = factOf(badOutput(stateOf({ checked: { ok: false } }), rules));
    expect(silent).toMatchObject({ end: { evidence: { error: "unknown" } } });
  });

  const landing = { reason: "max_steps" as const, ...because };
  const stopping = { reason: "max_steps" as const, ...because };

  test("of a landing is checked once, if the run ends by that landing with an answer", () => {
    const landed = (run: object, change = { output } as object): unknown =>
      checkLanded(stateOf({ landing, stopping, lastText: "{}", ...run }, {}, change));
    expect(landed({})).toStrictEqual({ do: "check_output", text: "{}" });
    expect(landed({ checked: { ok: true } })).toBeUndefined();
    expect(landed({}, {})).toBeUndefined();
    expect(landed({ landing: undefined })).toBeUndefined();
    expect(landed({ stopping: undefined })).toBeUndefined();
    expect(landed({ stopping: { ...stopping, reason: "turn_stopped" } })).toBeUndefined();
    expect(landed({ stopping: { ...stopping, error: failed } })).toBeUndefined();
    expect(landed({ stopping: { ...stopping, text: "said" } })).toBeUndefined();
  });

  test("of a landing that does not fit ends the run as invalid, with the limit's evidence", () => {
    const checked = { ok: false, error: "no" };
    const run = { landing, stopping, checked };
    expect(factOf(endStopped(stateOf(run, {}, { output }), rules))).toMatchObject({
      end: { reason: "output_invalid", evidence: { limit: "max_steps", told: 1, error: "no" } },
    });
    expect(factOf(endStopped(stateOf(run), rules))).toMatchObject({
      end: { reason: "max_steps", landed: true },
    });
    expect(
      factOf(endStopped(stateOf({ ...run, checked: { ok: true } }, {}, { output }), rules)),
    ).toMatchObject({
      end: { reason: "max_steps", landed: true },
    });
    expect(factOf(endStopped(stateOf({ landing, stopping }, {}, { output }), rules))).toMatchObject({
      end: { reason: "max_steps" },
    });
  });
});

describe("a model call that does not stop at its signal", () => {
  test("is given up, as an answer or as a summary", () => {
    const error = { kind: "aborted", retryable: false };
    const call = { startedAt: 1, step: 1, attempt: 1 };
    expect(givenUpModel(stateOf({ call }).run as never)).toMatchObject({ type: "model_failed", error });
    expect(givenUpModel(stateOf().run as never)).toMatchObject({ type: "summary_failed", error });
  });
});

describe("an answer that arrives together with an abort", () => {
  const calls = [callOf("5.0"), callOf("5.1")];
  const abort = { at: 1, reason: "enough" };
  const unjudged = (text: string, some: readonly Call[], run: object = {}): Fact =>
    factOf(
      unjudgedAfterAbort(
        stateOf({
          abort,
          turn: { seq: 5, message: answerOf([{ type: "text", text }]), calls: some },
          ...run,
        }),
        rules,
      ),
    );

  test("is judged, and none of its calls runs", () => {
    const verdict = { do: "answer", code: "not_executed", text: texts.notExecuted("write") };
    expect(unjudged(" ", calls)).toStrictEqual({
      type: "turn_judged",
      verdicts: [verdict, verdict],
      follows: { do: "stop", reason: "aborted" },
      store: true,
      rule: "abort",
      evidence: { reason: "enough" },
    });
    expect(unjudged("words", [], { abort: undefined })).toMatchObject({
      store: true,
      evidence: { reason: "" },
    });
    expect(unjudged(" ", [])).toMatchObject({ store: false });
  });

  test("is not stored if a rule will not have it read, or cannot say", () => {
    const turn = { seq: 5, message: answerOf([{ type: "text", text: "words" }]), calls };
    const by = (judge: Judge): Fact => factOf(unjudgedAfterAbort(stateOf({ abort, turn }), ruledBy(judge)));
    expect(by(() => ({ follows: { do: "finish" }, store: false, evidence: {} }))).toMatchObject({
      store: false,
    });
    expect(by(fails)).toMatchObject({ store: false });
    expect(by(() => undefined)).toMatchObject({ store: true });
  });

  test("is judged once", () => {
    expect(unjudgedAfterAbort(acting(calls), rules)).toBeUndefined();
    expect(unjudgedAfterAbort(stateOf(), rules)).toBeUndefined();
  });
});

describe("the end of a run", () => {
  const ended = (why: object, run: object = {}, keep?: object): Fact =>
    factOf(end(stateOf(run), { reason: "completed", ...because, ...why } as never, keep as never));

  test("has its rule and its evidence", () => {
    expect(ended({})).toStrictEqual({
      type: "run_ended",
      end: { reason: "completed", ...because, landed: false, resumable: true },
      text: "",
    });
  });

  test("can be followed by more, except after a refusal", () => {
    expect(ended({ reason: "refused" })).toMatchObject({ end: { resumable: false } });
    expect(ended({ reason: "error" })).toMatchObject({ end: { resumable: true } });
  });

  test("is a landing if it ends for the reason it landed for, and without an error", () => {
    const landing = { reason: "max_steps", ...because };
    expect(ended({ reason: "max_steps" }, { landing })).toMatchObject({ end: { landed: true } });
    expect(ended({ reason: "error" }, { landing })).toMatchObject({ end: { landed: false } });
    expect(ended({ reason: "max_steps", error: failed }, { landing })).toMatchObject({
      end: { landed: false },
    });
  });

  test("has the text of whoever stopped it, else the answer, else the partial answer, else the last text", () => {
    const stopping = { reason: "done_tool", ...because, text: "" };
    const keep = answerOf([{ type: "text", text: "a part" }]);
    expect(ended({}, { stopping, answer: { text: "answer" }, lastText: "last" }, keep)).toMatchObject({
      text: "",
    });
    expect(ended({}, { answer: { text: "answer" }, lastText: "last" }, keep)).toMatchObject({
      text: "answer",
    });
    expect(ended({}, { lastText: "last" }, keep)).toMatchObject({ text: "a part", keep });
    expect(ended({}, { lastText: "last" })).toMatchObject({ text: "last" });
    expect(ended({}, { lastText: "last" })).not.toHaveProperty("keep");
  });

  test("by an abort keeps the partial answer, if it has text", () => {
    const partial = answerOf([{ type: "text", text: "a part" }]);
    const failure = { error: failed, at: 1, rand: 0.5 };
    const abort = { at: 1, reason: "enough" };
    expect(factOf(endAborted(stateOf({ abort, failure: { ...failure, partial } }), rules))).toMatchObject({
      end: { reason: "aborted", rule: "abort", evidence: { reason: "enough" } },
      text: "a part",
      keep: { ...partial, stop: { kind: "aborted" } },
    });
    const blank = answerOf([{ type: "text", text: " \n" }]);
    expect(
      factOf(endAborted(stateOf({ abort, failure: { ...failure, partial: blank } }), rules)),
    ).not.toHaveProperty("keep");
    expect(factOf(endAborted(stateOf({ abort, failure }), rules))).not.toHaveProperty("keep");
    expect(factOf(endAborted(stateOf(), rules))).toMatchObject({
      end: { reason: "aborted", evidence: { reason: "" } },
    });
  });

  test("keeps no part that a rule will not have read, or cannot say: it is asked as if the part were a whole answer", () => {
    const unfinished = answerOf([{ type: "text", text: "a part" }]);
    const state = stateOf({ abort: { at: 1, reason: "enough" }, unfinished });
    const kept = (judge: Judge): unknown =>
      (factOf(endAborted(state, ruledBy(judge))) as { keep?: unknown }).keep;
    expect(kept(fails)).toBeUndefined();
    const asked: unknown[] = [];
    const asking: Judge = (_memory, { run }) => void asked.push(run?.turn);
    expect(kept(asking)).toStrictEqual({ ...unfinished, stop: { kind: "aborted" } });
    const message = { ...unfinished, stop: { kind: "end_turn", wire: "end_turn" } };
    expect(asked).toStrictEqual([{ seq: state.seq, message, calls: [] }]);
    const secret: Judge = () => ({ follows: { do: "finish" }, store: false, evidence: {} });
    expect(kept(secret)).toBeUndefined();
  });

  test("keeps no part in the history if a landing's answers are not stored, but has it as its text", () => {
    const part = answerOf([{ type: "text", text: "a part" }]);
    const landing = { reason: "max_steps", ...because } as const;
    const at = (run: object, keepOut: boolean): Fact => {
      const state = stateOf(run, {}, { landing: { omitTools: false, keepOut } });
      return factOf(end(state, { reason: "max_steps", ...because }, part));
    };
    expect(at({ landing }, true)).toMatchObject({ text: "a part" });
    expect(at({ landing }, true)).not.toHaveProperty("keep");
    expect(at({ landing }, false)).toMatchObject({ text: "a part", keep: part });
    expect(at({}, true)).toMatchObject({ keep: part });
  });

  test("by an abort because of an error has that error", () => {
    const abort = { at: 1, reason: "lost", error: failed };
    const evidence = { reason: "lost", failed: true };
    expect(factOf(endAborted(stateOf({ abort }), rules))).toMatchObject({
      end: { reason: "error", rule: "driver", evidence, error: failed },
    });
    expect(factOf(endAborted(stateOf({ abort: { ...abort, rule: "mine" } }), rules))).toMatchObject({
      end: { reason: "error", rule: "mine", evidence, error: failed },
    });
    expect(factOf(endAborted(stateOf({ abort: { at: 1, reason: "lost" } }), rules))).not.toHaveProperty(
      "end.error",
    );
  });

  test("by a turn, a tool or a person says why, and nothing else ends it otherwise", () => {
    expect(endStopped(stateOf(), rules)).toBeUndefined();
    const stopping = { reason: "done_tool" as const, ...because, text: "bye" };
    expect(factOf(endStopped(stateOf({ stopping }), rules))).toStrictEqual({
      type: "run_ended",
      end: { reason: "done_tool", ...because, landed: false, resumable: true },
      text: "bye",
    });
  });

  test("of a run that only compacts says whether it helped", () => {
    const compacted = { length: 1, answers: 1, helped: true, forced: false, inARow: 1 };
    const fact = {
      type: "run_ended",
      end: {
        reason: "completed",
        rule: "compaction",
        evidence: { helped: true },
        landed: false,
        resumable: true,
      },
      text: texts.compacted(),
    };
    expect(factOf(endCompaction(stateOf({}, { compacted }), rules))).toStrictEqual(fact);
    expect(factOf(endCompaction(stateOf(), rules))).toMatchObject({ end: { evidence: { helped: false } } });
  });
});

// How records change what is so: the fold, record by record, on states made by hand.

import type { Call, Message, Repair, Rule, Run, State } from "@rondo/core";
import { callsOf, emptyState, reduce } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { settleCancel } from "../../src/loop/folding/cancelled.ts";
import { follow } from "../../src/loop/folding/turn.ts";
import { Log, Names } from "../../src/loop/log.ts";
import type { RunOptions } from "../../src/loop/run-options.ts";
import {
  acting,
  answerOf,
  callOf,
  finished,
  options,
  recordOf,
  rules,
  stateOf,
  toolOf,
  unknownCall,
} from "./support.ts";

const fold = (state: State, fact: object, seq: number = 10, at: number = 2_000): State =>
  reduce(state, recordOf(fact, seq, at), rules);
const runAfter = (state: State, fact: object): Run => fold(state, fact).run as Run;
const because = { rule: "some_rule", evidence: { seen: 1 } };
const error = { kind: "internal", message: "it broke", retryable: false } as const;
const modelCall = { startedAt: 1_500, step: 1, attempt: 1 };
const user = (text: string): object => ({ role: "user", content: [{ type: "text", text }] });
const toolCall = (id: string, name: string = "write", change: object = {}): object => ({
  type: "tool_call",
  id,
  name,
  args: { raw: id },
  rawArgs: "{}",
  ...change,
});
const callAt = (state: State, at: number = 0): Call => state.run?.turn?.calls[at] as Call;

describe("every record", () => {
  test("advances the number and the time, and changes nothing if it does not apply", () => {
    const idle = { ...emptyState, seq: 3 };
    for (const fact of [
      { type: "delivered", ids: [], lane: "steer" },
      { type: "model_finished", message: answerOf([]), checks: [] },
      { type: "tool_finished", call: "1.0", result: { content: [], isError: false } },
      { type: "late_result", call: "1.0" },
      { type: "woke" },
    ])
      expect(fold(idle, fact)).toStrictEqual({ ...idle, seq: 11, now: 2_000 });
    const { end: _end, ...over } = fold(stateOf(), { type: "run_ended", end: { reason: "completed" } })
      .run as Run;
    const ended = fold(stateOf(), { type: "run_ended", end: { reason: "completed" } });
    expect(over.text).toBe("");
    expect(fold(ended, { type: "noted", text: "late", rule: "r" }).run).toStrictEqual(ended.run);
    expect(fold(stateOf(), { type: "woke" }).run).toStrictEqual(stateOf().run);
  });

  test("that begins a run without a message or a history, and for nothing else, marks it as a continuation", () => {
    const goesOn = (change: object): unknown =>
      fold(emptyState, { type: "run_started", format: 1, input: [], options: options(), ...change }).run
        ?.goesOn;
    expect(goesOn({})).toBe(true);
    for (const change of [
      { input: [user("go")] },
      { history: [user("go")] },
      { only: "compaction" },
      { only: "clearing" },
    ])
      expect(goesOn(change)).toBeUndefined();
  });

  test("that would begin a run while one is open begins none: the rules' memories of the open run stay", () => {
    const rule: Rule = {
      name: "counts",
      version: 1,
      init: () => 0,
      fold: (memory) => (memory as number) + 1,
    };
    const list = { ...rules, list: [rule] };
    const one = reduce(stateOf({}, {}, {}, list), recordOf({ type: "woke" }), list);
    const start = { type: "run_started", format: 1, input: [user("go")], options: options() };
    const same = reduce(one, recordOf(start, 11, 3_000), list);
    expect(same).toStrictEqual({ ...one, seq: 12, now: 3_000 });
    expect(same.memories).toStrictEqual([1]);
  });

  test("is folded by every rule that remembers, with the state before it; what did not change is not copied", () => {
    const told: unknown[] = [];
    const list: Rule[] = [
      { name: "mute", version: 1 },
      { name: "still", version: 1, fold: (memory) => memory },
      {
        name: "counting",
        version: 1,
        init: ({ run }) => run?.number ?? -1,
        fold: (memory, record, before) => {
          told.push([record.type, before.seq]);
          return (memory as number) + 1;
        },
      },
    ];
    const by = { ...rules, list };
    const started = stateOf({}, {}, {}, by);
    expect(started.memories).toStrictEqual([undefined, undefined, 1]);
    const after = reduce(started, recordOf({ type: "woke" }), by);
    expect(after.memories).toStrictEqual([undefined, undefined, 2]);
    expect(started.memories).toStrictEqual([undefined, undefined, 1]);
    expect(told).toStrictEqual([["woke", 1]]);
    const still = { ...rules, list: list.slice(0, 2) };
    expect(reduce(started, recordOf({ type: "woke" }), still).memories).toBe(started.memories);
  });
});

describe("a run starts", () => {
  const begin = (state: State, change: object = {}): State =>
    fold(state, { type: "run_started", format: 1, input: [user("go")], options: options(), ...change });

  test("with what the session's earlier runs have spent, if there were any", () => {
    expect(begin(emptyState)).not.toHaveProperty("spentBefore");
    const first = begin(emptyState);
    const spend = { usage: {}, tokens: 7, usd: 0.5, uncounted: 1 };
    const end = { reason: "completed" } as never;
    const second = begin({ ...first, run: { ...(first.run as Run), spend, modelCalls: 2, end } });
    expect(second.spentBefore).toMatchObject({ tokens: 7, usd: 0.5, uncounted: 1, modelCalls: 2 });
    const third = begin({ ...second, run: { ...(second.run as Run), spend, modelCalls: 1, end } });
    expect(third.spentBefore).toMatchObject({ tokens: 14, usd: 1, uncounted: 2, modelCalls: 3 });
  });

  test("with everything at zero, and the next number", () => {
    const first = begin(emptyState);
    expect(first.run).toMatchObject({
      number: 1,
      startedAt: 2_000,
      steps: 0,
      modelCalls: 0,
      toolCalls: 0,
      failures: 0,
      model: 0,
      dropped: [],
      spend: { usage: {}, tokens: 0, usd: 0, uncounted: 0 },
      notes: [],
      hidden: [],
      spoken: [],
      paused: false,
      pausedText: "",
      finishAsked: false,
      lastText: "",
    });
    for (const name of ["compacting", "turn", "call", "answer", "only", "parent", "end", "abort"])
      expect((first.run as unknown as Record<string, unknown>)[name]).toBeUndefined();
    const ended = fold(first, { type: "run_ended", end: { reason: "completed" }, text: "bye" });
    expect(begin(ended).run?.number).toBe(2);
    expect(begin(ended, { options: undefined }).options).toBe(ended.options);
    expect(begin({ ...emptyState }, { options: undefined }).run).toBeUndefined();
  });

  test("unless another one is open", () => {
    const open = stateOf({ steps: 4 });
    expect(begin(open).run).toStrictEqual(open.run);
  });

  test("after the existing history, or with the one it was given; then nothing of it is counted", () => {
    const before: State = {
      ...emptyState,
      counted: { tokens: 5, length: 1 },
      history: Log.of([user("old") as never]),
    };
    const on = begin(before);
    expect([...on.history]).toStrictEqual([user("old"), user("go")]);
    expect([on.counted, on.rewritten]).toStrictEqual([{ tokens: 5, length: 1 }, []]);
    const over = begin({ ...before, ids: Names.empty().add("gone") }, { history: [user("other")] });
    expect([...over.history]).toStrictEqual([user("other"), user("go")]);
    expect(over.counted).toBeUndefined();
    expect(over.rewritten).toHaveLength(1);
    expect(over.ids.has("gone")).toBe(false);
  });

  test("with the ids of the calls in its history", () => {
    const message = answerOf([toolCall("a") as never, toolCall("b") as never]);
    const given = begin({ ...emptyState, ids: Names.empty().add("kept") }, { input: [message] });
    expect(["a", "b", "kept", "c"].map((id) => given.ids.has(id))).toStrictEqual([true, true, true, false]);
    expect(begin(emptyState, { history: [message] }).ids.has("b")).toBe(true);
  });

  test("for a compaction or a clearing only, or as a sub-agent, as the record says", () => {
    expect(begin(emptyState, { only: "compaction" }).run).toMatchObject({
      only: "compaction",
      compacting: { rule: "asked", evidence: {}, summaries: [], failures: 0 },
    });
    expect(begin(emptyState, { only: "clearing" }).run).toMatchObject({
      only: "clearing",
      compacting: undefined,
    });
    const parent = { session: "s", call: "1.0", depth: 1, budget: {} };
    expect(begin(emptyState, { parent }).run?.parent).toStrictEqual(parent);
  });
});

describe("messages", () => {
  const queued = (id: string, lane: string = "steer"): object => ({
    type: "queued",
    id,
    lane,
    message: user(id),
  });

  test("are queued once by their id, also before there is a run", () => {
    const two = fold(fold(emptyState, queued("a")), queued("b", "follow_up"));
    expect(two.inbox).toStrictEqual([
      { id: "a", lane: "steer", message: user("a") },
      { id: "b", lane: "follow_up", message: user("b") },
    ]);
    expect(fold(two, queued("a")).inbox).toBe(two.inbox);
  });

  test("are delivered into the history, and what was taken for the answer no longer is", () => {
    const waiting = stateOf(
      { answer: { text: "x" }, checked: { ok: true }, output: { attempt: 0 }, only: "compaction" },
      { inbox: [queued("a"), queued("b")] as never },
    );
    const after = fold(waiting, { type: "delivered", lane: "steer", ids: ["b"] });
    expect(after.inbox.map(({ id }) => id)).toStrictEqual(["a"]);
    expect([...after.history].at(-1)).toStrictEqual(user("b"));
    expect(after.run).toMatchObject({
      answer: undefined,
      checked: undefined,
      output: undefined,
      only: undefined,
    });
    expect(fold(waiting, { type: "delivered", lane: "steer", ids: ["c"] }).run).toBe(waiting.run);
    const stopping = (reason: string): Run =>
      runAfter(stateOf({ stopping: { reason, ...because } } as never, { inbox: waiting.inbox }), {
        type: "delivered",
        lane: "steer",
        ids: ["b"],
      });
    // With more to do a run is not complete; whatever else ends it does so still.
    expect(stopping("completed").stopping).toBeUndefined();
    expect(stopping("refused").stopping).toMatchObject({ reason: "refused" });
  });
});

describe("modes", () => {
  const mode = (run: object, change: object): Run =>
    runAfter(stateOf(run), { type: "mode", ...because, ...change });

  test("landing applies from its first record on", () => {
    const landed = mode({}, { mode: "landing", reason: "max_steps", cancel: false });
    expect(landed.landing).toStrictEqual({ reason: "max_steps", ...because });
    expect(landed.cancelledAt).toBeUndefined();
    const first = { reason: "deadline", rule: "clock", evidence: {} };
    expect(mode({ landing: first }, { mode: "landing", reason: "max_steps" }).landing).toStrictEqual(first);
  });

  test("landing with cancel cancels what is in flight, and a compaction that waits", () => {
    const land = { mode: "landing", reason: "deadline" };
    const compacting = { ...because, summaries: [], failures: 0 };
    expect(mode({ call: modelCall }, { ...land, cancel: true }).cancelledAt).toBe(2_000);
    expect(mode({ call: modelCall }, { ...land, cancel: false }).cancelledAt).toBeUndefined();
    expect(mode({}, { ...land, cancel: true }).cancelledAt).toBeUndefined();
    expect(mode({ compacting }, { ...land, cancel: true }).compacting).toBeUndefined();
    expect(mode({ compacting }, { ...land, cancel: false }).compacting).toBeDefined();
    const asking = { ...compacting, call: { startedAt: 1 } };
    expect(mode({ compacting: asking }, { ...land, cancel: true })).toMatchObject({
      compacting: asking,
      cancelledAt: 2_000,
    });
  });

  test("stopping says why, and cancels what is in flight if it says so", () => {
    const stop = { mode: "stopping", reason: "no_progress" };
    expect(mode({}, { ...stop, cancel: true })).toMatchObject({
      stopping: { reason: "no_progress", ...because },
    });
    expect(mode({}, { ...stop, cancel: true }).stopping).not.toHaveProperty("error");
    expect(mode({}, { ...stop, error }).stopping?.error).toStrictEqual(error);
    expect(mode({ call: modelCall }, { ...stop, cancel: true }).cancelledAt).toBe(2_000);
    expect(mode({ call: modelCall }, stop).cancelledAt).toBeUndefined();
    expect(mode({}, { ...stop, cancel: true }).cancelledAt).toBeUndefined();
  });

  test("output asks for the typed answer, with what was wrong with the last one", () => {
    const run = { answer: { text: "x" }, checked: { ok: false, error: "no" } };
    expect(mode(run, { mode: "output", attempt: 1 })).toMatchObject({
      answer: undefined,
      checked: undefined,
      output: { attempt: 1, error: "no" },
    });
    expect(mode({}, { mode: "output", attempt: 0 }).output).toStrictEqual({ attempt: 0 });
    const worded = fold(stateOf(), {
      type: "mode",
      mode: "output",
      attempt: 0,
      message: user("as JSON"),
      ...because,
    });
    expect([...worded.history].at(-1)).toStrictEqual(user("as JSON"));
    expect(fold(stateOf(), { type: "mode", mode: "output", attempt: 0, ...because }).history.length).toBe(1);
  });

  test("compacting begins once; hidden tools and notes are stored with their rule", () => {
    expect(mode({}, { mode: "compacting" }).compacting).toStrictEqual({
      ...because,
      summaries: [],
      failures: 0,
    });
    const under = { rule: "other", evidence: {}, summaries: ["one"], failures: 1 };
    expect(mode({ compacting: under }, { mode: "compacting" }).compacting).toStrictEqual(under);
    expect(mode({ hidden: ["a"], spoken: ["x"] }, { mode: "hide_tool", tool: "b" })).toMatchObject({
      hidden: ["a", "b"],
      spoken: ["x", "some_rule"],
    });
    expect(
      runAfter(stateOf({ notes: ["a"], spoken: ["x"] }), { type: "noted", text: "b", ...because }),
    ).toMatchObject({
      notes: ["a", "b"],
      spoken: ["x", "some_rule"],
    });
  });
});

describe("a model call", () => {
  test("is in flight from its start, and its retry's wait is over", () => {
    const state = stateOf({ notBefore: 5, failure: { error, at: 1, rand: 0 } }, { rewritten: ["cut"] });
    const after = fold(state, { type: "model_started", step: 2, attempt: 3, model: 0 });
    expect(after).toMatchObject({
      rewritten: [],
      run: { notBefore: undefined, failure: undefined, call: { startedAt: 2_000, step: 2, attempt: 3 } },
    });
    const still = stateOf();
    expect(fold(still, { type: "model_started", step: 1, attempt: 1, model: 0 }).rewritten).toBe(
      still.rewritten,
    );
  });

  test("is a landing's if the run was landing when it started", () => {
    const started = { type: "model_started", step: 1, attempt: 1, model: 0 } as const;
    expect(fold(stateOf(), started).run?.call).not.toHaveProperty("lands");
    const landing = { reason: "max_steps", rule: "max_steps", evidence: {} } as const;
    expect(fold(stateOf({ landing }), started).run?.call).toHaveProperty("lands", true);
  });

  const answered = (
    parts: object[],
    change: object = {},
    state: State = stateOf({ call: modelCall }),
  ): State => fold(state, { type: "model_finished", message: answerOf(parts as never, change), checks: [] });

  test("that returned although files had been left out teaches which ones the model refuses", () => {
    const learnt = (dropped: Repair[]): State["refusedFiles"] =>
      answered([], {}, stateOf({ call: modelCall, dropped }, { history: Log.of([showing]) })).refusedFiles;
    const showing: Message = {
      role: "user",
      content: [{ type: "file", mediaType: "image/png", data: "AA==" }],
    };
    expect(learnt([])).toBeUndefined();
    expect(learnt(["reasoning"])).toBeUndefined();
    expect([...(learnt(["files"])?.values() ?? [])].map(({ files }) => files.size)).toStrictEqual([1]);
  });

  test("that returned opens a turn, is counted, and uses up the notes", () => {
    const state = stateOf({ call: modelCall, notes: ["n"], spoken: ["s"], modelCalls: 2 }, { answers: 4 });
    const after = answered(
      [{ type: "text", text: "so" }],
      { usage: { inputTokens: 3, outputTokens: 4 } },
      state,
    );
    expect(after).toMatchObject({
      answers: 5,
      lastTokens: 7,
      run: {
        call: undefined,
        modelCalls: 3,
        notes: [],
        spoken: [],
        spend: { tokens: 7 },
        turn: { seq: 10, calls: [] },
      },
    });
    expect(answered([], {}, stateOf()).run?.turn).toBeUndefined();
  });

  test("gives each call its key, its check, its tool and a unique id", () => {
    const check = { ok: true, args: { at: 1 }, keys: ["k"] };
    const parts = [toolCall("a"), toolCall("b", "nobody", { argsError: "cut off" }), toolCall("c", "read")];
    const after = fold(stateOf({ call: modelCall }), {
      type: "model_finished",
      message: answerOf(parts as never),
      checks: [check, { ok: false, error: "no", code: "unknown_tool" }],
    });
    const [one, two, three] = [callAt(after), callAt(after, 1), callAt(after, 2)];
    expect(one).toStrictEqual({
      key: "10.0",
      id: "a",
      name: "write",
      args: { at: 1 },
      rawArgs: "{}",
      check,
      tool: after.options?.tools[1],
      asked: false,
      prepared: false,
      interrupted: false,
      settled: true,
    });
    expect(two).toMatchObject({ key: "10.1", args: { raw: "b" }, argsError: "cut off" });
    expect(two).not.toHaveProperty("tool");
    expect(three).toMatchObject({ check: { ok: false, code: "invalid_args" }, tool: { effect: "read" } });
    const hooked = stateOf({ call: modelCall }, {}, { hooks: ["afterTool"] });
    expect(callAt(answered([toolCall("a")], {}, hooked)).settled).toBe(false);
  });

  test("has its calls renamed if a provider leaves an id out, or repeats it", () => {
    const state = stateOf({ call: modelCall }, { ids: Names.empty().add("old") });
    const after = answered(
      [
        { type: "text", text: "so" },
        toolCall("a"),
        toolCall(""),
        toolCall("a"),
        toolCall("old"),
        toolCall(""),
      ],
      {},
      state,
    );
    const ids = ["a", "call_10_1", "a_10_2", "old_10_3", "call_10_4"];
    expect(after.run?.turn?.calls.map(({ id }) => id)).toStrictEqual(ids);
    expect(callsOf(after.run?.turn?.message as never).map(({ id }) => id)).toStrictEqual(ids);
    expect(after.run?.turn?.message.content[0]).toStrictEqual({ type: "text", text: "so" });
    for (const id of ids) expect(after.ids.has(id)).toBe(true);
    const kept = answerOf([toolCall("z") as never]);
    const same = fold(stateOf({ call: modelCall }), { type: "model_finished", message: kept, checks: [] });
    expect(same.run?.turn?.message).toBe(kept);
  });

  test("with a pruned history does not change the count: the next request may be complete", () => {
    const usage = { inputTokens: 3, outputTokens: 4 };
    const counted = { tokens: 9, length: 1 };
    const after = (...stages: string[]): State =>
      [
        { type: "model_started", step: 1, attempt: 1, model: 0, stages: stages.map((stage) => ({ stage })) },
        {
          type: "model_finished",
          message: answerOf([{ type: "text", text: "so" }], { usage }),
          checks: [],
        },
        { type: "turn_judged", verdicts: [], follows: { do: "finish" }, store: true, ...because },
      ].reduce((state: State, fact) => fold(state, fact), stateOf({}, { counted }));
    expect(after("prune").counted).toStrictEqual(counted);
    expect(after("prune", "guard").counted).toStrictEqual(counted);
    expect(after("guard").counted).toMatchObject({ length: 2 });
    expect(after().counted).toMatchObject({ length: 2 });
  });

  test("that fails is counted, and its failure waits for a judgement", () => {
    const partial = answerOf([{ type: "text", text: "a p" }]);
    const failed = runAfter(stateOf({ call: modelCall }), {
      type: "model_failed",
      error,
      usage: { inputTokens: 2 },
      partial,
    });
    expect(failed).toMatchObject({
      call: undefined,
      modelCalls: 1,
      spend: { tokens: 2 },
      failure: { error, at: 2_000, rand: 0.5, partial },
    });
    const streamed = runAfter(stateOf({ call: modelCall }), { type: "model_failed", error, shown: true });
    expect(streamed.failure).toStrictEqual({ error, at: 2_000, rand: 0.5, shown: true });
    const bare = runAfter(stateOf({ call: modelCall }), { type: "model_failed", error });
    expect(bare.failure).toStrictEqual({ error, at: 2_000, rand: 0.5 });
    expect(bare.spend).toMatchObject({ uncounted: 0, usd: 0 });
    expect(runAfter(stateOf(), { type: "model_failed", error }).modelCalls).toBe(0);
  });

  test("that a landing cancelled leaves nothing to judge; an aborted one does", () => {
    const cancelled = runAfter(stateOf({ call: modelCall, cancelledAt: 1 }), { type: "model_failed", error });
    expect(cancelled).toMatchObject({ failure: undefined, cancelledAt: undefined, modelCalls: 1 });
    const abort = { at: 1, reason: "enough" };
    const aborted = runAfter(stateOf({ call: modelCall, cancelledAt: 1, abort }), {
      type: "model_failed",
      error,
    });
    expect(aborted).toMatchObject({ failure: { error }, cancelledAt: 1 });
  });
});

describe("a judgement", () => {
  const judged = (run: object, change: object, more: object = {}): State =>
    fold(stateOf(run, more), {
      type: "turn_judged",
      verdicts: [],
      follows: { do: "act" },
      store: true,
      ...because,
      ...change,
    });
  const turn = (parts: object[], calls: Call[] = [], change: object = {}): object => ({
    seq: 5,
    message: answerOf(parts as never, change),
    calls,
  });
  const text = { type: "text", text: "so" };

  test("of a failure counts it, and records what was too large", () => {
    const failure = { error, at: 1, rand: 0 };
    const asked = judged({ failure, failures: 1 }, { follows: { do: "ask_again", until: 9 } }).run;
    expect(asked).toMatchObject({ failure: undefined, failures: 2, notBefore: 9, reduced: undefined });
    const reducing = judged({ failure }, { follows: { do: "ask_again", reduce: "compact" } }).run;
    expect(reducing).toMatchObject({ reduced: { error, helped: false }, compacting: because });
    const reduced = { error, helped: true };
    expect(judged({ failure, reduced }, { follows: { do: "stop", reason: "error" } }).run).toMatchObject({
      reduced,
      stopping: { reason: "error", ...because },
    });
    expect(judged({ failure, reduced }, { follows: { do: "ask_again" } }).run?.reduced).toStrictEqual(
      reduced,
    );
  });

  test("of an answer without calls closes the turn, and the answer is stored", () => {
    const usage = { inputTokens: 3, outputTokens: 4 };
    const after = judged(
      { turn: turn([text], [], { usage }), failures: 2, reduced: { error, helped: true } },
      { follows: { do: "finish" } },
    );
    expect(after.run).toMatchObject({
      turn: undefined,
      steps: 1,
      failures: 0,
      reduced: undefined,
      paused: false,
      pausedText: "",
      lastText: "so",
      answer: { text: "so" },
    });
    expect([...after.history]).toHaveLength(2);
    expect(after.counted).toMatchObject({ length: 2 });
    const uncounted = judged(
      { turn: turn([text]) },
      { follows: { do: "finish" } },
      { counted: { tokens: 9, length: 1 } },
    );
    expect(uncounted.counted).toStrictEqual({ tokens: 9, length: 1 });
  });

  test("leaves out of the history what must not be stored, or has no parts", () => {
    const left = judged(
      { turn: turn([text]), lastText: "before" },
      { follows: { do: "ask_again" }, store: false },
    );
    expect(left.history.length).toBe(1);
    expect(left.run?.lastText).toBe("before");
    const empty = judged({ turn: turn([]), lastText: "before" }, { follows: { do: "finish" } });
    expect(empty.history.length).toBe(1);
    expect(empty.run?.lastText).toBe("before");
  });

  test("of a paused answer is half a step: the continuation adds to its text", () => {
    const pause = { stop: { kind: "pause" } };
    const again = { rule: "pauses", follows: { do: "ask_again" } };
    const paused = judged({ turn: turn([text], [], pause), pausedText: "and " }, again).run;
    expect(paused).toMatchObject({ paused: true, pausedText: "and so", steps: 0, lastText: "and so" });
    const whole = judged(
      { turn: turn([text]), paused: true, pausedText: "and " },
      { follows: { do: "finish" } },
    ).run;
    expect(whole).toMatchObject({ paused: false, pausedText: "", steps: 1, answer: { text: "and so" } });
    expect(judged({ turn: turn([text], [], pause) }, { ...again, store: false }).run).toMatchObject({
      paused: false,
      steps: 1,
    });
    expect(judged({ turn: turn([text]) }, again).run).toMatchObject({ paused: false, steps: 1 });
    // Asked by another rule it is an answer of its own, or no limit would ever be met.
    const other = { ...again, rule: "require_done_tool" };
    expect(judged({ turn: turn([text], [], pause) }, other).run).toMatchObject({ paused: false, steps: 1 });
    const ended = { rule: "pauses", follows: { do: "finish" } };
    expect(judged({ turn: turn([text], [], pause) }, ended).run).toMatchObject({ paused: false, steps: 1 });
  });

  test("of a landing's answer makes it the run's text although it is not stored, unless nobody may read it", () => {
    const lastText = (change: object, lands: boolean, keepOut?: boolean): string | undefined => {
      const landing = keepOut === undefined ? {} : { landing: { omitTools: false, keepOut } };
      const open = { ...turn([text]), ...(lands ? { lands } : {}) } as Run["turn"];
      const record = { type: "turn_judged", verdicts: [], follows: { do: "act" }, store: false, ...because };
      return fold(stateOf({ lastText: "before", turn: open }, {}, landing), { ...record, ...change }).run
        ?.lastText;
    };
    expect(lastText({}, true, true)).toBe("so");
    expect(lastText({ withheld: true }, true, true)).toBe("before");
    expect(lastText({}, true, false)).toBe("before");
    expect(lastText({}, true)).toBe("before");
    expect(lastText({}, false, true)).toBe("before");
    expect(lastText({ store: true }, true)).toBe("so");
  });

  test("gives each call its verdict, once, and keeps the turn open for them", () => {
    const calls = [callOf("5.0"), callOf("5.1", { verdict: { do: "answer", code: "limit", text: "no" } })];
    const after = judged({ turn: turn([text], calls) }, { verdicts: [{ do: "run", rule: "r" }] });
    expect(after.run?.turn).toMatchObject({
      calls: [{ verdict: { do: "run", rule: "r" } }, { verdict: { do: "answer" } }],
      judged: { follows: { do: "act" }, store: true, text: "so", ...because },
    });
    const twice = fold(after, {
      type: "turn_judged",
      verdicts: [],
      follows: { do: "finish" },
      store: false,
      ...because,
    });
    expect(twice.run?.turn).toStrictEqual(after.run?.turn);
    expect(judged({}, {}).run).toStrictEqual(stateOf().run);
  });

  test("leads to what it says", () => {
    const run = stateOf({ notes: ["a"] }).run as Run;
    expect(follow(run, { do: "act" }, because)).toBe(run);
    expect(follow(run, { do: "finish" }, because).answer).toStrictEqual({ text: "" });
    expect(follow(run, { do: "land", reason: "max_steps" }, because).landing).toStrictEqual({
      reason: "max_steps",
      ...because,
    });
    const landing = { reason: "deadline" as const, rule: "clock", evidence: {} };
    expect(follow({ ...run, landing }, { do: "land", reason: "max_steps" }, because).landing).toBe(landing);
    expect(follow(run, { do: "stop", reason: "refused" }, because).stopping).toStrictEqual({
      reason: "refused",
      ...because,
    });
    expect(follow(run, { do: "stop", reason: "error", text: "t", error }, because).stopping).toStrictEqual({
      reason: "error",
      ...because,
      text: "t",
      error,
    });
    const stopping = { reason: "aborted" as const, rule: "abort", evidence: {} };
    expect(follow({ ...run, stopping }, { do: "stop", reason: "refused" }, because).stopping).toBe(stopping);
    expect(follow(run, { do: "ask_again" }, because)).toStrictEqual(run);
    const drop = { kind: "some", at: 1 } as never;
    const all = {
      do: "ask_again",
      until: 9,
      note: "b",
      model: 1,
      maxOutputTokens: 5,
      drop,
      reduce: "compact",
    } as const;
    expect(follow({ ...run, failures: 3 }, all as never, because)).toMatchObject({
      notBefore: 9,
      notes: ["a", "b"],
      model: 1,
      failures: 0,
      maxOutputTokens: 5,
      dropped: [drop],
      compacting: { ...because, summaries: [], failures: 0 },
    });
    expect(
      follow({ ...run, failures: 3 }, { do: "ask_again", reduce: "other" } as never, because),
    ).toStrictEqual({
      ...run,
      failures: 3,
    });
  });
});

describe("a call of the open turn", () => {
  const done = { content: [{ type: "text", text: "done" }], isError: false };
  const finish = (state: State, change: object = {}, call: string = "5.0"): State =>
    fold(state, { type: "tool_finished", call, result: { ...done, ...change } });

  test("that starts is running, and is no longer marked as interrupted", () => {
    const cut = acting([
      callOf("5.0", { interrupted: true, again: true, reconciled: "unknown" }),
      callOf("5.1"),
    ]);
    const after = fold(cut, { type: "tool_started", call: "5.0" });
    expect(callAt(after)).toMatchObject({
      startedAt: 2_000,
      interrupted: false,
      again: undefined,
      reconciled: undefined,
    });
    expect(callAt(after, 1)).toStrictEqual(callOf("5.1"));
  });

  test("has its first result only, which counts if it ran", () => {
    const state = acting([callOf("5.0", { startedAt: 1 }), callOf("5.1")]);
    const after = finish(state);
    expect(callAt(after)).toMatchObject({ result: done, settled: true });
    expect(after.run?.toolCalls).toBe(1);
    expect(finish(after, { isError: true }).run).toStrictEqual(after.run);
    expect(finish(state, {}, "5.1").run?.toolCalls).toBe(0);
    expect(finish(state, { code: "reconciled" }, "5.1").run?.toolCalls).toBe(1);
    expect(finish(state, {}, "9.9").run).toBe(state.run);
    expect(finish(stateOf()).run?.toolCalls).toBe(0);
  });

  test("waits for the afterTool hook if it ran, and only then", () => {
    const state = acting([
      callOf("5.0", { startedAt: 1, settled: false }),
      callOf("5.1", { settled: false }),
    ]);
    expect(callAt(finish(state)).settled).toBe(false);
    expect(callAt(finish(state, {}, "5.1"), 1).settled).toBe(true);
  });

  test("with done stops the run, with its text", () => {
    const state = acting([callOf("5.0", { startedAt: 1 }), callOf("5.1")]);
    const evidence = { tool: "write", call: "5.0" };
    expect(finish(state, { done: true }).run?.stopping).toStrictEqual({
      reason: "done_tool",
      rule: "done_tool",
      evidence,
    });
    expect(finish(state, { done: "bye" }).run?.stopping).toMatchObject({ text: "bye" });
    expect(finish(state, { done: false }).run?.stopping).toBeUndefined();
    expect(finish(state).run?.stopping).toBeUndefined();
  });

  test.each([
    ["in their order", ["5.0", "5.1"]],
    ["the other way round", ["5.1", "5.0"]],
  ])(
    "with done: of two such calls the first in the answer decides the run's text, if the results come %s",
    (_how, order) => {
      const state = acting([callOf("5.0", { startedAt: 1 }), callOf("5.1", { startedAt: 1 }), callOf("5.2")]);
      const after = order.reduce<State>(
        (before, call) => finish(before, { done: `by ${call}` }, call),
        state,
      );
      expect(after.run?.stopping).toMatchObject({ evidence: { call: "5.0" }, text: "by 5.0" });
    },
  );

  test("with a cut result leaves the ref of the full text", () => {
    const state = acting([callOf("5.0", { startedAt: 1 }), callOf("5.1")]);
    const capped = { bytes: 9, keptBytes: 1, lines: 1 };
    const cut = finish(state, { ref: "r1", capped });
    expect([[...cut.outputs], cut.readable]).toStrictEqual([["r1"], true]);
    expect(JSON.stringify(cut.ledger)).toContain("r1");
    const kept = finish(state, { ref: "r1" });
    expect([[...kept.outputs], kept.readable]).toStrictEqual([["r1"], undefined]);
    expect(JSON.stringify(kept.ledger)).not.toContain("r1");
    expect([...finish(state, { capped }).outputs]).toStrictEqual([]);
    expect(finish(state, { capped }).readable).toBeUndefined();
  });

  test("adds the tools that it offers to those offered before", () => {
    const state = acting([callOf("5.0", { startedAt: 1 }), callOf("5.1", { startedAt: 1 })]);
    const one = finish(state, { offers: ["a", "b"] });
    expect(one.offered).toStrictEqual(["a", "b"]);
    expect(finish(one, { offers: ["b", "c"] }, "5.1").offered).toStrictEqual(["a", "b", "c"]);
    expect(finish(one, {}, "5.1").offered).toBe(one.offered);
    expect(finish(state, {}).offered).toBeUndefined();
  });

  test("closes the turn with the last result: answer and results enter the history together", () => {
    const open = acting([finished("5.0"), callOf("5.1", { startedAt: 1, name: "other" })]);
    expect(open.history.length).toBe(1);
    const closed = finish(open, { isError: true, ref: "r" }, "5.1");
    expect(closed.run?.turn).toBeUndefined();
    expect([...closed.history].slice(1)).toMatchObject([
      { role: "assistant" },
      { role: "tool", callId: "id-5.0", name: "write", isError: false, content: done.content },
      { role: "tool", callId: "id-5.1", name: "other", isError: true, content: done.content, ref: "r" },
    ]);
    expect([...closed.history][2]).not.toHaveProperty("ref");
    const unsettled = acting([finished("5.0", { settled: false }), callOf("5.1", { startedAt: 1 })]);
    expect(finish(unsettled, {}, "5.1").run?.turn).toBeDefined();
  });

  test("leaves the details of its result in the history, or none", () => {
    const last = (change: object): unknown =>
      [...finish(acting([callOf("5.0", { startedAt: 1 })]), change).history].at(-1);
    expect(last({ details: { rows: 3 } })).toMatchObject({ role: "tool", details: { rows: 3 } });
    expect(last({})).not.toHaveProperty("details");
  });

  test("is not changed any more once it is over", () => {
    const state = acting([finished("5.0"), callOf("5.1")]);
    expect(callAt(fold(state, { type: "tool_started", call: "5.0" }))).toStrictEqual(finished("5.0"));
    const unseen = acting([finished("5.0", { settled: false }), callOf("5.1")]);
    const seen = fold(unseen, { type: "hook_answered", hook: "afterTool", call: "5.0" });
    expect(callAt(seen)).toMatchObject({ settled: true, result: done });
    const changed = { content: [], isError: true };
    const replaced = fold(unseen, { type: "hook_answered", hook: "afterTool", call: "5.0", result: changed });
    expect(callAt(replaced).result).toStrictEqual(changed);
  });

  test("has one ref for the full text of a hook's result", () => {
    const kept = { content: [], isError: false, ref: "r2", capped: { bytes: 9, keptBytes: 1, lines: 1 } };
    const refs = (state: State): string[] => [...state.outputs];
    const given = (state: State, hook: string, call: string, result: object = kept): State =>
      fold(state, { type: "hook_answered", hook, call, result });
    const first = finished("5.0", { settled: false, result: { ...done, ref: "r1" } as never });
    const state = acting([finished("5.1"), first, callOf("5.2")]);
    expect(refs(given(state, "afterTool", "5.0"))).toStrictEqual(["r2"]);
    expect(given(state, "afterTool", "5.0")).toMatchObject({
      readable: true,
      ledger: { entries: [{ entry: { kind: "output", ref: "r2", tool: first.name } }] },
    });
    const named = given(acting([callOf("5.0", { name: "other" }), callOf("5.1")]), "beforeTool", "5.1");
    expect(named.ledger.entries).toMatchObject([{ entry: { tool: callOf("5.1").name } }]);
    expect(refs(given(state, "beforeTool", "5.2"))).toStrictEqual(["r2"]);
    // The tool's own is known already, and so is what the tool did.
    expect(refs(given(state, "afterTool", "5.0", { ...kept, ref: "r1" }))).toStrictEqual([]);
    const noted = { ...kept, ledger: [{ kind: "done", text: "x" }] };
    expect(given(state, "afterTool", "5.0", noted).ledger.entries).toHaveLength(1);
    // Of one that is over, or is none of the turn's, nothing is.
    for (const call of ["5.1", "9.9"]) expect(refs(given(state, "afterTool", call))).toStrictEqual([]);
  });

  test("that was interrupted gets what its tool found out", () => {
    const state = acting([callOf("5.0", { interrupted: true }), callOf("5.1")]);
    const found = (change: object, call: string = "5.0"): State =>
      fold(state, { type: "reconciled", call, ...change });
    expect(callAt(found({ found: "done", result: done })).reconciled).toStrictEqual(done);
    expect(callAt(found({ found: "unknown" })).reconciled).toBe("unknown");
    expect(callAt(found({ found: "nothing" }))).toMatchObject({
      interrupted: false,
      permission: { answer: "allow" },
    });
    expect(callAt(found({ found: "nothing" }))).not.toHaveProperty("reconciled");
    expect(callAt(found({ found: "unknown" }, "5.1"), 1)).toStrictEqual(callOf("5.1"));
    const over = acting([finished("5.0", { interrupted: true, settled: false })]);
    expect(callAt(fold(over, { type: "reconciled", call: "5.0", found: "unknown" }))).not.toHaveProperty(
      "reconciled",
    );
  });
});

describe("an answer to a request for approval", () => {
  const asked = callOf("5.0", {
    permission: { answer: "ask" },
    asked: true,
    tool: toolOf("write", { permission: "ask" }),
  });
  const given = (approval: object, call: Call = asked): State =>
    fold(acting([call, callOf("5.1")]), { type: "approval_given", call: "5.0", approval });

  test("lets the call run, with other arguments if it has any", () => {
    expect(callAt(given({ answer: "approve" }))).toMatchObject({
      permission: { answer: "allow", approved: true },
      args: {},
    });
    expect(callAt(given({ answer: "approve" }))).not.toHaveProperty("again");
    const check = { ok: true, args: { at: 2 }, keys: null };
    expect(callAt(given({ answer: "edit", args: { at: "2" }, check }))).toMatchObject({
      args: { at: 2 },
      check,
    });
    const bad = { ok: false, error: "no", code: "invalid_args" };
    expect(callAt(given({ answer: "edit", args: { at: "x" }, check: bad }))).toMatchObject({
      args: { at: "x" },
      check: bad,
    });
  });

  test("denies the call, and stops the run if it says so", () => {
    const no = given({ answer: "deny", reason: "not today" });
    expect(callAt(no).permission).toStrictEqual({ answer: "deny", reason: "not today" });
    expect(callAt(given({ answer: "deny" })).permission).toStrictEqual({ answer: "deny" });
    expect(no.run?.stopping).toBeUndefined();
    expect(given({ answer: "deny", stop: true }).run?.stopping).toStrictEqual({
      reason: "turn_stopped",
      rule: "approval",
      evidence: { call: "5.0" },
    });
    expect(given({ answer: "approve", stop: true }).run?.stopping).toBeUndefined();
  });

  test("counts the first time only, and a hook's decision stays", () => {
    const allowed = callOf("5.0", { permission: { answer: "allow" } });
    expect(callAt(given({ answer: "deny" }, allowed))).toStrictEqual(allowed);
    expect(callAt(given({ answer: "deny" }, callOf("5.0"))).permission?.answer).toBe("deny");
  });

  test("lets an interrupted call run again, if its arguments fit", () => {
    const cut = { ...asked, interrupted: true };
    expect(callAt(given({ answer: "approve" }, cut))).toMatchObject({ again: true, interrupted: true });
    const bad = { ok: false, error: "no", code: "invalid_args" } as const;
    expect(callAt(given({ answer: "approve" }, { ...cut, check: bad }))).not.toHaveProperty("again");
  });

  test("is waited for from the time of the request", () => {
    const after = fold(acting([callOf("5.0"), callOf("5.1")]), { type: "approval_asked", calls: ["5.1"] });
    expect(after.run?.turn?.calls.map((call) => call.asked)).toStrictEqual([false, true]);
  });

  test("with a grant that does not cover the call lets nothing run", () => {
    expect(callAt(given({ answer: "approve", grant: "nobody's" }))).toStrictEqual(asked);
    // Nor one that would cover it but for what the tool says of its arguments today.
    const grants = [{ id: "g", tool: asked.name, args: { like: { run: "a*" } }, used: 0 }];
    const call = { ...asked, args: { run: "a; b" } };
    const under = (change: Partial<RunOptions>): Call =>
      callAt(
        fold(acting([call, callOf("5.1")], {}, { grants }, change), {
          type: "approval_given",
          call: "5.0",
          approval: { answer: "approve", grant: "g" },
        }),
      );
    expect(under({}).permission).toMatchObject({ answer: "allow" });
    expect(under({ tools: [toolOf(asked.name, { shellArgs: ["run"] })] })).toStrictEqual(call);
  });
});

describe("hooks", () => {
  const hook = (state: State, change: object): State => fold(state, { type: "hook_answered", ...change });
  const two = acting([callOf("5.0"), callOf("5.1")]);

  test("of permission decide whether a call may run, or the run must stop", () => {
    const said = (change: object): State =>
      hook(two, { hook: "permission", call: "5.0", answer: "allow", ...change });
    expect(callAt(said({})).permission).toStrictEqual({ answer: "allow" });
    expect(callAt(said({ answer: "deny", reason: "no", error: "boom" })).permission).toStrictEqual({
      answer: "deny",
      reason: "no",
      failed: true,
    });
    expect(said({ answer: "deny", text: "t" }).run?.stopping).toBeUndefined();
    expect(said({ answer: "stop", text: "bye" }).run?.stopping).toStrictEqual({
      reason: "turn_stopped",
      rule: "permission",
      evidence: { call: "5.0" },
      text: "bye",
    });
    expect(said({ answer: "stop" }).run?.stopping).not.toHaveProperty("text");
    // Of a call that was answered without it, nothing.
    const over = acting([finished("5.0"), callOf("5.1")]);
    for (const call of ["5.0", "4.0"])
      expect(hook(over, { hook: "permission", call, answer: "stop" }).run).toStrictEqual(over.run);
  });

  test("before a tool may change its arguments, or give a result for it", () => {
    const said = (change: object, call: Call = callOf("5.0")): Call =>
      callAt(hook(acting([call, callOf("5.1")]), { hook: "beforeTool", call: "5.0", ...change }));
    expect(said({})).toStrictEqual(callOf("5.0", { prepared: true }));
    const check = { ok: true, args: { at: 2 }, keys: null };
    expect(said({ args: { at: "2" }, check })).toMatchObject({ args: { at: 2 }, check });
    const bad = { ok: false, error: "no", code: "invalid_args" };
    expect(said({ args: { at: "x" }, check: bad })).toMatchObject({ args: { at: "x" }, check: bad });
    expect(said({ args: { at: "x" } })).toMatchObject({ args: { at: "x" }, check: callOf("5.0").check });
    const result = { content: [], isError: false };
    expect(said({ result }, callOf("5.0", { settled: false }))).toMatchObject({ result, settled: true });
    expect(said({}, callOf("5.0", { settled: false })).settled).toBe(false);
  });

  test("before a tool that change approved arguments cause a new request for approval", () => {
    const approved = callOf("5.0", {
      args: { at: 1 },
      asked: true,
      permission: { answer: "allow", approved: true },
    });
    const said = (change: object, call: Call = approved): Call =>
      callAt(hook(acting([call, callOf("5.1")]), { hook: "beforeTool", call: "5.0", ...change }));
    const again = { asked: false, permission: { answer: "ask" } };
    expect(said({ args: { at: 2 } })).toMatchObject(again);
    expect(said({ args: { at: 1 } })).toMatchObject({
      asked: true,
      permission: { answer: "allow", approved: true },
    });
    expect(said({})).toMatchObject({ asked: true, permission: { approved: true } });
    const check = { ok: true, args: { at: 1 }, keys: null };
    expect(said({ args: { at: "1" }, check })).toMatchObject({ asked: true });
    expect(said({ args: { at: "1" }, check: { ...check, args: { at: 3 } } })).toMatchObject(again);
    const hooked = callOf("5.0", { args: { at: 1 }, asked: true, permission: { answer: "allow" } });
    expect(said({ args: { at: 2 } }, hooked)).toMatchObject({ asked: true, permission: { answer: "allow" } });
  });

  test("come too late for a step of a landing, and about a call that is over or gone", () => {
    const landing = stateOf({ landing: { reason: "max_steps", ...because } });
    const late = hook(landing, { hook: "prepareStep", step: 1, stop: "no" }).run;
    expect([late?.prepared, late?.stopping]).toEqual([undefined, undefined]);
    const done = { content: [], isError: false, done: true };
    const over = finished("5.0", { settled: true });
    for (const calls of [[over], []])
      expect(
        hook(acting(calls), { hook: "afterTool", call: "5.0", result: done }).run?.stopping,
      ).toBeUndefined();
  });

  test("of a step leave what they prepared, and nothing of the record", () => {
    const state = stateOf();
    const prepared = hook(state, {
      hook: "prepareStep",
      step: 2,
      model: 1,
      tools: ["read"],
      toolChoice: "none",
    }).run;
    expect(prepared?.prepared).toStrictEqual({ step: 2, model: 1, tools: ["read"], toolChoice: "none" });
    expect(prepared?.broken).toBeUndefined();
    const settled = hook(state, { hook: "prepareStep", step: 2, settings: { topK: 1 } }).run;
    expect(settled?.prepared).toStrictEqual({ step: 2, settings: { topK: 1 } });
    expect(settled).not.toHaveProperty("stopping");
    const because = { reason: "turn_stopped", rule: "prepareStep", evidence: { said: "no" } };
    const stops = { hook: "prepareStep", step: 2, stop: "no" } as const;
    expect(hook(state, stops).run?.stopping).toStrictEqual(because);
    expect(hook(state, { ...stops, text: "bye" }).run?.stopping).toStrictEqual({ ...because, text: "bye" });
    const edit = { keep: 1 };
    expect(hook(state, { hook: "transformContext", step: 2, edit }).run?.transformed).toStrictEqual({
      step: 2,
      edit,
    });
    expect(hook(state, { hook: "transformContext", step: 2 }).run?.transformed).toStrictEqual({ step: 2 });
  });

  test("of the run that fail abort it", () => {
    for (const [name, more] of [
      ["prepareStep", { step: 1 }],
      ["transformContext", { step: 1 }],
      ["onFinish", { messages: [] }],
    ] as const)
      expect(hook(stateOf(), { hook: name, ...more, error: "boom" }).run?.broken).toStrictEqual({
        kind: "internal",
        message: `the ${name} hook failed: boom`,
        retryable: false,
      });
    expect(hook(stateOf(), { hook: "onFinish", messages: [] }).run?.broken).toBeUndefined();
  });

  test("at the end may return more work, and are asked once", () => {
    const state = stateOf({ answer: { text: "x" }, checked: { ok: true } });
    const none = hook(state, { hook: "onFinish", messages: [] });
    expect(none.run).toMatchObject({ finishAsked: true, answer: { text: "x" } });
    const more = hook(state, { hook: "onFinish", messages: [user("also")] });
    expect(more.run).toMatchObject({ finishAsked: true, answer: undefined, checked: undefined });
    expect([...more.history].at(-1)).toStrictEqual(user("also"));
  });
});

describe("a process that takes a run over", () => {
  const write = toolOf("write");
  const opened = (state: State, change: object = {}, at: number = 2_000): State =>
    fold(state, { type: "opened", by: "somebody", ...change }, 10, at);

  test("finds work in flight lost: writes are interrupted, anything else may run again", () => {
    const compacting = { ...because, summaries: [], failures: 0, call: { startedAt: 1 } };
    const state = acting(
      [
        callOf("5.0", { startedAt: 1, tool: write }),
        callOf("5.1", { startedAt: 1, tool: toolOf("look", { effect: "read" }) }),
        finished("5.2", { settled: false }),
        callOf("5.3"),
        callOf("5.4", { startedAt: 1, tool: toolOf("set", { effect: "idempotent" }) }),
      ],
      { call: modelCall, compacting },
    );
    const after = opened(state);
    expect(after.run).toMatchObject({ call: undefined, compacting: { call: undefined, summaries: [] } });
    expect(callAt(after, 0)).toMatchObject({ interrupted: true });
    expect(callAt(after, 0)).not.toHaveProperty("startedAt");
    expect(callAt(after, 0)).not.toHaveProperty("permission");
    expect(callAt(after, 1).interrupted).toBe(false);
    expect(callAt(after, 1)).not.toHaveProperty("startedAt");
    expect(callAt(after, 2)).toStrictEqual(finished("5.2", { settled: false }));
    expect(callAt(after, 1)).not.toHaveProperty("begun");
    expect(callAt(after, 3)).toStrictEqual(callOf("5.3"));
    expect(callAt(after, 4)).toMatchObject({ begun: true, interrupted: false });
    expect(callAt(after, 4)).not.toHaveProperty("startedAt");
    expect(opened(stateOf()).run?.compacting).toBeUndefined();
    const unknown = opened(acting([unknownCall("5.0", { startedAt: 1 })]));
    expect(callAt(unknown)).toStrictEqual(unknownCall("5.0"));
  });

  test("requests an approval for an interrupted write, if set so", () => {
    const state = acting(
      [callOf("5.0", { startedAt: 1, asked: true, permission: { answer: "allow" } })],
      {},
      {},
      { onInterrupted: "ask" },
    );
    expect(callAt(opened(state))).toMatchObject({
      interrupted: true,
      asked: false,
      permission: { answer: "ask" },
    });
  });

  test("continues with its time, and a fork with its own", () => {
    const state = stateOf({ startedAt: 500 }, { now: 1_200 });
    expect(opened(state).run?.startedAt).toBe(500);
    expect(opened(state, { from: [] }).run?.startedAt).toBe(1_300);
  });

  test("leaves a fork none of the working sub-agents", () => {
    const child = { session: "c", reserved: {}, spent: {}, parked: false, waiting: [], answers: [], told: 0 };
    const state = acting([callOf("5.0", { child: child as never }), callOf("5.1")]);
    expect(callAt(opened(state)).child).toStrictEqual(child);
    expect(callAt(opened(state, { from: [] }))).not.toHaveProperty("child");
  });

  test("has its own options: the first model, and tools by their names", () => {
    const counted = { tokens: 5, length: 1 };
    const state = acting([callOf("5.0"), callOf("5.1", { name: "gone" })], { model: 1 }, { counted });
    const tools = [toolOf("read", { effect: "read" }), toolOf("write", { timeoutMs: 7 })];
    const after = opened(state, { options: options({ tools }) });
    expect(after.counted).toBeUndefined();
    expect(after.run?.model).toBe(0);
    expect(callAt(after).tool).toStrictEqual(tools[1]);
    expect(callAt(after, 1)).not.toHaveProperty("tool");
    expect(opened(state)).toMatchObject({ counted, run: { model: 1 } });
  });

  test("with changed code keeps the open turn, and the model if it still exists", () => {
    const state = acting([callOf("5.0")], { model: 1 }, { counted: { tokens: 5, length: 1 } });
    const [first, second] = options().models;
    const under = (models: unknown[]): State =>
      opened(state, { changed: [], options: options({ models: models as never }) });
    expect(under([first, second]).run?.model).toBe(1);
    expect(under([second, first]).run?.model).toBe(0);
    expect(under([{ ...first, id: "other" }, first]).run?.model).toBe(0);
    expect(under([first, second]).counted).toStrictEqual({ tokens: 5, length: 1 });
    expect(callAt(under([first]))).toStrictEqual(callOf("5.0"));
    // The step that comes was to have the second one.
    const prepared = { step: 1, model: 1, system: "s" } as never;
    const then = (models: unknown[]): unknown =>
      opened(stateOf({ prepared }), { changed: [], options: options({ models: models as never }) }).run
        ?.prepared;
    expect(then([first, second])).toStrictEqual(prepared);
    expect(then([second, first])).toStrictEqual({ ...(prepared as object), model: 0 });
    expect(then([first])).toBeUndefined();
  });
});

describe("the end and the abort", () => {
  test("of a run leave nothing open, and keep the partial answer", () => {
    const keep = answerOf([{ type: "text", text: "a part" }]);
    const state = acting([callOf("5.0")], {
      call: modelCall,
      answer: { text: "x" },
      compacting: { ...because, summaries: [], failures: 0 },
    });
    const end = { reason: "completed", ...because, landed: false, resumable: true };
    const after = fold(state, { type: "run_ended", end, text: "bye", keep });
    expect(after.run).toMatchObject({
      turn: undefined,
      call: undefined,
      answer: undefined,
      compacting: undefined,
      end,
      text: "bye",
    });
    expect([...after.history].at(-1)).toStrictEqual(keep);
    expect(fold(state, { type: "run_ended", end }).history).toBe(state.history);
  });

  test("is requested once, and the grace of work in flight begins with the first cancellation", () => {
    const asked = (run: object, change: object = {}): Run =>
      runAfter(stateOf(run), { type: "abort_asked", reason: "enough", ...change });
    expect(asked({})).toMatchObject({ abort: { at: 2_000, reason: "enough" }, cancelledAt: 2_000 });
    expect(asked({}).abort).not.toHaveProperty("error");
    expect(asked({}, { error }).abort?.error).toStrictEqual(error);
    expect(asked({ cancelledAt: 7 }).cancelledAt).toBe(7);
    const abort = { at: 1, reason: "first" };
    expect(asked({ abort }).abort).toBe(abort);
  });

  test("a cancellation without an abort is over once nothing is in flight", () => {
    const run = (change: object): Run =>
      stateOf({ cancelledAt: 5, compacting: { ...because, summaries: [], failures: 0 }, ...change })
        .run as Run;
    expect(settleCancel(run({}))).toMatchObject({ cancelledAt: undefined, compacting: undefined });
    // A landing has its last answer to ask for, which needs the room; a run that stops asks for nothing.
    const forced = { rule: "overflow", evidence: {}, summaries: [], failures: 0 };
    const landing = { ...because, reason: "deadline" };
    expect(settleCancel(run({ landing })).compacting).toBeUndefined();
    expect(settleCancel(run({ landing, compacting: forced })).compacting).toBe(forced);
    const stopping = { ...because, reason: "max_steps" };
    expect(settleCancel(run({ stopping, compacting: forced })).compacting).toBeUndefined();
    const flying = run({ call: modelCall });
    expect(settleCancel(flying)).toBe(flying);
    const aborted = run({ abort: { at: 1, reason: "x" } });
    expect(settleCancel(aborted)).toBe(aborted);
    const calm = run({ cancelledAt: undefined });
    expect(settleCancel(calm)).toBe(calm);
    const summing = run({ compacting: { ...because, summaries: [], failures: 0, call: { startedAt: 1 } } });
    expect(settleCancel(summing)).toBe(summing);
    const working = acting([callOf("5.0", { startedAt: 1 })], { cancelledAt: 5 }).run as Run;
    expect(settleCancel(working)).toBe(working);
  });

  test("the result of an output's check is recorded", () => {
    const checked = (change: object): unknown =>
      runAfter(stateOf(), { type: "output_checked", ok: true, ...change }).checked;
    expect(checked({})).toStrictEqual({ ok: true });
    expect(checked({ value: 0 })).toStrictEqual({ ok: true, value: 0 });
    expect(checked({ ok: false, error: "no" })).toStrictEqual({ ok: false, error: "no" });
  });
});

describe("what a model call cost that had been given up", () => {
  const usage = { inputTokens: 3, outputTokens: 2 };
  const late = { type: "late_result", call: null, usage, usd: 0.5 } as const;

  test("is added to the run's own spending, also after its end", () => {
    const open = fold(stateOf(), late).run;
    expect(open?.spend).toMatchObject({ usage, tokens: 5, usd: 0.5, uncounted: 0 });
    expect(open?.below).toBeUndefined();
    const ended = fold(stateOf(), { type: "run_ended", end: { reason: "aborted" } });
    expect(fold(ended, late).run?.spend).toMatchObject({ tokens: 5, usd: 0.5 });
    expect(fold(ended, { type: "late_result", call: null }).run).toStrictEqual(ended.run);
  });

  test("is unknown in money if either is", () => {
    const { usd: _usd, ...unpriced } = late;
    expect(fold(stateOf(), unpriced).run?.spend.usd).toBeUndefined();
    const unknown = stateOf({ spend: { usage: {}, tokens: 0, usd: undefined, uncounted: 1 } });
    expect(fold(unknown, late).run?.spend.usd).toBeUndefined();
    expect(fold(stateOf(), { ...late, usage: {} }).run?.spend).toStrictEqual(stateOf().run.spend);
  });
});

describe("a sub-agent's spending", () => {
  const spent = { usage: { inputTokens: 3 }, tokens: 3, usd: 0.5, uncounted: 1, modelCalls: 2, agents: 1 };

  test("is added to the run's, also after its end", () => {
    const open = fold(stateOf(), {
      type: "late_result",
      call: "1.0",
      result: { content: [], isError: false, spent },
    });
    expect(open.run).toMatchObject({
      spend: { tokens: 3, usd: 0.5, uncounted: 1 },
      below: { modelCalls: 2, agents: 1 },
    });
    const ended = fold(stateOf(), { type: "run_ended", end: { reason: "completed" } });
    expect(
      fold(ended, { type: "late_result", call: "1.0", result: { content: [], isError: false, spent } }).run,
    ).toMatchObject({
      spend: { tokens: 3 },
    });
    expect(fold(ended, { type: "late_result", call: "1.0" }).run).toStrictEqual(ended.run);
  });

  test("is unknown in money if either is", () => {
    const { usd: _usd, ...unpriced } = spent;
    const late = (state: State, more: object): unknown =>
      fold(state, { type: "late_result", call: "1.0", result: { content: [], isError: false, spent: more } })
        .run?.spend.usd;
    expect(late(stateOf(), unpriced)).toBeUndefined();
    const unknown = stateOf({ spend: { usage: {}, tokens: 0, usd: undefined, uncounted: 1 } });
    expect(late(unknown, spent)).toBeUndefined();
  });
});

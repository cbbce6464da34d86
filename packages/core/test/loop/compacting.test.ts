// Which summary is asked for next, how long a failed one is waited for, and what becomes of the history: on states made
// by hand.

import {
  contextFacts,
  type EndReason,
  type ErrorData,
  type Message,
  type Rule,
  type Rules,
  type Run,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { emptyLedger, foldLedger } from "../../src/context/compact/ledger.ts";
import {
  askForSummary,
  compactionOf,
  compactsAtEnd,
  summaryOf,
  waitForSummary,
} from "../../src/loop/deciding/compacting.ts";
import { Log } from "../../src/loop/log.ts";
import { frontOf, sizeOf } from "../../src/loop/request/window.ts";
import type { RunState } from "../../src/loop/state.ts";
import { answerOf, rules, stateOf } from "./support.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const error = (retryable: boolean): ErrorData => ({ kind: "internal", message: "it broke", retryable });
type Compacting = NonNullable<Run["compacting"]>;
const compactingOf = (change: Partial<Compacting> = {}): Compacting => ({
  rule: "compaction",
  evidence: {},
  summaries: [],
  failures: 0,
  ...change,
});
/** A task, long answers to it, and a newer request. */
const long = Log.of([
  user("task"),
  ...Array.from({ length: 24 }, (_, at) => [
    answerOf([{ type: "text", text: `${at} ${"word ".repeat(200)}` }]),
    user(`go on ${at}`),
  ]).flat(),
]);

function at(
  compacting: Partial<Compacting> | undefined,
  given: object = { window: 10_000 },
  more: object = {},
  change: object = {},
): RunState {
  const run = compacting === undefined ? {} : { compacting: compactingOf(compacting) };
  return stateOf(run, { history: long, ...more }, { context: contextFacts(given), ...change });
}

describe("the wait after a failed summary", () => {
  const waits = (
    failures: number,
    rand: number,
    now: number,
    retryable = true,
    given: object = { window: 10_000 },
    by: Rules = rules,
  ): unknown =>
    waitForSummary(
      at({ failures, failure: error(retryable), failedAt: { at: 1_000, rand } }, given, { now }),
      by,
    );

  test("is longer each time, with a random part", () => {
    expect(waits(1, 0, 1_000)).toStrictEqual({ do: "wait", until: 1_400 });
    expect(waits(1, 0.5, 1_000)).toStrictEqual({ do: "wait", until: 1_500 });
    expect(waits(1, 1, 1_000)).toStrictEqual({ do: "wait", until: 1_600 });
    expect(waits(2, 0.5, 1_000)).toStrictEqual({ do: "wait", until: 2_000 });
  });

  test("ends at its time, or when something else comes first", () => {
    expect(waits(1, 0.5, 1_499)).toBeDefined();
    expect(waits(1, 0.5, 1_500)).toBeUndefined();
    const clock = (time: number): Rules => ({
      ...rules,
      list: [{ name: "clock", version: 1, wakeAt: () => time }],
    });
    expect(waits(1, 0.5, 1_000, true, { window: 10_000 }, clock(1_200))).toStrictEqual({
      do: "wait",
      until: 1_200,
    });
    expect(waits(1, 0.5, 1_000, true, { window: 10_000 }, clock(9_000))).toStrictEqual({
      do: "wait",
      until: 1_500,
    });
  });

  test("is left out if the summary is given up: it failed for good, or too often", () => {
    expect(waits(1, 0.5, 1_000, false)).toBeUndefined();
    expect(waits(3, 0.5, 1_000)).toBeUndefined();
    expect(waits(1, 0.5, 1_000, true, { window: 10_000, compaction: { format: "tagged" } })).toBeUndefined();
    expect(waitForSummary(at({}), rules)).toBeUndefined();
    expect(waitForSummary(at(undefined), rules)).toBeUndefined();
    expect(
      waitForSummary(at({ failures: 1, failedAt: { at: 1_000, rand: 0 } }, { compaction: null }), rules),
    ).toBeUndefined();
  });
});

describe("the end of a run before a summary", () => {
  type Said = ReturnType<NonNullable<Rule["decide"]>>;
  const said = { do: "stop", reason: "cost_budget", evidence: {} } as const;
  /** A limit, which can tell what is left, or a rule of another kind. */
  const saying = (what: Said, isLimit = true): Rules => ({
    ...rules,
    list: [
      {
        name: "says",
        version: 1,
        decide: () => what,
        ...(isLimit ? { left: () => ({}) } : {}),
      },
    ],
  });
  const again = { failures: 1, failure: error(true), failedAt: { at: 1_000, rand: 0.5 } };

  test("comes by a limit that lands or stops it: no summary is requested or waited for any more", () => {
    for (const what of [said, { ...said, do: "land" } as const]) {
      expect(askForSummary(at(again), saying(what))).toBeUndefined();
      expect(waitForSummary(at(again), saying(what))).toBeUndefined();
      expect(waitForSummary(at({ ...again, summaries: ["s"] }), saying(what))).toBeUndefined();
    }
  });

  test("is recorded together with the unchanged history", () => {
    const { note } = compactionOf(at({ failures: 1 }), saying(said)) as { note: string };
    expect(note).toMatch(/ \(cost_budget\)$/);
  });

  test("does not come by a limit that only gives a notice, nor by a rule of another kind", () => {
    expect(askForSummary(at(again), saying({ do: "nudge", text: "hurry", evidence: {} }))).toBeDefined();
    expect(askForSummary(at(again), saying(said, false))).toBeDefined();
    expect(waitForSummary(at(again), saying(said, false))).toBeDefined();
  });

  const within = (change: Partial<Run>): RunState => {
    const state = at({});
    return { ...state, run: { ...state.run, ...change } };
  };

  test("is checked before the first summary too, unless a compaction was requested", () => {
    expect(askForSummary(at({}), saying(said))).toBeUndefined();
  });

  test("reserves no call for a landing in a run that only compacts, but a limit may forbid its first call", () => {
    const lands = saying({ ...said, do: "land" });
    expect(askForSummary(within({ only: "compaction" }), lands)).toBeDefined();
    expect(askForSummary(within({ only: "compaction" }), saying(said))).toBeUndefined();
    for (const rules of [lands, saying(said)])
      expect(askForSummary(within({ only: "compaction", modelCalls: 1 }), rules)).toBeUndefined();
  });

  test("may be a landing, but not because of its steps: a summary takes none", () => {
    const landed = (reason: EndReason): RunState =>
      within({ landing: { reason, rule: "some_rule", evidence: {} } });
    expect(askForSummary(landed("deadline"), rules)).toBeUndefined();
    expect(askForSummary(landed("max_steps"), rules)).toBeDefined();
    expect(askForSummary(landed("max_steps"), saying(said))).toBeUndefined();
  });
});

describe("the next summary", () => {
  test("is requested until all are there, with its number and its attempt", () => {
    const first = summaryOf(at({ failures: 1 }), rules);
    expect(first).toMatchObject({ part: 1, attempt: 2 });
    const of = first?.of as number;
    expect(of).toBeGreaterThanOrEqual(1);
    expect(summaryOf(at({ summaries: Array.from({ length: of }, () => "s") }), rules)).toBeUndefined();
    expect(summaryOf(at({ summaries: Array.from({ length: of - 1 }, () => "s") }), rules)).toMatchObject({
      part: of,
      attempt: 1,
    });
  });

  test("is not requested if it is given up, or if there is nothing to summarise", () => {
    expect(summaryOf(at({ failures: 3, failure: error(true) }), rules)).toBeUndefined();
    expect(summaryOf(at({ failures: 2, failure: error(true) }), rules)).toMatchObject({ attempt: 3 });
    expect(summaryOf(at({ failures: 1, failure: error(false) }), rules)).toBeUndefined();
    expect(summaryOf(at({ failures: 5 }), rules)).toMatchObject({ attempt: 6 });
    expect(summaryOf(at(undefined), rules)).toBeUndefined();
    expect(summaryOf(at({}, { compaction: null }), rules)).toBeUndefined();
    expect(summaryOf(at({}, { window: 10_000 }, { history: Log.of([user("task")]) }), rules)).toBeUndefined();
    expect(askForSummary(at(undefined), rules)).toBeUndefined();
  });

  test("is requested from the run's model, or from the model for summaries", () => {
    expect(
      askForSummary(
        stateOf(
          { model: 1, compacting: compactingOf() },
          { history: long },
          { context: contextFacts({ window: 10_000 }) },
        ),
        rules,
      ),
    ).toMatchObject({
      do: "summarise",
      part: 1,
      model: 1,
    });
    const compactor = { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts: {} };
    expect(askForSummary(at({}, { window: 10_000 }, {}, { compactor }), rules)).not.toHaveProperty("model");
  });

  test("may use a limited share of a small window, and in a large one what the settings say", () => {
    const compactor = { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts: {} };
    const most = (given: object, change: object = { compactor }): unknown =>
      summaryOf(at({}, given, {}, change), rules)?.request.settings.maxOutputTokens;
    expect(most({ window: 10_000 })).toBe(1_500);
    expect(most({ window: 1_000 })).toBe(256);
    expect(most({ window: 1_000_000 })).toBe(8_192);
    expect(most({})).toBe(8_192);
    expect(most({ window: 10_000, compaction: { summaryMaxTokens: 700 } })).toBe(700);
    expect(most({ window: 10_000, compaction: { summaryMaxTokens: null } })).toBeUndefined();
    // The run's own model gives no more.
    expect(most({ window: 1_000_000 }, {})).toBe(2_000);
  });

  test("has the same routing settings as the run's requests, unless another model makes it", () => {
    const compactor = { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts: {} };
    const sent = (change: object): unknown =>
      summaryOf(at({}, { window: 10_000 }, {}, change), rules)?.request.settings;
    const settings = { headers: { "x-team": "a" }, temperature: 0.5 };
    expect(sent({ settings })).toStrictEqual({ maxOutputTokens: 1_500, headers: { "x-team": "a" } });
    expect(sent({ settings: {} })).toStrictEqual({ maxOutputTokens: 1_500 });
    expect(sent({ settings, compactor })).toStrictEqual({ maxOutputTokens: 1_500 });
  });

  test("is requested with the allowed limit, if one was refused", () => {
    const failure: ErrorData = {
      kind: "invalid_request",
      message: "m",
      retryable: false,
      maxOutputTokens: 700,
    };
    const most = (change: Partial<Compacting>, format: string = "structured"): unknown =>
      summaryOf(at({ failures: 1, failure, ...change }, { window: 10_000, compaction: { format } }), rules)
        ?.request.settings;
    expect(most({ limit: 700 })).toMatchObject({ maxOutputTokens: 700 });
    expect(most({ limit: 9_000 })).toMatchObject({ maxOutputTokens: 1_500 });
    expect(most({ limit: null })).not.toHaveProperty("maxOutputTokens");
    expect(most({ limit: 700, failures: 3 })).toBeUndefined();
    expect(most({ limit: 700 }, "tagged")).toBeUndefined();
  });

  test("is requested with four times the limit for each truncated answer, up to half its model's window", () => {
    const most = (cut: number, facts: object = {}): unknown => {
      const compactor = { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts };
      const given = { window: 10_000, compaction: { summaryMaxTokens: 700 } };
      return summaryOf(at({ cut }, given, {}, { compactor }), rules)?.request.settings.maxOutputTokens;
    };
    expect([most(0), most(1), most(2)]).toStrictEqual([700, 2_800, 5_000]);
    expect(most(2, { contextWindow: 8_000 })).toBe(4_000);
  });

  test("is requested with half the window of the summarising model: the run's own, even if a hook chose another for the step", () => {
    const model = (id: string, contextWindow: number): object => ({
      id,
      origin: { api: "a", provider: "p", model: id },
      facts: { contextWindow },
    });
    const models = [model("own", 6_000), model("chosen", 8_000)];
    const most = (prepared: object | undefined, given: object = {}): unknown => {
      const state = at({ cut: 2 }, { compaction: { summaryMaxTokens: 700 }, ...given }, {}, {
        models,
      } as never);
      const run = { ...(state.run as Run), ...(prepared === undefined ? {} : { prepared }) } as Run;
      return summaryOf({ ...state, run }, rules)?.request.settings.maxOutputTokens;
    };
    expect(most(undefined)).toBe(3_000);
    expect(most({ step: 1, model: 1 })).toBe(3_000);
    expect(most(undefined, { window: 5_000 })).toBe(2_500);
  });

  test("is made in more parts if its model's window is small", () => {
    const compactor = (contextWindow: number): object => ({
      compactor: { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts: { contextWindow } },
    });
    const parts = (change: object): number =>
      summaryOf(at({}, { window: 100_000 }, {}, change), rules)?.of as number;
    expect(parts(compactor(6_000))).toBeGreaterThan(parts(compactor(100_000)));
  });

  test("is made in one part that any model can read, if the window had to be guessed", () => {
    const short = { history: Log.of([...long].slice(0, 13)) };
    const parts = (rule: string, given: object, change: object = {}): number | undefined =>
      summaryOf(at({ rule }, given, short, change), rules)?.of;
    const known = Math.ceil(sizeOf(at({}, {}, short), rules) * 0.75);
    expect(parts("guard", {})).toBe(1);
    expect(parts("guard", { window: known })).toBeGreaterThan(1);
    // What was asked for was never refused: all of it was read before.
    expect(parts("compaction", {})).toBe(1);
    // Another model sums up, of whose own window nothing is known.
    const compactor = { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts: {} };
    expect(parts("guard", { window: known }, { compactor })).toBeGreaterThan(1);
  });

  test("covers all of the history in the tagged format, unless a request was too large or another model with a known window makes it", () => {
    const tagged = { window: 6_000, compaction: { format: "tagged" as const } };
    const parts = (rule: string, given: object, facts?: object): number | undefined => {
      const compactor = { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts };
      return summaryOf(at({ rule }, given, {}, facts === undefined ? {} : { compactor }), rules)?.of;
    };
    expect(parts("compaction", tagged)).toBe(1);
    expect(parts("compaction", { window: 6_000 })).toBeGreaterThan(1);
    expect(parts("guard", tagged)).toBeGreaterThan(1);
    expect(parts("compaction", tagged, {})).toBe(1);
    expect(parts("compaction", tagged, { contextWindow: 6_000 })).toBeGreaterThan(1);
    // What was never refused was read, though nobody knows the window.
    expect(parts("compaction", {})).toBe(1);
  });

  test("is made in parts half as large after a summary was refused for its length, measured by the summarising model's window", () => {
    const history = Log.of([
      user("task"),
      ...Array.from({ length: 60 }, (_, n) => [
        answerOf([{ type: "text", text: `${n} ${"word ".repeat(40)}` }]),
        user(`go on ${n}`),
      ]).flat(),
    ]);
    const parts = (narrowed: number, contextWindow: number): number => {
      const compactor = {
        compactor: { id: "own", origin: { api: "a", provider: "p", model: "m" }, facts: { contextWindow } },
      };
      return summaryOf(at({ narrowed }, { window: 3_000 }, { history }, compactor), rules)?.of as number;
    };
    expect(parts(1, 2_000)).toBe(parts(0, 1_000));
    expect(parts(1, 2_000)).toBeGreaterThan(parts(1, 3_000));
  });

  test("is planned again if the known window has changed", () => {
    const state = at({}, {});
    const whole = summaryOf(state, rules);
    expect(summaryOf(state, rules)?.request).toStrictEqual(whole?.request);
    const forced: RunState = {
      ...state,
      run: { ...state.run, compacting: compactingOf({ rule: "overflow" }) },
    };
    const anew = summaryOf(forced, rules)?.request;
    const alone = summaryOf(at({ rule: "overflow" }, {}), rules)?.request;
    expect(JSON.stringify([...(anew?.messages ?? [])])).toBe(JSON.stringify([...(alone?.messages ?? [])]));
  });

  test("of a refused request, which was larger than it seemed, assumes at least four times the tokens of a summary", () => {
    const before = (rule: string, given: object = {}): number =>
      (compactionOf(at({ rule, summaries: ["s"] }, given), rules) as { before: number }).before;
    const front = frontOf(at({}), rules);
    const looked = sizeOf(at({}), rules) - front;
    expect(before("overflow")).toBe(4 * 4_096 - front);
    expect(before("overflow", { window: 9_000 })).toBe(9_000 - front);
    expect(before("overflow", { window: 1_000 })).toBe(looked);
    expect(before("guard")).toBe(looked);
  });

  test("uses three quarters of the history's size, if the window is unknown", () => {
    const given = { compaction: { keepTurns: 24 } };
    const { before, after } = compactionOf(at({ rule: "guard", summaries: ["s"] }, given), rules) as {
      before: number;
      after: number;
    };
    // Three tenths of that stay as they are.
    expect(after / before).toBeGreaterThan(0.18);
    expect(after / before).toBeLessThan(0.26);
  });

  test("reads as much of the ledger as fits a small window", () => {
    const entries = Array.from({ length: 600 }, (_, one) => ({
      kind: "output" as const,
      ref: `ref-${one}-${"x".repeat(20)}`,
      tool: "write",
    }));
    const ledger = foldLedger(emptyLedger, entries, 1);
    const after = (given: object): number => {
      const summaries = Array.from({ length: 9 }, () => "what was said, summed up at some length");
      const compaction = { minGain: null, keepShare: 0 };
      const state = at({ rule: "overflow", summaries }, { compaction, ...given }, { ledger });
      return JSON.stringify(compactionOf(state, rules)).length;
    };
    const [least, small, large, all] = [
      after({ window: 6_000 }),
      after({ window: 12_000 }),
      after({ window: 20_000 }),
      after({}),
    ];
    // Twelve hundredths of the window at four characters a token, but a thousand characters at least.
    expect(Math.abs(small - least - 1_920)).toBeLessThan(300);
    expect(Math.abs(large - small - 2_500)).toBeLessThan(400);
    expect(all - large).toBeGreaterThan(2_000);
    expect(after({ window: 1_500 })).toBeGreaterThan(1_200);
  });
});

describe("the history after a compaction", () => {
  const summaries = Array.from({ length: 9 }, () => "what was said, summed up at some length");

  test("has the summaries in place of what they summarise", () => {
    const fact = compactionOf(at({ summaries }), rules) as { before: number; after: number };
    expect(fact).toMatchObject({
      type: "compacted",
      stage: "compaction",
      edit: expect.any(Array),
      note: expect.any(String),
    });
    expect(fact.after).toBeLessThan(fact.before);
  });

  test("is unchanged if there is nothing to summarise", () => {
    const state = at({}, { window: 10_000 }, { history: Log.of([user("task")]) });
    const fact = compactionOf(state, rules) as { before: number; after: number };
    expect(fact).toMatchObject({
      type: "compacted",
      note: "there is nothing that could be summed up: the history stays as it is",
    });
    expect(fact).not.toHaveProperty("edit");
    expect(fact.before).toBe(fact.after);
    expect(compactionOf(at(undefined), rules)).not.toHaveProperty("edit");
    expect(compactionOf(at({}, { compaction: null }), rules)).not.toHaveProperty("edit");
  });

  test("is unchanged if there are no summaries, with the reason", () => {
    const kept = compactionOf(at({ failures: 3, failure: error(true) }), rules) as { note: string };
    expect(kept).not.toHaveProperty("edit");
    expect(kept.note).toMatch(/ \(it broke\)$/);
    const unsaid = compactionOf(at({}), rules) as { note: string };
    expect(unsaid).not.toHaveProperty("edit");
    expect(unsaid.note).not.toMatch(/\)$|!$/);
  });

  test("is a note with its numbers if the request must become smaller", () => {
    for (const [rule, noted] of [
      ["overflow", true],
      ["guard", true],
      ["compaction", false],
    ] as const)
      expect("edit" in compactionOf(at({ rule, failures: 3, failure: error(true) }), rules)).toBe(noted);
    const tagged = { window: 10_000, compaction: { format: "tagged" } };
    expect(
      compactionOf(at({ rule: "guard", failures: 1, failure: error(true) }, tagged), rules),
    ).not.toHaveProperty("edit");
  });

  test("is also made at the end of a run, if set so", () => {
    expect(compactsAtEnd(at({}, { compaction: { atEnd: true } }))).toBe(true);
    expect(compactsAtEnd(at({}))).toBe(false);
    expect(compactsAtEnd(stateOf())).toBe(false);
  });
});

// Lists that are shared by every version of a state; how the history is shrunk; whether a request only grew.

import {
  contextFacts,
  type LogRecord,
  type Message,
  type ModelRequest,
  type Part,
  reduce,
  type State,
  type StopKind,
} from "@rondo/core";
import { describe, expect, test } from "vitest";
import { newCompaction } from "../../src/loop/folding/shrink.ts";
import { Log, Names, Tally } from "../../src/loop/log.ts";
import { Prefix, requestName } from "../../src/loop/request/prefix.ts";
import { answerOf, recordOf, rules, stateOf } from "./support.ts";

describe("a log", () => {
  const one = Log.of([1, 2, 3]);

  test("returns its items, from either end, and nothing outside", () => {
    expect([one.at(0), one.at(2), one.at(3), one.at(-1), one.at(-3), one.at(-4)]).toStrictEqual([
      1,
      3,
      undefined,
      3,
      1,
      undefined,
    ]);
    expect([...one]).toStrictEqual([1, 2, 3]);
    expect([...Log.of()]).toStrictEqual([]);
    expect(one.length).toBe(3);
  });

  test("grows without changing its older versions", () => {
    const more = one.push(4);
    const other = one.push(5, 6);
    expect([[...one], [...more], [...other]]).toStrictEqual([
      [1, 2, 3],
      [1, 2, 3, 4],
      [1, 2, 3, 5, 6],
    ]);
    expect(one.at(3)).toBeUndefined();
    expect(one.push()).toBe(one);
    expect([more.extends(one), one.extends(more), other.extends(one), one.extends(one)]).toStrictEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test("is cut to a part of it", () => {
    const grown = Log.of([1, 2]);
    grown.push(3, 4);
    expect([
      grown.slice(),
      grown.slice(1),
      grown.slice(0, 1),
      grown.slice(1, 9),
      grown.slice(9),
    ]).toStrictEqual([[1, 2], [2], [1], [2], []]);
  });

  test("does not change with the list it was made from", () => {
    const items = [1];
    const log = Log.of(items);
    items.push(2);
    expect([...log]).toStrictEqual([1]);
  });

  test("measures each item once, whichever part of it is summed", () => {
    const measured: number[] = [];
    const measure = (item: number): number => {
      measured.push(item);
      return item;
    };
    const log = Log.of([1, 2, 3, 4]);
    expect(log.sum(measure, 1, 3)).toBe(5);
    expect(measured).toStrictEqual([1, 2, 3]);
    expect(log.sum(measure)).toBe(10);
    expect([
      log.sum(measure, 2),
      log.sum(measure, -5, 1),
      log.sum(measure, 3, 2),
      log.sum(measure, 9),
      log.sum(measure, 0, 9),
    ]).toStrictEqual([7, 1, 0, 0, 10]);
    expect(log.push(5).sum(measure)).toBe(15);
    expect(measured).toStrictEqual([1, 2, 3, 4, 5]);
    expect(log.sum(() => 1)).toBe(4);
    expect(log.sum(measure)).toBe(10);
  });
});

describe("a set of names", () => {
  test("grows without changing its older versions", () => {
    const one = Names.empty().add("a");
    const more = one.add("b");
    const other = one.add("c");
    const seen = (names: Names): boolean[] => ["a", "b", "c"].map((name) => names.has(name));
    expect([seen(one), seen(more), seen(other)]).toStrictEqual([
      [true, false, false],
      [true, true, false],
      [true, false, true],
    ]);
    expect(more.add("b")).toBe(more);
    expect([one.size, more.size, one.add("b").size]).toStrictEqual([1, 2, 2]);
    expect(Names.empty().has("a")).toBe(false);
    expect(JSON.stringify([one, more, other])).toBe('[["a"],["a","b"],["a","c"]]');
  });
});

describe("a count by name", () => {
  test("grows without changing its older versions", () => {
    const one = Tally.empty().add("a").add("b");
    const more = one.add("a").add("a");
    const other = one.add("c").add("b");
    const still = one.add("d");
    const counts = (tally: Tally): number[] => ["a", "b", "c", "d"].map((text) => tally.of(text));
    expect([one, more, other, still].map(counts)).toStrictEqual([
      [1, 1, 0, 0],
      [3, 1, 0, 0],
      [1, 2, 1, 0],
      [1, 1, 0, 1],
    ]);
    expect(counts(more.add("b"))).toStrictEqual([3, 2, 0, 0]);
    expect(counts(one.add("a"))).toStrictEqual([2, 1, 0, 0]);
    expect(counts(more)).toStrictEqual([3, 1, 0, 0]);
    expect(Tally.empty().of("a")).toBe(0);
    expect(JSON.stringify([one, other])).toBe('[[["a",1],["b",1]],[["a",1],["b",2],["c",1]]]');
    const first = Tally.empty().add("a");
    first.add("b");
    expect(JSON.stringify(first)).toBe('[["a",1]]');
  });

  test("has none of the names that every object has, and keeps similar names apart", () => {
    const tally = Tally.empty().add("__proto__").add("constructor").add("__proto__");
    expect(["__proto__", "constructor", "toString"].map((text) => tally.of(text))).toStrictEqual([2, 1, 0]);
  });
});

const because = { rule: "some_rule", evidence: { seen: 1 } };
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const fold = (state: State, fact: object): State => reduce(state, recordOf(fact) as LogRecord, rules);

describe("the history is edited", () => {
  const before = stateOf(
    {
      transformed: { step: 1 },
      reduced: { error: { kind: "internal", message: "m", retryable: false }, helped: false },
    },
    {
      history: Log.of([user("a"), user("b"), user("c")]),
      counted: { tokens: 9, length: 3 },
      rewritten: ["other"],
    },
  );

  test("as the edit says; then nothing of it is counted, and what a hook made of it is void", () => {
    const after = fold(before, { type: "trimmed", edits: [{ at: 1, message: user("x") }], stage: "trim" });
    expect([...after.history]).toStrictEqual([user("a"), user("x"), user("c")]);
    expect(after.counted).toBeUndefined();
    expect(after.rewritten).toStrictEqual(["other", "trim"]);
    expect(after.run).not.toHaveProperty("transformed");
    expect(after.run?.reduced?.helped).toBe(true);
    expect(after).not.toHaveProperty("readable");
    expect([...before.history]).toStrictEqual([user("a"), user("b"), user("c")]);
  });

  test("which is recorded once, and leaves refs to full texts", () => {
    const known = { ...before, rewritten: ["trim"], outputs: Log.of(["r"]) };
    const after = fold(known, { type: "trimmed", edits: [], stage: "trim" });
    expect(after.rewritten).toBe(known.rewritten);
    expect(after.readable).toBe(true);
    expect(fold(stateOf(), { type: "trimmed", edits: [], stage: "trim" }).run?.reduced).toBeUndefined();
  });
});

describe("a summary", () => {
  const compacting = newCompaction(because);
  const asking = { ...compacting, call: { startedAt: 1 } };
  const after = (run: object, fact: object, change: object = {}): State =>
    fold(stateOf(run, {}, change), fact);
  const text = (words: string): object =>
    answerOf(
      [
        { type: "text", text: words },
        { type: "reasoning", text: "hm" } as never,
        { type: "text", text: "!" },
      ],
      {
        usage: { inputTokens: 5, outputTokens: 2 },
      },
    );

  test("is requested while a compaction is active", () => {
    expect(compacting).toStrictEqual({ ...because, summaries: [], failures: 0 });
    expect(after({ compacting }, { type: "summary_started" }).run?.compacting?.call).toStrictEqual({
      startedAt: 2_000,
    });
    expect(after({}, { type: "summary_started" }).run?.compacting).toBeUndefined();
  });

  test("that arrives is the next one, and earlier failures are over", () => {
    const failed = {
      ...asking,
      failures: 2,
      failure: { kind: "internal" } as never,
      failedAt: { at: 1, rand: 0 },
      summaries: ["one"],
    };
    const state = after({ compacting: failed }, { type: "summary_finished", message: text("two") });
    expect(state.run).toMatchObject({
      modelCalls: 1,
      spend: { tokens: 7 },
      compacting: {
        summaries: ["one", "two!"],
        failures: 0,
        failure: undefined,
        failedAt: undefined,
        call: undefined,
      },
    });
    expect(state.lastTokens).toBe(7);
    expect(
      after({ compacting }, { type: "summary_finished", message: text("two") }).run?.compacting,
    ).toStrictEqual(compacting);
    expect(after({}, { type: "summary_finished", message: text("two") }).run?.modelCalls).toBe(0);
  });

  test("without a text, or that failed, is a failure", () => {
    const empty = after(
      { compacting: asking },
      { type: "summary_finished", message: answerOf([{ type: "text", text: " " }]) },
    );
    expect(empty.run?.compacting).toMatchObject({
      summaries: [],
      failures: 1,
      failure: { kind: "empty_response", retryable: true },
      failedAt: { at: 2_000, rand: 0.5 },
      call: undefined,
    });
    const error = { kind: "internal", message: "m", retryable: false };
    const failed = after(
      { compacting: asking },
      { type: "summary_failed", error, usage: { inputTokens: 3 } },
    );
    expect(failed.run).toMatchObject({
      modelCalls: 1,
      spend: { tokens: 3 },
      compacting: { failures: 1, failure: error },
    });
    expect(after({ compacting: asking }, { type: "summary_failed", error }).run?.spend.uncounted).toBe(0);
    const partial = answerOf([{ type: "text", text: "the first half" }]);
    expect(
      after({ compacting: asking }, { type: "summary_failed", error, partial }).run?.spend,
    ).toMatchObject({ tokens: 0, uncounted: 1, estimated: expect.any(Number) as number });
    expect(
      after(
        { compacting: asking },
        { type: "summary_finished", message: answerOf([{ type: "text", text: "t" }]) },
      ).run?.spend.uncounted,
    ).toBe(1);
  });

  test("that is not a summary is a failure: a refusal, a filtered answer, reasoning up to the limit", () => {
    const came = (content: Part[], kind: StopKind = "end_turn"): unknown =>
      after(
        { compacting: asking },
        { type: "summary_finished", message: { ...answerOf(content), stop: { kind, wire: kind } } },
      ).run?.compacting;
    const refused = { kind: "content_filter", message: "the model refused to sum up", retryable: false };
    const said: Part = { type: "text", text: "I cannot." };
    expect(came([said], "refusal")).toMatchObject({ summaries: [], failure: refused, cut: 0 });
    expect(came([said], "content_filter")).toMatchObject({ summaries: [], failure: refused });
    expect(came([{ type: "refusal", text: "No." }])).toMatchObject({ summaries: [], failure: refused });
    expect(came([said, { type: "refusal", text: "No." }])).toMatchObject({ failure: refused });
    const empty = (why: string): object => ({
      kind: "empty_response",
      message: `the summary had no text in it${why}`,
      retryable: true,
    });
    expect(came([])).toMatchObject({ failure: empty(""), cut: 0 });
    const thought: Part = { type: "reasoning", text: "Hm." };
    expect(came([thought], "max_tokens")).toMatchObject({
      failure: empty(": its output limit went into reasoning"),
      cut: 1,
    });
    // Cut short, but one: what there is of it counts.
    expect(came([said], "max_tokens")).toMatchObject({ summaries: ["I cannot."], cut: undefined });
    expect(
      after({ compacting: { ...asking, cut: 1 } }, { type: "summary_failed", error: refused }).run
        ?.compacting,
    ).toMatchObject({ cut: 1, failedAt: { at: 2_000, rand: 0.5 } });
  });

  test("that its output limit cut off is a failure once, if there is a limit to raise", () => {
    const cut = {
      ...answerOf([{ type: "text", text: "Page one was read; page tw" }]),
      stop: { kind: "max_tokens", wire: "max_tokens" },
    };
    const came = (given: object, compaction: object = {}): unknown =>
      after(
        { compacting: { ...asking, ...given } },
        { type: "summary_finished", message: cut },
        { context: contextFacts({ window: 10_000, compaction }) },
      ).run?.compacting;
    const message = "the summary was cut off at its output limit";
    expect(came({})).toMatchObject({
      summaries: [],
      failure: { kind: "structured_output", message, retryable: true },
      cut: 1,
    });
    for (const [given, compaction] of [
      [{ cut: 1 }, {}],
      [{ limit: 500 }, {}],
      [{ limit: null }, {}],
      [{}, { summaryMaxTokens: null }],
      [{}, { format: "tagged" }],
    ] as const)
      expect(came(given, compaction)).toMatchObject({
        summaries: ["Page one was read; page tw"],
        failures: 0,
      });
  });

  test("with nothing in it that could be kept is a failure once in a row", () => {
    const came = (text: string, given: object = {}, compaction: object = {}): unknown =>
      after(
        { compacting: { ...asking, ...given } },
        { type: "summary_finished", message: answerOf([{ type: "text", text }]) },
        { context: contextFacts({ window: 10_000, compaction }) },
      ).run?.compacting;
    const skeleton = "## Goal\n\n## Next steps";
    const failure = {
      kind: "structured_output",
      message: "the summary had too little in it",
      retryable: true,
    };
    expect(came(skeleton)).toMatchObject({ summaries: [], failure, failures: 1, cut: 0 });
    expect(came("sixteen letters")).toMatchObject({ summaries: [], failure });
    expect(came("sixteen letters.")).toMatchObject({ summaries: ["sixteen letters."], failures: 0 });
    const other = { kind: "overloaded", message: "busy", retryable: true };
    expect(came(skeleton, { failure: other, failures: 1 })).toMatchObject({ failure, failures: 2 });
    for (const [given, compaction] of [
      [{ failure, failures: 1 }, {}],
      [{}, { format: "tagged" }],
    ] as const)
      expect(came(skeleton, given, compaction)).toMatchObject({ summaries: [skeleton], failures: 0 });
  });

  test("that says one sentence over and over is a failure, and thoughts that do are not", () => {
    const sentence = "I am sorry for the long delay. ";
    const came = (type: "text" | "reasoning"): unknown => {
      const stop = { kind: "end_turn", wire: "end_turn" };
      const content: Part[] = [
        { type, text: sentence.repeat(60) },
        { type: "text", text: "Well." },
      ];
      return after(
        { compacting: asking },
        { type: "summary_finished", message: { ...answerOf(content), stop } },
      ).run?.compacting;
    };
    expect(came("text")).toMatchObject({
      summaries: [],
      failure: {
        kind: "loop_detected",
        message: `the summary repeated ${JSON.stringify(` ${sentence.trim()}`)} 59 times`,
        retryable: true,
      },
    });
    expect(came("reasoning")).toMatchObject({ summaries: ["Well."] });
  });

  test("whose output limit is refused is requested again at once, with the limit that the refusal names or with none", () => {
    const refused = (more: object): unknown =>
      after(
        { compacting: asking },
        {
          type: "summary_failed",
          error: { kind: "invalid_request", message: "m", retryable: false, ...more },
        },
      ).run?.compacting;
    expect(refused({ maxOutputTokens: 500 })).toMatchObject({ limit: 500, failedAt: undefined });
    expect(refused({ repair: "settings.maxOutputTokens" })).toMatchObject({
      limit: null,
      failedAt: undefined,
    });
    for (const more of [{}, { repair: "settings.temperature" }]) {
      expect(refused(more)).toMatchObject({ failedAt: { at: 2_000, rand: 0.5 } });
      expect(refused(more)).not.toHaveProperty("limit");
      expect(refused(more)).not.toHaveProperty("narrowed");
    }
    expect(refused({ kind: "context_overflow" })).toMatchObject({ narrowed: 1, failedAt: undefined });
  });

  test("costs the price of the model that made it", () => {
    const origin = { api: "a", provider: "p", model: "m" };
    const own = { id: "own", origin, facts: { price: { input: 1, output: 1 } } };
    const models = [{ id: "first", origin, facts: { price: { input: 2, output: 2 } } }];
    const message = answerOf([{ type: "text", text: "t" }], { usage: { inputTokens: 1_000_000 } });
    const usd = (change: object): unknown =>
      after({ compacting: asking }, { type: "summary_finished", message }, { models, ...change }).run?.spend
        .usd;
    expect(usd({})).toBe(2);
    expect(usd({ compactor: own })).toBe(1);
  });

  const done = (state: State, change: object = {}): State =>
    fold(state, { type: "compacted", stage: "compaction", before: 9, after: 3, ...change });

  test("ends with the compaction, whether it helped or not", () => {
    const helpless = done(stateOf({ compacting }, { answers: 4 }));
    expect(helpless.run?.compacting).toBeUndefined();
    const compacted = { length: 1, answers: 4, helped: false, forced: false, inARow: 1 };
    expect(helpless.compacted).toStrictEqual(compacted);
    for (const rule of ["guard", "overflow"])
      expect(done(stateOf({ compacting: { ...compacting, rule } }, { answers: 4 })).compacted).toStrictEqual({
        ...compacted,
        forced: true,
      });
    expect(helpless.rewritten).toStrictEqual([]);
    expect(done(stateOf()).compacted).toBeUndefined();
  });

  test("counts compactions after consecutive answers", () => {
    const inARow = (answers: number, last?: object): unknown =>
      done(
        stateOf(
          { compacting },
          {
            answers,
            ...(last === undefined ? {} : { compacted: { length: 1, helped: true, ...last } as never }),
          },
        ),
      ).compacted?.inARow;
    expect(inARow(4)).toBe(1);
    expect(inARow(4, { answers: 4, inARow: 2 })).toBe(3);
    expect(inARow(4, { answers: 3, inARow: 2 })).toBe(3);
    expect(inARow(4, { answers: 2, inARow: 2 })).toBe(1);
  });
});

describe("a request that is sent again", () => {
  const request = (messages: Message[], change: object = {}): ModelRequest =>
    ({
      system: "be brief",
      messages,
      tools: [],
      toolChoice: "auto",
      settings: {},
      ...change,
    }) as ModelRequest;
  const [a, b, c] = [user("a"), user("b"), user("c")];
  const shape = (change: object = {}): { rewritten: string[]; by: string[]; notes: number } => ({
    rewritten: [],
    by: [],
    notes: 0,
    ...change,
  });
  const after = (
    first: ModelRequest,
    second: ModelRequest,
    how = shape(),
    was = shape(),
  ): string | undefined => {
    const prefix = new Prefix();
    expect(prefix.note(first, was)).not.toHaveProperty("broke");
    return prefix.note(second, how).broke;
  };

  test("has the same digest for the same content, and another for other content", () => {
    const name = requestName(request([a, b]));
    expect(requestName(request([user("a"), user("b")]))).toBe(name);
    for (const other of [
      request([a]),
      request([b, a]),
      request([a, c]),
      request([a, b], { system: "be long" }),
      request([a, b], { system: undefined }),
      request([a, b], { toolChoice: "none" }),
      request([a, b], { settings: { temperature: 1 } }),
      request([a, b], { outputSchema: { type: "object" } }),
      request([a, b], { tools: [{ name: "t", description: "t", inputSchema: {} }] }),
    ])
      expect(requestName(other)).not.toBe(name);
  });

  test("has a digest of its content, however that was made", () => {
    const prefix = new Prefix();
    prefix.note(request([a, b, c]));
    expect(prefix.note(request([a, c])).digest).toBe(requestName(request([a, c])));
    expect(prefix.note(request([b, a, c, b])).digest).toBe(requestName(request([b, a, c, b])));
    expect(prefix.note(request([])).digest).toBe(requestName(request([])));
    const log = Log.of([a, b]);
    expect(prefix.note(request(log as never)).digest).toBe(requestName(request([a, b])));
    expect(prefix.note(request(log.push(c) as never)).digest).toBe(requestName(request([a, b, c])));
    for (const change of [
      { settings: { temperature: 1 } },
      { toolChoice: "none" },
      { outputSchema: { a: 1 } },
      { system: "x" },
      { tools: [] },
    ])
      expect(prefix.note(request([a], change)).digest).toBe(requestName(request([a], change)));
  });

  test("is compared with the one that another driver sent, if there was one", () => {
    const prefix = new Prefix();
    prefix.follow(() => ({ request: request([a, b]), shape: shape() }));
    expect(prefix.note(request([a, c])).broke).toBe("message 2");
    prefix.follow(() => undefined);
    expect(prefix.note(request([a, c, b]))).not.toHaveProperty("broke");
  });

  test("is compared again if only one part of it is another object", () => {
    const same = { tools: [], settings: {} };
    for (const [one, other] of [
      [{ system: "a" }, { system: "b" }],
      [{ outputSchema: { a: 1 } }, { outputSchema: { a: 2 } }],
      [{ toolChoice: "auto" }, { toolChoice: "none" }],
    ]) {
      const prefix = new Prefix();
      prefix.note(request([a], { ...same, ...one }));
      expect(prefix.note(request([a], { ...same, ...other })).digest).toBe(
        requestName(request([a], { ...same, ...other })),
      );
    }
    expect(requestName(request([a], { system: undefined }))).toBe(requestName(request([a], { system: "" })));
    const bare = new Prefix();
    bare.note(request([a]));
    expect(bare.note(request([b])).broke).toBe("message 1");
  });

  test("that only grew changes no front", () => {
    expect(after(request([a]), request([a, b]))).toBeUndefined();
    expect(after(request([a, b]), request([a, b]))).toBeUndefined();
    // Made anew in the same words, as a note is when a request goes out again.
    expect(after(request([a, b]), request([a, user("b"), c]), shape(), shape({ notes: 1 }))).toBeUndefined();
    expect(after(request([a]), request([a], { settings: { temperature: 1 } }))).toBeUndefined();
    const log = Log.of([a]);
    expect(after(request(log as never), request(log.push(b) as never))).toBeUndefined();
  });

  test("has the message that differs, and the stage that changed it", () => {
    expect(after(request([a, b]), request([a, c]))).toBe("message 2");
    expect(after(request([a, b]), request([b]))).toBe("message 1");
    expect(after(request([a, b, c]), request([a, b]))).toBe("message 3");
    expect(
      after(
        request([a, b]),
        request([a, c]),
        shape({ rewritten: ["trim"], by: ["prune"] }),
        shape({ by: ["hook", "prune"] }),
      ),
    ).toBe("message 2 (trim, hook, prune)");
    const log = Log.of([a, b]);
    expect(after(request(log.push(c) as never), request(log as never))).toBe("message 3");
  });

  test("mentions a note that was shown once", () => {
    const noted = shape({ notes: 1, by: ["hook"] });
    expect(after(request([a, b]), request([a, c]), shape(), noted)).toBe("message 2 (a note shown once)");
    expect(after(request([a, b]), request([c]), shape(), noted)).toBe("message 1 (hook)");
    expect(after(request([a, b]), request([a, c]), shape({ rewritten: ["trim"] }), noted)).toBe(
      "message 2 (trim, a note shown once)",
    );
  });

  test("mentions a change in front of the messages", () => {
    expect(after(request([a]), request([a, b], { system: "be long" }))).toBe("system or tools");
    expect(
      after(request([a]), request([a], { tools: [{ name: "t", description: "t", inputSchema: {} }] })),
    ).toBe("system or tools");
    expect(after(request([a]), request([a], { tools: [] }))).toBeUndefined();
    expect(after(request([a]), request([b], { system: "be long" }))).toBe("system or tools");
  });
});

// Where room for a request ends, and what is cut to make it: the pure rooms, on states made by hand.

import { contextFacts, type Message, type Rules, type RunOptions, userText } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { compactionDue, guarded, tooLarge } from "../../src/loop/deciding/making-room.ts";
import { Log } from "../../src/loop/log.ts";
import { accountOf } from "../../src/loop/request/window.ts";
import { answerOf, options, rules, stateOf } from "./support.ts";

/** Measures that can be counted by hand: a character is 1, a system prompt 100, a tool 7. */
const plain: Rules = {
  ...rules,
  estimator: {
    ...rules.estimator,
    message: (message: Message) =>
      message.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0),
    text: (text: string) => (text === "" ? 0 : 100),
    tools: (list: readonly unknown[]) => 7 * list.length,
  } as never,
};
const contextOf = (given: object): Partial<RunOptions> => ({
  context: contextFacts(given as Parameters<typeof contextFacts>[0]),
  tools: [],
});
const texts = (...lengths: number[]): Log<Message> =>
  Log.of(lengths.map((length) => userText("x".repeat(length)) as Message));
const error = { kind: "context_overflow", message: "too long", retryable: false } as const;
/** A request of this run was refused for its size. */
const refused = { reduced: { error, helped: false } };

describe("a compaction in the tagged format", () => {
  const due = (more: object, run: object = { steps: 1 }, given: object = {}): unknown => {
    const compaction = { at: 0.5, format: "tagged", withoutLimit: "throw", ...given };
    return compactionDue(stateOf(run, more, contextOf({ compaction })), plain);
  };

  test("compares nothing with a limit, known or not, if nothing was counted", () => {
    expect(due({})).toBeUndefined();
  });

  test("without a limit is a configuration error if something was counted: it is not tried again", () => {
    expect(due({ lastTokens: 10 })).toMatchObject({
      facts: [{ end: { error: { kind: "capability", retryable: false } } }],
    });
  });

  test("does not use an earlier run's count again, unless it was not used when that run ended", () => {
    expect(due({ lastTokens: 10 }, { steps: 0 })).toBeUndefined();
    expect(due({ lastTokens: 10 }, { steps: 0 }, { atEnd: false })).toBeDefined();
  });
});

describe("an answer that ended because the window was full", () => {
  const due = (kind: "context_overflow" | "end_turn", more: object, given: object = {}): unknown => {
    const answer = { ...answerOf([{ type: "text", text: "as far as it" }]), stop: { kind, wire: kind } };
    const history = Log.of([userText("go"), answer, userText("go on")] as Message[]);
    return compactionDue(stateOf({ steps: 1 }, { history, ...more }, contextOf(given)), plain);
  };

  test("makes the history smaller before the next request, whatever was counted", () => {
    expect(due("context_overflow", {})).toMatchObject({
      facts: [
        { type: "mode", mode: "compacting", rule: "compaction", evidence: { stop: "context_overflow" } },
      ],
    });
    expect(due("end_turn", {})).toBeUndefined();
    expect(due("context_overflow", {}, { compaction: null })).toBeUndefined();
  });

  test("may be the first message in a history that a run was given", () => {
    const stop = { kind: "context_overflow", wire: "context_overflow" } as const;
    const history = Log.of([{ ...answerOf([{ type: "text", text: "as far as it" }]), stop }] as Message[]);
    expect(compactionDue(stateOf({}, { history }, contextOf({})), plain)).toBeDefined();
  });

  test("has no effect in the tagged format, which uses the count only", () => {
    const tagged = { compaction: { format: "tagged" }, window: 1_000 };
    expect(due("context_overflow", { lastTokens: 10 }, tagged)).toBeUndefined();
    expect(due("context_overflow", { lastTokens: 990 }, tagged)).toMatchObject({
      facts: [{ mode: "compacting", evidence: { tokens: 990 } }],
    });
  });

  test("has its effect once: after a compaction it is ignored", () => {
    const compacted = { answers: 1, helped: true, inARow: 1 };
    expect(due("context_overflow", { answers: 1, compacted })).toBeUndefined();
    expect(due("context_overflow", { answers: 2, compacted })).toBeDefined();
  });
});

describe("a request that was refused for its size", () => {
  const cut = (lengths: number[], given: object): unknown =>
    guarded(
      stateOf(refused, { history: texts(...lengths) }, contextOf({ compaction: null, ...given })),
      plain,
    );
  const fits = (most: number): object => ({
    facts: [{ type: "trimmed", note: expect.stringMatching(new RegExp(`at most ${most} fit$`)) }],
  });

  test("has its texts cut to half of its size, or of the window if that is smaller", () => {
    expect(cut([900, 900], { window: 100_000 })).toMatchObject(fits(900));
    expect(cut([900, 900], {})).toMatchObject(fits(900));
    expect(cut([900, 900], { window: 1_200 })).toMatchObject(fits(600));
  });

  test("ends the run if no guard may cut anything, with its size", () => {
    expect(cut([4_000, 4_000], { window: 100_000, guard: null })).toMatchObject({
      facts: [{ type: "run_ended", end: { reason: "error", error } }],
    });
    const { facts } = cut([4_000], { guard: null }) as { facts: { end: { evidence: object } }[] };
    expect(facts[0]?.end.evidence).toStrictEqual({ tokens: 4_000 });
  });
});

describe("a request with messages changed for it alone", () => {
  const edit: [{ keep: [number, number] }] = [{ keep: [0, 1] }];
  const transformed = { step: 1, edit };
  const hooked = (length: number, given: object): unknown =>
    tooLarge(stateOf({ transformed }, { history: texts(length) }, contextOf(given)), plain);

  test("by a hook fits if it has exactly the window's size, and is checked only if there is a guard", () => {
    expect(hooked(1_000, { window: 1_000, compaction: null })).toBeUndefined();
    expect(hooked(1_001, { window: 1_000, compaction: null })).toMatchObject({
      facts: [{ type: "run_ended", end: { evidence: { tokens: 1_001, window: 1_000 } } }],
    });
    expect(hooked(1_001, { window: 1_000, compaction: null, guard: null })).toBeUndefined();
  });

  test("by the request guard that does not fit is compacted if that could help, else the run ends", () => {
    const large = (compaction: object | null): unknown =>
      tooLarge(
        stateOf(
          {},
          { history: texts(50_000) },
          contextOf({ window: 1_000, compaction, guard: { results: "truncate" } }),
        ),
        plain,
      );
    expect(large({})).toMatchObject({ facts: [{ type: "mode", mode: "compacting", rule: "guard" }] });
    expect(large(null)).toMatchObject({
      facts: [{ type: "run_ended", end: { reason: "error", error: { kind: "context_overflow" } } }],
    });
  });
});

describe("a request that takes more than the window", () => {
  const because = { rule: "some_rule", evidence: {} };
  const last = { answers: 1, helped: true, forced: false, inARow: 1, length: 1 };
  const decided = (run: object, more: object): unknown =>
    guarded(
      stateOf(
        run,
        { history: Log.of([answerOf([{ type: "text", text: "x".repeat(5_000) }])] as Message[]), ...more },
        contextOf({ window: 1_000, guard: { results: "cut" } }),
      ),
      plain,
    );
  const compacts = { facts: [{ type: "mode", mode: "compacting", rule: "guard" }] };
  const ends = { facts: [{ type: "run_ended", end: { error: { kind: "context_overflow" } } }] };

  test("is compacted also if the run must end now, if nothing in it can be cut", () => {
    const landing = { reason: "deadline", ...because };
    expect(decided({ landing }, {})).toMatchObject(compacts);
    expect(decided({ landing }, { answers: 2, compacted: last })).toMatchObject(compacts);
    expect(decided({ landing }, { answers: 1, compacted: last })).toMatchObject(ends);
  });

  test("is not compacted if a compaction came after each of the last three answers", () => {
    const inARow = (times: number): unknown =>
      decided({}, { answers: 2, compacted: { ...last, helped: false, inARow: times } });
    expect(inARow(2)).toMatchObject(compacts);
    expect(inARow(3)).toMatchObject(ends);
  });

  test("is cut, and not compacted, if a compaction saved nothing and the cut texts fit exactly", () => {
    const isCut = (message: Message): boolean => JSON.stringify(message).includes("characters omitted here");
    const after = (tokens: number): unknown =>
      guarded(
        stateOf(
          {},
          { history: texts(5_000), answers: 2, compacted: { ...last, helped: false } },
          contextOf({ window: 1_000, guard: { results: "cut" } }),
        ),
        {
          ...plain,
          estimator: {
            ...plain.estimator,
            message: (message: Message) => (isCut(message) ? tokens : 5_000),
          } as never,
        },
      );
    expect(after(1_000)).toMatchObject({ facts: [{ type: "trimmed", after: 1_000 }] });
    expect(after(1_001)).toMatchObject(compacts);
  });

  test("with messages changed for it alone is compacted even if the last compaction saved nothing", () => {
    const state = stateOf(
      {},
      { history: texts(50_000), answers: 2, compacted: { ...last, helped: false } },
      contextOf({ window: 1_000, guard: { results: "truncate" } }),
    );
    expect(tooLarge(state, plain)).toMatchObject(compacts);
  });
});

test("the account of the window counts the system prompt and the tools separately", () => {
  const history = Log.of<Message>([userText("12345"), answerOf([{ type: "text", text: "123" }])]);
  const { bySource, tokens } = accountOf(
    stateOf({}, { history }, { ...options(), system: "be brief" }),
    plain,
  );
  expect(bySource).toMatchObject({ system: 100, tools: 21, user: 5, text: 3 });
  expect(tokens).toBe(129);
});

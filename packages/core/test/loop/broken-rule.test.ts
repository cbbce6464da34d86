// A rule that throws: what the loop names then, so that a run ends and is not left open.

import { Agent, emptyState, type Rule, type Rules, type State } from "@rondo/core";
import { say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { nextOrEnd } from "../../src/loop/driving/next-or-end.ts";
import { next } from "../../src/loop/next.ts";
import { reduce } from "../../src/loop/reduce.ts";
import { acting, callOf, recordOf, rules, stateOf } from "./support.ts";

const broken: Rule = {
  name: "broken",
  version: 1,
  decide: () => {
    throw new Error("no such thing");
  },
};
const withBroken: Rules = { ...rules, list: [broken as Rule] };
const withMemory = (state: State): State => ({ ...state, memories: [undefined] });
const said = "the rule broken failed in decide: no such thing";

describe("the next action, for any driver", () => {
  test("is the usual one, if no rule throws", () => {
    expect(nextOrEnd(stateOf(), rules).do).toBe("call_model");
  });

  test("ends the run, if one throws", () => {
    const action = nextOrEnd(withMemory(stateOf()), withBroken);
    expect(action).toMatchObject({
      do: "record",
      facts: [
        { type: "abort_asked", reason: said, error: { kind: "internal", message: said }, rule: broken.name },
      ],
    });
  });

  test("names the rule and keeps what it threw, for callers of next", () => {
    const thrown = expect.objectContaining({ message: "no such thing" });
    expect(() => next(withMemory(stateOf()), withBroken)).toThrow(
      expect.objectContaining({ message: said, cause: thrown }),
    );
  });

  test("ends the run, if a rule's fold threw", () => {
    const forgetful: Rule = {
      name: "forgetful",
      version: 1,
      fold: () => {
        throw new Error("no such thing");
      },
    };
    const also: Rule = { name: "also", version: 1, init: () => 0, fold: (memory) => (memory as number) + 1 };
    const list: Rules = { ...rules, list: [also, forgetful] };
    const one = reduce(stateOf({}, {}, {}, list), recordOf({ type: "woke" }, 1), list);
    const two = reduce(one, recordOf({ type: "woke" }, 2), list);
    // From there on no rule is told of anything, or one would know what another does not.
    expect([one.memories, two.memories]).toStrictEqual([one.memories, one.memories]);
    const message = "the rule forgetful failed in fold: no such thing";
    expect(nextOrEnd(two, list)).toMatchObject({
      facts: [{ type: "abort_asked", reason: message, rule: "forgetful" }],
    });
    const over = { ...two, run: { ...two.run, end: {} } } as State;
    expect(nextOrEnd(over, list)).toStrictEqual({ do: "done" });
    const aborted = { ...two, run: { ...two.run, abort: { at: 1, reason: "" }, cancelledAt: 1 } } as State;
    expect(nextOrEnd(aborted, list)).toMatchObject({ facts: [{ type: "run_ended" }] });
  });

  test("still ends it after later records, even if the rule works again", () => {
    let times = 0;
    const once: Rule = {
      name: "once",
      version: 1,
      fold: (memory) => {
        times += 1;
        if (times === 1) throw new Error("no such thing");
        return memory;
      },
    };
    const also: Rule = { name: "also", version: 1, init: () => 0, fold: (memory) => (memory as number) + 1 };
    const list: Rules = { ...rules, list: [also, once] };
    const one = reduce(stateOf({}, {}, {}, list), recordOf({ type: "woke" }, 1), list);
    const two = reduce(one, recordOf({ type: "woke" }, 2), list);
    expect([one.memories, two.memories, times]).toStrictEqual([[0, undefined], [0, undefined], 1]);
    expect(two.run?.ruleFailed?.error.message).toBe("the rule once failed in fold: no such thing");
  });

  test("names the first of the rules that could not be initialised", () => {
    const list = ["a", "b"].map(
      (name): Rule => ({ ...broken, name, init: () => broken.decide?.(0, emptyState) }),
    );
    const started = stateOf({}, {}, {}, { ...rules, list });
    expect(started.run?.ruleFailed?.error.message).toBe("the rule a failed in init: no such thing");
    expect(started.memories).toStrictEqual([undefined, undefined]);
  });

  const state = acting([callOf("5.0", { startedAt: 1 })]);
  const aborted = {
    ...state,
    now: 1e9,
    run: { ...state.run, abort: { reason: "enough" }, cancelledAt: 1 },
  } as State;

  test("is not repeated if it was recorded already: texts that fail then are replaced by ours", () => {
    const dumb = {
      get: () => () => {
        throw new Error("no words");
      },
    };
    const speechless: Rules = { ...rules, texts: new Proxy(rules.texts, dumb) };
    expect(nextOrEnd(aborted, rules).do).toBe("record");
    expect(nextOrEnd(aborted, speechless)).toStrictEqual(nextOrEnd(aborted, rules));
  });

  test("is the usual one if no run is active", () => {
    expect(nextOrEnd(emptyState, withBroken)).toStrictEqual({ do: "done" });
  });
});

test("a rule that fails while it listens to an answer ends the run under its name, and the answer is not asked for again", async () => {
  const deaf: Rule = {
    name: "deaf",
    version: 1,
    hear: () => {
      throw new Error("too loud");
    },
  };
  const model = scripted([say("Hello."), say("Hello?")]);
  const { end, modelCalls } = await new Agent({ model, rules: [deaf] }).run("go");
  const message = "the rule deaf failed in hear: too loud";
  expect(end).toMatchObject({ reason: "error", rule: "deaf", error: { kind: "internal", message } });
  expect([modelCalls, model.calls]).toStrictEqual([1, 1]);
});

describe("the evidence of a rule", () => {
  const saying = (evidence: object): Rules => ({
    ...rules,
    list: [
      { ...broken, decide: () => ({ do: "stop", reason: "turn_stopped", evidence: evidence as never }) },
    ],
  });
  const told = (evidence: object): unknown => nextOrEnd(withMemory(stateOf()), saying(evidence));

  test("is stored without what JSON cannot hold", () => {
    expect(JSON.stringify(told({ at: 1, share: Number.NaN, ask: () => 1 }))).toContain(
      '{"at":1,"share":null}',
    );
  });

  test("that no journal can store ends the run, with the place of the value", () => {
    const message =
      "the rule broken failed in decide: evidence.at[0] is a bigint, and JSON has no such value";
    expect(told({ at: [1n] })).toMatchObject({
      do: "record",
      facts: [{ type: "abort_asked", reason: message }],
    });
  });
});

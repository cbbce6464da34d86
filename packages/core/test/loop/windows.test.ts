// What is known of a window once a refusal has named it.

import { contextFacts, type ErrorData, type Run, type RunOptions, reduce, type State } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { summariserWindow, windowFacts } from "../../src/loop/request/window.ts";
import { withRun } from "../../src/loop/state.ts";
import { recordOf, rules, stateOf } from "./support.ts";

const model = (id: string, facts: object = {}): RunOptions["models"][number] => ({
  id,
  origin: { api: "a", provider: "p", model: id },
  facts,
});
const refusal = (contextWindow: number): ErrorData => ({
  kind: "context_overflow",
  message: "too long",
  retryable: false,
  contextWindow,
});
const asked = { startedAt: 1, step: 1, attempt: 1 };

/** A state in which the model of that number was asked, and refused. */
function refused(contextWindow: number, given: Partial<RunOptions>, run: Partial<Run> = {}): State {
  const before = stateOf({ call: asked, ...run }, {}, given);
  return reduce(before, recordOf({ type: "model_failed", error: refusal(contextWindow) }), rules);
}

describe("a window that a refusal named", () => {
  const models = [model("one"), model("two", { contextWindow: 9_000, maxInputTokens: 8_000 })];

  test("is known from then on, for the model that was called", () => {
    const state = refused(4_096, { models });
    expect(windowFacts(state)).toEqual({ contextWindow: 4_096 });
    expect(windowFacts({ ...state, run: { ...(state.run as Run), model: 1 } })).toEqual(models[1]?.facts);
  });

  test("is used if it is smaller than the known one, and not if it is larger", () => {
    expect(windowFacts(refused(4_096, { models }, { model: 1 }))).toEqual({
      contextWindow: 4_096,
      maxInputTokens: 4_096,
    });
    expect(windowFacts(refused(8_500, { models }, { model: 1 }))).toEqual({
      contextWindow: 8_500,
      maxInputTokens: 8_000,
    });
    expect(windowFacts(refused(10_000, { models }, { model: 1 }))).toEqual(models[1]?.facts);
  });

  test("is compared with the option too, which may be wrong", () => {
    const context = (window: number): Partial<RunOptions> => ({ models, context: contextFacts({ window }) });
    expect(windowFacts(refused(4_096, context(32_000)))).toEqual({ contextWindow: 4_096 });
    expect(windowFacts(refused(4_096, context(2_000)))).toEqual({ contextWindow: 2_000 });
  });

  test("is that of the last refusal: a server may have been restarted", () => {
    const state = refused(4_096, { models });
    const again = { ...state, run: { ...(state.run as Run), call: asked } };
    const later = reduce(again, recordOf({ type: "model_failed", error: refusal(16_384) }), rules);
    expect(windowFacts(later)).toEqual({ contextWindow: 16_384 });
    expect(windowFacts(state)).toEqual({ contextWindow: 4_096 });
  });

  test("is ignored if the number is no window, or if no model was called", () => {
    for (const none of [0, -1, Number.NaN]) expect(refused(none, { models })).not.toHaveProperty("windows");
    expect(refused(4_096, { models }, { call: undefined } as never)).not.toHaveProperty("windows");
  });

  test("is that of the summarising model, if a summary was refused", () => {
    const compacting = { rule: "guard", evidence: {}, summaries: [], failures: 0, call: { startedAt: 1 } };
    const fails = recordOf({ type: "summary_failed", error: refusal(2_048) });
    const apart = stateOf(
      { compacting },
      {},
      { models, compactor: model("small", { contextWindow: 3_000 }) },
    );
    expect(summariserWindow(apart)).toBe(3_000);
    expect(summariserWindow(withRun(reduce(apart, fails, rules)))).toBe(2_048);
    expect(windowFacts(reduce(apart, fails, rules))).toEqual({});
    const own = reduce(stateOf({ compacting }, {}, { models }), fails, rules);
    expect([summariserWindow(withRun(own)), windowFacts(own)]).toEqual([2_048, { contextWindow: 2_048 }]);
  });
});

// A rule that throws: what the loop names then, so that a run ends and is not left open.

import { emptyState, type Rule, type Rules, type State } from "@rondo/core";
import { describe, expect, test } from "vitest";
import { nextOrEnd } from "../src/loop/next.ts";
import { acting, callOf, rules, stateOf } from "./loop-support.ts";

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

describe("what comes next, for whoever drives", () => {
  test("is what comes next, where no rule throws", () => {
    expect(nextOrEnd(stateOf(), rules).do).toBe("call_model");
  });

  test("is the word that ends the run, where one does", () => {
    const action = nextOrEnd(withMemory(stateOf()), withBroken);
    expect(action).toMatchObject({
      do: "record",
      facts: [{ type: "abort_asked", reason: said, error: { kind: "internal", message: said } }],
    });
  });

  test("is nothing more where that was said already: whoever drives is told what threw", () => {
    const dumb = {
      get: () => () => {
        throw new Error("no words");
      },
    };
    const speechless: Rules = { ...rules, texts: new Proxy(rules.texts, dumb) };
    const state = acting([callOf("5.0", { startedAt: 1 })]);
    const aborted = {
      ...state,
      now: 1e9,
      run: { ...state.run, abort: { reason: "enough" }, cancelledAt: 1 },
    };
    expect(() => nextOrEnd(aborted as State, speechless)).toThrow("no words");
    expect(nextOrEnd(aborted as State, rules).do).toBe("record");
  });

  test("is done where no run is active", () => {
    expect(nextOrEnd(emptyState, withBroken)).toStrictEqual({ do: "done" });
  });
});

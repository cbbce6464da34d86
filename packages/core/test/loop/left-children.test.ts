// Sub-agents that nobody waits for any more, on states made by hand: when one is left behind, and until when.

import { type Call, type Run, reduce, type State } from "@rondo/core";
import { describe, expect, test } from "vitest";
import type { LeftChild } from "../../src/loop/child-facts.ts";
import { nothingSpent } from "../../src/loop/children.ts";
import { endChildren } from "../../src/loop/deciding/starting.ts";
import { withRun } from "../../src/loop/state.ts";
import { acting, callOf, recordOf, rules, textResult } from "./support.ts";

const at = 1_000_000;
const fold = (state: State, fact: object, now: number = at): State =>
  reduce(state, recordOf(fact, 10, now), rules);

describe("a sub-agent whose call got its result from somewhere else", () => {
  const child = {
    session: "s:5.0",
    reserved: {},
    spent: { ...nothingSpent, tokens: 2 },
    parked: true,
    waiting: [],
    answers: [],
    told: 0,
  };
  const given = { type: "tool_finished", call: "5.0", result: textResult } as const;
  const left = (change: Partial<Call> = {}, run: Partial<Run> = {}, grace = 2_000): State =>
    fold(
      acting([callOf("5.0", { child, ...change }), callOf("5.1")], run, {}, { abortGraceMs: grace }),
      given,
    );
  const known = { call: "5.0", name: "write", session: "s:5.0", told: child.spent };

  test("is abandoned until it is over, and is waited for as long as an abort may take", () => {
    expect(left().left).toStrictEqual([{ ...known, until: at + 2_000 }]);
    expect(left({ startedAt: 1 }, { cancelledAt: at - 500 }).left).toMatchObject([{ until: at + 1_500 }]);
    expect(left({ startedAt: 1 }).left).toMatchObject([{ until: at + 2_000 }]);
    expect(left({}, { cancelledAt: 5 }).left).toMatchObject([{ until: at + 2_000 }]);
    expect(left({}, {}, 0).left).toMatchObject([{ until: at + 1_000 }]);
    const late = { type: "late_result", call: "5.0" } as const;
    expect(fold(left(), late)).not.toHaveProperty("left");
    expect(fold(left(), { ...late, call: "5.1" }).left).toHaveLength(1);
    const ended = fold(left(), { type: "run_ended", end: { reason: "aborted" } });
    expect(ended.left).toHaveLength(1);
    expect(fold(ended, late)).not.toHaveProperty("left");
  });

  test("is still abandoned if it has only parked, and its reported spending is known", () => {
    const result = { content: [], isError: true, spent: { ...nothingSpent, tokens: 3 } };
    const stopped = fold(left(), { type: "late_result", call: "5.0", result, open: true });
    expect(stopped.left).toMatchObject([{ told: { tokens: 5 } }]);
    expect(fold(left(), { type: "late_result", call: "5.0", open: true }).left).toStrictEqual(left().left);
    expect(fold(left(), { type: "late_result", call: "5.1", result, open: true }).left).toStrictEqual(
      left().left,
    );
  });

  test("that cannot be ended is tried again after a pause, three times in all", () => {
    const failed = { type: "late_result", call: "5.0", error: "disk full", open: true } as const;
    const once = fold(left(), failed);
    const acts = (state: State, now: number): unknown => endChildren({ ...withRun(state), now }, rules);
    const calls = ["5.0"];
    expect(acts(left(), at)).toStrictEqual({ do: "end_children", calls, until: at + 2_000 });
    expect(acts(once, at)).toStrictEqual({ do: "wait", until: at + 100 });
    expect(acts(once, at + 100)).toStrictEqual({ do: "end_children", calls, until: at + 2_000 });
    const twice = fold(once, failed, at + 100);
    expect(acts(twice, at + 499)).toStrictEqual({ do: "wait", until: at + 500 });
    expect(acts(twice, at + 2_000)).toBeUndefined();
    expect(fold(twice, failed, at + 500)).not.toHaveProperty("left");
    // As it was written before it was tried again.
    expect(fold(left(), { ...failed, open: undefined })).not.toHaveProperty("left");
  });

  test("is ended while another one has its pause", () => {
    const [one] = left().left as LeftChild[];
    const state = {
      ...left(),
      left: [
        { ...(one as LeftChild), notBefore: at + 7 },
        { ...one, call: "5.1" },
      ],
    };
    expect(endChildren(withRun(state as State), rules)).toStrictEqual({
      do: "end_children",
      calls: ["5.1"],
      until: at + 7,
    });
  });

  test("gets its time again from the next driver of its session, but not in a fork", () => {
    const later = at + 50_000;
    const opened = { type: "opened", by: "session" } as const;
    expect(fold(left(), opened, later).left).toMatchObject([{ until: later + 2_000 }]);
    const ended = fold(left(), { type: "run_ended", end: { reason: "aborted" } });
    expect(fold(ended, opened, later).left).toMatchObject([{ until: later + 2_000 }]);
    // The run is over, and is not begun again by that.
    expect(fold(ended, opened, later).run).toBe(ended.run);
    const { run: _run, ...idle } = ended;
    expect(fold(idle, opened, later)).not.toHaveProperty("run");
    const again = { type: "run_started", format: 1, input: [] } as const;
    expect(fold(ended, again, later).left).toMatchObject([{ until: later + 2_000 }]);
    const from = { session: "s", seq: 7 };
    for (const state of [left(), ended]) expect(fold(state, { ...opened, from })).not.toHaveProperty("left");
  });

  test("is not abandoned if it reported its own result, or if there is none", () => {
    const own = { ...textResult, spent: nothingSpent };
    const open = acting([callOf("5.0", { child }), callOf("5.1")]);
    expect(fold(open, { ...given, result: own })).not.toHaveProperty("left");
    expect(fold(open, { ...given, call: "5.1" })).not.toHaveProperty("left");
    expect(fold(left(), given).left).toHaveLength(1);
  });
});

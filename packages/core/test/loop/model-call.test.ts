// The one model call that is under way: what it comes to, and what comes of one that was given up.

import { type Fact, RondoError } from "@rondo/core";
import { beforeEach, expect, test } from "vitest";
import { ModelCall } from "../../src/loop/driving/model-call.ts";
import { answerOf } from "./support.ts";

const why = new RondoError("aborted", "enough");
const fact: Fact = { type: "woke" };
const late: Fact = { type: "late_result", call: null };

let posted: Fact[] = [];
const post = (one: Fact): number => posted.push(one);
beforeEach(() => {
  posted = [];
});

test("its outcome is a fact, and then none is in flight", () => {
  const call = new ModelCall();
  expect(call.isUnderWay).toBe(false);
  const { came } = call.begins(post, undefined);
  expect(call.isUnderWay).toBe(true);
  came(fact);
  expect(posted).toStrictEqual([fact]);
  expect(call.isUnderWay).toBe(false);
});

test("one that is stopped is abandoned: its signal fires, its events are ignored, and its outcome is late", () => {
  const call = new ModelCall();
  const audience = { isThere: true };
  const { controller, came } = call.begins(post, undefined, audience);
  call.stop(why);
  expect(controller.signal.reason).toBe(why);
  expect([audience.isThere, call.isUnderWay]).toStrictEqual([false, false]);
  came(fact);
  expect(posted).toStrictEqual([late]);
});

test("one that is stopped but still waited for has its events passed on, and its outcome counts", () => {
  const call = new ModelCall();
  const audience = { isThere: true };
  const { controller, came } = call.begins(post, undefined, audience);
  call.stop(why, true);
  expect(controller.signal.aborted).toBe(true);
  expect([audience.isThere, call.isUnderWay]).toStrictEqual([true, true]);
  came(fact);
  expect(posted).toStrictEqual([fact]);
});

test("one that returns late does not affect one that began meanwhile", () => {
  const call = new ModelCall();
  const first = call.begins(post, undefined);
  call.stop(why);
  const second = call.begins(post, undefined);
  first.came(fact);
  second.came(fact);
  expect(posted).toStrictEqual([late, fact]);
});

test("of one that returns late, what it cost is kept, by the price of its own model", () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 500_000 };
  const message = { ...answerOf([{ type: "text", text: "so" }]), usage };
  const error = { kind: "aborted", message: "enough", retryable: false } as const;
  const outcomes: Fact[] = [
    { type: "model_finished", message, checks: [] },
    { type: "model_failed", error, usage },
    { type: "summary_finished", message },
    { type: "summary_failed", error, usage },
  ];
  for (const outcome of outcomes)
    for (const [price, usd] of [
      [{ input: 2, output: 4 }, { usd: 4 }],
      [undefined, {}],
    ] as const) {
      const call = new ModelCall();
      const { came } = call.begins(post, { id: "m", origin: message.origin, facts: price ? { price } : {} });
      call.stop(why);
      came(outcome);
      expect(posted.pop()).toStrictEqual({ ...late, usage, ...usd });
    }
});

test("of one that returns late without saying what it cost, nothing is kept", () => {
  const call = new ModelCall();
  const { came } = call.begins(post, undefined);
  call.stop(why);
  came({ type: "model_finished", message: answerOf([{ type: "text", text: "so" }]), checks: [] });
  expect(posted).toStrictEqual([late]);
});

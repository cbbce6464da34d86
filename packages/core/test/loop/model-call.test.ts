// The one model call that is under way: what it comes to, and what comes of one that was given up.

import { type Fact, RondoError } from "@rondo/core";
import { beforeEach, expect, test } from "vitest";
import { ModelCall } from "../../src/loop/driving/model-call.ts";

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
  const { came } = call.begins(post);
  expect(call.isUnderWay).toBe(true);
  came(fact);
  expect(posted).toStrictEqual([fact]);
  expect(call.isUnderWay).toBe(false);
});

test("one that is stopped is abandoned: its signal fires, its events are ignored, and its outcome is late", () => {
  const call = new ModelCall();
  const audience = { isThere: true };
  const { controller, came } = call.begins(post, audience);
  call.stop(why);
  expect(controller.signal.reason).toBe(why);
  expect([audience.isThere, call.isUnderWay]).toStrictEqual([false, false]);
  came(fact);
  expect(posted).toStrictEqual([late]);
});

test("one that is stopped but still waited for has its events passed on, and its outcome counts", () => {
  const call = new ModelCall();
  const audience = { isThere: true };
  const { controller, came } = call.begins(post, audience);
  call.stop(why, true);
  expect(controller.signal.aborted).toBe(true);
  expect([audience.isThere, call.isUnderWay]).toStrictEqual([true, true]);
  came(fact);
  expect(posted).toStrictEqual([fact]);
});

test("one that returns late does not affect one that began meanwhile", () => {
  const call = new ModelCall();
  const first = call.begins(post);
  call.stop(why);
  const second = call.begins(post);
  first.came(fact);
  second.came(fact);
  expect(posted).toStrictEqual([late, fact]);
});

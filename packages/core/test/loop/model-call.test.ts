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

test("what a call comes to is a fact, and then none is under way", () => {
  const call = new ModelCall();
  expect(call.isUnderWay).toBe(false);
  const { came } = call.begins(post);
  expect(call.isUnderWay).toBe(true);
  came(fact);
  expect(posted).toStrictEqual([fact]);
  expect(call.isUnderWay).toBe(false);
});

test("one that is stopped is given up: its signal fires, nobody hears it, and what it comes to is late", () => {
  const call = new ModelCall();
  const audience = { isThere: true };
  const { controller, came } = call.begins(post, audience);
  call.stop(why);
  expect(controller.signal.reason).toBe(why);
  expect([audience.isThere, call.isUnderWay]).toStrictEqual([false, false]);
  came(fact);
  expect(posted).toStrictEqual([late]);
});

test("one that is stopped and awaited still is heard, and what it comes to counts", () => {
  const call = new ModelCall();
  const audience = { isThere: true };
  const { controller, came } = call.begins(post, audience);
  call.stop(why, true);
  expect(controller.signal.aborted).toBe(true);
  expect([audience.isThere, call.isUnderWay]).toStrictEqual([true, true]);
  came(fact);
  expect(posted).toStrictEqual([fact]);
});

test("one that comes back late leaves alone the one that was begun meanwhile", () => {
  const call = new ModelCall();
  const first = call.begins(post);
  call.stop(why);
  const second = call.begins(post);
  first.came(fact);
  second.came(fact);
  expect(posted).toStrictEqual([late, fact]);
});

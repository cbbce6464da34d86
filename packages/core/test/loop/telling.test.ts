// How events are told: to all, in order, and what becomes of those who fail to hear.

import type { Fact, Listener, RondoEvent } from "@rondo/core";
import { expect, test } from "vitest";
import { Telling } from "../../src/loop/driving/telling.ts";
import { redacted, redaction } from "../../src/redact.ts";
import { come } from "./support.ts";

const news = (message: string): RondoEvent => ({ type: "warning", code: "c", message });

interface Told {
  readonly telling: Telling;
  readonly posted: Fact[];
  readonly current: Listener[];
  /** Nobody drives any more. */
  stop(): void;
}

function telling(listeners: Listener[], redact?: (fact: Fact) => Fact): Told {
  const posted: Fact[] = [];
  let isRunning = true;
  const by = { isRunning: () => isRunning, post: (fact: Fact) => void posted.push(fact) };
  return {
    telling: new Telling({ current: listeners }, by, redact),
    posted,
    current: listeners,
    stop: () => {
      isRunning = false;
    },
  };
}

const failing =
  (heard: string[]): Listener =>
  () => {
    heard.push("failing");
    throw new Error("boom");
  };

test("one that fails gets no more events of the run, the others get all, and the run ends with the first failure", () => {
  const heard: string[] = [];
  const others =
    (name: string): Listener =>
    () =>
      void heard.push(name);
  const { telling: one, posted } = telling([others("first"), failing(heard), others("last")]);
  one.tell(news("a"));
  one.tell(news("b"));
  expect(heard).toStrictEqual(["first", "failing", "last", "first", "last"]);
  const message = "a listener failed on warning: boom";
  expect(posted).toStrictEqual([
    {
      type: "abort_asked",
      reason: message,
      error: { kind: "internal", message, retryable: false },
      rule: "listener",
    },
  ]);
});

test("if two fail at one event the first is named, and the run ends once", () => {
  const other: Listener = () => {
    throw new Error("bang");
  };
  const { telling: one, posted } = telling([failing([]), other]);
  one.tell(news("a"));
  expect(posted).toMatchObject([{ reason: "a listener failed on warning: boom" }]);
});

test("all of them get events again in the next run, which one of them may end in turn", () => {
  const heard: string[] = [];
  const { telling: one, posted } = telling([failing(heard)]);
  one.tell(news("a"));
  one.anew();
  one.tell(news("b"));
  expect([heard.length, posted.length]).toStrictEqual([2, 2]);
});

test("one that rejects later gets no events from then on, and ends the run whose event it was, if that is still driven", async () => {
  const later = (): Listener => () => Promise.reject(new Error("later"));
  const driven = telling([later()]);
  driven.telling.tell(news("a"));
  await come();
  expect(driven.posted).toMatchObject([{ reason: "a listener failed on warning: later" }]);

  const over = telling([later()]);
  over.telling.tell(news("a"));
  over.stop();
  await come();
  expect(over.posted).toStrictEqual([]);

  const next = telling([later()]);
  next.telling.tell(news("a"));
  next.telling.anew();
  await come();
  expect(next.posted).toStrictEqual([]);
});

test("one that rejected in an earlier run gets the events of a resumed one", async () => {
  const heard: number[] = [];
  let fails = true;
  const { telling: one } = telling([
    () => {
      heard.push(heard.length);
      return fails ? Promise.reject(new Error("later")) : undefined;
    },
  ]);
  one.tell(news("a"));
  one.anew();
  fails = false;
  await come();
  one.tell(news("b"));
  expect(heard).toStrictEqual([0, 1]);
});

test("one that is added or removed during an event takes part, or not, from the next event on", () => {
  const heard: string[] = [];
  const list: { current: readonly Listener[] } = { current: [] };
  const late: Listener = () => void heard.push("late");
  list.current = [
    () => {
      heard.push("first");
      list.current = [late];
    },
  ];
  const one = new Telling(list, { isRunning: () => true, post: () => {} }, undefined);
  one.tell(news("a"));
  one.tell(news("b"));
  expect(heard).toStrictEqual(["first", "late"]);
});

test("secrets are removed from events that come from no fact, for all listeners", () => {
  const heard: RondoEvent[] = [];
  const hear: Listener = (event) => void heard.push(event);
  const secret = `sk-ant-${"a1B2c3D4".repeat(6)}`;
  const { telling: one } = telling([hear, hear], redaction({}));
  one.tell(news(`the key is ${secret}`));
  expect(heard).toStrictEqual(Array(2).fill(news(`the key is ${redacted}`)));
});

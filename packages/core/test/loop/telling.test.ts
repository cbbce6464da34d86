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

test("one that fails hears no more of the run, the others all of it, and the run ends over the first that failed", () => {
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

test("of two that fail over one event the first is named, and neither ends the run twice", () => {
  const other: Listener = () => {
    throw new Error("bang");
  };
  const { telling: one, posted } = telling([failing([]), other]);
  one.tell(news("a"));
  expect(posted).toMatchObject([{ reason: "a listener failed on warning: boom" }]);
});

test("all hear again when another run begins, which one may end in its turn", () => {
  const heard: string[] = [];
  const { telling: one, posted } = telling([failing(heard)]);
  one.tell(news("a"));
  one.anew();
  one.tell(news("b"));
  expect([heard.length, posted.length]).toStrictEqual([2, 2]);
});

test("one that rejects later is deaf from then on, and ends the run that it heard while that is driven", async () => {
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

test("one that rejected in a run before hears the one that goes on", async () => {
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

test("one that comes or goes while an event is told hears the next, or does not", () => {
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

test("secrets are taken out of what comes of no fact, for all who hear", () => {
  const heard: RondoEvent[] = [];
  const hear: Listener = (event) => void heard.push(event);
  const secret = `sk-ant-${"a1B2c3D4".repeat(6)}`;
  const { telling: one } = telling([hear, hear], redaction({}));
  one.tell(news(`the key is ${secret}`));
  expect(heard).toStrictEqual(Array(2).fill(news(`the key is ${redacted}`)));
});

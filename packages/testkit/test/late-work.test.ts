// The check of the promises knows of work that came late from the run's own hook: nobody queued it, and it is not lost.

import { Agent, emptyState, memoryJournal, reduce, resolve } from "@rondo/core";
import { expect, test } from "vitest";
import { hold, say, scripted } from "../src/index.ts";
import { brokenByRecord, noShadow, shadowAfter } from "../src/modelcheck/promises.ts";

test("more work that the onFinish hook gives when the run has gone on already waits, and is delivered once", async () => {
  const journal = memoryJournal();
  const work = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const held = hold(say("two"));
  const options = {
    model: scripted([say("one"), held, say("three")]),
    hooks: {
      onFinish() {
        asked.resolve();
        return work.promise;
      },
    },
    journal,
  };
  const session = await new Agent(options).open("s");
  const running = session.send("go");
  await asked.promise;
  session.steer("wait");
  await held.reached;
  work.resolve("and more");
  await new Promise((resolve) => setImmediate(resolve));
  held.release();
  expect((await running).text).toBe("three");
  let state = emptyState;
  let shadow = noShadow;
  for (const record of journal.read("s")) {
    const before = state;
    state = reduce(before, record, resolve(options).rules);
    shadow = shadowAfter(shadow, record, before);
    expect(brokenByRecord(record, before, state, shadow)).toEqual([]);
  }
  expect(shadow.delivered).toHaveLength(2);
});

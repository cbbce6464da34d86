// The check of the promises finds nothing broken where nothing is.

import { Agent, type AgentOptions, emptyState, memoryJournal, reduce, resolve } from "@rondo/core";
import { expect, test } from "vitest";
import { hold, say, scripted } from "../src/index.ts";
import { brokenByRecord, noShadow, shadowAfter } from "../src/modelcheck/promises.ts";

/** The check goes through all records. @returns what it knows at the end */
function checked(records: ReturnType<ReturnType<typeof memoryJournal>["read"]>, options: AgentOptions) {
  let state = emptyState;
  let shadow = noShadow;
  const { rules } = resolve(options);
  for (const record of records) {
    const before = state;
    state = reduce(before, record, rules);
    // A session ends once a run.
    if (record.type === "run_started") shadow = { ...shadow, ended: 0 };
    shadow = shadowAfter(shadow, record, before);
    expect(brokenByRecord(record, before, state, shadow)).toEqual([]);
  }
  return shadow;
}

test("a conversation is cleared over words that wait: they are the next run's", async () => {
  const journal = memoryJournal();
  const options = { model: scripted([say("one"), say("two"), say("three")]), journal };
  const session = await new Agent(options).open("s");
  await session.send("go");
  session.followUp("later");
  await session.clear();
  expect(checked(journal.read("s"), options).delivered).toHaveLength(0);
  expect((await session.send("on")).text).toBe("three");
  expect(checked(journal.read("s"), options).delivered).toHaveLength(1);
});

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
  expect(checked(journal.read("s"), options).delivered).toHaveLength(2);
});

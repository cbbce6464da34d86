// A disk that takes its time: nothing leaves the process, and nothing starts, before what says so is kept.

import { Agent, type Journal, type LogRecord, memoryJournal } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo } from "./support.ts";

test("while a group is on its way to the disk no model is asked and no tool runs, and all of it is there at the end", async () => {
  const inner = memoryJournal();
  const waiting: { records: readonly LogRecord[]; done: () => void }[] = [];
  const journal: Journal = {
    ...inner,
    append: (session, seq, records) =>
      new Promise((resolve) => {
        const done = (): void => resolve(inner.append(session, seq, records));
        waiting.push({ records, done });
      }),
  };
  let ran = 0;
  const look = echo("look", {
    execute: async () => {
      ran += 1;
      return "seen";
    },
  });
  const model = scripted([call("look"), say("done")]);
  const session = await new Agent({ model, tools: [look], journal }).open("s");
  let ended = false;
  const running = session.send("go").finally(() => {
    ended = true;
  });
  while (!ended) {
    await expect.poll(() => waiting.length > 0 || ended).toBe(true);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const kept = inner.read("s").map((record) => record.type);
    // Whatever has begun stands in the journal by now.
    expect(model.calls).toBeLessThanOrEqual(kept.filter((type) => type === "model_started").length);
    expect(ran).toBeLessThanOrEqual(kept.filter((type) => type === "tool_started").length);
    waiting.shift()?.done();
  }
  expect((await running).end?.reason).toBe("completed");
  expect([model.calls, ran]).toEqual([2, 1]);
  expect(inner.read("s").at(-1)?.type).toBe("run_ended");
});

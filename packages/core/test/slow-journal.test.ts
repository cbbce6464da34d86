// A disk that takes its time: nothing leaves the process, and nothing starts, before what says so is kept.

import { Agent, type Journal, type Lease, type LogRecord, memoryJournal } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo } from "./support.ts";

describe("messages sent one after the other while nobody drives", () => {
  /** A journal whose first groups take the longest, as over a network. */
  function uneven(fails = -1, leases = false): { journal: Journal; kept: () => string[] } {
    const inner = memoryJournal({ leases });
    let groups = 0;
    const append: Journal["append"] = async (...given) => {
      const group = groups++;
      for (let turn = 0; turn < 20 - 5 * group; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      if (group === fails) throw new Error("the disk is full");
      inner.append(...given);
    };
    return { journal: { ...inner, append }, kept: () => inner.read("s").map((record) => record.type) };
  }

  test("are written one after the other", async () => {
    const { journal, kept } = uneven();
    const model = scripted([say("done")]);
    const session = await new Agent({ model, journal }).open("s");
    session.steer("one");
    session.steer("two");
    const { end } = await session.send("three");
    expect(end?.reason).toBe("completed");
    expect(kept().slice(0, 3)).toEqual(["queued", "queued", "run_started"]);
    expect(model.lastRequest.messages).toHaveLength(3);
  });

  test("are written before the session is held, even if its journal is faster with that", async () => {
    const { journal, kept } = uneven(-1, true);
    const session = await new Agent({ model: scripted([say("done"), say("done, all")]), journal }).open("s");
    session.steer("one");
    session.steer("two");
    const running = session.send("three");
    session.followUp("four");
    expect((await running).end?.reason).toBe("completed");
    expect(kept().slice(0, 4)).toEqual(["queued", "queued", "run_started", "queued"]);
  });

  test("are not taken for another writer's when a run is resumed", async () => {
    const { journal } = uneven(-1, true);
    const tools = [echo("press", { permission: "ask" })];
    const session = await new Agent({ model: scripted([call("press"), say("done")]), tools, journal }).open(
      "s",
    );
    const { parked } = await session.send("go");
    session.steer("one");
    expect((await session.resume()).parked).toBeDefined();
    session.steer("two");
    expect((await session.approve(parked?.pending[0]?.id ?? "")).end?.reason).toBe("completed");
    expect(session.messages).toHaveLength(6);
  });

  test("are not reported as another writer's if the first of them could not be written", async () => {
    const { journal, kept } = uneven(0);
    const session = await new Agent({ model: scripted([]), journal }).open("s");
    session.steer("one");
    await expect(session.send("two")).rejects.toThrow("the disk is full");
    expect(kept()).toEqual([]);
  });
});

test.each(["taken", "let go"])(
  "a late result, while the session is %s, is stored, and not taken for another writer's",
  async (when) => {
    const memory = memoryJournal({ leases: true });
    const late = deferred<string>();
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    let held = 0;
    const journal: Journal = {
      ...memory,
      append: async (...group) => {
        await Promise.resolve();
        memory.append(...group);
      },
      lease: async (id, request) => {
        held += 1;
        const lease = memory.lease?.(id, request) as Lease;
        if (when === "taken" && held === 2) {
          late.resolve("late");
          await turns();
        }
        const release = async (): Promise<void> => {
          if (when === "let go") late.resolve("late");
          await turns();
          void lease.release();
        };
        return { token: lease.token, renew: () => lease.renew(), release };
      },
    };
    const slow = echo("slow", { timeoutMs: 5, execute: () => late.promise });
    const model = scripted([call("slow"), say("without it"), say("again")]);
    const session = await new Agent({ model, tools: [slow], journal }).open("s");
    expect((await session.send("go")).end?.reason).toBe("completed");
    expect((await session.send("again")).end?.reason).toBe("completed");
    await session.settled();
    expect(memory.read("s").map(({ type }) => type)).toContain("late_result");
  },
);

test("while a group is being written no model is called and no tool runs, and all of it is stored at the end", async () => {
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

// A disk that takes its time: nothing leaves the process, and nothing starts, before what says so is kept.

import { Agent, type Journal, type Lease, type LogRecord, memoryJournal, type Session } from "@rondo/core";
import { call, say, scripted, stall } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { Gates, hastyClock, turns } from "./programs/gates.ts";
import { deferred, echo, quick } from "./support.ts";

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

describe("what is asked for while the model is busy", () => {
  /** A session whose model is busy, and whose journal takes one group at a time from now on, or refuses the next one. */
  async function busy() {
    const memory = memoryJournal();
    const gates = new Gates();
    const leaving = new AbortController();
    let isGated = false;
    const append: Journal["append"] = (...group) =>
      isGated ? gates.pass(leaving.signal).then(() => memory.append(...group)) : memory.append(...group);
    const model = scripted([stall()]);
    const tools = [echo("press", { permission: "ask" })];
    const session = await new Agent({ model, tools, journal: { ...memory, append }, ...quick }).open("s");
    const running = session.send("go").catch(() => {});
    session.followUp("one", "m");
    await session.allow({ id: "old", tool: "press" });
    await expect.poll(() => model.calls).toBe(1);
    await turns(3);
    isGated = true;
    return {
      session,
      running,
      gates,
      refuse: () => leaving.abort(new Error("the disk is full")),
      kept: () => memory.read("s").map(({ type }) => type),
    };
  }

  const asked = {
    withdrawn: (session: Session) => session.withdraw("m"),
    allowed: (session: Session) => session.allow({ tool: "press" }),
    revoked: (session: Session) => session.revoke("old"),
  };

  test.each(["withdrawn", "allowed", "revoked"] as const)("is %s once the journal has it", async (type) => {
    const { session, running, gates, kept } = await busy();
    const before = kept().length;
    // It is being written already.
    session.followUp("two");
    await turns(3);
    let had: string[] | undefined;
    const asking = asked[type](session).then(() => {
      had = kept().slice(before);
    });
    await turns(3);
    gates.open(0);
    await turns(20);
    expect([had, kept().slice(before)]).toEqual([undefined, ["queued"]]);
    gates.open(0);
    await asking;
    expect(had).toEqual(["queued", type]);
    session.abort();
    while (session.status === "running") {
      gates.openAll();
      await turns(1);
    }
    await running;
  });

  test.each(["withdrawn", "allowed", "revoked"] as const)(
    "is not said to be %s if the journal refuses that",
    async (type) => {
      const { session, running, refuse, kept } = await busy();
      const asking = asked[type](session);
      await turns(3);
      refuse();
      await expect(asking).rejects.toThrow("the disk is full");
      await running;
      expect(kept().slice(-1)).not.toContain(type);
    },
  );
});

test("a message and an abort that come when a drain has given up waiting are stored before it resolves", async () => {
  const memory = memoryJournal();
  const gates = new Gates();
  const journal: Journal = {
    ...memory,
    append: (...group) => gates.pass().then(() => memory.append(...group)),
  };
  const session = await new Agent({ model: scripted([stall()]), journal, clock: hastyClock() }).open("s");
  const running = session.send("go");
  await turns(3);
  // An empty group: whether the session is as it was read.
  gates.open(0);
  await turns(3);
  let kept: string[] | undefined;
  const drained = session.drain({ withinMs: 0 }).then(() => {
    kept = memory.read("s").map(({ type }) => type);
  });
  session.steer("one");
  gates.open(0);
  // The drain stops waiting while the first message is being written.
  await turns(6);
  session.steer("two");
  session.abort("enough");
  while (kept === undefined) {
    gates.openAll();
    await turns(1);
  }
  await drained;
  expect(kept).toEqual(["run_started", "queued", "delivered", "queued", "abort_asked"]);
  expect((await running).end).toBeUndefined();
});

test.each(["permission", "beforeTool", "afterTool", "prepareStep", "onFinish", "tool", "model"] as const)(
  "a grant that is waited for inside the run does not wait for that: %s",
  async (where) => {
    const memory = memoryJournal();
    const append: Journal["append"] = (...group) => turns(1).then(() => memory.append(...group));
    const sessions: Session[] = [];
    const given: string[] = [];
    const give = async (here: string): Promise<undefined> => {
      if (here !== where || given.length > 0) return;
      given.push("asked");
      await sessions[0]?.allow({ tool: "look" });
      given.push("given");
    };
    const look = echo("look", { execute: () => give("tool").then(() => "seen") });
    const model = scripted([() => give("model").then(() => call("look")), say("done")]);
    const hooks = {
      permission: () => give("permission").then(() => "allow" as const),
      beforeTool: () => give("beforeTool"),
      afterTool: () => give("afterTool"),
      prepareStep: () => give("prepareStep"),
      onFinish: () => give("onFinish"),
    };
    const agent = new Agent({ model, tools: [look], hooks, journal: { ...memory, append } });
    sessions.push(await agent.open("s"));
    expect((await sessions[0]?.send("go"))?.end?.reason).toBe("completed");
    expect(given).toEqual(["asked", "given"]);
  },
);

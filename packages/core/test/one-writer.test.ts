// One writer a session, and any number of readers, through the public face.

import {
  Agent,
  type Journal,
  type Lease,
  type LogRecord,
  type MemoryJournal,
  memoryJournal,
  RondoError,
  type Session,
  subAgent,
} from "@rondo/core";
import { call, hold, say, scripted, stall } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick, shortly } from "./support.ts";

type Later = <T>(act: () => T) => Promise<T>;

/** Done a while later. */
const later: Later = async (act) => {
  await new Promise((resolve) => setImmediate(resolve));
  return act();
};

/** Done only when somebody waits for it, as the queries of some libraries are. */
const lazily: Later = (act) =>
  // biome-ignore lint/suspicious/noThenProperty: what waits for itself to be waited for is what is tried here
  ({ then: (...heard: Parameters<Promise<never>["then"]>) => later(act).then(...(heard as [])) }) as never;

/** The same journal, with answers that take a while. */
const slowly =
  (when: Later) =>
  (journal: MemoryJournal): Journal => ({
    append: (...group) => when(() => journal.append(...group)),
    read: (...from) => when(() => journal.read(...from)),
    list: () => when(() => journal.list()),
    lease: (session, request) =>
      when(() => {
        const lease = journal.lease?.(session, request) as Lease;
        return {
          token: lease.token,
          renew: () => when(() => void lease.renew()),
          release: () => when(() => void lease.release()),
        };
      }),
  });

/** Whoever holds it is fenced off. */
const replaced = (journal: MemoryJournal, session: string): Lease =>
  journal.lease?.(session, { owner: "another", ttlMs: 60_000, takeOver: true }) as Lease;

const kindOf = (thrown: unknown): string => (thrown instanceof RondoError ? thrown.kind : String(thrown));

describe.each([
  ["at once", (journal: MemoryJournal): Journal => journal],
  ["later", slowly(later)],
  ["when that is waited for", slowly(lazily)],
])("over a journal that answers %s", (_name, over) => {
  test.each(["approve", "answer", "deny", "edit"] as const)(
    "of two answers to one call at the same time one counts, and the other caller gets an error: first %s",
    async (first) => {
      for (const second of ["approve", "answer", "deny", "edit"] as const) {
        const ran: string[] = [];
        const press = echo("press", { permission: "ask", execute: () => void ran.push("press") });
        const model = scripted([call("press"), say("done")]);
        const session = await new Agent({
          model,
          tools: [press],
          journal: over(memoryJournal({ leases: true })),
        }).open("s");
        await session.send("go");
        const id = session.pending[0]?.id ?? "";
        const give = {
          approve: () => session.approve(id),
          answer: () => session.answer(id, "Blue."),
          deny: () => session.deny(id, "no"),
          edit: () => session.edit(id, { other: true }),
        };
        const both = await Promise.allSettled([give[first](), give[second]()]);
        const told = both.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
        expect([first, second, told]).toEqual([
          first,
          second,
          [expect.stringContaining("waits for an approval")],
        ]);
        expect(session.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
        expect(ran.length).toBeLessThanOrEqual(1);
        expect((await session.replay()).difference).toBeUndefined();
      }
    },
  );

  test("a driver holds its session: a second process cannot open it, gets the holder's name, and may follow", async () => {
    const memory = memoryJournal({ leases: true });
    const journal = over(memory);
    const model = scripted([call("look"), stall()]);
    const lease = { owner: "worker 1", ttlMs: 60_000 };
    const first = await new Agent({ model, tools: [echo("look")], journal, lease, ...quick }).open("s");
    const running = first.send("go");
    await expect.poll(() => model.calls).toBe(2);
    const other = new Agent({ model: scripted([say("done")]), tools: [echo("look")], journal, ...quick });
    await expect(other.open("s")).rejects.toThrow(/"s" is held by worker 1 until 20\d\d-.*takeOver/);
    expect(await other.open("s").catch(kindOf)).toBe("conflict");

    const seen: string[] = [];
    const reading = (async () => {
      for await (const record of other.follow("s")) {
        seen.push(record.type);
        if (record.type === "run_ended") break;
      }
    })();
    first.abort("enough");
    await running;
    await reading;
    expect(seen).toEqual(memory.read("s").map((record) => record.type));
    expect((await other.open("s")).status).toBe("idle");
  });

  test("the session is released when the run ends or parks, and held again when it continues", async () => {
    const journal = over(memoryJournal({ leases: true }));
    const guarded = echo("guarded", { permission: "ask" });
    const parts = { tools: [guarded], journal };
    const first = await new Agent({ model: scripted([call("guarded")]), ...parts }).open("s");
    expect((await first.send("go")).parked?.pending).toHaveLength(1);
    const second = await new Agent({ model: scripted([say("done"), say("more")]), ...parts }).open("s");
    const { end } = await second.approve(second.pending[0]?.key ?? "");
    expect(end?.reason).toBe("completed");
    expect((await second.send("and")).text).toBe("more");
    // The first has not heard of any of it, and reads it before it does anything.
    expect((await first.resume()).text).toBe("more");
  });

  test("a message to a session that another process drives is refused, and accepted once that one has released it", async () => {
    const memory = memoryJournal({ leases: true });
    const journal = over(memory);
    const session = await new Agent({ model: scripted([say("done")], { repeatLast: true }), journal }).open(
      "s",
    );
    const driver = memory.lease?.("s", { owner: "another", ttlMs: 60_000 }) as Lease;
    const refused = {
      kind: "conflict",
      message: expect.stringMatching(/is held by another until .*wait for it and open the session again/),
    };
    const word = async (): Promise<void> => {
      session.steer("hurry");
      await session.settled();
    };
    await expect(word()).rejects.toMatchObject(refused);
    expect(memory.read("s")).toEqual([]);
    void driver.release();
    await word();
    expect(memory.read("s").map(({ type }) => type)).toEqual(["queued"]);
  });

  test("a process that opens a session with takeOver may begin a run, even if another holds it without an open run", async () => {
    const memory = memoryJournal({ leases: true });
    const agent = new Agent({ model: scripted([say("done")], { repeatLast: true }), journal: over(memory) });
    for (const records of [0, 1]) {
      if (records > 0) await agent.run("go", { session: "s" });
      const silent = memory.lease?.("s", { owner: "another", ttlMs: 60_000 }) as Lease;
      await expect(agent.run("go", { session: "s" })).rejects.toThrow(/held by another .*with takeOver/);
      const session = await agent.open("s", { takeOver: true });
      const { length } = memory.read("s");
      expect(() => memory.append("s", length, [], silent.token)).toThrow("taken over");
      expect(length === 0).toBe(records === 0);
      expect((await session.send("again")).end?.reason).toBe("completed");
    }
  });

  test("a message that comes while the lease is being taken is not lost", async () => {
    const journal = over(memoryJournal({ leases: true }));
    const model = scripted([say("one"), say("two")]);
    const session = await new Agent({ model, journal }).open("s");
    const running = session.send("go");
    expect(session.status).toBe("running");
    session.followUp("and then");
    await running;
    expect(shortly(session.messages)).toEqual([
      "user: go",
      "assistant: one",
      "user: and then",
      "assistant: two",
    ]);
  });

  test("a holder that was replaced because it seemed dead writes nothing any more, and its work is stopped", async () => {
    const memory = memoryJournal({ leases: true });
    const journal = over(memory);
    const model = scripted([stall()]);
    const lease = { ttlMs: 150 };
    const first = await new Agent({ model, journal, lease, ...quick }).open("s");
    const running = first.send("go").catch(kindOf);
    await expect.poll(() => model.calls).toBe(1);
    const other = new Agent({ model: scripted([say("taken over")]), journal, ...quick });
    const second = await other.open("s", { takeOver: true });
    const { text } = await second.resume();
    expect(text).toBe("taken over");
    // The first hears of it when it next renews, and stops although its model never answers.
    expect(await running).toBe("conflict");
    expect(memory.read("s").map((record) => record.type)).not.toContain("abort_asked");
    expect(
      memory
        .read("s")
        .map((record) => record.type)
        .at(-1),
    ).toBe("run_ended");
  });

  test("a replaced holder leaves its sub-agents as they are: the next driver continues them", async () => {
    const memory = memoryJournal({ leases: true });
    const journal = over(memory);
    const childModel = scripted([stall(), say("the child's word")]);
    const tools = [
      subAgent({
        name: "helper",
        description: "helps",
        agent: new Agent({ model: childModel, lease: { ttlMs: 60_000 }, ...quick }),
      }),
    ];
    const model = scripted([call("helper", { task: "look" }), say("done")]);
    const first = await new Agent({ model, tools, journal, lease: { ttlMs: 150 }, ...quick }).open("s");
    const running = first.send("go").catch(kindOf);
    await expect.poll(() => childModel.calls).toBe(1);
    // Whoever replaces it takes a while before it goes on.
    const second = await new Agent({ model, tools, journal, ...quick }).open("s", { takeOver: true });
    expect(await running).toBe("conflict");
    await expect.poll(() => first.status).not.toBe("running");
    const { text } = await second.resume();
    expect(text).toBe("done");
    const result = memory.read("s").find((record) => record.type === "tool_finished");
    expect(result).toMatchObject({ result: { content: [{ text: "the child's word" }], isError: false } });
    expect(memory.read("s:2.0").map(({ type }) => type)).not.toContain("abort_asked");
  });

  describe("takeOver continues from the session's state once it is held", () => {
    /** A run that waits for its model, and another agent; between reading the session and holding it, something happens. */
    async function between(
      happens: (first: Session) => unknown,
    ): Promise<{ running: Promise<unknown>; other: Agent; memory: MemoryJournal }> {
      const memory = memoryJournal({ leases: true });
      const model = scripted([stall()]);
      const lease = { ttlMs: 150 };
      const first = await new Agent({ model, journal: over(memory), lease, ...quick }).open("s");
      const running = first.send("go").catch(kindOf);
      await expect.poll(() => model.calls).toBe(1);
      let happened = false;
      const journal: Journal = {
        ...over(memory),
        lease: async (session, request) => {
          const { length } = memory.read("s");
          if (!happened) {
            happened = true;
            await happens(first);
            await expect.poll(() => memory.read("s").length).toBeGreaterThan(length);
          }
          return over(memory).lease?.(session, request) as Lease;
        },
      };
      const other = new Agent({ model: scripted([say("taken over")]), journal, ...quick });
      return { running, other, memory };
    }

    test("even if its former holder writes meanwhile", async () => {
      const { running, other } = await between((first) => first.steer("hurry"));
      const second = await other.open("s", { takeOver: true });
      expect(second.status).toBe("interrupted");
      const { messages } = await second.resume();
      expect(shortly(messages)).toEqual(["user: go", "user: hurry", "assistant: taken over"]);
      expect(await running).toBe("conflict");
    });

    test("and finds no run to take over if that one has ended meanwhile", async () => {
      const { other, memory } = await between((first) => {
        first.abort();
        return first.settled();
      });
      const second = await other.open("s");
      expect(second.status).toBe("idle");
      expect(memory.read("s").map(({ type }) => type)).not.toContain("opened");
      expect((await second.send("again")).text).toBe("taken over");
    });
  });

  test("a replaced holder asks no hook about what it could not store", async () => {
    const memory = memoryJournal({ leases: true });
    const asked: string[] = [];
    const look = echo("look", {
      execute: () => {
        replaced(memory, "s");
      },
    });
    const first = new Agent({
      model: scripted([call("look"), say("done")]),
      tools: [look],
      journal: over(memory),
      hooks: { afterTool: ({ name }) => void asked.push(name) },
      ...quick,
    });
    expect(await first.run("go", { session: "s" }).catch(kindOf)).toBe("conflict");
    expect(asked).toEqual([]);
  });

  test("a replaced holder leaves its sub-agents to its successor", async () => {
    const memory = memoryJournal({ leases: true });
    let token: number | undefined;
    const look = echo("look", {
      execute: () => {
        for (const session of ["s", "s:2.0"]) token = replaced(memory, session).token;
      },
    });
    const child = new Agent({ model: scripted([call("look"), say("done")]), tools: [look], ...quick });
    const first = new Agent({
      model: scripted([call("helper", { task: "go" }), say("done")]),
      tools: [subAgent({ name: "helper", description: "helps", agent: child })],
      journal: over(memory),
      ...quick,
    });
    expect(await first.run("go", { session: "s" }).catch(kindOf)).toBe("conflict");
    const { length } = memory.read("s:2.0");
    memory.append("s:2.0", length, [{ type: "woke", seq: length, at: 0, rand: 0 }], token);
    expect(memory.read("s:2.0")).toHaveLength(length + 1);
  });

  test("a silent run holds its session for longer than its lease, because it is renewed", async () => {
    let now = 1_000;
    let renewals = 0;
    const memory = memoryJournal({ leases: true, now: () => now });
    const counting: MemoryJournal = {
      ...memory,
      lease: (session, request) => {
        const lease = memory.lease?.(session, request) as Lease;
        const renew = (): void => {
          void lease.renew();
          renewals += 1;
        };
        return { ...lease, renew };
      },
    };
    const journal = over(counting);
    const model = scripted([stall()]);
    const first = await new Agent({ model, journal, lease: { ttlMs: 100 }, ...quick }).open("s");
    const running = first.send("go");
    await expect.poll(() => model.calls).toBe(1);
    const other = new Agent({ model: scripted([]), journal, ...quick });
    for (let round = 1; round <= 4; round += 1) {
      const seen = renewals;
      await expect.poll(() => renewals - seen).toBeGreaterThan(1);
      now += 90;
      expect(await other.open("s").catch(kindOf)).toBe("conflict");
    }
    first.abort();
    await running;
  });
});

describe("a message that comes while the lease is being taken, and another process has it", () => {
  async function waiting() {
    const memory = memoryJournal({ leases: true });
    const model = scripted([call("press"), say("done")]);
    const tools = [echo("press", { permission: "ask" })];
    const agent = new Agent({ ...quick, model, tools, journal: slowly(later)(memory) });
    const session = await agent.open("s");
    await session.send("go");
    const other = memory.lease?.("s", { owner: "another", ttlMs: 60_000 }) as Lease;
    const resumed = session.resume().catch(kindOf);
    const granted = session.allow({ tool: "press" });
    session.steer("mind the gap");
    return { memory, session, other, resumed, granted };
  }

  test("is stored if that one has released it by then", async () => {
    const { session, other, resumed, granted } = await waiting();
    expect(await resumed).toBe("conflict");
    await other.release();
    const { id } = await granted;
    expect((await session.resume()).end?.reason).toBe("completed");
    expect(session.grants).toMatchObject([{ id, used: 1 }]);
    expect(shortly(session.messages).at(-2)).toBe("user: mind the gap");
  });

  test("is refused if that one still has it, like every later message", async () => {
    const { memory, session, resumed, granted } = await waiting();
    expect([await resumed, await granted.catch(kindOf)]).toEqual(["conflict", "conflict"]);
    await session.settled().catch(() => {});
    expect(await session.resume().catch(kindOf)).toBe("conflict");
    session.steer("again");
    await expect(session.settled()).rejects.toThrow(/held by another/);
    const kept = memory.read("s").map(({ type }) => type);
    expect([kept.includes("queued"), kept.includes("allowed")]).toEqual([false, false]);
  });
});

describe("following", () => {
  const record = (seq: number): LogRecord => ({ type: "woke", seq, at: seq, rand: 0 });

  test("yields the existing records, then new ones, from any record on, and ends by break or by its signal", async () => {
    const journal = memoryJournal();
    journal.append("s", 0, [record(0), record(1)]);
    const agent = new Agent({ model: scripted([]), journal });
    const controller = new AbortController();
    const reader = agent.follow("s", { from: 1, signal: controller.signal });
    expect((await reader.next()).value?.seq).toBe(1);
    const pulls = [reader.next(), reader.next(), reader.next()];
    journal.append("s", 2, [record(2)]);
    journal.append("s", 3, [record(3)]);
    expect((await Promise.all(pulls.slice(0, 2))).map(({ value }) => value?.seq)).toEqual([2, 3]);
    controller.abort();
    expect(await pulls[2]).toEqual({ done: true, value: undefined });
    expect(await reader.next()).toEqual({ done: true, value: undefined });

    const other = agent.follow("s", { from: 4 });
    const waiting = other.next();
    await other.return?.();
    expect((await waiting).done).toBe(true);
    expect(() => agent.follow("s", { from: -1 })).toThrow(/from record -1/);
    const session = await agent.open("t");
    expect((await session.follow({ signal: AbortSignal.abort() }).next()).done).toBe(true);
  });

  test("polls if a journal has no watch", async () => {
    const { watch: _, ...journal } = memoryJournal();
    const reader = new Agent({ model: scripted([]), journal }).follow("s");
    const waiting = reader.next();
    journal.append("s", 0, [record(0)]);
    expect((await waiting).value?.seq).toBe(0);
    await reader.return?.();
  });

  test("ends with the journal's error, and leaves no watcher", async () => {
    const inner = memoryJournal();
    let watching = 0;
    const journal: Journal = {
      ...inner,
      read: () => {
        throw new RondoError("storage", "the disk is gone");
      },
      watch: (session, heard) => {
        watching += 1;
        const stop = inner.watch(session, heard);
        return () => {
          watching -= 1;
          stop();
        };
      },
    };
    const reader = new Agent({ model: scripted([]), journal }).follow("s");
    expect(watching).toBe(1);
    await expect(reader.next()).rejects.toThrow("the disk is gone");
    expect(watching).toBe(0);
    expect((await reader.next()).done).toBe(true);
  });
});

describe("over a journal without leases", () => {
  const agent = (journal: Journal): Agent =>
    new Agent({
      model: scripted([call("look"), say("done")], { repeatLast: true }),
      tools: [echo("look")],
      journal,
    });

  test("a run that is requested while another is driven is refused, and does not affect that one", async () => {
    for (const turns of [0, 1, 3, 5, 8, 20]) {
      const journal = memoryJournal();
      const first = agent(journal).run("one", { session: "s" });
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const second = agent(journal).run("two", { session: "s" });
      await expect(second, `${turns} turns later`).rejects.toMatchObject({
        kind: expect.stringMatching(/^(conflict|invalid_request)$/),
        message: expect.stringMatching(/another writer was faster|has a run that is interrupted/),
      });
      expect((await first).end?.reason, `${turns} turns later`).toBe("completed");
      expect((await agent(journal).run("three", { session: "s" })).end?.reason).toBe("completed");
    }
  });

  test("a Session beside the one that drives a run is told that another may drive it, and what to do in either case", async () => {
    const journal = memoryJournal();
    const gate = hold(say("done"));
    const asks = new Agent({ model: scripted([gate, say("done")]), journal });
    const [first, second] = [await asks.open("s"), await asks.open("s")];
    const running = first.send("one");
    await gate.reached;
    await expect(second.send("two")).rejects.toMatchObject({
      kind: "invalid_request",
      message: expect.stringMatching(
        /interrupted, or another Session or process drives it: .*resume\(\).*wait/,
      ),
    });
    expect([first.status, second.status]).toEqual(["running", "interrupted"]);
    gate.release();
    expect((await running).end?.reason).toBe("completed");
    expect((await second.send("two")).end?.reason).toBe("completed");
  });

  test("a session whose run waits for an approval is held by nobody", async () => {
    const journal = memoryJournal();
    const asks = new Agent({
      model: scripted([call("look"), say("done")]),
      tools: [echo("look", { permission: "ask" })],
      journal,
    });
    await asks.run("one", { session: "s" });
    await expect(asks.run("two", { session: "s" })).rejects.toThrow("has a run that is parked");
    expect(await journal.read("s").map(({ type }) => type)).not.toContain("opened");
    const other = await asks.open("s");
    expect((await other.deny(other.pending[0]?.id ?? "")).end?.reason).toBe("completed");
  });
});

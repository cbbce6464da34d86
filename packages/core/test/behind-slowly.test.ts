// What is said, or comes late, while a journal takes its time and another writes: it is kept once, and acts on no other run.

import { Agent, type Journal, type LogRecord, type MemoryJournal, memoryJournal } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick, shortly } from "./support.ts";

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Each of its answers takes so many turns of the process, and before a group is written that is waited for. */
function slowly(memory: MemoryJournal, count: number, before = async (): Promise<void> => {}): Journal {
  const later = async <T>(act: () => T): Promise<T> => {
    await turns(count);
    return act();
  };
  return {
    ...memory,
    append: async (...group) => {
      await before();
      await later(() => memory.append(...group));
    },
    read: (...from) => later(() => memory.read(...from)),
  };
}

const typesIn = (memory: MemoryJournal): string[] => memory.read("s").map(({ type }) => type);
const has = (memory: MemoryJournal, type: LogRecord["type"]) =>
  expect.poll(() => typesIn(memory).includes(type));

describe("a run that was taken over while one of its groups was being written", () => {
  async function lost(said: (session: Awaited<ReturnType<Agent["open"]>>) => void) {
    const memory = memoryJournal();
    const disk = deferred();
    let isFull = false;
    const journal = slowly(memory, 1, async () => (isFull ? disk.promise : undefined));
    const came = deferred<string>();
    const tools = [echo("slow", { effect: "write", execute: () => came.promise })];
    const model = scripted([call("slow"), say("one"), say("two")]);
    const first = await new Agent({ model, tools, journal }).open("s");
    const running = first.send("go").catch((error: { kind: string }) => error.kind);
    await has(memory, "tool_started").toBe(true);
    isFull = true;
    first.steer("said first");
    await turns(3);
    await (await new Agent({ model: scripted([say("theirs")]), tools, journal: memory }).open("s")).resume();
    said(first);
    came.resolve("at last");
    await turns(3);
    isFull = false;
    disk.resolve();
    expect(await running).toBe("conflict");
    return { memory, first };
  }

  test("is not a reason to end the next run or to shorten its history", async () => {
    const { memory, first } = await lost((session) => {
      session.abort("enough");
      void session.compact().catch(() => {});
    });
    expect((await first.send("next")).end?.reason).toBe("completed");
    expect(typesIn(memory)).not.toContain("late_result");
    expect(typesIn(memory)).not.toContain("mode");
  });

  test("leaves messages to the session in the journal, each once and in order", async () => {
    const { memory, first } = await lost((session) => session.steer("said second"));
    await first.settled();
    expect(typesIn(memory).slice(-2)).toEqual(["queued", "queued"]);
    await first.send("next");
    expect(shortly(first.messages).slice(-4)).toEqual([
      ...["user: next", "user: said first", "user: said second", "assistant: one"],
    ]);
  });
});

test.each([0, 3, 6])(
  "a late result, %i turns after an outdated handle began a run, is kept, and is not taken for another writer's",
  async (wait) => {
    const memory = memoryJournal();
    const came = deferred<string>();
    const tools = [echo("deaf", { effect: "write", execute: () => came.promise })];
    const model = scripted([call("deaf"), say("one"), say("two")]);
    const first = await new Agent({ ...quick, model, tools, journal: slowly(memory, 3) }).open("s");
    const running = first.send("go");
    await has(memory, "tool_started").toBe(true);
    first.abort("enough");
    await running;
    (await new Agent({ model: scripted([]), tools, journal: memory }).open("s")).steer("meanwhile");
    const sent = first.send("next");
    await turns(wait);
    came.resolve("at last");
    expect((await sent).text).toBe("one");
    expect(typesIn(memory).filter((type) => type === "late_result")).toHaveLength(1);
  },
);

test("if one of several waiting messages is refused, the others, which were written, are not sent again", async () => {
  const memory = memoryJournal();
  const agent = new Agent({ model: scripted([]), journal: memory });
  const [other, again] = [await agent.open("s"), await agent.open("s")];
  let groups = 0;
  const journal = slowly(memory, 1, async () => {
    groups += 1;
    // The first is refused, all are said once more, and the second of them is refused.
    if (groups === 1) other.steer("theirs");
    if (groups === 3) again.steer("theirs again");
  });
  const session = await new Agent({ model: scripted([]), journal }).open("s");
  session.steer("one", "one");
  session.steer("two", "two");
  await session.settled();
  const words = memory.read("s").flatMap((record) => (record.type === "queued" ? [record.id] : []));
  expect(words.filter((id) => id === "one" || id === "two")).toEqual(["one", "two"]);
});

test("the error for an unwritten message goes to the next caller, not to an abort, which gets no errors", async () => {
  const memory = memoryJournal({ leases: true });
  const model = scripted([call("press")]);
  const tools = [echo("press", { permission: "ask" })];
  const session = await new Agent({ model, tools, journal: slowly(memory, 1) }).open("s");
  await session.send("go");
  const other = memory.lease?.("s", { owner: "another", ttlMs: 60_000 });
  session.steer("lost");
  session.abort("while it is on its way");
  await turns(50);
  session.abort("once it is lost");
  await turns(50);
  await (await other)?.release();
  await expect(session.resume()).rejects.toMatchObject({ kind: "conflict" });
});

test("the error for an unwritten message goes to the caller who waits for it, and to one who begins a run meanwhile", async () => {
  const memory = memoryJournal({ leases: true });
  const agent = new Agent({ ...quick, model: scripted([say("one")]), journal: slowly(memory, 3) });
  const session = await agent.open("s");
  await memory.lease?.("s", { owner: "another", ttlMs: 60_000 });
  session.steer("nobody hears me");
  const [kept, run] = await Promise.allSettled([session.settled(), session.send("go")]);
  for (const one of [kept, run])
    expect(one).toMatchObject({ status: "rejected", reason: { kind: "conflict" } });
  expect(typesIn(memory)).toEqual([]);
  // It was told, and stands in nobody's way.
  await session.settled();
});

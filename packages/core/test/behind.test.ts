// Handles of one session that hear nothing of each other: what one of them does after the other has written.

import { Agent, type Journal, memoryJournal, type Session, textOf } from "@rondo/core";
import { call, fail, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick, shortly } from "./support.ts";

const later = async <T>(act: () => T | Promise<T>): Promise<T> => {
  await new Promise((resolve) => setImmediate(resolve));
  return act();
};

/** The same journal, with answers that take a while. */
function slowly(journal: Journal): Journal {
  return {
    append: (...group) => later(() => journal.append(...group)),
    read: (...from) => later(() => journal.read(...from)),
    list: () => later(() => journal.list()),
    lease: async (session, request) => {
      const lease = await later(() => journal.lease?.(session, request));
      if (lease === undefined) throw new Error("no leases");
      return { token: lease.token, renew: () => lease.renew(), release: () => later(() => lease.release()) };
    },
  };
}

const typesIn = (journal: Journal): string[] =>
  (journal.read("s") as { type: string }[]).map(({ type }) => type);

describe.each([
  ["at once", (journal: Journal): Journal => journal],
  ["later", slowly],
])("over a journal that answers %s", (_name, over) => {
  const leasing = (): { memory: Journal; journal: Journal } => {
    const memory = memoryJournal({ leases: true });
    return { memory, journal: over(memory) };
  };

  test("a late result that was written between the opening of a session and its first message is read before that message", async () => {
    const { memory, journal } = leasing();
    const came = deferred<string>();
    const deaf = echo("deaf", { effect: "write", execute: () => came.promise });
    const model = scripted([call("deaf")]);
    const first = await new Agent({ model, tools: [deaf], journal, ...quick }).open("s");
    const running = first.send("go");
    await expect.poll(() => typesIn(memory).includes("tool_started")).toBe(true);
    first.abort("enough");
    await running;
    const second = await new Agent({ model: scripted([say("hello")]), tools: [deaf], journal }).open("s");
    came.resolve("at last");
    await expect.poll(() => typesIn(memory).includes("late_result")).toBe(true);
    expect((await second.send("and now?")).text).toBe("hello");
    expect(second.state.seq).toBe(typesIn(memory).length);
  });

  test("a parked run continues after another process has only opened the session", async () => {
    const { memory, journal } = leasing();
    const ran: string[] = [];
    const press = echo("press", {
      permission: "ask",
      effect: "write",
      execute: () => void ran.push("press"),
    });
    const agent = new Agent({ model: scripted([call("press"), say("done")]), tools: [press], journal });
    const first = await agent.open("s");
    const { parked } = await first.send("go");
    await agent.open("s");
    expect(typesIn(memory).at(-1)).toBe("opened");
    expect((await first.approve(parked?.pending[0]?.id ?? "")).text).toBe("done");
    expect(ran).toEqual(["press"]);
    expect((await first.replay()).difference).toBeUndefined();
  });

  test("a call that was answered by another process counts as answered, and does not run again", async () => {
    const { journal } = leasing();
    const ran: string[] = [];
    const press = echo("press", {
      permission: "ask",
      effect: "write",
      execute: () => void ran.push("press"),
    });
    const agent = new Agent({
      model: scripted([call("press"), say("done"), say("more")]),
      tools: [press],
      journal,
    });
    const first = await agent.open("s");
    await first.send("go");
    const [waits] = first.pending;
    const second = await agent.open("s");
    await second.approve(waits?.id ?? "");
    for (const answer of [
      () => first.approve(waits?.id ?? ""),
      () => first.deny(waits?.id ?? "", "no"),
      () => first.answer(waits?.id ?? "", "Blue."),
    ])
      await expect(answer()).rejects.toMatchObject({
        kind: "invalid_request",
        message: expect.stringMatching(/waits for an approval.*waiting: none/),
      });
    expect(ran).toEqual(["press"]);
    expect(first.status).toBe("idle");
    expect((await first.send("and?")).text).toBe("more");
  });

  test("each process's next run continues from the other's messages, even if the other answered a waiting call", async () => {
    const { memory, journal } = leasing();
    const model = scripted([say("one"), say("two"), say("three"), say("four")]);
    const agent = new Agent({ model, journal });
    const [first, second] = [await agent.open("s"), await agent.open("s")];
    await first.send("a");
    await second.send("b");
    await first.send("c");
    first.steer("d");
    second.steer("e");
    await Promise.all([first.settled(), second.settled()]);
    await second.send("f");
    expect(shortly(second.messages)).toEqual([
      ...["user: a", "assistant: one", "user: b", "assistant: two", "user: c", "assistant: three"],
      ...["user: f", "user: d", "user: e", "assistant: four"],
    ]);
    expect(typesIn(memory).filter((type) => type === "opened")).toEqual([]);
    expect((await agent.open("s")).state.seq).toBe(typesIn(memory).length);
    expect((await second.replay()).difference).toBeUndefined();
  });

  test("an approval that was requested after the session was opened is found, and a grant is made and revoked", async () => {
    const { journal } = leasing();
    const press = echo("press", { permission: "ask" });
    const model = scripted([call("press"), call("press"), say("done")]);
    const agent = new Agent({ model, tools: [press], journal });
    const [first, second] = [await agent.open("s"), await agent.open("s")];
    const { parked } = await first.send("go");
    const again = await second.approve(parked?.pending[0]?.id ?? "");
    expect(again.parked?.pending).toHaveLength(1);
    const [one, two] = [await first.allow({ tool: "other" }), await second.allow({ tool: "other" })];
    expect(one.id).not.toBe(two.id);
    await first.revoke(two.id);
    const third = await agent.open("s");
    expect(third.grants.map(({ id }) => id)).toEqual([one.id]);
    expect((await first.resume()).parked?.pending).toHaveLength(1);
  });

  test.each<[string, (session: Session, id: string) => Promise<unknown>, string]>([
    ["approved", (session, id) => session.approve(id), "press ran"],
    ["approved for good", (session, id) => session.approve(id, { always: true }), "press ran"],
    ["denied", (session, id) => session.deny(id, "not now"), "not now"],
    ["edited", (session, id) => session.edit(id, {}), "press ran"],
    ["answered", (session, id) => session.answer(id, "by hand"), "by hand"],
  ])("a call that another's run came to wait for can be %s", async (_how, answer, result) => {
    const { journal } = leasing();
    const press = echo("press", { permission: "ask" });
    const model = scripted([call("press"), say("done")]);
    const agent = new Agent({ model, tools: [press], journal });
    const [first, second] = [await agent.open("s"), await agent.open("s")];
    const { parked } = await first.send("go");
    await answer(second, parked?.pending[0]?.id ?? "");
    expect(second.result?.text).toBe("done");
    expect(shortly(second.messages)[2]).toContain(result);
  });

  test("a conversation begun by another process can be continued and compacted", async () => {
    const { journal } = leasing();
    const model = scripted([fail("auth"), say("went on"), say("a summary")]);
    const agent = new Agent({ model, journal });
    const [first, second, third] = [await agent.open("s"), await agent.open("s"), await agent.open("s")];
    expect((await first.send("go")).end?.reason).toBe("error");
    expect((await second.continue()).text).toBe("went on");
    expect((await third.compact()).end?.reason).toBe("completed");
  });

  test("a process that finds an abandoned run continues it under its own code, and says so", async () => {
    const { memory, journal } = leasing();
    const press = echo("press", { permission: "ask" });
    const mine = new Agent({
      model: scripted([say("mine"), say("done")]),
      tools: [echo("press", { permission: "ask", description: "presses harder" })],
      journal,
    });
    const first = await mine.open("s");
    await first.send("hello");
    const other = new Agent({ model: scripted([call("press"), call("press")]), tools: [press], journal });
    const { parked } = await (await other.open("s")).send("go");
    const heard: string[] = [];
    first.subscribe((event) => void (event.type === "warning" && heard.push(event.code)));
    expect((await first.approve(parked?.pending[0]?.id ?? "")).text).toBe("done");
    expect(first.changed.map(({ name }) => name)).toContain("press");
    expect(heard).toEqual(["changed"]);
    expect(typesIn(memory)).toContain("opened");
    const refusing = new Agent({
      model: scripted([say("x")]),
      tools: [],
      journal,
      onChanged: "refuse",
    });
    const third = await refusing.open("s");
    await (await other.open("s")).send("again");
    await expect(third.resume()).rejects.toThrow(/begun under other code/);
  });

  test("a run that is open elsewhere is reported, and not overwritten", async () => {
    const { memory, journal } = leasing();
    const press = echo("press", { permission: "ask" });
    const agent = new Agent({ model: scripted([call("press")]), tools: [press], journal });
    const [first, second] = [await agent.open("s"), await agent.open("s")];
    await first.send("go");
    const { length } = typesIn(memory);
    await expect(second.send("mine")).rejects.toMatchObject({
      kind: "invalid_request",
      message: expect.stringMatching(/has a run that is parked: approve/),
    });
    expect(typesIn(memory)).toHaveLength(length);
    expect(second.pending).toHaveLength(1);
    first.abort("enough");
    await first.settled();
    second.abort("enough as well");
    await second.settled();
    expect(typesIn(memory).filter((type) => type === "abort_asked")).toHaveLength(1);
    expect(second.status).toBe("idle");
  });

  test("an abort and a withdrawal act on the other process's runs and messages, not on an outdated state", async () => {
    const { memory, journal } = leasing();
    const press = echo("press", { permission: "ask" });
    const model = scripted([call("press"), say("done"), say("more")]);
    const agent = new Agent({ model, tools: [press], journal });
    const [first, second, third] = [await agent.open("s"), await agent.open("s"), await agent.open("s")];
    first.steer("one", "a");
    first.steer("two", "b");
    await first.settled();
    expect(await second.withdraw("a")).toBe(true);
    expect(await first.withdraw("a")).toBe(false);
    const { parked } = await first.send("go");
    expect(shortly(first.messages).filter((line) => line.startsWith("user"))).toEqual([
      "user: go",
      "user: two",
    ]);
    expect(await second.withdraw("b")).toBe(false);
    third.abort("enough");
    await third.settled();
    expect(third.result?.end?.reason).toBe("aborted");
    await expect(first.approve(parked?.pending[0]?.id ?? "")).rejects.toThrow("waiting: none");
    expect((await first.send("and?")).text).toBe("done");
    expect(typesIn(memory).filter((type) => type === "withdrawn")).toHaveLength(1);
  });

  test("a message that another process delivers just now is not taken back, and it is told", async () => {
    const { memory, journal } = leasing();
    const agent = (place: Journal): Agent => new Agent({ model: scripted([say("done")]), journal: place });
    const second = await agent(journal).open("s");
    let isFirst = true;
    const slower: Journal = {
      ...journal,
      append: async (...group) => {
        if (isFirst && group[2].some(({ type }) => type === "withdrawn")) {
          isFirst = false;
          await second.send("go");
        }
        return journal.append(...group);
      },
    };
    const first = await agent(slower).open("s");
    first.steer("one", "a");
    await first.settled();
    expect(await first.withdraw("a")).toBe(false);
    expect(shortly(first.messages)).toContain("user: one");
    first.steer("two", "b");
    expect(await first.withdraw("b")).toBe(true);
    expect(typesIn(memory).filter((type) => type === "delivered")).toHaveLength(1);
  });

  test("an abort of a run that another process drives is refused with an error, and never lost silently", async () => {
    const { memory, journal } = leasing();
    const came = deferred<string>();
    const slow = echo("slow", { execute: () => came.promise });
    const agent = new Agent({
      model: scripted([call("slow"), say("done"), say("more")]),
      tools: [slow],
      journal,
    });
    const second = await agent.open("s");
    const first = await agent.open("s");
    const running = first.send("go");
    await expect.poll(() => typesIn(memory).includes("tool_started")).toBe(true);
    const third = new Agent({ model: scripted([say("more")]), tools: [slow], journal: memory });
    const refused = async (): Promise<void> => {
      second.abort("enough");
      await second.settled();
    };
    await expect(refused()).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("is held by"),
    });
    came.resolve("ran");
    expect((await running).text).toBe("done");
    expect(typesIn(memory)).not.toContain("abort_asked");
    second.abort("too late");
    await second.settled();
    expect((await second.send("and?")).text).toBe("more");
    expect((await third.open("s")).status).toBe("idle");
  });

  test("an abort before a run has begun ends that run, and no other one if that run could not begin", async () => {
    const { memory, journal } = leasing();
    const press = echo("press", { permission: "ask" });
    const model = scripted([say("hello"), call("press")]);
    const agent = new Agent({ model, tools: [press], journal });
    const first = await agent.open("s");
    const cancelled = first.send("go");
    first.abort("no");
    expect((await cancelled).end?.reason).toBe("aborted");
    await first.send("hello");
    const second = await agent.open("s");
    await first.send("go");
    const refused = second.send("mine");
    second.abort("no");
    await expect(refused).rejects.toMatchObject({ kind: "invalid_request" });
    await second.settled();
    expect((await agent.open("s")).status).toBe("parked");
    expect(typesIn(memory).filter((type) => type === "abort_asked")).toHaveLength(1);
  });

  test("a session that was deleted or replaced is not continued as if it were the same", async () => {
    let records: Journal = memoryJournal({ leases: true });
    const behind: Journal = over({
      append: (...group) => records.append(...group),
      read: (...from) => records.read(...from),
      list: () => records.list(),
      lease: (id, request) => records.lease?.(id, request) as never,
    });
    const agent = new Agent({ model: scripted([say("hello")], { repeatLast: true }), journal: behind });
    const session = await agent.open("s");
    await session.send("go");
    records = memoryJournal({ leases: true });
    await expect(session.send("on")).rejects.toMatchObject({
      kind: "storage",
      message: expect.stringContaining("was deleted, moved or replaced"),
    });
    expect(records.read("s")).toEqual([]);
    const others = new Agent({ model: scripted([say("hi")], { repeatLast: true }), journal: records });
    for (const word of ["one", "two", "three"]) await others.run(word, { session: "s" });
    const { length } = typesIn(records);
    await expect(session.send("on")).rejects.toThrow("was deleted, moved or replaced");
    const word = async (): Promise<void> => {
      session.steer("on");
      await session.settled();
    };
    await expect(word()).rejects.toThrow("was deleted, moved or replaced");
    expect(typesIn(records)).toHaveLength(length);
  });

  test("a session that was deleted while its run was driven is not continued either", async () => {
    let records: Journal = memoryJournal();
    const behind: Journal = over({
      append: (session, seq, group) => records.append(session, seq, group),
      read: (...from) => records.read(...from),
      list: () => records.list(),
      lease: () => ({ token: 1, renew: () => {}, release: () => {} }),
    });
    const came = deferred<string>();
    const slow = echo("slow", { execute: () => came.promise });
    const model = scripted([call("slow"), say("hello")], { repeatLast: true });
    const session = await new Agent({ model, tools: [slow], journal: behind }).open("s");
    const running = session.send("go");
    await expect.poll(() => typesIn(records).includes("tool_started")).toBe(true);
    records = memoryJournal();
    came.resolve("ran");
    await expect(running).rejects.toMatchObject({ kind: "conflict" });
    await expect(session.send("on")).rejects.toThrow("was deleted, moved or replaced");
    expect(records.read("s")).toEqual([]);
  });
});

test("if many handles send messages at once without leases, none is lost and none is delivered twice", async () => {
  for (const over of [(journal: Journal) => journal, withoutLeases]) {
    const memory = memoryJournal();
    const agent = new Agent({ model: scripted([say("heard")]), journal: over(memory) });
    const handles: Session[] = await Promise.all(Array.from({ length: 6 }, () => agent.open("s")));
    for (const [at, handle] of handles.entries()) handle.steer(`word ${at}`);
    const unheard = await Promise.allSettled(handles.map((handle) => handle.settled()));
    const told = memory.read("s").flatMap((one) => (one.type === "queued" ? [textOf(one.message)] : []));
    // Who was not fast enough three times is told so.
    const refused = unheard.filter(({ status }) => status === "rejected").length;
    expect(new Set(told).size).toBe(told.length);
    expect(told.length + refused).toBe(6);
  }
});

function withoutLeases(journal: Journal): Journal {
  const { lease: _, ...slow } = slowly(journal);
  return slow;
}

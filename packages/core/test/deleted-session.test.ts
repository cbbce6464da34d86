// A session that is deleted while somebody has it open, or follows it.

import { Agent, memoryJournal, subAgent, textOf } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, it } from "vitest";
import { echo } from "./support.ts";

const agentOn = (journal: ReturnType<typeof memoryJournal>): Agent =>
  new Agent({ model: scripted(() => say("Hello.")), journal });

const gone = { kind: "storage", message: expect.stringContaining("was deleted") };

it("a process that has it open is told that it is gone, and may open a new one under its id", async () => {
  const journal = memoryJournal();
  const agent = agentOn(journal);
  const session = await agent.open("s");
  await session.send("one");
  expect(journal.delete("s")).toEqual(["s"]);
  await expect(session.send("two")).rejects.toMatchObject(gone);
  const anew = await agent.open("s");
  expect(anew.messages).toEqual([]);
  expect((await anew.send("three")).messages).toHaveLength(2);
});

it("a new one under the same id is not continued by a process that had the old one open, however long it is by then", async () => {
  const journal = memoryJournal();
  const agent = agentOn(journal);
  const wrote = await agent.open("s");
  await wrote.send("one");
  const read = await agent.open("s");
  journal.delete("s");
  const anew = await agent.open("s");
  await anew.send("another");
  expect(journal.read("s")).toHaveLength(wrote.state.seq);
  for (const session of [wrote, read]) await expect(session.send("two")).rejects.toMatchObject(gone);
  expect(anew.messages).toHaveLength(2);
  expect((await anew.send("more")).messages).toHaveLength(4);
});

it("a run that is driven without a lease fails at its next record, and writes nothing more", async () => {
  const journal = memoryJournal();
  const agent = new Agent({
    model: scripted(() => {
      journal.delete("s");
      return say("Hello.");
    }),
    journal,
  });
  const session = await agent.open("s");
  await expect(session.send("one")).rejects.toMatchObject({
    kind: "conflict",
    message: expect.stringContaining("some of them were deleted"),
  });
  expect(journal.list()).toEqual([]);
});

it("a reader that comes back with the place it had reached is told that its records are gone, and does not wait for as many new ones", async () => {
  const journal = memoryJournal();
  const agent = agentOn(journal);
  await (await agent.open("s")).send("one");
  const { length } = journal.read("s");
  const reached = async (from: number): Promise<unknown> => {
    const reader = agent.follow("s", { from });
    const next = reader.next().then(({ value }) => value?.seq);
    const waits = new Promise((resolve) => setTimeout(resolve, 20, "waits"));
    return Promise.race([next, waits]).finally(() => void reader.return?.());
  };
  expect(await reached(length)).toBe("waits");
  journal.delete("s");
  const told = {
    kind: "storage",
    message: `session "s" has fewer than the ${length} records behind which it is to be followed: it was deleted, moved or replaced; put it back, or follow it from the beginning`,
  };
  await expect(reached(length)).rejects.toMatchObject(told);
  await (await agent.open("s")).clear();
  const { length: now } = journal.read("s");
  await expect(reached(length)).rejects.toMatchObject(told);
  expect(await reached(now)).toBe("waits");
});

it("a sub-agent whose own session was deleted while it waited does not begin again: what it did is unknown", async () => {
  const journal = memoryJournal();
  const paid: string[] = [];
  const pay = echo("pay", { effect: "write", execute: () => void paid.push("paid") });
  const ask = echo("ask", { effect: "write", permission: "ask" });
  const script = [call("pay"), call("ask"), say("never")];
  const helper = () =>
    subAgent({
      name: "helper",
      description: "helps",
      agent: new Agent({ model: scripted(script), tools: [pay, ask] }),
    });
  const agent = (turns: Parameters<typeof scripted>[0]) =>
    new Agent({ model: scripted(turns), tools: [helper()], journal });
  const { parked } = await (await agent([call("helper", { task: "t" })]).open("s")).send("go");
  const [waiting] = parked?.pending ?? [];
  journal.delete(waiting?.child?.session ?? "");
  const session = await agent([say("I will look.")]).open("s");
  const { messages, text } = await session.approve(waiting?.id ?? "");
  expect([paid, text]).toEqual([["paid"], "I will look."]);
  expect(messages.map(textOf)[2]).toBe(
    'Error: the sub-agent helper cannot go on: its session "s:2.0" was deleted, moved or replaced. What it did before is unknown.',
  );
});

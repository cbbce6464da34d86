// An abort that comes between the intent of a call and its start: nothing starts, and what was done before is not denied.

import {
  Agent,
  type Journal,
  type LogRecord,
  memoryJournal,
  RondoError,
  type Session,
  subAgent,
  textOf,
} from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { expect, test } from "vitest";
import { echo } from "./support.ts";

/** Aborts the run when a call of this tool is about to start for the nth time. */
function abortsAt(session: Session, name: string, nth: number): void {
  let starts = 0;
  session.subscribe((event) => {
    if (event.type === "tool_start" && event.call.name === name && ++starts === nth) session.abort("enough");
  });
}

const lastResult = (session: Session): string =>
  textOf(
    [...session.messages].findLast(({ role }) => role === "tool") ?? ({ role: "tool", content: [] } as never),
  );

/** A journal that a process dies over, once it has written a record of this type. */
function dyingAfter(journal: Journal, type: LogRecord["type"]): Journal {
  let dead = false;
  return {
    read: (session, from) => journal.read(session, from),
    list: () => journal.list(),
    append: (session, seq, records) => {
      if (dead) throw new RondoError("storage", "the process is dead");
      void journal.append(session, seq, records);
      dead = records.some((record) => record.type === type);
      if (dead) throw new RondoError("storage", "the process is dead");
    },
  };
}

test("a sub-agent that waited and was about to continue is ended too, and is not reported as never started", async () => {
  const journal = memoryJournal();
  const wrote: string[] = [];
  const helper = new Agent({
    model: scripted([[call("note"), call("press")], say("helped")], { repeatLast: true }),
    tools: [echo("note", { execute: () => void wrote.push("note") }), echo("press", { permission: "ask" })],
  });
  const session = await new Agent({
    model: scripted([call("helper", { task: "help" })], { repeatLast: true }),
    tools: [subAgent({ name: "helper", description: "helps", agent: helper })],
    journal,
  }).open("s");
  const { parked } = await session.send("go");
  abortsAt(session, "helper", 1);
  const { end } = await session.deny(parked?.pending[0]?.id ?? "");
  expect([end?.reason, wrote]).toEqual(["aborted", ["note"]]);
  expect(lastResult(session)).not.toContain("was not started");
  await session.settled();
  const [child] = journal.list().filter(({ id }) => id !== "s");
  const records = journal.read(child?.id ?? "");
  expect(records.at(-1)).toMatchObject({ type: "run_ended", end: { reason: "aborted" } });
});

test.each([
  ["idempotent", "tell"],
  ["write", "ask"],
] as const)(
  "a call (%s) that a crash interrupted before is not reported as never started",
  async (effect, onInterrupted) => {
    const journal = memoryJournal();
    const agent = (journal: Journal) =>
      new Agent({
        model: scripted([call("set")], { repeatLast: true }),
        tools: [echo("set", { effect })],
        journal,
        onInterrupted,
      });
    const dying = await agent(dyingAfter(journal, "tool_started")).open("s");
    await expect(dying.send("go")).rejects.toThrow("the process is dead");
    const session = await agent(journal).open("s");
    abortsAt(session, "set", 1);
    const { parked } = await session.resume();
    if (parked !== undefined) await session.approve(parked.pending[0]?.id ?? "");
    expect(session.result?.end?.reason).toBe("aborted");
    expect(lastResult(session)).toMatch(/whether it had an effect is unknown|may or may not have had/);
  },
);

test("a call that was about to start for the first time is reported as not started", async () => {
  const session = await new Agent({
    model: scripted([call("set")], { repeatLast: true }),
    tools: [echo("set", { effect: "write" })],
  }).open("s");
  abortsAt(session, "set", 1);
  await session.send("go");
  expect(lastResult(session)).toBe("set was not started: the run was cancelled");
});

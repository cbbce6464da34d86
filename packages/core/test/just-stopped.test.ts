// What is said to a run in the moment it stops: between its last step and the word that it has stopped.

import { Agent, type Journal, type LogRecord, memoryJournal, type Session, textOf } from "@rondo/core";
import { call, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo } from "./support.ts";

/** A journal whose leases take the time the test wants to be let go. */
function slowToLetGo(): { journal: Journal; letting: Promise<void>; go: () => void } {
  const inner = memoryJournal({ leases: true });
  const letting = deferred();
  const gone = deferred();
  const journal: Journal = {
    ...inner,
    lease: (session, request) => {
      const lease = inner.lease?.(session, request);
      if (lease === undefined || lease instanceof Promise) throw new Error("a journal with leases was meant");
      const release = async (): Promise<void> => {
        letting.resolve();
        await gone.promise;
        await lease.release();
      };
      return { token: lease.token, renew: () => lease.renew(), release };
    },
  };
  return { journal, letting: letting.promise, go: gone.resolve };
}

const asking = (journal: Journal = memoryJournal()): Promise<Session> =>
  new Agent({
    model: scripted([call("press"), say("done")]),
    tools: [echo("press", { permission: "ask" })],
    journal,
  }).open("s");

const typesOf = async (journal: Journal): Promise<LogRecord["type"][]> =>
  (await journal.read("s")).map((record) => record.type);

const first = ({ pending }: Session): string => pending[0]?.id ?? "";

describe("a request that comes when a run has just parked", () => {
  const words: [string, string, (session: Session) => unknown][] = [
    ["an approval", "completed", (session) => session.approve(first(session))],
    ["a denial", "completed", (session) => session.deny(first(session))],
    ["other arguments", "completed", (session) => session.edit(first(session), {})],
    ["an abort", "aborted", (session) => session.abort("enough")],
    [
      "leave for it, and that it go on",
      "completed",
      async (session) => {
        const allowed = session.allow({ tool: "press" });
        await Promise.all([allowed, session.resume()]);
      },
    ],
  ];

  test.each(words)(
    "%s takes effect, even while the lease is being released",
    async (_what, reason, speak) => {
      const { journal, letting, go } = slowToLetGo();
      const session = await asking(journal);
      const sent = session.send("go");
      await letting;
      const spoken = speak(session);
      go();
      await spoken;
      expect((await sent).end?.reason).toBe(reason);
      expect([session.status, (await typesOf(journal)).at(-1)]).toEqual(["idle", "run_ended"]);
    },
  );

  test.each(words)("%s takes effect, however few ticks later it comes", async (_what, reason, speak) => {
    for (let turns = 0; turns < 20; turns += 1) {
      const session = await asking();
      const asked = deferred();
      session.subscribe((event) => {
        if (event.type === "approval_request") asked.resolve();
      });
      const sent = session.send("go");
      await asked.promise;
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await speak(session);
      await Promise.all([sent, session.settled()]);
      expect([turns, session.status, session.result?.end?.reason]).toEqual([turns, "idle", reason]);
    }
  });

  test("a signal that fires then ends the run", async () => {
    const { journal, letting, go } = slowToLetGo();
    const session = await asking(journal);
    const controller = new AbortController();
    const sent = session.send("go", { signal: controller.signal });
    await letting;
    controller.abort("enough");
    go();
    expect((await sent).end?.reason).toBe("aborted");
  });

  test("a follow-up is stored, and the run stays parked", async () => {
    const { journal, letting, go } = slowToLetGo();
    const session = await asking(journal);
    const sent = session.send("go");
    await letting;
    session.steer("by the way");
    go();
    expect((await sent).parked?.pending).toHaveLength(1);
    expect([session.status, (await typesOf(journal)).at(-1)]).toEqual(["parked", "queued"]);
    const { messages } = await session.approve(first(session));
    expect(messages.map(textOf)).toContain("by the way");
  });

  test("a drain applies to that drive only", async () => {
    const { journal, letting, go } = slowToLetGo();
    const session = await asking(journal);
    const sent = session.send("go");
    await letting;
    const drained = session.drain();
    go();
    await Promise.all([sent, drained]);
    expect(session.status).toBe("parked");
    expect((await session.approve(first(session))).end?.reason).toBe("completed");
  });
});

test("an abort that comes when a run has just ended leaves no trace", async () => {
  const { journal, letting, go } = slowToLetGo();
  const session = await new Agent({ model: scripted([say("done")]), journal }).open("s");
  const sent = session.send("go");
  await letting;
  session.abort();
  go();
  expect((await sent).end?.reason).toBe("completed");
  await session.settled();
  expect((await typesOf(journal)).at(-1)).toBe("run_ended");
});

test("a compaction that is requested when a run has just ended is a run of its own", async () => {
  const { journal, letting, go } = slowToLetGo();
  const session = await new Agent({ model: scripted([say("done")]), journal }).open("s");
  const sent = session.send("go");
  await letting;
  const compacted = session.compact();
  go();
  await Promise.all([sent, compacted]);
  const types = await typesOf(journal);
  expect(types.filter((type) => type === "run_started")).toHaveLength(2);
  expect([session.status, types.at(-1)]).toEqual(["idle", "run_ended"]);
});

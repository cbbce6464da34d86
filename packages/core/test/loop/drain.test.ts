// Draining: a session is left at a safe point, and goes on elsewhere as if nothing had happened.

import { Agent, type Clock, type Journal, memoryJournal, tool } from "@rondo/core";
import { call, fail, hold, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick, shortly } from "../support.ts";

/** A tool that is at work until it is let go. */
function slow(effect: "read" | "write" = "write") {
  const started = deferred();
  const go = deferred();
  const signals: AbortSignal[] = [];
  const made = tool({
    name: "slow",
    description: "slow",
    inputSchema: { type: "object", properties: {} },
    effect,
    execute: async (_args, { signal }) => {
      signals.push(signal);
      started.resolve();
      await go.promise;
      return "slow ran";
    },
  });
  return { tool: made, started: started.promise, go: go.resolve, signals };
}

describe("drain", () => {
  test("lets the working tool finish, calls no model, and another process continues", async () => {
    const journal = memoryJournal();
    const work = slow();
    const first = scripted([call("slow"), say("never asked")]);
    const session = await new Agent({ ...quick, model: first, tools: [work.tool], journal }).open("s");
    const run = session.send("go");
    await work.started;
    const drained = session.drain();
    work.go();
    expect(await drained).toBe("interrupted");
    const result = await run;
    expect([result.end, result.parked]).toEqual([undefined, { pending: [] }]);
    expect(first.requests).toHaveLength(1);
    expect(journal.read("s").map((record) => record.type)).toContain("tool_finished");

    const other = new Agent({ ...quick, model: scripted([say("done")]), tools: [work.tool], journal });
    const again = await other.open("s");
    expect(again.status).toBe("interrupted");
    expect((await again.resume()).end?.reason).toBe("completed");
    expect(shortly(again.messages)).toEqual([
      "user: go",
      "assistant: slow()",
      "tool: slow ran",
      "assistant: done",
    ]);
    expect(journal.read("s").filter((record) => record.type === "tool_started")).toHaveLength(1);
  });

  test("lets the answer in flight arrive, and starts none of its calls", async () => {
    const journal = memoryJournal();
    const answer = hold(call("echo"));
    const agent = new Agent({
      ...quick,
      model: scripted([answer, say("done")]),
      tools: [echo("echo")],
      journal,
    });
    const session = await agent.open("s");
    const run = session.send("go");
    await answer.reached;
    const drained = session.drain();
    answer.release();
    expect(await drained).toBe("interrupted");
    expect((await run).end).toBeUndefined();
    const types = journal.read("s").map((record) => record.type);
    expect(types).toContain("turn_judged");
    expect(types).not.toContain("tool_started");
    // The same session goes on as well.
    expect((await session.resume()).text).toBe("done");
  });

  test("gives up what does not finish in its time: a read runs again, a write has an unknown outcome", async () => {
    for (const effect of ["read", "write"] as const) {
      const journal = memoryJournal();
      const work = slow(effect);
      const agent = new Agent({
        ...quick,
        model: scripted([call("slow"), (request) => say(shortly(request.messages).at(-1) ?? "")]),
        tools: [work.tool],
        journal,
      });
      const session = await agent.open("s");
      const run = session.send("go");
      await work.started;
      expect(await session.drain({ withinMs: 1 })).toBe("interrupted");
      expect(work.signals[0]?.aborted).toBe(true);
      expect((await run).end).toBeUndefined();
      const length = journal.read("s").length;
      work.go();
      await new Promise((resolve) => setImmediate(resolve));
      // What comes after that belongs to nobody.
      expect(journal.read("s")).toHaveLength(length);
      const { text } = await session.resume();
      expect(text).toContain(effect === "read" ? "slow ran" : "outcome is unknown");
      expect(journal.read("s").filter((record) => record.type === "tool_started")).toHaveLength(
        effect === "read" ? 2 : 1,
      );
    }
  });

  test("does not wait for a retry's time, whenever it comes, and keeps the used attempts", async () => {
    // A drain may come before the driver waits, while it writes, or while it waits: none may be missed, and no timer helps.
    const clock: Clock = { now: () => 0, random: () => 0, after: () => () => {} };
    for (const turns of [0, 1, 2, 3, 5, 8, 20]) {
      const kept = memoryJournal();
      const journal: Journal = {
        append: async (...of) => kept.append(...of),
        read: (...of) => kept.read(...of),
        list: () => kept.list(),
      };
      const model = scripted([fail("overloaded"), say("done")]);
      const agent = new Agent({ model, retry: { baseMs: 60_000, capMs: 60_000 }, journal, clock });
      const session = await agent.open("s");
      const waiting = deferred();
      session.subscribe((event) => event.type === "retry" && waiting.resolve());
      const run = session.send("go");
      await waiting.promise;
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      expect(await session.drain()).toBe("interrupted");
      await run;
      expect(session.state.run?.failures).toBe(1);
    }
  }, 5_000);

  test("of a session that nobody drives returns its status, and a later run is not drained", async () => {
    const session = await new Agent({ model: scripted([say("one"), say("two")]) }).open("s");
    expect(await session.drain()).toBe("idle");
    expect((await session.send("go")).end?.reason).toBe("completed");
    expect(await session.drain()).toBe("idle");
    expect((await session.send("go")).end?.reason).toBe("completed");
  });
});

// A write that a crash cut off: its tool finds out, somebody decides, or the model is told.

import {
  Agent,
  type AgentOptions,
  isPaired,
  type MemoryJournal,
  memoryJournal,
  type RondoEvent,
  type Session,
  subAgent,
  systemClock,
  type Tool,
  toolResult,
} from "@rondo/core";
import { call, calls, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick, shortly } from "./support.ts";

type Options = Partial<Parameters<typeof echo>[1]>;

/** A write, and how often it started: the first time it never returns. */
function once(options: Options = {}): { tool: Tool; starts: string[]; keys: string[] } {
  const starts: string[] = [];
  const keys: string[] = [];
  const tool = echo("pay", {
    effect: "write",
    execute: async (args, { idempotencyKey }) => {
      starts.push(JSON.stringify(args));
      keys.push(idempotencyKey);
      if (starts.length === 1) await new Promise(() => {});
      return "paid";
    },
    ...options,
  });
  return { tool, starts, keys };
}

/** A session whose process died while it paid, opened by another. */
async function cutOff(
  pay: { tool: Tool; starts: string[] },
  options: Partial<AgentOptions> = {},
  later: Partial<AgentOptions> = {},
): Promise<{ session: Session; journal: MemoryJournal; events: RondoEvent[] }> {
  const journal = memoryJournal();
  const all = { tools: [pay.tool], ...quick, ...options };
  const first = await new Agent({ model: scripted([call("pay", { n: 1 })]), ...all }).open("s", { journal });
  // When its call is given up, two minutes later, it finds that another wrote: nobody is left to hear of that.
  const lost = (): void => {};
  first.send("go").catch(lost);
  await expect.poll(() => first.pending.length + pay.starts.length).toBeGreaterThan(0);
  if (first.pending.length > 0) first.approve(first.pending[0]?.key ?? "").catch(lost);
  await expect.poll(() => pay.starts.length).toBe(1);
  const session = await new Agent({ model: scripted([say("done")]), ...all, ...later }).open("s", {
    journal,
    takeOver: true,
  });
  const events: RondoEvent[] = [];
  session.subscribe((event) => void events.push(event));
  return { session, journal, events };
}

const found = (journal: MemoryJournal): unknown[] =>
  journal.read("s").flatMap((record) => (record.type === "reconciled" ? [record] : []));

describe("a tool with reconcile", () => {
  test("is asked first, with the call's key, and the outcome it returns is the result", async () => {
    const asked: unknown[] = [];
    const pay = once({
      reconcile: async (key, args, { callId }) => {
        asked.push(key, args, callId);
        return { done: "paid before the crash" };
      },
    });
    const { session, journal, events } = await cutOff(pay);
    const { messages, toolCalls } = await session.resume();
    expect(asked).toEqual([pay.keys[0], { n: 1 }, "call_1"]);
    expect([shortly(messages)[2], toolCalls, pay.starts.length]).toEqual([
      "tool: paid before the crash",
      1,
      1,
    ]);
    expect(messages[2]).toMatchObject({ isError: false });
    expect(found(journal)).toMatchObject([{ found: "done", result: { code: "reconciled" } }]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool_end", code: "reconciled", isError: false }),
    );
  });

  test("may return that nothing was done: the call starts again, with the same key", async () => {
    const pay = once({ reconcile: () => ({ notDone: true }) });
    const { session } = await cutOff(pay);
    const { messages } = await session.resume();
    expect(shortly(messages)[2]).toBe("tool: paid");
    expect(pay.starts).toHaveLength(2);
    expect(new Set(pay.keys).size).toBe(1);
  });

  test("is asked in a fork with the key that the call was started with, and starts it again with the fork's own key", async () => {
    const asked: unknown[] = [];
    const pay = once({
      reconcile: (key, _args, { idempotencyKey }) => {
        asked.push([key, idempotencyKey]);
        return { notDone: true };
      },
    });
    const { session, journal } = await cutOff(pay);
    const fork = await session.fork("f");
    await fork.resume();
    const [key] = pay.keys;
    expect(asked).toEqual([[key, key]]);
    const started = journal
      .read("f")
      .flatMap((one) => (one.type === "tool_started" ? [one.idempotencyKey] : []));
    expect(started).toEqual(pay.keys);
    expect(new Set(pay.keys).size).toBe(2);
  });

  test("may return that nothing was done of an approved call: it needs no second approval", async () => {
    const pay = once({ permission: "ask", reconcile: () => ({ notDone: true }) });
    const { session } = await cutOff(pay, { onInterrupted: "ask" });
    const { end } = await session.resume();
    expect([end?.reason, pay.starts.length]).toEqual(["completed", 2]);
  });

  test.each([
    ["says nothing", () => undefined],
    [
      "throws",
      () => {
        throw new Error("the bank is closed");
      },
    ],
    ["rejects", () => Promise.reject(new Error("the bank is closed"))],
    ["never answers", () => new Promise<undefined>(() => {})],
    ["says what has no meaning", () => ({ maybe: true }) as never],
  ])("and %s: the model is told that the outcome is unknown", async (_how, reconcile) => {
    const pay = once({ reconcile, timeoutMs: 60_000 });
    // A minute is over at once.
    const after = (ms: number, then: () => void): (() => void) =>
      systemClock.after(ms < 60_000 ? ms : 1, then);
    const { session, journal } = await cutOff(pay, {}, { clock: { ...systemClock, after } });
    const { messages } = await session.resume();
    expect(shortly(messages)[2]).toMatch(/outcome is unknown/);
    expect([pay.starts.length, found(journal)]).toMatchObject([1, [{ found: "unknown" }]]);
  });

  test("does not delay an abort, and gets the signal", async () => {
    let signal: AbortSignal | undefined;
    const pay = once({
      reconcile: (_key, _args, context) => {
        signal = context.signal;
        return new Promise<undefined>(() => {});
      },
    });
    const { session } = await cutOff(pay);
    const running = session.resume();
    await expect.poll(() => signal).toBeDefined();
    session.abort("enough");
    const { end, messages } = await running;
    expect([end?.reason, signal?.aborted, isPaired(messages)]).toEqual(["aborted", true, true]);
    expect(shortly(messages)[2]).toMatch(/its outcome is unknown/);
  });

  test("is asked again by the next process if this one dies before the answer", async () => {
    let asked = 0;
    const pay = once({
      reconcile: () => {
        asked += 1;
        return asked === 1 ? new Promise<undefined>(() => {}) : { done: "paid" };
      },
    });
    const { session, journal } = await cutOff(pay);
    session.resume().catch(() => {});
    await expect.poll(() => asked).toBe(1);
    const third = await new Agent({ model: scripted([say("done")]), tools: [pay.tool] }).open("s", {
      journal,
      takeOver: true,
    });
    const { messages } = await third.resume();
    expect([shortly(messages)[2], asked, pay.starts.length]).toEqual(["tool: paid", 2, 1]);
  });

  test("may end the run with the outcome, and hooks see its result", async () => {
    const seen: unknown[] = [];
    const hooks = { afterTool: (view: { id: string }) => void seen.push(view.id) };
    const pay = once({ reconcile: () => ({ done: toolResult("all paid", { done: true }) }) });
    const { session } = await cutOff(pay, { hooks });
    const { end } = await session.resume();
    expect([end?.reason, seen]).toEqual(["done_tool", ["call_1"]]);
  });

  test("is not asked about reads, which simply run again", async () => {
    const pay = once({ effect: "read", reconcile: () => ({ done: "no" }) });
    const { session } = await cutOff(pay);
    const { messages } = await session.resume();
    expect([shortly(messages)[2], pay.starts.length]).toEqual(["tool: paid", 2]);
  });
});

describe("onInterrupted: ask", () => {
  const options = { onInterrupted: "ask" } as const;

  test("parks the run with the call, which is marked as interrupted; approving it runs it again", async () => {
    const pay = once();
    const { session, events } = await cutOff(pay, options);
    const { parked } = await session.resume();
    expect(parked?.pending).toMatchObject([{ name: "pay", interrupted: true }]);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "approval_request",
        call: expect.objectContaining({ interrupted: true }),
      }),
    );
    const { end, messages } = await session.approve(session.pending[0]?.id ?? "");
    expect([end?.reason, shortly(messages)[2], pay.starts.length]).toEqual(["completed", "tool: paid", 2]);
  });

  test("marks a call inside sub-agents as interrupted too, in the parent and in its events", async () => {
    const pay = once();
    const journal = memoryJournal();
    /** A boss, whose foreman's worker pays: each says its turn. */
    const crew = (boss: Turn, foreman: Turn, worker: Turn): Agent => {
      const payer = new Agent({ model: scripted([worker]), tools: [pay.tool], ...quick, ...options });
      const helper = subAgent({ name: "worker", description: "Pays", agent: payer });
      const middle = new Agent({ model: scripted([foreman]), tools: [helper], ...quick });
      const tools = [subAgent({ name: "foreman", description: "Has it paid", agent: middle })];
      return new Agent({ model: scripted([boss]), tools, ...quick, journal });
    };
    const task = { task: "pay" };
    const dying = await crew(call("foreman", task), call("worker", task), call("pay", { n: 1 })).open("s");
    const left = dying.send("go");
    await expect.poll(() => pay.starts.length).toBe(1);
    await dying.drain({ withinMs: 0 });
    await left;
    const session = await crew(say("done"), say("it is paid"), say("paid")).open("s");
    const events: RondoEvent[] = [];
    session.subscribe((event) => void events.push(event));
    const { parked } = await session.resume();
    expect(parked?.pending).toMatchObject([{ id: "call_1/call_1/call_1", name: "pay", interrupted: true }]);
    expect(events).toContainEqual({ type: "approval_request", call: parked?.pending[0] });
    const { text } = await session.approve("call_1/call_1/call_1");
    expect([text, pay.starts.length]).toEqual(["done", 2]);
  });

  test("marks it also if the session was drained and continues by itself, and it may be approved again", async () => {
    const pay = once({ permission: "ask" });
    const model = scripted([call("pay"), say("done")]);
    const session = await new Agent({ model, tools: [pay.tool], ...quick, ...options }).open("s");
    await session.send("go");
    const approved = session.approve("call_1");
    await expect.poll(() => pay.starts.length).toBe(1);
    await session.drain({ withinMs: 0 });
    expect((await approved).end).toBeUndefined();
    const { parked } = await session.resume();
    expect(parked?.pending).toMatchObject([{ id: "call_1", interrupted: true }]);
    const { text } = await session.approve("call_1");
    expect([text, pay.starts.length]).toEqual(["done", 2]);
  });

  test("denying tells the model that the outcome is unknown, and why the call is not repeated", async () => {
    const pay = once();
    const { session } = await cutOff(pay, options);
    await session.resume();
    const { messages } = await session.deny(session.pending[0]?.id ?? "", "look into the books");
    expect(shortly(messages)[2]).toMatch(/outcome is unknown.*Permission denied: look into the books/);
    expect(pay.starts).toHaveLength(1);
  });

  test("editing runs it with other arguments; with invalid ones it does not run, and still waits, or its outcome stays unknown", async () => {
    const inputSchema = { type: "object", properties: { n: { type: "integer" } } } as const;
    const good = once({ inputSchema });
    const one = await cutOff(good, options);
    await one.session.resume();
    await one.session.edit(one.session.pending[0]?.id ?? "", { n: 2 });
    expect(good.starts).toEqual(['{"n":1}', '{"n":2}']);
    const bad = once({ inputSchema });
    const other = await cutOff(bad, options);
    await other.session.resume();
    const id = other.session.pending[0]?.id ?? "";
    await expect(other.session.edit(id, { n: "many" })).rejects.toThrow("do not fit the schema of pay");
    expect(other.session.pending.map((view) => view.id)).toEqual([id]);
    const { messages } = await other.session.edit(id, { n: "many" }, { misfit: "told" });
    expect(shortly(messages)[2]).toMatch(/outcome is unknown.*do not fit its schema/);
    expect(bad.starts).toHaveLength(1);
  });

  test("asks also about a call that was approved before, and no grant covers it", async () => {
    const pay = once({ permission: "ask" });
    const { session } = await cutOff(pay, options);
    await session.allow({ tool: "pay" });
    await session.resume();
    expect([session.pending.length, pay.starts.length]).toEqual([1, 1]);
  });

  test("asks the tool first: people are asked only if it does not know", async () => {
    const pay = once({ reconcile: () => undefined });
    const { session } = await cutOff(pay, options);
    await session.resume();
    expect(session.pending).toMatchObject([{ interrupted: true }]);
  });

  test("asks nobody if the run ends meanwhile: the outcome is reported as unknown", async () => {
    const pay = once();
    const { session } = await cutOff(pay, options);
    await session.resume();
    session.abort("enough");
    await session.settled();
    expect(shortly(session.messages)[2]).toMatch(/outcome is unknown/);
    expect(pay.starts).toHaveLength(1);
  });

  test("says so to the model also after an abort with custom texts, because a crash is not an abort", async () => {
    const pay = once();
    const { session, events } = await cutOff(pay, { ...options, texts: { aborted: () => "Interrupted." } });
    await session.resume();
    session.abort("enough");
    await session.settled();
    expect(shortly(session.messages)[2]).toMatch(/outcome is unknown/);
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", code: "outcome_unknown" }));
  });

  test("says so for a call that is skipped for a user's message: it is never reported as not run", async () => {
    const pay = once();
    const { session } = await cutOff(pay, { ...options, toolOrder: "sequential" });
    await session.resume();
    session.steer("never mind");
    await session.resume();
    expect(session.pending).toMatchObject([{ interrupted: true }]);
    await session.deny(session.pending[0]?.id ?? "");
    expect(shortly(session.messages).slice(2, 4)).toMatchObject([
      expect.stringMatching(/outcome is unknown/),
      "user: never mind",
    ]);
  });

  test("says of a call that may run again, and did not, that its effect is unknown", async () => {
    const pay = once({ effect: "idempotent" });
    const { session } = await cutOff(pay);
    session.abort("enough");
    await session.settled();
    expect(pay.starts).toHaveLength(1);
    expect(session.result?.end?.reason).toBe("aborted");
    expect(shortly(session.messages)[2]).toMatch(/whether it had an effect is unknown/);
  });

  test("lets the other calls of the answer continue, and keeps their results", async () => {
    const journal = memoryJournal();
    const pay = once();
    const look = echo("look");
    const model = scripted([calls([["pay"], ["look"]])]);
    const first = await new Agent({ model, tools: [pay.tool, look], toolOrder: "parallel", ...options }).open(
      "s",
      { journal },
    );
    first.send("go").catch(() => {});
    await expect.poll(() => pay.starts.length).toBe(1);
    const session = await new Agent({
      model: scripted([say("done")]),
      tools: [pay.tool, look],
      ...options,
    }).open("s", { journal, takeOver: true });
    await session.resume();
    const finished = journal.read("s").filter((record) => record.type === "tool_finished");
    expect([finished.length, session.pending.length]).toEqual([1, 1]);
  });
});

test("an invalid onInterrupted is refused", () => {
  expect(() => new Agent({ model: scripted([]), onInterrupted: "hope" as never })).toThrow(
    /option onInterrupted/,
  );
});

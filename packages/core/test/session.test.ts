// Sessions end to end: words from outside, approvals, and lives that go on in another process.

import {
  Agent,
  isPaired,
  type Journal,
  type LogRecord,
  type Message,
  type Model,
  memoryJournal,
  RondoError,
  type RondoEvent,
  type Tool,
  textOf,
  userText,
} from "@rondo/core";
import { call, calls, hold, say, scripted, stall } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick, shortly } from "./support.ts";

describe("a session", () => {
  test("keeps its conversation from run to run", async () => {
    const session = await new Agent({ model: scripted([say("one"), say("two")]) }).open("s");
    await session.send("first");
    const { messages } = await session.send("second");
    expect(shortly(messages)).toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
  });

  test("refuses a second run while one is active, with a clear error, and does not affect the first", async () => {
    const held = hold(say("done"));
    const session = await new Agent({ model: scripted([held]) }).open("s");
    const first = session.send("one");
    await held.reached;
    await expect(session.send("two")).rejects.toThrow(/session s has a run that is running.*followUp/);
    held.release();
    expect(shortly((await first).messages)).toEqual(["user: one", "assistant: done"]);
  });

  test("delivers steering once, before the next model call, after the results", async () => {
    const held = hold(call("look"));
    const model = scripted([held, say("done")]);
    const session = await new Agent({ model, tools: [echo("look")] }).open("s");
    const running = session.send("go");
    await held.reached;
    session.steer("one more thing", "client-1");
    session.steer("one more thing", "client-1");
    held.release();
    const { messages } = await running;
    expect(shortly(messages)).toEqual([
      "user: go",
      "assistant: look()",
      "tool: look ran",
      "user: one more thing",
      "assistant: done",
    ]);
    expect(model.requests[1]?.messages.at(-1)?.role).toBe("user");
  });

  describe("withdraws a queued message", () => {
    const textsIn = (session: { queued: readonly { message: Message }[] }): string[] =>
      session.queued.map(({ message }) => textOf(message));
    const heldSession = async (id = "s", journal = memoryJournal()) => {
      const held = hold(call("look"));
      const model = scripted([held, say("done"), say("again")]);
      const session = await new Agent({ model, tools: [echo("look")], journal }).open(id);
      return { held, model, session, journal };
    };

    test("while a run is driven, in either lane", async () => {
      const { held, session } = await heldSession();
      const told: RondoEvent[] = [];
      session.subscribe((event) => event.type === "message_withdrawn" && told.push(event));
      const running = session.send("go");
      await held.reached;
      session.steer("one", "a");
      session.steer("two", "b");
      session.followUp("three", "c");
      expect(textsIn(session)).toEqual(["one", "two", "three"]);
      const taken = ["b", "c", "b"].map((id) => session.withdraw(id));
      expect(textsIn(session)).toEqual(["one"]);
      expect(await Promise.all(taken)).toEqual([true, true, false]);
      held.release();
      const { messages } = await running;
      expect(shortly(messages).slice(3)).toEqual(["user: one", "assistant: done"]);
      expect(told).toEqual([
        { type: "message_withdrawn", lane: "steer", id: "b", message: userText("two") },
        { type: "message_withdrawn", lane: "follow_up", id: "c", message: userText("three") },
      ]);
      expect([await session.withdraw("a"), await session.withdraw("nobody's")]).toEqual([false, false]);
    });

    test("while nobody drives, also in another process; and a duplicate of it is dropped as before", async () => {
      const { held, session, journal } = await heldSession();
      session.steer("one", "a");
      const again = await new Agent({ model: scripted([say("done")]), journal }).open("s");
      expect(textsIn(again)).toEqual(["one"]);
      expect(await again.withdraw("a")).toBe(true);
      expect(again.queued).toEqual([]);
      again.steer("one", "a");
      expect(shortly((await again.send("go")).messages)).toEqual(["user: go", "assistant: done"]);
      expect((await again.replay()).difference).toBeUndefined();
      held.release();
    });

    test("in a run that was aborted, so that it can be written again", async () => {
      const { held, session } = await heldSession();
      const running = session.send("go");
      await held.reached;
      session.steer("one", "a");
      session.abort("stop");
      await running;
      expect(textsIn(session)).toEqual(["one"]);
      expect(await session.withdraw("a")).toBe(true);
      expect(session.queued).toEqual([]);
    });

    test("and returns false for an unknown id", async () => {
      const { session } = await heldSession();
      await expect(session.withdraw(5 as never)).rejects.toThrow("withdraw: option id");
    });
  });

  test("delivers a message that comes while the final answer is being made", async () => {
    const held = hold(say("done"));
    const session = await new Agent({ model: scripted([held, say("and that too")]) }).open("s");
    const running = session.send("go");
    await held.reached;
    session.steer("and that?");
    held.release();
    expect((await running).text).toBe("and that too");
  });

  test("skips the remaining calls of a sequence if a message comes between two calls", async () => {
    let session: Awaited<ReturnType<Agent["open"]>>;
    const first = echo("first", { execute: () => session.steer("stop that") });
    const model = scripted([calls([["first"], ["second"]]), say("ok")]);
    session = await new Agent({ model, tools: [first, echo("second")], toolOrder: "sequential" }).open("s");
    const { messages, toolCalls } = await session.send("go");
    expect(toolCalls).toBe(1);
    expect(shortly(messages).slice(3, 5)).toEqual([
      "tool: second was skipped: a new message from the user came first.",
      "user: stop that",
    ]);
  });

  test("first runs a sequence to its end, if messages are to be delivered after it", async () => {
    let session: Awaited<ReturnType<Agent["open"]>>;
    const first = echo("first", { execute: () => session.steer("stop that") });
    const model = scripted([calls([["first"], ["second"]]), say("ok")]);
    const tools = [first, echo("second")];
    session = await new Agent({ model, tools, toolOrder: "sequential", steering: "after_calls" }).open("s");
    const { messages, toolCalls } = await session.send("go");
    expect(toolCalls).toBe(2);
    expect(shortly(messages).slice(3)).toEqual(["tool: second ran", "user: stop that", "assistant: ok"]);
  });

  test("delivers follow-ups once, when the run would end", async () => {
    const held = hold(say("first done"));
    const session = await new Agent({ model: scripted([held, say("second done")]) }).open("s");
    const running = session.send("go");
    await held.reached;
    session.followUp("and then this");
    held.release();
    expect(shortly((await running).messages)).toEqual([
      "user: go",
      "assistant: first done",
      "user: and then this",
      "assistant: second done",
    ]);
  });

  test("asks the onFinish hook once for more work", async () => {
    let asked = 0;
    const hooks = {
      onFinish: () => {
        asked += 1;
        return "check your work";
      },
    };
    const { text } = await new Agent({ model: scripted([say("done"), say("checked")]), hooks }).run("go");
    expect([asked, text]).toEqual([1, "checked"]);
  });
});

describe("a call that needs an approval", () => {
  const guarded = (ran: unknown[]): Tool =>
    echo("guarded", {
      effect: "write",
      permission: "ask",
      inputSchema: { type: "object", properties: { n: { type: "integer" } } },
      execute: (args) => void ran.push(args),
    });

  test("parks the run, and continues when the answer comes", async () => {
    const ran: unknown[] = [];
    const session = await new Agent({
      model: scripted([call("guarded", { n: 1 }), say("done")]),
      tools: [guarded(ran)],
    }).open("s");
    const parked = await session.send("go");
    expect([parked.end, session.status]).toEqual([undefined, "parked"]);
    expect(parked.parked?.pending).toMatchObject([{ name: "guarded", args: { n: 1 } }]);
    expect(ran).toEqual([]);
    const { end } = await session.approve(session.pending[0]?.id ?? "");
    expect([end?.reason, ran]).toEqual(["completed", [{ n: 1 }]]);
  });

  test("has the reason as its result if it is denied, and the run continues", async () => {
    const ran: unknown[] = [];
    const session = await new Agent({
      model: scripted([call("guarded"), say("then not")]),
      tools: [guarded(ran)],
    }).open("s");
    await session.send("go");
    const { text, messages } = await session.deny(session.pending[0]?.key ?? "", "not today");
    expect([ran, text]).toEqual([[], "then not"]);
    expect(shortly(messages)[2]).toBe("tool: Permission denied: not today");
  });

  test("ends the run if it is denied with a stop", async () => {
    const session = await new Agent({ model: scripted([call("guarded")]), tools: [guarded([])] }).open("s");
    await session.send("go");
    const { end, messages } = await session.deny(session.pending[0]?.key ?? "", "no", { stop: true });
    expect(end).toMatchObject({ reason: "turn_stopped", rule: "approval", evidence: { said: "no" } });
    expect(isPaired(messages)).toBe(true);
  });

  test("runs with edited arguments, which are validated like the model's own", async () => {
    const ran: unknown[] = [];
    const model = scripted([call("guarded", { n: 1 }), call("guarded", { n: 1 }), say("done")]);
    const session = await new Agent({ model, tools: [guarded(ran)] }).open("s");
    await session.send("go");
    await session.edit(session.pending[0]?.key ?? "", { n: "2" });
    expect(ran).toEqual([{ n: 2 }]);
    const [second] = session.pending;
    await expect(session.edit(second?.key ?? "", { n: "many" })).rejects.toMatchObject({
      kind: "invalid_request",
      message: expect.stringMatching(
        /^edit: the arguments do not fit the schema of guarded: .*n.*; the call still waits: edit\(\) it again, or approve\(\), deny\(\) or answer\(\) it$/s,
      ),
    });
    expect([session.status, session.pending, ran.length]).toEqual(["parked", [second], 1]);
    expect((await session.edit(second?.key ?? "", { n: 3 })).text).toBe("done");
    expect(ran).toEqual([{ n: 2 }, { n: 3 }]);
  });

  test("does not run with edited arguments that do not fit, and the model is told so if set", async () => {
    const ran: unknown[] = [];
    const model = scripted([call("guarded", { n: 1 }), say("done")]);
    const session = await new Agent({ model, tools: [guarded(ran)] }).open("s");
    await session.send("go");
    const { messages } = await session.edit(session.pending[0]?.key ?? "", { n: "many" }, { misfit: "told" });
    expect(ran).toEqual([]);
    expect(shortly(messages).at(-2)).toMatch(/do not fit its schema/);
  });

  test("cannot be edited with an unknown option", async () => {
    const session = await new Agent({
      model: scripted([call("guarded", { n: 1 })]),
      tools: [guarded([])],
    }).open("s");
    await session.send("go");
    const key = session.pending[0]?.key ?? "";
    await expect(session.edit(key, { n: 2 }, { misfit: "ignored" as never })).rejects.toThrow(
      'edit: option misfit: one of refused, told is needed, not "ignored"',
    );
    expect(session.status).toBe("parked");
  });

  test("does not stop calls that need no approval", async () => {
    const ran: unknown[] = [];
    const session = await new Agent({
      model: scripted([calls([["look"], ["guarded"]])]),
      tools: [guarded(ran), echo("look")],
    }).open("s");
    const events: string[] = [];
    session.subscribe((event) => event.type === "tool_end" && events.push(event.call.name));
    await session.send("go");
    expect([events, session.pending.length]).toEqual([["look"], 1]);
  });

  test("cannot be approved twice, nor if it does not wait: the error names the calls that do", async () => {
    const session = await new Agent({
      model: scripted([call("guarded"), say("done")]),
      tools: [guarded([])],
    }).open("s");
    await session.send("go");
    const key = session.pending[0]?.key ?? "";
    await expect(session.approve("nothing")).rejects.toThrow(
      /no call "nothing" waits.*waiting: call_1 \(guarded\)/,
    );
    await session.approve(key);
    await expect(session.approve(key)).rejects.toThrow(/waiting: none/);
  });

  test("can be left for ever: another process answers it", async () => {
    const ran: unknown[] = [];
    const journal = memoryJournal();
    const first = await new Agent({
      model: scripted([call("guarded", { n: 7 })]),
      tools: [guarded(ran)],
    }).open("s", { journal });
    await first.send("go");
    const later = await new Agent({ model: scripted([say("done")]), tools: [guarded(ran)] }).open("s", {
      journal,
    });
    expect(later.status).toBe("parked");
    const { end } = await later.approve(later.pending[0]?.key ?? "");
    expect([end?.reason, ran]).toEqual(["completed", [{ n: 7 }]]);
  });

  test("is parked for a process that opens it while its call waits, and interrupted once it was answered and nobody drove it", async () => {
    const journal = memoryJournal();
    const agent = (model: Model): Agent => new Agent({ model, tools: [guarded([])], journal });
    const first = await agent(scripted([call("guarded", { n: 7 })])).open("s");
    await first.send("go");
    const second = await agent(scripted([stall()])).open("s");
    expect(second.status).toBe("parked");
    expect([(await second.resume()).parked?.pending.length, second.status]).toEqual([1, "parked"]);
    const never = second.approve(second.pending[0]?.key ?? "");
    never.catch(() => {});
    // Its model hangs from there on: nothing is written any more that a third one could be too late for.
    await expect.poll(() => journal.read("s").at(-1)?.type).toBe("model_started");
    const third = await agent(scripted([])).open("s", { takeOver: true });
    expect([third.status, third.pending]).toEqual(["interrupted", []]);
  });

  test("is interrupted once a grant covers its waiting call, here and for a process that opens it", async () => {
    const journal = memoryJournal();
    const agent = (model: Model): Agent => new Agent({ model, tools: [guarded([])], journal });
    const first = await agent(scripted([call("guarded", { n: 7 })])).open("s");
    await first.send("go");
    await first.allow({ tool: "another" });
    expect(first.status).toBe("parked");
    await first.allow({ tool: "guarded" });
    const second = await agent(scripted([say("done")])).open("s");
    expect([first.status, second.status]).toEqual(["interrupted", "interrupted"]);
    expect((await second.resume()).text).toBe("done");
  });
});

describe("another process", () => {
  test("continues a run that was interrupted in a model call, and counts no attempt", async () => {
    const journal = memoryJournal();
    const dying = scripted([call("look"), stall()]);
    const first = await new Agent({ model: dying, tools: [echo("look")], ...quick }).open("s", { journal });
    const never = first.send("go");
    never.catch(() => {});
    await expect.poll(() => dying.calls).toBe(2);
    const second = await new Agent({ model: scripted([say("done")]), tools: [echo("look")], ...quick }).open(
      "s",
      { journal },
    );
    expect(second.status).toBe("interrupted");
    const { text, steps } = await second.resume();
    expect([text, steps]).toEqual(["done", 2]);
    expect(
      journal
        .read("s")
        .filter((record) => record.type === "model_started")
        .map((record) => record.attempt),
    ).toEqual([1, 1, 1]);
  });

  test("runs an interrupted read again, does not repeat an interrupted write, and says that its outcome is unknown", async () => {
    const journal = memoryJournal();
    const counts = { read: 0, write: 0 };
    const blocked = deferred();
    const tools = (block: boolean): Tool[] => [
      echo("read", {
        execute: async () => {
          counts.read += 1;
          if (block) await new Promise(() => {});
          return "read ran";
        },
      }),
      echo("write", {
        effect: "write",
        execute: async () => {
          counts.write += 1;
          if (block) {
            blocked.resolve();
            await new Promise(() => {});
          }
        },
      }),
    ];
    for (const name of ["read", "write"]) {
      const id = `s-${name}`;
      const first = await new Agent({ model: scripted([call(name)]), tools: tools(true) }).open(id, {
        journal,
      });
      first.send("go").catch(() => {});
      await expect.poll(() => counts[name as "read" | "write"]).toBe(1);
      const second = await new Agent({ model: scripted([say("done")]), tools: tools(false) }).open(id, {
        journal,
      });
      const { messages } = await second.resume();
      expect(isPaired(messages)).toBe(true);
      expect(shortly(messages)[2]).toMatch(
        name === "read" ? /read ran/ : /interrupted: its outcome is unknown/,
      );
    }
    expect(counts).toEqual({ read: 2, write: 1 });
  });

  test("refuses a session with a newer format, naming both versions", async () => {
    const journal = memoryJournal();
    await new Agent({ model: scripted([say("x")]) }).run("go", { session: "s", journal });
    const records = journal
      .read("s")
      .map((record) => (record.type === "run_started" ? { ...record, format: 99 } : record));
    const newer = { ...journal, read: () => records };
    await expect(new Agent({ model: scripted([]) }).open("s", { journal: newer })).rejects.toThrow(
      /newer version.*99/,
    );
  });

  test("forks a session: the prefix is shared, the rest is its own", async () => {
    const journal = memoryJournal();
    const session = await new Agent({ model: scripted([say("one"), say("two"), say("three")]) }).open("s", {
      journal,
    });
    await session.send("first");
    const fork = await session.fork("t");
    await session.send("second");
    await fork.send("otherwise");
    expect(shortly(fork.messages)).toEqual([
      "user: first",
      "assistant: one",
      "user: otherwise",
      "assistant: three",
    ]);
    expect(shortly(session.messages)).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "assistant: two",
    ]);
  });
});

describe("a journal that fails", () => {
  /** A journal that takes `groups` groups and then refuses. */
  function failing(groups: number, how: "throws" | "rejects"): Journal & { taken: number } {
    const inner = memoryJournal();
    const journal = {
      ...inner,
      taken: 0,
      append(session: string, expectedSeq: number, records: readonly LogRecord[]) {
        journal.taken += 1;
        const full = new RondoError("internal", "runs.db: the disk is full");
        if (journal.taken > groups) {
          if (how === "throws") throw full;
          return Promise.reject(full);
        }
        inner.append(session, expectedSeq, records);
        return how === "throws" ? undefined : Promise.resolve();
      },
    };
    return journal;
  }

  test.each(["throws", "rejects"] as const)(
    "that %s: the run rejects with its error, nothing starts any more, and stored records stay",
    async (how) => {
      for (let groups = 0; groups < 5; groups += 1) {
        let ran = 0;
        const journal = failing(groups, how);
        const model = scripted([call("look"), say("done")]);
        const session = await new Agent({
          model,
          tools: [
            echo("look", {
              execute: () => {
                ran += 1;
              },
            }),
          ],
        }).open("s", { journal });
        await expect(session.send("go")).rejects.toThrow("runs.db: the disk is full");
        expect(ran).toBeLessThanOrEqual(groups > 2 ? 1 : 0);
        const calls = model.calls;
        await expect(session.send("again")).rejects.toThrow();
        expect(model.calls).toBe(calls);
        const kept = await journal.read("s");
        expect(kept.map((record) => record.seq)).toEqual(kept.map((_, at) => at));
        const { messages } = await new Agent({ model: scripted([]) }).open("s", {
          journal: { ...memoryJournal(), read: (_session, from = 0) => kept.slice(from), append: () => {} },
        });
        expect(isPaired(messages)).toBe(true);
      }
    },
  );

  test("makes the stream of events reject, after the events so far", async () => {
    const stream = new Agent({ model: scripted([say("x")]) }).stream("go", {
      journal: failing(1, "rejects"),
    });
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of stream) types.push(event.type);
    })();
    await expect(reading).rejects.toThrow("the disk is full");
    expect(types[0]).toBe("run_start");
  });
});

describe("a message that comes while the last record is written", () => {
  test("is stored, and delivered in the next run", async () => {
    const inner = memoryJournal();
    let session: Awaited<ReturnType<Agent["open"]>>;
    const journal = {
      ...inner,
      append: async (id: string, expectedSeq: number, records: readonly LogRecord[]) => {
        if (records.some((record) => record.type === "run_ended") && session.state.run?.number === 1)
          session.steer("wait");
        inner.append(id, expectedSeq, records);
      },
    };
    session = await new Agent({ model: scripted([say("one"), say("two")]) }).open("s", { journal });
    await session.send("go");
    expect(inner.read("s").at(-1)).toMatchObject({ type: "queued" });
    expect(shortly((await session.send("next")).messages)).toContain("user: wait");
  });
});

test.each([
  ["a bigint", { n: 5n }, "args.n is a bigint, and JSON has no such value"],
  ["a circle", circle(), "args.itself is a circle"],
  ["a function", { f: () => 1 }, "args.f is a function"],
  ["a number", 5, "not 5"],
  ["a list", [], "not []"],
  ["nothing", undefined, "not undefined"],
])("an edit of a call to %s is refused, and the call still waits", async (_what, args, why) => {
  const ran: unknown[] = [];
  const press = echo("press", { permission: "ask", execute: (given: unknown) => void ran.push(given) });
  const session = await new Agent({ model: scripted([call("press"), say("done")]), tools: [press] }).open(
    "s",
  );
  await session.send("go");
  const [first] = session.pending;
  await expect(session.edit(first?.id ?? "", args as never)).rejects.toMatchObject({
    kind: "invalid_request",
    message: expect.stringContaining(`edit: the arguments must be an object of plain JSON: ${why}`),
  });
  expect([session.status, session.pending]).toEqual(["parked", [first]]);
  const own = { a: 1 };
  const edited = session.edit(first?.id ?? "", own);
  own.a = 2;
  expect((await edited).end?.reason).toBe("completed");
  expect(ran).toEqual([{ a: 1 }]);
});

function circle(): object {
  const one: { itself?: unknown } = {};
  one.itself = one;
  return one;
}

// What a session is told is read, whatever it is doing.

import {
  Agent,
  type AgentOptions,
  type Journal,
  memoryJournal,
  type RunResult,
  type Session,
  waitForAnswer,
} from "@rondo/core";
import { call, fail, hold, say, scripted, type Turn, tick } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { echo, quick, shortly } from "./support.ts";

type Script = Parameters<typeof scripted>[0];

const pay = echo("pay", { permission: "ask", effect: "write" });
const ask = echo("ask", { execute: () => waitForAnswer("Where are you?") });

const opened = (script: Script, options: Partial<AgentOptions> = {}): Promise<Session> =>
  new Agent({ model: scripted(script), tools: [pay, ask], ...quick, ...options }).open("s");

/** A session with a run whose first answer waits until it is released. */
async function working(
  [first = [], ...others]: Turn[],
  options?: Partial<AgentOptions>,
): Promise<{ session: Session; run: Promise<RunResult>; release: () => void }> {
  const held = hold(first);
  const session = await opened([held, ...others], options);
  const run = session.send("Do it.");
  await held.reached;
  return { session, run, release: held.release };
}

/** A session in which a call waits for an approval while another tool runs, until the test lets it look. */
async function asking(): Promise<{
  session: Session;
  run: Promise<unknown>;
  look: PromiseWithResolvers<string>;
}> {
  const look = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  const session = await opened([[call("pay"), call("look")], say("As you like.")], {
    tools: [echo("pay", { permission: "ask" }), echo("look", { execute: () => look.promise })],
  });
  session.subscribe(({ type }) => {
    if (type === "approval_request") asked.resolve();
  });
  const run = session.send("Pay.");
  await asked.promise;
  return { session, run, look };
}

describe("a session that is told something", () => {
  test("starts a run, if there is none", async () => {
    const session = await opened([say("Hi."), say("Bye.")]);
    expect((await session.tell("Hello!")).text).toBe("Hi.");
    expect((await session.tell([{ type: "text", text: "Good night." }])).text).toBe("Bye.");
    expect(shortly(session.messages)).toEqual([
      "user: Hello!",
      "assistant: Hi.",
      "user: Good night.",
      "assistant: Bye.",
    ]);
  });

  test("reads it in the active run", async () => {
    const { session, run, release } = await working([call("look"), say("Oslo it is.")], {
      tools: [echo("look")],
    });
    const told = session.tell("In Oslo.");
    release();
    expect((await told).text).toBe("Oslo it is.");
    expect(await told).toEqual(await run);
    expect(shortly(session.messages).slice(2)).toEqual([
      "tool: look ran",
      "user: In Oslo.",
      "assistant: Oslo it is.",
    ]);
  });

  test("reads it in a new run, if the active one ends without reading it", async () => {
    const { session, run } = await working([say("never"), say("As you like.")]);
    const told = session.tell("No, wait.");
    session.abort("stopped");
    expect((await run).end?.reason).toBe("aborted");
    expect((await told).text).toBe("As you like.");
  });

  test("reads nothing more, if what waits is taken back before the run is aborted", async () => {
    const held = hold(say("never"));
    const session = await opened([held, say("never")]);
    const run = session.tell("Do it.");
    await held.reached;
    const told = session.tell("And that.");
    for (const { id } of session.queued) await session.withdraw(id);
    session.abort("stopped");
    expect((await run).end?.reason).toBe("aborted");
    expect(await told).toEqual(await run);
    expect(session.status).toBe("idle");
  });

  test("reads it in a new run, if the active one fails", async () => {
    const { session, run, release } = await working([fail("auth"), say("Better.")]);
    const told = session.tell("And now?");
    release();
    expect((await run).end?.reason).toBe("error");
    expect((await told).text).toBe("Better.");
  });

  test("does not run what waits for an approval: whoever writes has not approved", async () => {
    const session = await opened([[call("pay"), call("pay", { again: true })], say("As you like.")]);
    await session.send("Pay.");
    expect((await session.tell("How much is it?")).text).toBe("As you like.");
    expect(shortly(session.messages).slice(1)).toEqual([
      "assistant: pay() pay()",
      "tool: Permission denied: The user wrote a message instead.",
      "tool: Permission denied: The user wrote a message instead.",
      "user: How much is it?",
      "assistant: As you like.",
    ]);
  });

  test("takes it for the answer to a question", async () => {
    const session = await opened([call("ask"), say("Oslo it is.")]);
    await session.send("Where?");
    const { text } = await session.tell([{ type: "text", text: "In Oslo." }]);
    expect(text).toBe("Oslo it is.");
    expect(shortly(session.messages).slice(2, 4)).toEqual(["tool: In Oslo.", "user: In Oslo."]);
  });

  test("denies nothing that was asked after it was written", async () => {
    const { session, run, release } = await working([call("pay"), say("Paid.")]);
    const told = session.tell("Quickly!");
    release();
    expect((await told).end).toBeUndefined();
    await run;
    expect(session.pending.map(({ name }) => name)).toEqual(["pay"]);
    expect(session.status).toBe("parked");
    expect((await session.approve("call_1")).text).toBe("Paid.");
  });

  test("does not wait for an approval either while another tool still runs", async () => {
    const { session, run, look } = await asking();
    const told = session.tell("No!");
    look.resolve("seen");
    expect((await told).text).toBe("As you like.");
    await run;
  });

  test("leaves a call that waits as it is when the run is drained", async () => {
    const { session, run, look } = await asking();
    const told = session.tell("No!");
    const drained = session.drain();
    look.resolve("seen");
    await drained;
    expect((await told).end).toBeUndefined();
    await run;
    expect(session.pending.map(({ name }) => name)).toEqual(["pay"]);
  });

  test("reads a message with the same id once", async () => {
    const session = await opened([say("Hi.")]);
    const first = await session.tell("Hello!", "1");
    expect(await session.tell("Hello!", "1")).toEqual(first);
    expect(session.messages).toHaveLength(2);
  });

  test("refuses one that was taken back", async () => {
    const session = await opened([say("Hi.")]);
    session.steer("Hello!", "1");
    await session.withdraw("1");
    await expect(session.tell("Hello!", "1")).rejects.toThrow(/taken back/);
  });

  test("leaves a run that is drained as it is: the message is read where it goes on", async () => {
    const journal = memoryJournal();
    const tools = [echo("look")];
    const { session, run, release } = await working([call("look")], { journal, tools });
    const told = session.tell("In Oslo.");
    const drained = session.drain();
    release();
    expect(await drained).toBe("interrupted");
    expect((await told).end).toBeUndefined();
    await run;
    const next = await opened([say("Oslo it is.")], { journal, tools });
    expect((await next.resume()).text).toBe("Oslo it is.");
    expect(shortly(next.messages).at(-2)).toBe("user: In Oslo.");
  });

  test("starts no run for it once it is drained: the message waits", async () => {
    const session = await opened([say("Hi.")]);
    const told = session.tell("Hello!");
    expect(await session.drain()).toBe("idle");
    await expect(told).rejects.toThrow(/drained before its first run/);
    expect(session.queued).toHaveLength(1);
    expect((await session.continue()).text).toBe("Hi.");
  });

  test("goes on with a run that another process left", async () => {
    const journal = memoryJournal();
    const tools = [echo("look")];
    const { session, run, release } = await working([call("look")], { journal, tools });
    const drained = session.drain();
    release();
    await drained;
    await run;
    const next = await opened([say("Oslo it is.")], { journal, tools });
    expect((await next.tell("In Oslo.")).text).toBe("Oslo it is.");
  });

  const journals = {
    "at once": () => memoryJournal(),
    slowly: () => slowly(memoryJournal({ leases: true })),
  };
  const stores = Object.keys(journals) as (keyof typeof journals)[];

  test.each(stores)("is told several things without a run, and the journal stores %s", async (how) => {
    const session = await opened(() => say("Yes."), { journal: journals[how]() });
    const results = await Promise.all(["One.", "Two.", "Three."].map((text) => session.tell(text)));
    expect(results.map(({ text }) => text)).toEqual(["Yes.", "Yes.", "Yes."]);
    expect(shortly(session.messages)).toEqual([
      "user: One.",
      "user: Two.",
      "user: Three.",
      "assistant: Yes.",
    ]);
  });

  test.each(stores)("is told two things during a run that fails, and the journal stores %s", async (how) => {
    const { session, run, release } = await working([fail("auth"), say("Better.")], {
      journal: journals[how](),
    });
    const told = Promise.all([session.tell("One."), session.tell("Two.")]);
    release();
    expect((await run).end?.reason).toBe("error");
    expect((await told).map(({ text }) => text)).toEqual(["Better.", "Better."]);
  });

  test.each(stores)("is told two things where a tool has asked, and the journal stores %s", async (how) => {
    const session = await opened([call("ask"), say("Oslo it is.")], { journal: journals[how]() });
    await session.send("Where?");
    const told = await Promise.all([session.tell("In Oslo."), session.tell("In Norway.")]);
    expect(told.map(({ text }) => text)).toEqual(["Oslo it is.", "Oslo it is."]);
    expect(shortly(session.messages).slice(2, -1)).toEqual([
      "tool: In Oslo.",
      "user: In Oslo.",
      "user: In Norway.",
    ]);
  });

  test.each(stores)("is told two things, and the journal stores %s", async (how) => {
    const journal = journals[how]();
    const session = await opened([[call("pay"), call("ask")], say("Yes."), say("Yes."), say("Yes.")], {
      journal,
    });
    await session.send("Pay.");
    const results = await Promise.all([session.tell("One."), session.tell("Two.")]);
    expect(results.map(({ end }) => end?.reason)).toEqual(["completed", "completed"]);
    const said = shortly(session.messages).filter((line) => line.startsWith("user: "));
    expect(said).toEqual(["user: Pay.", "user: One.", "user: Two."]);
  });
});

/** A journal that answers later. */
function slowly({ append, read, lease, ...journal }: Journal): Journal {
  const later =
    <Given extends readonly unknown[], Result>(deed: (...given: Given) => Result) =>
    async (...given: Given): Promise<Awaited<Result>> => {
      await new Promise((resolve) => void setImmediate(resolve));
      return await deed(...given);
    };
  return { ...journal, append: later(append), read: later(read), ...(lease && { lease: later(lease) }) };
}

describe.each([
  ["at once", (journal: Journal): Journal => journal],
  ["later", slowly],
])("two sessions over one journal that answers %s", (_name, over) => {
  test.each([true, false])(
    "that are told something at about the same time reject only what was not stored, and read the rest (leases: %s)",
    async (leases) => {
      for (let apart = 0; apart < 16; apart += 1) {
        const journal = memoryJournal({ leases });
        const options = { journal: over(journal) };
        const script = (): Turn => [tick(), tick(), say("ok")];
        const [one, two] = [await opened(script, options), await opened(script, options)];
        const first = one.tell("one", "one");
        for (let passed = 0; passed < apart; passed += 1)
          await (passed % 2 === 0 ? undefined : new Promise((resolve) => setImmediate(resolve)));
        const both = await Promise.allSettled([first, two.tell("two", "two")]);
        const records = journal.read("s");
        for (const [at, id] of ["one", "two"].entries()) {
          const isStored = records.some((record) => record.type === "queued" && record.id === id);
          const isRead = records.some((record) => record.type === "delivered" && record.ids.includes(id));
          expect([both[at]?.status, isRead]).toEqual([isStored ? "fulfilled" : "rejected", isStored]);
        }
      }
    },
  );
});

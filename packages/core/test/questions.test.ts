// A tool that has begun may ask a question: the run parks until somebody answers, and nothing that has run runs again.

import {
  Agent,
  type AgentOptions,
  isPaired,
  type Json,
  type LogRecord,
  type MemoryJournal,
  memoryJournal,
  type RondoEvent,
  resolve,
  type Session,
  subAgent,
  type Tool,
  tool,
  toolResult,
  toolWith,
  WaitForAnswer,
  waitForAnswer,
} from "@rondo/core";
import { explain } from "@rondo/core/explain";
import { call, calls, replayTest, say, scripted, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, quick, shortly } from "./support.ts";

/** Buys for a price that it finds out first, and asks about. */
function shop(options: Partial<Parameters<typeof echo>[1]> = {}): { tool: Tool; did: string[] } {
  const did: string[] = [];
  const buy = tool({
    name: "buy",
    description: "Buys something",
    inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
    effect: "write",
    execute: ({ item }): unknown => {
      did.push(`price of ${item}`);
      return waitForAnswer({ text: `Buy ${item} for 12?`, price: 12 });
    },
    resume: ({ item }, answer, { asked }) => {
      did.push(`${item}: ${JSON.stringify(answer)}`);
      return answer === "yes" ? `bought for ${(asked as { price: number }).price}` : "not bought";
    },
    ...options,
  } as Parameters<typeof tool>[0]);
  return { tool: buy, did };
}

const turns: Turn[] = [call("buy", { item: "tea" }), say("Done.")];

async function asking(
  tools: readonly Tool[],
  options: Partial<AgentOptions> = {},
): Promise<{ session: Session; journal: MemoryJournal; heard: RondoEvent[] }> {
  const journal = memoryJournal();
  const agent = new Agent({ model: scripted(turns), tools: [...tools], journal, ...quick, ...options });
  const session = await agent.open("s");
  const heard: RondoEvent[] = [];
  session.subscribe((event) => heard.push(event));
  const result = await session.send("Buy tea.");
  expect(result.end).toBeUndefined();
  return { session, journal, heard };
}

const typesIn = (journal: MemoryJournal): string[] =>
  journal
    .read("s")
    .map(({ type }) => type)
    .filter((type) => type.startsWith("tool_"));

const resultIn = (session: Session) => session.messages.find(({ role }) => role === "tool");

describe("a tool that asks a question", () => {
  test("parks the run, and shows the question with the call", async () => {
    const { tool: buy, did } = shop();
    const { session, heard } = await asking([buy]);
    expect(session.status).toBe("parked");
    const question = { asked: { text: "Buy tea for 12?", price: 12 }, round: 1 };
    expect(session.pending).toMatchObject([{ name: "buy", args: { item: "tea" }, question }]);
    expect(heard.filter(({ type }) => type === "answer_request")).toMatchObject([{ call: { question } }]);
    expect([did, isPaired(session.messages)]).toEqual([["price of tea"], true]);
  });

  test("goes on with the answer where it asked, and gets back what it asked", async () => {
    const { tool: buy, did } = shop();
    const { session, journal, heard } = await asking([buy]);
    const { text, toolCalls, messages } = await session.answer(session.pending[0]?.id ?? "", "yes");
    expect([text, toolCalls]).toEqual(["Done.", 1]);
    expect(shortly(messages)[2]).toBe("tool: bought for 12");
    expect(did).toEqual(["price of tea", 'tea: "yes"']);
    expect(typesIn(journal)).toEqual([
      "tool_started",
      "tool_waits",
      "tool_answered",
      "tool_started",
      "tool_finished",
    ]);
    expect(heard.map(({ type }) => type).filter((type) => /^tool|answer/.test(type))).toEqual([
      "tool_args_delta",
      "tool_start",
      "answer_request",
      "tool_start",
      "tool_end",
    ]);
    await replayTest({ model: scripted([]), tools: [buy] }, journal.read("s"));
  });

  test("gets any JSON as its answer, an empty text too", async () => {
    for (const answer of ["", null, 0, { ok: [true] }] satisfies Json[]) {
      const got: Json[] = [];
      const { tool: buy } = shop({
        resume: (_args: unknown, said: Json) => {
          got.push(said);
          return "heard";
        },
      } as object);
      const { session } = await asking([buy]);
      await session.answer(session.pending[0]?.id ?? "", answer);
      expect(got).toEqual([answer]);
    }
  });

  test("may ask again", async () => {
    const asked: unknown[] = [];
    const { tool: buy } = shop({
      resume: (_args: unknown, answer: Json, context: { asked?: Json }) => {
        asked.push(context.asked, answer);
        return answer === "yes" ? "bought" : waitForAnswer(`Please say yes, not ${String(answer)}.`);
      },
    } as object);
    const { session } = await asking([buy]);
    const id = session.pending[0]?.id ?? "";
    expect((await session.answer(id, "hm")).parked?.pending).toMatchObject([
      { id, question: { asked: "Please say yes, not hm.", round: 2 } },
    ]);
    const { text } = await session.answer(id, "yes");
    expect(text).toBe("Done.");
    expect(asked).toEqual([{ text: "Buy tea for 12?", price: 12 }, "hm", "Please say yes, not hm.", "yes"]);
  });

  test("has the answer as its result if it has no resume, rendered and checked like its own", async () => {
    const ask = echo("buy", { execute: () => waitForAnswer("Which colour?") });
    const plain = await asking([ask]);
    await plain.session.answer(plain.session.pending[0]?.id ?? "", "Blue.");
    expect(shortly(plain.session.messages)[2]).toBe("tool: Blue.");
    const checked = tool({
      name: "buy",
      description: "Asks for a number",
      inputSchema: { type: "object", properties: {} },
      outputSchema: { type: "number" },
      execute: () => waitForAnswer("How many?"),
    });
    const typed = await asking([checked]);
    await typed.session.answer(typed.session.pending[0]?.id ?? "", "many");
    expect(resultIn(typed.session)).toMatchObject({ isError: true });
    expect(shortly(typed.session.messages)[2]).toContain("does not fit its output schema");
  });

  test("may throw its question", async () => {
    const { tool: buy } = shop({
      execute: () => {
        throw waitForAnswer("Really?");
      },
    });
    const { session } = await asking([buy]);
    expect(session.pending).toMatchObject([{ question: { asked: "Really?" } }]);
  });

  test("waits without a time limit: its timeout counts only while it runs", async () => {
    const { tool: buy } = shop({ timeoutMs: 30_000 });
    let now = 1_000;
    const clock = {
      now: () => now,
      random: () => 0.5,
      after: () => () => {},
    };
    const { session } = await asking([buy], { clock });
    now += 3_600_000;
    await session.answer(session.pending[0]?.id ?? "", "yes");
    expect(shortly(session.messages)[2]).toBe("tool: bought for 12");
  });

  test("is answered in another process, after any time", async () => {
    const { tool: buy, did } = shop();
    const { journal } = await asking([buy]);
    const other = new Agent({ model: scripted(turns.slice(1)), tools: [buy], journal, ...quick });
    const session = await other.open("s", { takeOver: true });
    expect(session.pending).toMatchObject([{ question: { round: 1 } }]);
    const { text } = await session.answer(session.pending[0]?.id ?? "", "no");
    expect([text, shortly(session.messages)[2]]).toEqual(["Done.", "tool: not bought"]);
    expect(did).toEqual(["price of tea", 'tea: "no"']);
  });

  test("is no longer judged by hooks of a process that takes over: it has begun", async () => {
    const { tool: buy, did } = shop();
    const { journal } = await asking([buy]);
    const hooks: AgentOptions["hooks"] = {
      permission: () => "deny",
      beforeTool: () => ({ args: { item: "milk" } }),
    };
    const other = new Agent({ model: scripted(turns.slice(1)), tools: [buy], journal, hooks, ...quick });
    const session = await other.open("s", { takeOver: true });
    await session.answer(session.pending[0]?.id ?? "", "yes");
    expect([shortly(session.messages)[2], did[1]]).toEqual(["tool: bought for 12", 'tea: "yes"']);
  });

  test("lets other calls of the answer run meanwhile, if they touch something else", async () => {
    const { tool: buy } = shop({ keys: () => ["money"] });
    const model = scripted([
      calls([
        ["buy", { item: "tea" }],
        ["look", {}],
      ]),
      say("Done."),
    ]);
    const look = echo("look", { keys: () => [] });
    const { session, journal } = await asking([buy, look], { model });
    const finished = journal.read("s").filter(({ type }) => type === "tool_finished");
    expect(finished).toMatchObject([{ call: session.pending[0]?.key.replace(".0", ".1") }]);
    await session.answer(session.pending[0]?.id ?? "", "yes");
    expect(shortly(session.messages).slice(2, 4)).toEqual(["tool: bought for 12", "tool: look ran"]);
  });

  test("is answered again while another call of the answer is still working", async () => {
    const work = deferred();
    const look = echo("look", { keys: () => [], execute: () => work.promise });
    const { tool: buy } = shop({
      keys: () => [],
      resume: (_args: unknown, answer: Json) => (answer === "sure" ? "bought" : waitForAnswer("Sure?")),
    } as object);
    const model = scripted([calls([["look"], ["buy", { item: "tea" }]]), say("Done.")]);
    const session = await new Agent({ model, tools: [look, buy], ...quick }).open("s");
    const running = session.send("go");
    await expect.poll(() => session.pending[0]?.question?.round).toBe(1);
    const id = session.pending[0]?.id ?? "";
    const first = session.answer(id, "yes");
    await expect.poll(() => session.pending[0]?.question?.round).toBe(2);
    const second = session.answer(id, "sure");
    await expect(session.answer(id, "late")).rejects.toThrow(/it was just answered|waits for an approval or/);
    work.resolve();
    for (const { text } of await Promise.all([running, first, second])) expect(text).toBe("Done.");
  });

  test("keeps its resume in a changed tool", async () => {
    const { tool: buy } = shop();
    const { session } = await asking([toolWith(buy, { permission: "allow", timeoutMs: 5_000 })]);
    await session.answer(session.pending[0]?.id ?? "", "yes");
    expect(shortly(session.messages)[2]).toBe("tool: bought for 12");
  });

  test("that needs an approval first is approved, and then asks", async () => {
    const { tool: buy, did } = shop({ permission: "ask" });
    const { session } = await asking([buy]);
    expect([did, session.pending[0]?.question]).toEqual([[], undefined]);
    const id = session.pending[0]?.id ?? "";
    const { parked } = await session.approve(id);
    expect(parked?.pending).toMatchObject([{ id, question: { round: 1 } }]);
    expect((await session.answer(id, "yes")).text).toBe("Done.");
  });
});

describe("a question that is not answered with a value", () => {
  test("fails with an error that is given, and ends with a result that is given; the tool does not go on", async () => {
    for (const [given, said] of [
      [new Error("no money"), /no money/],
      [toolResult("bought elsewhere"), /^tool: bought elsewhere$/],
    ] as const) {
      const { tool: buy, did } = shop();
      const { session } = await asking([buy]);
      await session.answer(session.pending[0]?.id ?? "", given);
      expect(shortly(session.messages)[2]).toMatch(said);
      expect(did).toEqual(["price of tea"]);
    }
  });

  test("is not approved, denied or edited: the tool has begun", async () => {
    const { tool: buy } = shop();
    const { session } = await asking([buy]);
    const id = session.pending[0]?.id ?? "";
    const refused = /its tool buy has begun, and asks .*Buy tea for 12/;
    await expect(session.approve(id)).rejects.toThrow(refused);
    await expect(session.approve(id, { always: true })).rejects.toThrow(refused);
    await expect(session.deny(id)).rejects.toThrow(refused);
    await expect(session.edit(id, { item: "milk" })).rejects.toThrow(refused);
    expect(session.pending).toHaveLength(1);
  });

  test("still waits after an answer that is no JSON", async () => {
    const { tool: buy } = shop();
    const { session } = await asking([buy]);
    const id = session.pending[0]?.id ?? "";
    for (const wrong of [undefined, 10n, () => {}])
      await expect(session.answer(id, wrong)).rejects.toThrow(
        /an answer to a tool's question is text or JSON/,
      );
    expect(session.pending).toHaveLength(1);
    expect((await session.answer(id, "yes")).text).toBe("Done.");
  });

  test("ends with its run: the model reads that the call was aborted", async () => {
    const { tool: buy, did } = shop();
    const { session } = await asking([buy]);
    session.abort("enough");
    await session.settled();
    expect(session.result?.end?.reason).toBe("aborted");
    expect(resultIn(session)).toMatchObject({ isError: true });
    expect([did, isPaired(session.messages)]).toEqual([["price of tea"], true]);
  });

  test("is taken once: a second answer finds nothing that waits", async () => {
    const { tool: buy, did } = shop();
    const { session } = await asking([buy]);
    const id = session.pending[0]?.id ?? "";
    const first = session.answer(id, "yes");
    await expect(session.answer(id, "no")).rejects.toThrow(/waits for an approval or an answer/);
    await first;
    expect(did).toEqual(["price of tea", 'tea: "yes"']);
  });
});

describe("after a crash", () => {
  /** The records up to the one of this type, and a session that continues from there. */
  async function cutAfter(
    type: LogRecord["type"],
    which: number,
    { tool: buy, options = {} }: { tool: Tool; options?: Partial<AgentOptions> },
  ): Promise<Session> {
    const { session, journal } = await asking([buy], options);
    await session.answer(session.pending[0]?.id ?? "", "yes");
    const records = journal.read("s");
    const ends = records.flatMap((record, at) => (record.type === type ? [at + 1] : []));
    const cut = memoryJournal();
    cut.append("s", 0, records.slice(0, ends[which]));
    const agent = new Agent({
      model: scripted(turns.slice(1)),
      tools: [buy],
      journal: cut,
      ...quick,
      ...options,
    });
    return agent.open("s", { takeOver: true });
  }

  test("before the answer was stored, the question still waits", async () => {
    const { tool: buy } = shop();
    const session = await cutAfter("tool_waits", 0, { tool: buy });
    expect(session.pending).toMatchObject([{ question: { round: 1 } }]);
  });

  test("after it, the tool goes on with it, once", async () => {
    const { tool: buy, did } = shop();
    const session = await cutAfter("tool_answered", 0, { tool: buy });
    did.length = 0;
    await session.resume();
    expect(shortly(session.messages)[2]).toBe("tool: bought for 12");
    expect(did).toEqual(['tea: "yes"']);
  });

  test("a write that was interrupted while it went on does not go on again by itself", async () => {
    const { tool: buy, did } = shop();
    const session = await cutAfter("tool_started", 1, { tool: buy });
    did.length = 0;
    await session.resume();
    expect(resultIn(session)).toMatchObject({ isError: true });
    expect(did).toEqual([]);
  });

  test("it goes on with the same answer if its tool reports that nothing was done, or a person approves it", async () => {
    const reconciling = shop({ reconcile: () => ({ notDone: true }) });
    const asked = await cutAfter("tool_started", 1, reconciling);
    reconciling.did.length = 0;
    await asked.resume();
    expect([shortly(asked.messages)[2], reconciling.did]).toEqual(["tool: bought for 12", ['tea: "yes"']]);
    const { tool: buy, did } = shop();
    const session = await cutAfter("tool_started", 1, { tool: buy, options: { onInterrupted: "ask" } });
    did.length = 0;
    await session.resume();
    await session.approve(session.pending[0]?.id ?? "");
    expect([shortly(session.messages)[2], did]).toEqual(["tool: bought for 12", ['tea: "yes"']]);
  });

  test("a question is no outcome: reconcile cannot ask", async () => {
    const buying = shop({ reconcile: () => ({ done: waitForAnswer("Why?") }) });
    const session = await cutAfter("tool_started", 1, buying);
    await session.resume();
    expect(shortly(session.messages)[2]).toContain("a question can only be asked by execute and resume");
  });

  test("a read goes on again with the same answer", async () => {
    const { tool: buy, did } = shop({ effect: "read" });
    const session = await cutAfter("tool_started", 1, { tool: buy });
    did.length = 0;
    await session.resume();
    expect([shortly(session.messages)[2], did]).toEqual(["tool: bought for 12", ['tea: "yes"']]);
  });

  test("says so if the tool has lost its resume meanwhile", async () => {
    const { tool: buy } = shop();
    const { session, journal } = await asking([buy]);
    await session.answer(session.pending[0]?.id ?? "", "yes");
    const cut = memoryJournal();
    const records = journal.read("s");
    cut.append("s", 0, records.slice(0, records.findIndex(({ type }) => type === "tool_answered") + 1));
    const { resume: _resume, ...without } = buy;
    const agent = new Agent({ model: scripted(turns.slice(1)), tools: [without], journal: cut, ...quick });
    const later = await agent.open("s", { takeOver: true });
    await later.resume();
    expect(shortly(later.messages)[2]).toContain("it has no resume");
  });
});

describe("inside a sub-agent", () => {
  const outer = (inner: Agent): Tool => subAgent({ name: "helper", description: "Helps", agent: inner });

  async function asked(options: Partial<Parameters<typeof echo>[1]> = {}): Promise<{
    session: Session;
    did: string[];
    journal: MemoryJournal;
    heard: RondoEvent[];
  }> {
    const { tool: buy, did } = shop(options);
    const inner = new Agent({ model: scripted(turns), tools: [buy], ...quick });
    const model = scripted([call("helper", { task: "buy tea" }), say("All done.")]);
    const journal = memoryJournal();
    const session = await new Agent({ model, tools: [outer(inner)], journal, ...quick }).open("s");
    const heard: RondoEvent[] = [];
    session.subscribe((event) => heard.push(event));
    await session.send("Buy tea.");
    return { session, did, journal, heard };
  }

  test("a question is asked, and answered, through the outermost run", async () => {
    const { session, did, heard } = await asked();
    expect(session.pending).toMatchObject([
      { name: "buy", question: { asked: { price: 12 }, round: 1 }, child: { agents: ["helper"] } },
    ]);
    expect(heard.filter(({ type }) => type === "answer_request")).toHaveLength(1);
    await expect(session.approve(session.pending[0]?.id ?? "")).rejects.toThrow(/has begun, and asks/);
    const { text } = await session.answer(session.pending[0]?.id ?? "", "yes");
    expect([text, did]).toEqual(["All done.", ["price of tea", 'tea: "yes"']]);
  });

  test("each of several questions gets its own answer", async () => {
    const answers: Json[] = [];
    const { session } = await asked({
      resume: (_args: unknown, answer: Json) => {
        answers.push(answer);
        return answers.length < 3 ? waitForAnswer(`question ${answers.length + 1}`) : "bought";
      },
    } as object);
    for (const answer of ["one", "two", "three"]) {
      expect(session.pending).toMatchObject([{ question: { round: answers.length + 1 } }]);
      await session.answer(session.pending[0]?.id ?? "", answer);
    }
    expect(answers).toEqual(["one", "two", "three"]);
    expect(session.result?.text).toBe("All done.");
  });
});

describe("what is known of it", () => {
  test("explain says what was asked and answered", async () => {
    const { tool: buy } = shop();
    const { session, journal } = await asking([buy]);
    await session.answer(session.pending[0]?.id ?? "", "yes");
    const said = JSON.stringify(
      explain(journal.read("s"), { rules: resolve({ model: scripted([]) }).rules }),
    );
    expect(said).toContain("it asks: ");
    expect(said).toContain('it was answered: \\"yes\\"');
  });

  test("a recording of it plays the questions and the answers", async () => {
    const { tool: buy } = shop();
    const ask = echo("ask", { execute: () => waitForAnswer("Which colour?") });
    const model = scripted([call("buy", { item: "tea" }), call("ask"), say("Done.")]);
    const { session, journal } = await asking([buy, ask], { model });
    await session.answer(session.pending[0]?.id ?? "", "yes");
    await session.answer(session.pending[0]?.id ?? "", "Blue.");
    const { text } = await replayTest({ tools: [buy, ask] }, journal.read("s"));
    expect(text).toBe("Done.");
  });

  test("a question must be plain JSON", () => {
    expect(() => waitForAnswer({ many: 10n } as never)).toThrow(
      /waitForAnswer: option question: many is a bigint/,
    );
    expect(() => waitForAnswer(undefined as never)).toThrow(
      /waitForAnswer: option question: a value is needed/,
    );
    expect(waitForAnswer("Why?")).toBeInstanceOf(WaitForAnswer);
  });
});

// Cassettes: a run's own journal, played again without a model and without its tools; what was not recorded fails.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type AgentOptions,
  type LogRecord,
  memoryJournal,
  type Session,
  subAgent,
  type Tool,
  tool,
  userText,
} from "@rondo/core";
import {
  call,
  calls,
  cassette,
  cassetteTools,
  fail,
  hold,
  replayTest,
  type Script,
  say,
  scripted,
  think,
} from "@rondo/testkit";
import { afterAll, describe, expect, test } from "vitest";

const scratch = mkdtempSync(join(tmpdir(), "rondo-cassette-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A tool that touches the world: playing a cassette never gets so far. */
function weather(ran: string[], options: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  return tool({
    name: "weather",
    description: "the weather of a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    effect: "read",
    execute: (args) => {
      ran.push(String((args as { city: string }).city));
      return `snow, as ${ran.length} people say`;
    },
    ...options,
  });
}

async function recorded(
  script: Script,
  options: Partial<AgentOptions> = {},
  conduct: (session: Session) => Promise<unknown> = (session) => session.send("How is Oslo?"),
): Promise<LogRecord[]> {
  const journal = memoryJournal();
  const agent = new Agent({
    model: scripted(script),
    tools: [weather([])],
    retry: { baseMs: 1, capMs: 2 },
    ...options,
    journal,
  });
  await conduct(await agent.open("s"));
  return [...journal.read("s")];
}

const once: Script = [[think("Let me look."), call("weather", { city: "Oslo" })], say("It snows in Oslo.")];
const quick = { retry: { baseMs: 1, capMs: 2 } };

describe("replayTest", () => {
  test("plays a run again: the same answers, the same requests, no tool and no model", async () => {
    const records = await recorded(once);
    const ran: string[] = [];
    const { text, end } = await replayTest({ ...quick, tools: [weather(ran)] }, records);
    expect([text, end?.reason, ran]).toEqual(["It snows in Oslo.", "completed", []]);
  });

  test("reads a file of a record a line, and names the line that is none", async () => {
    const lines = join(scratch, "lines.jsonl");
    const records = await recorded(once);
    writeFileSync(lines, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    expect((await replayTest({ ...quick, tools: [weather([])] }, lines)).text).toBe("It snows in Oslo.");
    writeFileSync(lines, "not a record\n");
    await expect(replayTest({ tools: [] }, lines)).rejects.toThrow(/lines\.jsonl, line 1: no record/);
  });

  test("fails where the prompt, a tool's description, a text or a rule leads to another request, and says in what", async () => {
    const records = await recorded(once, { system: "Be kind to whoever asks." });
    const system = "Be kind to whoever asks.";
    const play = (options: Partial<AgentOptions>) =>
      replayTest({ ...quick, system, tools: [weather([])], ...options }, records);
    expect((await play({})).text).toBe("It snows in Oslo.");
    await expect(play({ system: "Be kind to nobody." })).rejects.toThrow(
      /call 1 differs from what was recorded:\n {2}system\n {4}- .*whoever asks.*\n {4}\+ .*nobody/,
    );
    await expect(play({ tools: [weather([], { description: "weather" })] })).rejects.toThrow(/tool weather/);
    await expect(play({ settings: { temperature: 1 } })).rejects.toThrow(/settings\.temperature/);
    await expect(play({ maxSteps: 1 })).rejects.toThrow(/call 2 differs/);
  });

  test("plays a run whose waits are longer now than they were, and hangs in none of them", async () => {
    const records = await recorded([fail("overloaded"), ...(once as [])]);
    const longer = { retry: { baseMs: 30, capMs: 60 } };
    expect((await replayTest({ ...longer, tools: [weather([])] }, records)).text).toBe("It snows in Oslo.");
  });

  test("fails where the run now ends otherwise, or makes fewer calls, though all it asked was recorded", async () => {
    const records = await recorded(once);
    const stop = {
      name: "stop",
      version: 1,
      decide: (_: unknown, { run }: { run?: { steps: number } }) =>
        run?.steps === 1 ? ({ do: "stop", reason: "turn_stopped", evidence: {} } as const) : undefined,
    };
    await expect(replayTest({ ...quick, tools: [weather([])], rules: [stop] }, records)).rejects.toThrow(
      /the run ends otherwise: recorded .*completed.* now .*turn_stopped/,
    );
  });

  test("plays retries with the waits they had, failures with their partial answers, and a fall-back", async () => {
    const long = { retry: { baseMs: 60_000, capMs: 60_000, attempts: 2 } };
    const at: number[] = [];
    const clock = {
      now: () => at.length,
      random: () => 0.5,
      after: (ms: number, then: () => void) => {
        for (let n = 0; n < ms; n += 1) at.push(n);
        setImmediate(then);
        return () => {};
      },
    };
    const script = [[say("so f"), fail("stream_error")], say("done")];
    const records = await recorded(script, { ...long, clock });
    expect(records.some((record) => record.type === "woke")).toBe(true);
    expect((await replayTest({ ...long, tools: [weather([])] }, records)).text).toBe("done");
    const fallback = [scripted([say("from the spare")], { id: "spare" })];
    const fell = await recorded([fail("auth")], { fallback });
    expect((await replayTest({ ...quick, tools: [weather([])] }, fell)).text).toBe("from the spare");
  });

  test("says again what people said, when they said it: steering, follow-ups, another run", async () => {
    const held = hold(call("weather", { city: "Oslo" }));
    const records = await recorded(
      [held, say("It snows."), say("Bergen too."), say("Bye.")],
      {},
      async (session) => {
        const running = session.send("How is Oslo?");
        await held.reached;
        session.steer("in one word");
        session.followUp("and Bergen?");
        held.release();
        await running;
        await session.send("bye");
      },
    );
    const { text, messages } = await replayTest({ ...quick, tools: [weather([])] }, records);
    expect([text, messages.length]).toEqual(["Bye.", 9]);
  });

  test("answers as people answered: approvals, denials, edits, and leave given beforehand", async () => {
    const ran: string[] = [];
    const guarded = weather(ran, { effect: "write", permission: "ask" });
    const cities = ["Oslo", "Oslo", "Bergen", "Moss", "Bodø", "Narvik"];
    const script: Script = [...cities.map((city) => call("weather", { city })), say("done")];
    const records = await recorded(script, { tools: [guarded], repeats: null }, async (session) => {
      await session.allow({ tool: "weather", args: { like: { city: "N*" } } });
      await session.send("go");
      await session.approve(session.pending[0]?.id ?? "", { always: true });
      await session.deny(session.pending[0]?.id ?? "", "no");
      await session.edit(session.pending[0]?.id ?? "", { city: "Molde" });
      await session.edit(session.pending[0]?.id ?? "", { city: {} }, { misfit: "told" });
    });
    const before = ran.length;
    const { end, toolCalls } = await replayTest({ ...quick, tools: [guarded], repeats: null }, records);
    expect([end?.reason, toolCalls, ran.length]).toEqual(["completed", 4, before]);
  });

  test("gives results that were cut as they were cut, and the tools that read them", async () => {
    const long = weather([], { execute: () => "a long line of weather\n".repeat(20_000) });
    const records = await recorded(once, { tools: [long] });
    expect((await replayTest({ ...quick, tools: [weather([])] }, records)).text).toBe("It snows in Oslo.");
  });
});

describe("what was spent", () => {
  const usage = { inputTokens: 10, outputTokens: 5 };
  const priced = { usage, facts: { price: { input: 1, output: 1 } } };

  test("is counted in dollars as it was: the prices are those of the recorded models", async () => {
    const options: AgentOptions = { model: scripted(once, priced), tools: [weather([])], budget: { usd: 1 } };
    const records = await recorded(once, options);
    const { model: _model, ...others } = options;
    const { end, usd } = await replayTest(others, records);
    expect([end?.reason, usd]).toEqual(["completed", 0.000_03]);
    expect(cassette(records, others).left).toBe(2);
  });

  test("by sub-agents is counted in full, also by one that waited for a person meanwhile", async () => {
    const worker = new Agent({
      model: scripted([call("weather", { city: "Oslo" }), say("It snows.")]),
      tools: [weather([], { permission: "ask" })],
    });
    const options: AgentOptions = {
      model: scripted([call("ask_worker", { task: "Oslo" }), say("It snows, says my worker.")]),
      tools: [subAgent({ name: "ask_worker", description: "Asks a worker", agent: worker })],
      budget: { modelCalls: 4 },
    };
    const journal = memoryJournal();
    const session = await new Agent({ ...options, journal }).open("s");
    await session.send("How is Oslo?");
    const { end } = await session.approve(session.pending[0]?.id ?? "");
    expect(end).toMatchObject({ rule: "budget", evidence: { modelCalls: 3, max: 4 } });
    expect((await replayTest(options, journal.read("s"))).end).toEqual(end);
  });
});

describe("a cassette", () => {
  test("is a model for any agent, in the recorded order; a request that is recorded elsewhere says where", async () => {
    const two = await recorded([say("one"), say("two")], { tools: [] }, async (session) => {
      await session.send("first");
      await session.send("second");
    });
    const model = cassette(two);
    const session = await new Agent({ model, tools: [] }).open("t");
    expect((await session.send("first")).text).toBe("one");
    expect(model.left).toBe(1);
    expect((await session.send("third")).end?.error?.message).toMatch(
      /cassette: call 2 differs from what was recorded:\n {2}message 3\n {4}- .*second.*\n {4}\+ .*third/,
    );
    const late = await new Agent({ model: cassette(two), tools: [] }).run("another");
    expect(late.end).toMatchObject({ reason: "error", error: { retryable: false } });
  });

  test("answers nothing when all of it was asked for", async () => {
    const model = cassette(await recorded([say("one")], { tools: [] }));
    const session = await new Agent({ model, tools: [] }).open("t");
    await session.send("How is Oslo?");
    expect((await session.send("again")).end?.error?.message).toMatch(
      /all 1 recorded calls have been answered/,
    );
  });

  test("has tools made of the recorded definitions, each result given once, and none for other arguments", async () => {
    const records = await recorded([
      calls([
        ["weather", { city: "Oslo" }],
        ["weather", { city: "Bergen" }],
      ]),
      say("x"),
    ]);
    const [recordedTool] = cassetteTools(records).filter((one) => one.name === "weather");
    const asked = [{ city: "Bergen" }, { city: "Oslo" }, { city: "Oslo" }];
    const model = scripted([...asked.map((args) => call("weather", args)), say("done")]);
    const { messages } = await new Agent({ model, tools: [recordedTool as Tool], repeats: null }).run("go");
    const results = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
    expect(results.map((one) => one.isError)).toEqual([false, false, true]);
    expect(results[2]?.content).toMatchObject([
      { text: expect.stringMatching(/no result is left of weather/) },
    ]);
  });

  test("emits nothing before its call has returned, as no model does", async () => {
    const played = cassette(await recorded([[say("It snows.")]], { tools: [] }));
    let returned = false;
    const heard: boolean[] = [];
    const request = {
      messages: [userText("How is Oslo?")],
      tools: [],
      toolChoice: "auto",
      settings: {},
    } as const;
    const io = { signal: new AbortController().signal, emit: () => void heard.push(returned) };
    const answering = played.call(request, io);
    returned = true;
    expect((await answering).content).toEqual([{ type: "text", text: "It snows." }]);
    expect(heard).toEqual([true]);
  });

  test("of nothing is refused", () => {
    expect(() => cassette([])).toThrow(/holds no run/);
  });
});

test("models that a hook chooses for a step are played too: none is asked itself, and none is fallen back to", async () => {
  const model = scripted([say("from the first"), fail("auth")], { id: "first" });
  const other = scripted([say("from the other"), fail("auth")], { id: "other" });
  const options: AgentOptions = {
    model,
    models: [other],
    hooks: { prepareStep: ({ messages }) => (messages.length < 3 ? { model: other } : undefined) },
  };
  const journal = memoryJournal();
  const session = await new Agent({ ...options, journal }).open("s");
  for (const word of ["one", "two", "three"]) await session.send(word);
  const asked = [other.calls, model.calls];
  expect(asked).toEqual([1, 2]);
  expect((await replayTest(options, journal.read("s"))).end).toMatchObject({
    reason: "error",
    error: { kind: "auth" },
  });
  expect([other.calls, model.calls]).toEqual(asked);
});

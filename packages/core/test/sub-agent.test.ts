// Sub-agents through the face: an agent as a tool of another.

import {
  Agent,
  type AgentOptions,
  type Clock,
  follow,
  isPaired,
  type Journal,
  type LogRecord,
  type Model,
  memoryJournal,
  RondoError,
  type RondoEvent,
  type RunEnd,
  type Session,
  type SubAgentOptions,
  stopWhen,
  subAgent,
  type Tool,
  textOf,
} from "@rondo/core";
import { agentStrategy, managedContext, steerable, stepSequence, thinkActObserve } from "@rondo/core/presets";
import { call, calls, fail, type Script, say, scripted } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, eventsOf, quick, shortly } from "./support.ts";

const price = { input: 1_000_000, output: 1_000_000 };
const usage = { inputTokens: 10, outputTokens: 5 };

function worker(script: Script, options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ model: scripted(script, { usage, facts: { price } }), ...quick, ...options });
}

function helper(agent: Agent | (() => Agent), options: Partial<SubAgentOptions<never>> = {}): Tool {
  return subAgent({ name: "helper", description: "Does a part of the work", agent, ...options });
}

const started = (records: readonly LogRecord[]): (LogRecord & { type: "tool_started" })[] =>
  records.filter((record) => record.type === "tool_started");

const lastEnd = (records: readonly LogRecord[]): RunEnd | undefined =>
  records.findLast((record) => record.type === "run_ended")?.end;

/** Short waits are over at once; whoever waits longer waits for ever. */
function shortClock(): Clock {
  let time = 0;
  return {
    now: () => time,
    random: () => 0.5,
    after(ms, then) {
      if (ms < 1_000)
        setImmediate(() => {
          time += ms;
          then();
        });
      return () => {};
    },
  };
}

const resultTexts = (messages: Parameters<typeof shortly>[0]): string[] =>
  messages.filter((message) => message.role === "tool").map(textOf);

describe("a tree of sub-agents", () => {
  test("counts all of its tokens, and parallel children never get more than their parent has left", async () => {
    const journal = memoryJournal();
    // Each child would go on for ever: only what it was given stops it.
    const forever = new Agent({
      model: scripted(() => call("echo"), { usage: { inputTokens: 10, outputTokens: 0 } }),
      tools: [echo("echo")],
      repeats: null,
    });
    const parent = new Agent({
      model: scripted([calls([1, 2, 3].map(() => ["helper", { task: "t" }] as const)), say("end")], {
        usage: { inputTokens: 10, outputTokens: 0 },
      }),
      journal,
      budget: { tokens: 1_000 },
      tools: [helper(forever)],
    });
    const { usage: counted } = await parent.run("go", { session: "p" });
    const begun = started(journal.read("p"));
    expect(begun.map((record) => record.reserved?.tokens)).toEqual([330, 330, 330]);
    for (const { child = "" } of begun) {
      const ended = journal.read(child).at(-1);
      expect(ended).toMatchObject({
        type: "run_ended",
        end: { reason: "token_budget", rule: "tree", evidence: { max: 330, given: true } },
      });
      // The call under way when it was spent, and the landing, are all that is beyond it.
      const asked = journal.read(child).filter((record) => record.type === "model_started").length;
      expect(asked).toBe(34);
    }
    expect(counted.inputTokens).toBe(10 + 3 * 340 + 10);
  });

  test("counts its model calls exactly, including landings", async () => {
    const journal = memoryJournal();
    let asked = 0;
    const model = (): Model =>
      scripted(() => {
        asked += 1;
        return [call("spawn", { task: "t" }), call("spawn", { task: "t" })];
      });
    const make = (): Agent =>
      new Agent({ model: model(), tools: [spawn], repeats: null, budget: { modelCalls: 20 }, journal });
    const spawn: Tool = subAgent({ name: "spawn", description: "d", agent: make, maxDepth: 9 });
    const { end } = await make().run("go", { session: "p" });
    expect(["tool_call_limit", "max_steps"]).toContain(end?.reason);
    expect(end?.landed).toBe(true);
    expect(asked).toBeLessThanOrEqual(20);
    expect(journal.list().length).toBeGreaterThan(3);
  });

  test("limits a run's own tokens separately from those of its sub-agents", async () => {
    const costly = worker(() => say("x"));
    const parent = worker([call("helper", { task: "t" }), call("helper", { task: "u" }), say("end")], {
      budget: { own: { tokens: 30 } },
      tools: [helper(costly)],
    });
    const { end, usage: counted } = await parent.run("go");
    expect(end).toMatchObject({ reason: "token_budget", evidence: { tokens: 30, max: 30 } });
    // Two answers of its own, two of sub-agents, and the landing.
    expect(counted).toEqual({ inputTokens: 50, outputTokens: 25 });
  });

  test("has a maximum depth, even if an agent is its own sub-agent", async () => {
    const journal = memoryJournal();
    const self: Agent = new Agent({
      model: scripted((request) =>
        request.messages.some((message) => message.role === "tool")
          ? say(`I read: ${textOf(request.messages.at(-1) as never)}`)
          : call("self", { task: "deeper" }),
      ),
      journal,
      tools: [subAgent({ name: "self", description: "d", agent: () => self, maxDepth: 2 })],
    });
    const { text } = await self.run("go", { session: "p" });
    expect(text).toMatch(/I read: I read: I read: .*at most 2 deep/s);
    expect(journal.list()).toHaveLength(3);
  });

  test("has a maximum size, and a run that requests more in vain lands", async () => {
    const journal = memoryJournal();
    const parent = new Agent({
      model: scripted(() => call("helper", { task: "again" })),
      journal,
      maxSubAgents: 2,
      tools: [helper(worker(() => say("done")))],
    });
    const { end, messages } = await parent.run("go", { session: "p" });
    expect(end).toMatchObject({ reason: "tool_call_limit", rule: "tree", landed: true });
    expect(journal.list()).toHaveLength(3);
    expect(resultTexts(messages)[2]).toMatch(/sub-agents/);
  });

  test("is aborted as a whole, within its parent's grace", async () => {
    const journal = memoryJournal();
    const reached = deferred();
    const hangs = (): Agent =>
      worker([call("hang")], {
        tools: [
          echo("hang", {
            execute: () => {
              reached.resolve();
              return new Promise(() => {});
            },
          }),
        ],
        abortGraceMs: 60_000,
      });
    const middle = worker([call("helper", { task: "t" })], { tools: [helper(hangs())] });
    const parent = worker([call("helper", { task: "t" })], { journal, tools: [helper(middle)] });
    const session = await parent.open("p");
    const running = session.send("go");
    await reached.promise;
    session.abort("enough");
    const { end, messages } = await running;
    expect(end).toMatchObject({ reason: "aborted", evidence: { reason: "enough" } });
    expect(isPaired(messages)).toBe(true);
    await session.settled();
    for (const { id } of journal.list()) {
      const ended = journal.read(id).findLast((record) => record.type === "run_ended");
      expect(ended).toMatchObject({ end: { reason: "aborted" } });
    }
    expect(journal.list()).toHaveLength(3);
  });

  test("ends with its parent while it waits for an approval, so that nobody is asked in vain", async () => {
    const journal = memoryJournal();
    const child = worker([call("press")], { tools: [echo("press", { permission: "ask" })] });
    const parent = worker([call("helper", { task: "t" })], { journal, tools: [helper(child)] });
    const session = await parent.open("p");
    await session.send("go");
    const [begun] = started(journal.read("p"));
    session.abort("never mind");
    await session.settled();
    expect(session.result?.end?.reason).toBe("aborted");
    expect(session.pending).toEqual([]);
    expect(lastEnd(journal.read(begun?.child ?? ""))).toMatchObject({
      reason: "aborted",
      evidence: { reason: "its parent was ended" },
    });
    // Nothing is left to come: who has the end of the run may go.
    expect(journal.read("p").at(-1)?.type).toBe("run_ended");
  });

  test.each([
    ["its parent is aborted", (session: Session) => session.abort("never mind")],
    [
      "its parent goes on without it",
      (session: Session) => session.deny("call_2", "no", { stop: true }).catch(() => {}),
    ],
  ])(
    "that was left behind is ended by whoever goes on, where %s and the process dies over it",
    async (_when, leave) => {
      const journal = memoryJournal();
      // From here on nothing is kept of what is said to a sub-agent.
      let dying = false;
      let dead = false;
      const mortal: Journal = {
        ...journal,
        append: (id, seq, records) => {
          dead ||= dying && id !== "p";
          if (dead) throw new RondoError("storage", "the process is dead");
          journal.append(id, seq, records);
        },
      };
      const press = echo("press", { permission: "ask" });
      const parent = (place: Journal): Agent =>
        worker(
          [
            calls([
              ["helper", { task: "t" }],
              ["press", {}],
            ]),
            say("end"),
          ],
          { journal: place, tools: [helper(worker([call("press")], { tools: [press] })), press] },
        );
      const session = await parent(mortal).open("p");
      await session.send("go");
      const child = started(journal.read("p"))[0]?.child ?? "";
      dying = true;
      await leave(session);
      await session.settled().catch(() => {});
      dying = false;
      expect(lastEnd(journal.read(child))).toBeUndefined();
      const second = await parent(journal).open("p");
      expect(second.status).toBe("interrupted");
      const { end, usage: counted } = await second.resume();
      expect(end?.reason).toMatch(/aborted|turn_stopped/);
      expect(lastEnd(journal.read(child))).toMatchObject({ reason: "aborted" });
      expect(counted).toEqual({ inputTokens: 20, outputTokens: 10 });
    },
  );

  test("that was abandoned has not ended while its journal lacks its end: it is ended again", async () => {
    const journal = memoryJournal();
    let full = 1;
    const refusing: Journal = {
      ...journal,
      append: (id, seq, records) => {
        if (id !== "p" && records.some(({ type }) => type === "run_ended") && full-- > 0)
          throw new Error("the disk is full");
        journal.append(id, seq, records);
      },
    };
    const child = worker([call("press")], { tools: [echo("press", { permission: "ask" })] });
    const given = { journal: refusing, tools: [helper(child)], clock: shortClock() };
    const session = await worker([call("helper", { task: "t" })], given).open("p");
    await session.send("go");
    session.abort("never mind");
    await session.settled();
    expect(full).toBeLessThan(0);
    const [begun] = started(journal.read("p"));
    expect(lastEnd(journal.read(begun?.child ?? ""))?.reason).toBe("aborted");
    expect(journal.read("p").filter(({ type }) => type === "late_result")).toMatchObject([
      { open: true, error: expect.stringContaining("the disk is full") },
      {},
    ]);
  });

  test.each<[string, (given: { model: Model; tools: Tool[] }) => AgentOptions]>([
    ["none", (given) => given],
    ["think act observe", (given) => thinkActObserve(given) as AgentOptions],
    ["step sequence", (given) => stepSequence(given) as AgentOptions],
    ["steerable", (given) => steerable(given)],
    ["managed context", (given) => managedContext(given)],
    ["agent strategy", (given) => agentStrategy({ ...given, maximumIterations: 6 }) as AgentOptions],
  ])("is paid for where it fails, under each preset: %s", async (_preset, preset) => {
    const failing = worker([call("echo"), fail("auth", { message: "no such key" })], {
      tools: [echo("echo")],
      retry: null,
    });
    const model = scripted([call("helper", { task: "t" }), say("so be it")], { usage, facts: { price } });
    const journal = memoryJournal();
    const options = preset({ model, tools: [helper(failing)] });
    const { usage: counted } = await new Agent({ ...options, journal }).run("go", { session: "p" });
    expect(counted).toEqual({ inputTokens: 30, outputTokens: 15 });
    const results = journal.read("p").filter(({ type }) => ["tool_finished", "late_result"].includes(type));
    expect(results).toMatchObject([{ type: "tool_finished", result: { spent: { tokens: 15 } } }]);
  });

  test("that was abandoned, and whose tool is gone, is ended nevertheless, with everything below it", async () => {
    const journal = memoryJournal();
    const lowest = worker([call("press")], { tools: [echo("press", { permission: "ask" })] });
    const middle = worker([call("helper", { task: "t" })], { tools: [helper(lowest)] });
    const parent = worker([call("helper", { task: "t" })], { journal, tools: [helper(middle)] });
    await parent.run("go", { session: "p" });
    const without = await worker([say("Without it, then.")], { journal }).open("p");
    const warnings: string[] = [];
    without.subscribe((event) => {
      if (event.type === "warning") warnings.push(event.code);
    });
    const { text } = await without.approve(without.pending[0]?.id ?? "");
    expect(text).toBe("Without it, then.");
    const below = journal.list().filter(({ id }) => id.startsWith("p:"));
    expect(below.map(({ id }) => lastEnd(journal.read(id))?.reason)).toEqual(["aborted", "aborted"]);
    expect(warnings).not.toContain("child_left");
  });

  test.each([
    [1, "aborted", 0],
    [2, "aborted", 0],
    [3, undefined, 1],
  ])(
    "that was abandoned, and cannot be ended %i times, is tried again twice, and reported once",
    async (failing, reason, warned) => {
      const journal = memoryJournal();
      const child = worker([call("press")], { tools: [echo("press", { permission: "ask" })] });
      let fails = 0;
      const agent = (): Agent => {
        if (fails-- > 0) throw new Error("no agent today");
        return child;
      };
      const tools = [helper(agent)];
      const parent = worker([call("helper", { task: "t" })], { journal, tools, clock: shortClock() });
      const session = await parent.open("p");
      await session.send("go");
      const warnings: RondoEvent[] = [];
      session.subscribe((event) => void (event.type === "warning" && warnings.push(event)));
      fails = failing;
      session.abort("never mind");
      await session.settled();
      expect(session.result?.end?.reason).toBe("aborted");
      const id = started(journal.read("p"))[0]?.call;
      expect(lastEnd(journal.read(`p:${id}`))?.reason).toBe(reason);
      expect(warnings.map((one) => one.type === "warning" && one.code)).toStrictEqual(
        Array(warned).fill("child_left"),
      );
      expect(journal.read("p").filter(({ type }) => type === "late_result")).toHaveLength(
        Math.min(3, failing + 1),
      );
    },
  );

  test("reports a failure to the parent's model as a result, never as an exception", async () => {
    const refused = worker([fail("auth", { message: "no such key" })], { retry: null });
    const broken = subAgent({
      name: "broken",
      description: "d",
      agent: () => {
        throw new Error("no agent today");
      },
    });
    const parent = worker(
      [
        calls([
          ["helper", { task: "t" }],
          ["broken", { task: "t" }],
          ["limited", { task: "t" }],
        ]),
        say("so be it"),
      ],
      {
        tools: [
          helper(refused),
          broken,
          helper(
            worker(() => call("echo"), { tools: [echo("echo")], maxSteps: 2, repeats: null }),
            {
              name: "limited",
            },
          ),
        ],
      },
    );
    const { text, messages } = await parent.run("go");
    expect(text).toBe("so be it");
    const results = messages.filter((message) => message.role === "tool");
    // The last landed and said nothing: that it stopped at a limit is no answer.
    expect(results.map((message) => message.isError)).toEqual([true, true, true]);
    expect(resultTexts(messages)).toEqual([
      "Error: helper did not finish (error): no such key",
      "Error: no agent today",
      "Error: limited did not finish (max_steps).",
    ]);
  });

  test("reports the text of a sub-agent that landed, and that it landed", async () => {
    const limited = worker([call("echo"), say("so far: two")], { tools: [echo("echo")], maxSteps: 1 });
    const { messages } = await worker([call("helper", { task: "t" }), say("so be it")], {
      tools: [helper(limited)],
    }).run("go");
    expect(messages[2]).toMatchObject({ isError: false });
    expect(resultTexts(messages)).toEqual([
      "so far: two\n\n[The agent stopped at a limit (max_steps): this is as far as it came.]",
    ]);
  });

  test("obeys its parent's deadline", async () => {
    const journal = memoryJournal();
    let now = 1_000;
    const waiting: { due: number; then: () => void }[] = [];
    const clock = {
      now: () => now,
      random: () => 0.5,
      after: (ms: number, then: () => void) => {
        const timer = { due: now + ms, then };
        waiting.push(timer);
        return () => void waiting.splice(waiting.indexOf(timer) >>> 0, waiting.includes(timer) ? 1 : 0);
      },
    };
    const reached = deferred();
    const child = worker([call("hang"), say("as far as I came")], {
      tools: [
        echo("hang", {
          execute: (_args, { signal }) => {
            reached.resolve();
            return new Promise((_, fails) =>
              signal.addEventListener("abort", () => fails(new Error("stopped"))),
            );
          },
        }),
      ],
    });
    const parent = worker([call("helper", { task: "t" }), say("late, but here")], {
      journal,
      clock,
      budget: { ms: 5_000 },
      tools: [helper(child)],
    });
    const running = parent.run("go", { session: "p" });
    await reached.promise;
    const [begun] = started(journal.read("p"));
    expect(begun?.reserved?.until).toBe(6_000);
    now = 6_000;
    for (const timer of waiting.filter((one) => one.due <= now)) timer.then();
    const { end } = await running;
    expect(end).toMatchObject({ reason: "deadline", landed: true });
    const ended = journal.read(begun?.child ?? "").findLast((record) => record.type === "run_ended");
    expect(ended?.end.reason).toMatch(/deadline|aborted/);
  });

  test.each<[string, Script]>([
    ["that is over", [say("what is between me and my doctor")]],
    ["that waits", [call("press")]],
  ])("takes no session for its own in which somebody else has a run %s", async (_which, theirs) => {
    const journal = memoryJournal();
    const press = echo("press", { permission: "ask" });
    await worker(theirs, { journal, tools: [press] }).run("mine", { session: "p:2.0" });
    const before = journal.read("p:2.0");
    const child = worker([say("child done")], { tools: [press] });
    const parent = worker([call("helper", { task: "t" }), say("so be it")], {
      journal,
      tools: [helper(child)],
    });
    const { messages } = await parent.run("go", { session: "p" });
    expect(shortly(messages)[2]).toMatch(/^tool: Error: .*"p:2\.0".*another/);
    expect(journal.read("p:2.0")).toEqual(before);
  });

  test("does not end another user's session if its parent crashed before it noticed that there is one", async () => {
    const journal = memoryJournal();
    const press = echo("press", { permission: "ask" });
    await worker([call("press")], { journal, tools: [press] }).run("mine", { session: "p:2.0" });
    const before = journal.read("p:2.0");
    const first = memoryJournal();
    const child = worker([say("child done")], { tools: [press] });
    const parent = (there: Journal): Agent =>
      worker([call("helper", { task: "t" }), say("so be it")], { journal: there, tools: [helper(child)] });
    await parent(first).run("go", { session: "p" });
    const records = [...(await first.read("p"))];
    const fell = records.findIndex(({ type }) => type === "tool_started");
    await journal.append("p", 0, records.slice(0, fell + 1));
    const session = await parent(journal).open("p");
    session.abort("enough");
    await session.settled();
    expect(session.result?.end?.reason).toBe("aborted");
    expect(journal.read("p:2.0")).toEqual(before);
  });

  test("is shown live: a child's events are passed on as its parent's, at every depth", async () => {
    const inner = worker([say("deep")]);
    const middle = worker([call("helper", { task: "t" }), say("mid")], { tools: [helper(inner)] });
    const parent = worker([call("helper", { task: "t" }), say("top")], { tools: [helper(middle)] });
    const events = await eventsOf(parent, "go");
    const texts = (event: RondoEvent): string[] => {
      if (event.type === "child") return texts(event.event).map((one) => `${event.call.name}/${one}`);
      return event.type === "text_delta" ? [event.text] : [];
    };
    expect(events.flatMap(texts)).toEqual(["helper/helper/deep", "helper/mid", "top"]);
  });

  test("passes a grandchild's request for approval up and its answer down: approved, denied or edited", async () => {
    const journal = memoryJournal();
    const seen: unknown[] = [];
    const press = echo("press", {
      permission: "ask",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      execute: (args) => {
        seen.push(args);
        return "ok";
      },
    });
    const inner = worker(
      [
        calls([
          ["press", { n: 1 }],
          ["press", { n: 2 }],
          ["press", { n: 3 }],
        ]),
        say("inner done"),
      ],
      { tools: [press] },
    );
    const middle = worker([call("inner", { task: "t" }), say("middle done")], {
      tools: [helper(inner, { name: "inner" })],
    });
    const parent = worker([call("middle", { task: "t" }), say("top done")], {
      journal,
      tools: [helper(middle, { name: "middle" })],
    });
    const session = await parent.open("p");
    const asked: string[] = [];
    session.subscribe((event) => {
      if (event.type === "approval_request") asked.push(event.call.id);
    });
    const { parked } = await session.send("go");
    const ids = parked?.pending.map((view) => view.id) ?? [];
    expect(ids).toEqual(["call_1/call_1/call_1", "call_1/call_1/call_2", "call_1/call_1/call_3"]);
    expect(asked).toEqual(ids);
    expect(parked?.pending[0]?.child?.agents).toEqual(["middle", "inner"]);
    const outcomes = await Promise.all([
      session.approve(ids[0] ?? ""),
      session.deny(ids[1] ?? "", "not two"),
      session.edit(ids[2] ?? "", { n: 30 }),
    ]);
    expect(outcomes.at(-1)?.text).toBe("top done");
    expect(seen).toEqual([{ n: 1 }, { n: 30 }]);
    const innermost = journal.list().find(({ id }) => id.split(":").length === 3)?.id ?? "";
    const finished = journal.read(innermost).filter((record) => record.type === "tool_finished");
    expect(finished.map((record) => record.result.isError)).toEqual([true, false, false]);
    await expect(session.approve(ids[0] ?? "")).rejects.toThrow(/no call/);
  });

  test.each<[string, Partial<AgentOptions>, (session: Session) => Promise<unknown>]>([
    [
      "who denied its call",
      {},
      (session) => session.deny("call_1/call_1", "not on a Friday", { stop: true }),
    ],
    [
      "its hook",
      { hooks: { permission: () => ({ answer: "stop", reason: "not on a Friday" }) } },
      (session) => session.settled(),
    ],
    [
      "its rule",
      { rules: [stopWhen(() => "not on a Friday", { name: "friday", onLimit: "stop" })] },
      (session) => session.approve("call_1/call_1"),
    ],
  ])("tells the parent's model what %s said where that stopped it", async (_who, options, stop) => {
    const child = worker([call("press"), say("never")], {
      tools: [echo("press", { permission: "ask" })],
      ...options,
    });
    const session = await worker([call("helper", { task: "t" }), say("so be it")], {
      tools: [helper(child)],
    }).open("p");
    await session.send("go");
    await stop(session);
    expect(shortly(session.messages)[2]).toBe(
      "tool: Error: helper did not finish (turn_stopped): not on a Friday",
    );
  });

  test("tells its own model of edited arguments that do not fit, because the editor does not wait for it", async () => {
    const press = echo("press", {
      permission: "ask",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    });
    const inner = worker([call("press", { n: 1 }), say("inner done")], { tools: [press] });
    const journal = memoryJournal();
    const script = [call("helper", { task: "t" }), say("top done")];
    const session = await worker(script, { journal, tools: [helper(inner)] }).open("p");
    await session.send("go");
    expect((await session.edit(session.pending[0]?.id ?? "", { n: "many" })).text).toBe("top done");
    const inside = journal.list().find(({ id }) => id !== "p")?.id ?? "";
    const finished = journal.read(inside).find(({ type }) => type === "tool_finished");
    expect(finished).toMatchObject({ result: { isError: true, code: "invalid_args" } });
  });

  test("says why a call could not be answered: its tool is gone", async () => {
    const journal = memoryJournal();
    const parent = (tools: Tool[], script: Script): Agent =>
      worker(script, { tools: [helper(worker([call("deploy"), say("deployed")], { tools }))], journal });
    const guarded = echo("deploy", { permission: "ask" });
    await (await parent([guarded], [call("helper", { task: "go" })]).open("s")).send("go");
    const session = await parent([], [say("so be it")]).open("s");
    const { messages } = await session.edit(session.pending[0]?.id ?? "", { to: "test" });
    expect(shortly(messages).at(-2)).toBe("tool: Error: the tool deploy is not among the agent's tools");
  });

  test("does not time out while it waits for an approval", async () => {
    const journal = memoryJournal();
    const child = worker([call("press"), say("pressed")], { tools: [echo("press", { permission: "ask" })] });
    const options = { timeoutMs: 50 };
    const parent = worker([call("helper", { task: "t" }), say("end")], {
      journal,
      tools: [helper(child, options)],
    });
    const session = await parent.open("p");
    await session.send("go");
    // Much later, as the records have it.
    const later = { now: () => Date.now() + 3_600_000, random: () => 0.5, after: () => () => {} };
    const second = await worker([say("end")], {
      journal,
      clock: later,
      tools: [helper(worker([say("pressed")], { tools: [echo("press", { permission: "ask" })] }), options)],
    }).open("p");
    const { messages, text } = await second.approve("call_1/call_1");
    expect([resultTexts(messages), text]).toEqual([["pressed"], "end"]);
  });

  test("is paid for also if it is abandoned, and reports what it spent late", async () => {
    const journal = memoryJournal();
    const child = worker([call("echo"), () => new Promise<never>(() => {})], { tools: [echo("echo")] });
    const told = async (): Promise<void> => {
      for await (const record of follow(journal, "p")) if (record.type === "late_result") return;
    };
    const parent = worker(
      [
        call("helper", { task: "t" }),
        async () => {
          await told();
          return say("without it, then");
        },
      ],
      { journal, tools: [helper(child, { timeoutMs: 20 })] },
    );
    const { messages, usage: counted } = await parent.run("go", { session: "p" });
    expect(resultTexts(messages)[0]).toMatch(/timed out after 20 ms/);
    expect(counted).toEqual({ inputTokens: 30, outputTokens: 15 });
  });

  test.each(["soon", "now"] as const)("is left with its parent, %s, and continues with it", async (when) => {
    const journal = memoryJournal();
    const reached = deferred();
    const go = deferred();
    const slow = echo("slow", {
      execute: async () => {
        reached.resolve();
        await go.promise;
        return "slow ran";
      },
    });
    const first = worker([call("helper", { task: "t" })], {
      journal,
      tools: [helper(worker([call("slow"), say("never asked")], { tools: [slow] }))],
    });
    const session = await first.open("p");
    const running = session.send("go");
    await reached.promise;
    const draining = session.drain(when === "now" ? { withinMs: 1 } : {});
    if (when === "soon") go.resolve();
    expect(await draining).toBe("interrupted");
    expect((await running).end).toBeUndefined();
    go.resolve();
    const [begun] = started(journal.read("p"));
    const own = journal.read(begun?.child ?? "");
    expect(own.filter((record) => ["run_ended", "abort_asked"].includes(record.type))).toEqual([]);

    const second = worker([say("end")], {
      journal,
      tools: [helper(worker([say("went on")], { tools: [slow] }))],
    });
    const { text, messages, usage: counted } = await (await second.open("p")).resume();
    expect([resultTexts(messages), text]).toEqual([["went on"], "end"]);
    expect(counted).toEqual({ inputTokens: 40, outputTokens: 20 });
  });

  test("replays without its children, each child by itself, and a fork has children of its own", async () => {
    const journal = memoryJournal();
    const child = worker(() => say("part"));
    const parent = worker([call("helper", { task: "t" }), say("whole")], { journal, tools: [helper(child)] });
    const session = await parent.open("p");
    await session.send("go");
    const [begun] = started(journal.read("p"));
    expect((await session.replay()).firstDifference).toBeUndefined();
    const own = await child.open(begun?.child ?? "", { journal });
    const again = await own.replay();
    expect([again.requests.length, again.firstDifference]).toEqual([1, undefined]);

    const fork = await worker([say("whole")], { journal, tools: [helper(child)] }).open("p");
    const forked = await fork.fork("f", { seq: begun?.seq ?? 0 });
    await forked.resume();
    const [other] = started(journal.read("f"));
    expect(other?.child).toBe(`f:${begun?.call}`);
    expect(journal.read(other?.child ?? "").length).toBeGreaterThan(0);
  });

  test("has its own steering: a message to the parent is for the parent", async () => {
    const journal = memoryJournal();
    const reached = deferred();
    const go = deferred();
    const child = worker([
      async () => {
        reached.resolve();
        await go.promise;
        return say("part");
      },
    ]);
    const parent = worker([call("helper", { task: "t" }), say("whole")], { journal, tools: [helper(child)] });
    const session = await parent.open("p");
    const running = session.send("go");
    await reached.promise;
    session.steer("be brief");
    go.resolve();
    const { messages } = await running;
    expect(shortly(messages).at(-2)).toBe("user: be brief");
    const [begun] = started(journal.read("p"));
    expect(JSON.stringify(journal.read(begun?.child ?? ""))).not.toContain("be brief");
  });

  test("has no limit if its parent's budget has none, also in the process that continues it", async () => {
    const inner = memoryJournal();
    const append: typeof inner.append = (session, seq, records, token) =>
      inner.append(session, seq, JSON.parse(JSON.stringify(records)) as LogRecord[], token);
    const journal = { ...inner, append };
    const { POSITIVE_INFINITY: tokens } = Number;
    const parent = new Agent({
      model: scripted([call("helper", { task: "t" }), say("end")], { usage }),
      journal,
      budget: { tokens, ms: tokens, modelCalls: tokens },
      tools: [
        helper(worker([call("press"), say("found")], { tools: [echo("press", { permission: "ask" })] })),
      ],
    });
    await parent.run("go", { session: "p" });
    expect(started(inner.read("p"))[0]?.reserved).toEqual({ agents: 63 });
    const session = await parent.open("p");
    const { end, messages } = await session.approve(session.pending[0]?.id ?? "");
    expect([end?.reason, resultTexts(messages)]).toEqual(["completed", ["found"]]);
  });

  test("gets an error that says so if its function returns no agent", async () => {
    const child = worker([say("found")]);
    for (const [agent, what] of [
      [async () => child, "a promise"],
      [() => undefined, "undefined"],
    ] as const) {
      const { messages } = await worker([call("helper", { task: "look" }), say("done")], {
        tools: [helper(agent as never)],
      }).run("go");
      expect(resultTexts(messages)).toEqual([
        `Error: sub-agent "helper": option agent: an Agent, given at once by its function, is needed, not ${what}`,
      ]);
    }
  });

  test("refuses an invalid depth, budget or number of sub-agents", async () => {
    const child = worker([]);
    expect(() => helper(child, { maxDepth: -1 })).toThrow(/maxDepth/);
    expect(() => helper(child, { budget: { tokens: 0 } })).toThrow(/tokens/);
    expect(() => worker([], { maxSubAgents: 1.5 })).toThrow(/maxSubAgents/);
  });
});

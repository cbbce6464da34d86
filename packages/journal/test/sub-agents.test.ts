// Sub-agents in journals that last: their sessions, what they spent, and going on in another process.

import {
  Agent,
  type AgentOptions,
  type Journal,
  type LogRecord,
  type Message,
  memoryJournal,
  type SubAgentOptions,
  subAgent,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { sqliteJournal } from "@rondo/journal";
import { call, type Script, say, scripted } from "@rondo/testkit";
import { afterEach, describe, expect, test } from "vitest";

const open: Journal[] = [];
afterEach(() => {
  for (const journal of open.splice(0)) void journal.close?.();
});

const journals: [string, () => Journal][] = [
  ["memory", () => memoryJournal()],
  [
    "SQLite",
    () => {
      const journal = sqliteJournal(":memory:");
      open.push(journal);
      return journal;
    },
  ],
];

const price = { input: 1_000_000, output: 1_000_000 };
const usage = { inputTokens: 10, outputTokens: 5 };

function worker(script: Script, options: Partial<AgentOptions> = {}): Agent {
  return new Agent({
    model: scripted(script, { usage, facts: { price } }),
    retry: { baseMs: 1, capMs: 2 },
    ...options,
  });
}

function helper(agent: Agent | (() => Agent), options: Partial<SubAgentOptions<never>> = {}): Tool {
  return subAgent({ name: "helper", description: "Does a part of the work", agent, ...options });
}

const started = (records: readonly LogRecord[]): (LogRecord & { type: "tool_started" })[] =>
  records.filter((record) => record.type === "tool_started");

const resultTexts = (messages: readonly Message[]): string[] =>
  messages.filter((message) => message.role === "tool").map(textOf);

/** A tool that says its own name back, by default a read. */
function echo(name: string, options: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  return tool({
    name,
    description: name,
    inputSchema: { type: "object", properties: {} },
    effect: "read",
    execute: () => `${name} ran`,
    ...options,
  });
}

describe.each(journals)("a sub-agent, kept in %s", (_name, make) => {
  test("does its task in a session of its own, which its parent's records lead to", async () => {
    const journal = make();
    const child = worker([say("42")]);
    const parent = worker([call("helper", { task: "what is it?" }), say("It is 42.")], {
      journal,
      tools: [helper(child)],
    });
    const session = await parent.open("p");
    const { text, end, messages } = await session.send("ask");
    expect([text, end?.reason]).toEqual(["It is 42.", "completed"]);
    expect(resultTexts(messages)).toEqual(["42"]);
    const [begun] = started(await journal.read("p"));
    expect(begun?.child).toBe(`p:${begun?.call}`);
    expect(begun?.child).toBe(begun?.idempotencyKey);
    const [first] = await journal.read(begun?.child ?? "");
    expect(first).toMatchObject({
      type: "run_started",
      parent: { session: "p", call: begun?.call, depth: 1 },
      input: [{ role: "user", content: [{ type: "text", text: "what is it?" }] }],
    });
  });

  test("counts in its parent's usage and money once", async () => {
    const journal = make();
    const child = worker([call("echo"), say("done")], { tools: [echo("echo")] });
    const parent = worker([call("helper", { task: "t" }), say("end")], { journal, tools: [helper(child)] });
    const result = await parent.run("go", { session: "p" });
    expect(result.usage).toEqual({ inputTokens: 40, outputTokens: 20 });
    expect(result.usd).toBeCloseTo(60);
    // The same again from the records alone.
    expect((await parent.open("p")).result?.usage).toEqual(result.usage);
  });

  test("waits for a person: the parent parks with the real call, and its answer reaches the sub-agent in another process", async () => {
    const journal = make();
    const pressed: unknown[] = [];
    const press = echo("press", {
      permission: "ask",
      effect: "write",
      inputSchema: { type: "object", properties: { force: { type: "number" } }, required: ["force"] },
      execute: (args: unknown) => {
        pressed.push(args);
        return "pressed";
      },
    } as never);
    const childScript = () => worker([call("press", { force: 3 }), say("it is pressed")], { tools: [press] });
    const script: Script = [call("helper", { task: "press" }), say("all done")];
    const first = worker(script, { journal, tools: [helper(childScript())] });
    const session = await first.open("p");
    const { parked } = await session.send("go");
    expect(parked?.pending).toMatchObject([
      { id: "call_1/call_1", name: "press", args: { force: 3 }, child: { agents: ["helper"] } },
    ]);
    expect(pressed).toEqual([]);

    // Another process: other agents, other models, whose first answers are the ones still to come.
    const second = worker([say("all done")], {
      journal,
      tools: [helper(worker([say("it is pressed")], { tools: [press] }))],
    });
    const reopened = await second.open("p");
    expect(reopened.pending.map((view) => view.id)).toEqual(["call_1/call_1"]);
    const { text, messages, usage: counted } = await reopened.approve("call_1/call_1");
    expect(text).toBe("all done");
    expect(resultTexts(messages)).toEqual(["it is pressed"]);
    expect(pressed).toEqual([{ force: 3 }]);
    expect(counted).toEqual({ inputTokens: 40, outputTokens: 20 });
  });

  test("goes on where it was when its parent's process died, and repeats no write of its own", async () => {
    const journal = make();
    const dead = Promise.withResolvers<void>();
    const writes: string[] = [];
    const write = echo("write", {
      effect: "write",
      execute: () => {
        writes.push("write");
        return "written";
      },
    });
    const reached = Promise.withResolvers<void>();
    const childOf = (script: Script) => worker(script, { tools: [write] });
    const first = worker([call("helper", { task: "t" })], {
      journal: dying(journal, dead.promise),
      tools: [
        helper(
          childOf([
            call("write"),
            () => {
              reached.resolve();
              return new Promise<never>(() => {});
            },
          ]),
        ),
      ],
    });
    const lost = (await first.open("p")).send("go");
    lost.catch(() => {});
    await reached.promise;
    dead.resolve();

    const second = worker([say("end")], { journal, tools: [helper(childOf([say("went on")]))] });
    const session = await second.open("p", { takeOver: true });
    expect(session.status).toBe("interrupted");
    const result = await session.resume();
    expect(result.text).toBe("end");
    expect(resultTexts(result.messages)).toEqual(["went on"]);
    expect(writes).toEqual(["write"]);
    const starts = started(await journal.read("p"));
    expect(starts.map((record) => record.child)).toEqual([starts[0]?.child, starts[0]?.child]);
    // Its own two answers, and the parent's two, each once: what was in flight when the process died was never counted.
    expect(result.usage).toEqual({ inputTokens: 40, outputTokens: 20 });
  });
});

/** A journal to which nothing gets any more once its process is dead. */
function dying(journal: Journal, dead: Promise<void>): Journal {
  let gone = false;
  void dead.then(() => {
    gone = true;
  });
  const { lease } = journal;
  return {
    append: (...args) => {
      if (gone) throw new Error("this process is dead");
      return journal.append(...args);
    },
    read: (...args) => journal.read(...args),
    list: () => journal.list(),
    ...(lease === undefined
      ? {}
      : { lease: (...args: Parameters<typeof lease>) => lease.apply(journal, args) }),
  };
}

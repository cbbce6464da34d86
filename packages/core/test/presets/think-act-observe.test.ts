// Think, act, observe: its loop, its limit, its tools' failures and its history, through the Agent's face.

import {
  Agent,
  type AgentOptions,
  byContent,
  isPaired,
  type Logger,
  type Message,
  memoryJournal,
  type Origin,
  RondoError,
  type RondoEvent,
  type RunResult,
  type Tool,
  textOf,
  tool,
} from "@rondo/core";
import { Chat, type ThinkActObserveOptions, thinkActObserve } from "@rondo/core/presets";
import { badArgs, call, calls, empty, fail, refuse, say, scripted, stop, type Turn } from "@rondo/testkit";
import { describe, expect, test } from "vitest";
import { deferred, echo, shortly } from "../support.ts";

type Given = Partial<ThinkActObserveOptions>;

/** A run with a scripted mind and the tool `look`. */
function run(
  script: readonly Turn[],
  given: Given = {},
  more: Partial<AgentOptions> = {},
): Promise<RunResult> {
  const model = scripted(script);
  return new Agent({ ...thinkActObserve({ model, tools: [echo("look")], ...given }), ...more }).run("go");
}

const ends = (word: Parameters<typeof stop>[0], ...turn: Turn[]): Turn => [...turn, stop(word)];

/** What the model was told of its calls, in order. */
const toldOf = ({ messages }: RunResult): string[] =>
  messages.flatMap((message) => (message.role === "tool" ? [textOf(message)] : []));

/** A tool that takes a path, and does what it is told. */
const reader = (execute: (args: { path: string }) => unknown): Tool =>
  tool({
    name: "read",
    description: "Reads",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    execute: (args) => execute(args as unknown as { path: string }),
  });

describe("the loop", () => {
  test("A2.6 adds the user's message, then sends the messages and all tool definitions in each iteration", async () => {
    const model = scripted([call("look"), call("other"), say("done")]);
    const tools = [echo("look"), echo("other")];
    const { text, steps } = await new Agent(thinkActObserve({ model, tools, maxIterations: 3 })).run("go");
    expect([text, steps, model.calls]).toEqual(["done", 3, 3]);
    expect(model.requests.map(({ messages }) => messages.map((one) => one.role).join(" "))).toEqual([
      "user",
      "user assistant tool",
      "user assistant tool assistant tool",
    ]);
    expect(model.requests[0]?.messages.map(textOf)).toEqual(["go"]);
    for (const request of model.requests)
      expect(request.tools).toEqual(tools.map(({ definition }) => definition));
  });

  test("A2.7 keeps every answer, also the final one, before it decides", async () => {
    const { messages } = await run([[say("hm"), call("look")], say("done")]);
    expect(shortly(messages)).toEqual([
      "user: go",
      "assistant: hm look()",
      "tool: look ran",
      "assistant: done",
    ]);
    // An answer the stop reason ends with calls is kept with them, and those are closed.
    const over = await run([ends("end_turn", say("bye"), call("look"))]);
    expect(shortly(over.messages).slice(0, 2)).toEqual(["user: go", "assistant: bye look()"]);
    expect([over.toolCalls, isPaired(over.messages)]).toEqual([0, true]);
    // The one at the limit as well.
    const agent = new Agent(
      thinkActObserve({ model: scripted([call("look")]), tools: [echo("look")], maxIterations: 1 }),
    );
    const session = await agent.open("s");
    await session.send("go");
    expect(shortly(session.messages)).toEqual(["user: go", "assistant: look()", "tool: look ran"]);
  });

  test("A2.8 A2.9 treats a refusal like any answer: its words are the text", async () => {
    const { text, end, messages } = await run([call("look"), [refuse("I will "), refuse("not.")]]);
    expect([text, end?.reason]).toEqual(["I will not.", "completed"]);
    expect(messages.at(-1)?.content.map(({ type }) => type)).toEqual(["text", "text"]);
  });

  test("A2.10 runs the calls one after another in their order, and keeps each result as soon as it is there", async () => {
    const first = deferred();
    const started = deferred();
    const slow = (name: string, execute: () => unknown): Tool => echo(name, { execute });
    const tools = [
      slow("one", async () => {
        started.resolve();
        await first.promise;
        return "1";
      }),
      slow("two", () => "2"),
    ];
    const journal = memoryJournal();
    const model = scripted([calls([["one"], ["two"], ["one"]]), say("done")]);
    const agent = new Agent({ ...thinkActObserve({ model, tools }), journal });
    const seen: string[] = [];
    const running = agent.run("go", {
      session: "s",
      onEvent: (event: RondoEvent) => {
        if (event.type === "tool_start" || event.type === "tool_end")
          seen.push(`${event.type} ${event.call.name}`);
      },
    });
    await started.promise;
    expect(seen).toEqual(["tool_start one"]);
    first.resolve();
    const { messages } = await running;
    expect(seen).toEqual(["one", "two", "one"].flatMap((name) => [`tool_start ${name}`, `tool_end ${name}`]));
    const kept = (await journal.read("s")).map(({ type }) => type).filter((type) => type.startsWith("tool_"));
    expect(kept).toEqual([
      "tool_started",
      "tool_finished",
      "tool_started",
      "tool_finished",
      "tool_started",
      "tool_finished",
    ]);
    expect(messages.flatMap((one) => (one.role === "tool" ? [`${one.name} ${textOf(one)}`] : []))).toEqual([
      "one 1",
      "two 2",
      "one 1",
    ]);
  });

  test("A2.10 runs every call of an answer, however many there are", async () => {
    const many = calls(Array.from({ length: 100 }, () => ["look"] as const));
    expect((await run([many, say("done")])).toolCalls).toBe(100);
  });

  test("A2.11 ends on end_turn with calls, where the other version of the rule would run them", async () => {
    const script = [ends("end_turn", say("text"), call("look")), say("done")];
    expect(await run(script)).toMatchObject({ text: "text", toolCalls: 0, steps: 1 });
    expect(await run(script, {}, { continueRule: byContent() })).toMatchObject({
      text: "done",
      toolCalls: 1,
    });
  });

  test.each(["google-generative-ai", "openai-responses", "ollama-chat"])(
    "A2.11 continues if a protocol has one stop word for answers with and without calls: %s",
    async (api) => {
      const origin: Origin = { api, provider: "p", model: "m" };
      const model = scripted([ends("end_turn", call("look")), ends("end_turn", say("done"))], { origin });
      const agent = new Agent(thinkActObserve({ model, tools: [echo("look")] }));
      expect(await agent.run("go")).toMatchObject({ text: "done", toolCalls: 1 });
    },
  );

  test("A2.9 A2.12 has no rule for unusual answers: truncated, paused, malformed and empty answers are answers", async () => {
    for (const word of ["max_tokens", "pause", "malformed_call", "stop_sequence", "unknown"] as const) {
      expect(await run([ends(word, call("look")), say("done")])).toMatchObject({
        text: "done",
        toolCalls: 1,
      });
      expect(await run([ends(word, say("so far"))])).toMatchObject({ text: "so far", steps: 1 });
      expect(await run([ends(word, empty())])).toMatchObject({ text: "", steps: 1 });
    }
    const same = Array.from({ length: 9 }, () => call("look"));
    expect(await run([...same, say("done")])).toMatchObject({ text: "done", toolCalls: 9 });
  });
});

describe("the limit", () => {
  const forever = (): ReturnType<typeof scripted> => scripted([call("look")], { repeatLast: true });

  test.each([
    [undefined, "Max iterations (3) reached"],
    ["reached", "Max iterations (3) reached"],
    ["reached_without_completion", "Max iterations (3) reached without completion"],
  ] as const)(
    "A2.13 rejects after the last allowed iteration, whose tools ran: %s",
    async (limitText, message) => {
      const model = forever();
      let ran = 0;
      const tools = [echo("look", { execute: () => ++ran })];
      const given = limitText === undefined ? {} : { limitText };
      const agent = new Agent(thinkActObserve({ model, tools, maxIterations: 3, ...given }));
      const thrown = await agent.run("go").catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(RondoError);
      expect((thrown as RondoError).message).toBe(message);
      expect([model.calls, ran]).toEqual([3, 3]);
    },
  );

  test("A2.13 does not count if an answer is final in the last iteration", async () => {
    expect(await run([call("look"), say("done")], { maxIterations: 2 })).toMatchObject({
      text: "done",
      steps: 2,
    });
  });

  test.each([[undefined], [0], [null], [10]])("A2.14 is ten iterations with %s", async (maxIterations) => {
    const model = forever();
    const given = maxIterations === undefined ? {} : { maxIterations };
    const agent = new Agent(thinkActObserve({ model, tools: [echo("look")], ...given }));
    await expect(agent.run("go")).rejects.toThrow(/^Max iterations \(10\) reached$/);
    expect(model.calls).toBe(10);
  });

  test("A2.14 must be valid", () => {
    for (const maxIterations of [-1, 1.5, Number.POSITIVE_INFINITY])
      expect(() => thinkActObserve({ model: forever(), maxIterations })).toThrow(/option maxIterations/);
  });
});

describe("history", () => {
  test("A2.15 survives a run, and a reset clears it", async () => {
    const model = scripted([say("one"), [call("look")], say("two"), say("three")]);
    const chat = new Chat(new Agent(thinkActObserve({ model, tools: [echo("look")] })));
    expect([await chat.run("first"), await chat.run("second")]).toEqual(["one", "two"]);
    expect(shortly(chat.messages)).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "assistant: look()",
      "tool: look ran",
      "assistant: two",
    ]);
    chat.reset();
    expect(chat.messages).toEqual([]);
    await chat.run("third");
    expect(shortly(model.requests.at(-1)?.messages ?? [])).toEqual(["user: third"]);
  });

  test("A2.15 belongs to the session, and a new one begins without it", async () => {
    const model = scripted([say("one"), say("two"), say("three")]);
    const agent = new Agent(thinkActObserve({ model }));
    const session = await agent.open("a");
    await session.send("first");
    await session.send("second");
    expect(shortly(session.messages)).toHaveLength(4);
    expect((await agent.open("b")).messages).toEqual([]);
  });

  test.each([
    ["the model", fail("overloaded", { message: "too many" }), "too many"],
    ["the limit", call("look"), "Max iterations (1) reached"],
  ])(
    "A2.15 is cleared by an exception of %s in an interactive chat, and only there",
    async (_what, turn, message) => {
      const script = (): Turn[] => [say("one"), turn, say("three")];
      for (const resetOnError of [true, false]) {
        const model = scripted(script());
        const agent = new Agent(thinkActObserve({ model, tools: [echo("look")], maxIterations: 1 }));
        const chat = new Chat(agent, { resetOnError });
        await chat.run("first");
        await expect(chat.run("second")).rejects.toThrow(message);
        expect(chat.messages.length > 0).toBe(!resetOnError);
        expect(await chat.run("third")).toBe("three");
        const asked = (model.requests.at(-1)?.messages ?? [])
          .filter(({ role }) => role === "user")
          .map(textOf);
        expect(asked).toEqual(resetOnError ? ["third"] : ["first", "second", "third"]);
      }
    },
  );
});

describe("a chat", () => {
  const chatWith = (script: readonly Turn[], tools: readonly Tool[] = []): Chat =>
    new Chat(new Agent(thinkActObserve({ model: scripted(script), tools })));

  test("is not lost by an empty message, and refuses a second run at the same time", async () => {
    const chat = chatWith([say("one"), say("two")]);
    await chat.run("first");
    await expect(chat.run("  ")).rejects.toThrow("the task is empty");
    expect(chat.messages).toHaveLength(2);
    const running = chat.run("second");
    await expect(chat.run("third")).rejects.toThrow("the chat is busy");
    expect(await running).toBe("two");
    expect(chat.messages).toHaveLength(4);
  });

  test("rejects if it was aborted, and if a call waits for an approval", async () => {
    await expect(chatWith([say("x")]).run("go", { signal: AbortSignal.abort("enough") })).rejects.toThrow(
      "the run was aborted: enough",
    );
    const chat = chatWith([call("look"), say("two")], [echo("look", { permission: "ask" })]);
    await expect(chat.run("go")).rejects.toThrow("look needs an approval");
    expect(await chat.run("again")).toBe("two");
  });

  test("keeps its sessions in the given journal, and emits its events", async () => {
    const journal = memoryJournal();
    const events: string[] = [];
    const agent = new Agent(thinkActObserve({ model: scripted([say("one")]) }));
    await new Chat(agent, { journal, onEvent: ({ type }) => events.push(type) }).run("go");
    expect((await journal.list()).length).toBe(1);
    expect(events.at(-1)).toBe("run_end");
  });
});

describe("failures", () => {
  test("of a chat have all their members", async () => {
    const known = { status: 402, raw: { code: "no_credit" }, retryAfterMs: 60_000 };
    const chat = new Chat(new Agent(thinkActObserve({ model: scripted([fail("quota_exhausted", known)]) })));
    await expect(chat.run("go")).rejects.toMatchObject({ kind: "quota_exhausted", ...known });
  });

  test.each(["overloaded", "network", "rate_limit", "auth", "internal"] as const)(
    "A2.16 an exception of the model is passed on, and is not retried: %s",
    async (kind) => {
      const model = scripted([fail(kind, { message: "no luck" }), say("never")]);
      const agent = new Agent(thinkActObserve({ model }));
      await expect(agent.run("go")).rejects.toMatchObject({ kind, message: "no luck" });
      expect(model.calls).toBe(1);
    },
  );

  test("A2.16 a tool that fails never rejects: the model reads what happened, and continues", async () => {
    const tools = [
      echo("look", {
        execute: () => {
          throw new Error("no light");
        },
      }),
      echo("late", { execute: () => Promise.reject("gone") }),
    ];
    const result = await run([calls([["look"], ["late"], ["nowhere"]]), say("done")], { tools });
    expect(result).toMatchObject({ text: "done", end: { reason: "completed" } });
    expect(toldOf(result)).toEqual([
      "Error executing look: no light",
      "Error executing late: gone",
      "Error: Unknown tool: nowhere",
    ]);
  });
});

describe("tools", () => {
  test("A3.17 an unknown tool is named in its result, whatever its arguments are", async () => {
    const script = [[call("nowhere", { a: 1 }), badArgs("elsewhere", "{")], say("done")];
    expect(toldOf(await run(script))).toEqual([
      "Error: Unknown tool: nowhere",
      "Error: Unknown tool: elsewhere",
    ]);
  });

  test("A3.18 wrong arguments are reported: one missing, one too many, not JSON, and what the tool calls a TypeError", async () => {
    const broken = reader(({ path }) => {
      if (path === "ok") return "read";
      throw new TypeError("path must be absolute");
    });
    const script = [
      [
        call("read"),
        call("read", { path: "ok", depth: 1 }),
        badArgs("read", '{"path":', { error: "the JSON is cut off" }),
        call("read", { path: "x" }),
        call("read", { path: "ok" }),
      ],
      say("done"),
    ];
    const told = toldOf(await run(script, { tools: [broken] }));
    expect(told[0]).toMatch(/^Error: Invalid arguments for read: .*path/);
    expect(told.slice(1)).toEqual([
      'Error: Invalid arguments for read: unexpected argument "depth"',
      "Error: Invalid arguments for read: the JSON is cut off",
      "Error: Invalid arguments for read: path must be absolute",
      "read",
    ]);
  });

  test("A3.18 a schema that allows other names accepts any", async () => {
    const open = echo("look", {
      inputSchema: { type: "object", properties: {}, additionalProperties: true },
    });
    expect(toldOf(await run([call("look", { any: 1 }), say("done")], { tools: [open] }))).toEqual([
      "look ran",
    ]);
  });

  test("A3.19 any other exception is reported with its message", async () => {
    for (const [thrown, message] of [
      [new Error("disk full"), "disk full"],
      [new RangeError("too far"), "too far"],
      ["a text", "a text"],
    ] as const) {
      const tools = [
        reader(() => {
          throw thrown;
        }),
      ];
      const result = await run([call("read", { path: "x" }), say("done")], { tools });
      expect(toldOf(result)).toEqual([`Error executing read: ${message}`]);
    }
  });

  test("A3.20 registering a name again replaces the tool with a warning; definitions keep the order of registration", async () => {
    const warnings: string[] = [];
    const silent = (): void => {};
    const logger: Logger = {
      debug: silent,
      info: silent,
      error: silent,
      warn: (message) => warnings.push(message),
    };
    const model = scripted([call("b"), say("done")]);
    const tools = [echo("b"), echo("a"), echo("b", { description: "newer", execute: () => "newer ran" })];
    const options = thinkActObserve({ model, tools, logger });
    expect(warnings).toEqual(["[REGISTRY] Warning: Overwriting existing tool: b"]);
    const names = options.tools?.map(({ name }) => name) ?? [];
    expect([names, names.length, names.includes("b"), names.includes("c")]).toEqual([
      ["b", "a"],
      2,
      true,
      false,
    ]);
    const result = await new Agent(options).run("go");
    expect(toldOf(result)).toEqual(["newer ran"]);
    expect(model.requests[0]?.tools.map(({ name, description }) => [name, description])).toEqual([
      ["b", "newer"],
      ["a", "a"],
    ]);
  });

  test("A3.20 an Agent without the preset refuses a repeated name", () => {
    const options = { model: scripted([]), tools: [echo("b"), echo("b")] };
    expect(() => new Agent(options)).toThrow('two tools are named "b"');
  });
});

describe("the system prompt", () => {
  test("is a coding assistant's by default, yours, or none", async () => {
    const asked = async (given: Given): Promise<string | undefined> => {
      const model = scripted([say("done")]);
      await new Agent(thinkActObserve({ model, ...given })).run("go");
      return model.requests[0]?.system;
    };
    expect(await asked({})).toBe(
      "You are a helpful coding assistant. Use tools when needed to accomplish the user's request.",
    );
    expect(await asked({ system: "Be a clerk." })).toBe("Be a clerk.");
    expect(await asked({ system: null })).toBeUndefined();
  });
});

describe("neutral data", () => {
  test("A1.1 an answer has text or none, calls, and a stop reason", async () => {
    const { messages } = await run([[say("hm"), call("look")], say("done")]);
    const [, first, , last] = messages as [Message, Message, Message, Message];
    expect(first).toMatchObject({ role: "assistant", stop: { kind: "tool_use", wire: "tool_use" } });
    expect(last).toMatchObject({ role: "assistant", stop: { kind: "end_turn", wire: "end_turn" } });
    expect([textOf(first), textOf(last)]).toEqual(["hm", "done"]);
    const bare = await run([call("look"), empty()]);
    expect(bare.messages[1]?.content.map(({ type }) => type)).toEqual(["tool_call"]);
    expect(bare.text).toBe("");
  });

  test("A1.2 a call has id, name and an input that is an object, never a string", async () => {
    const seen: unknown[] = [];
    const { messages } = await run([call("read", { path: "x" }, { id: "c1" }), say("done")], {
      tools: [reader((args) => seen.push(args))],
    });
    expect(messages[1]?.content).toMatchObject([
      { type: "tool_call", id: "c1", name: "read", args: { path: "x" } },
    ]);
    expect(seen).toEqual([{ path: "x" }]);
  });

  test("A1.4 history: a user's text, the assistant's answer, each result a message of its own with id and name; readers get a copy", async () => {
    const script = [
      calls([
        ["look", {}, { id: "c1" }],
        ["look", {}, { id: "c2" }],
      ]),
      say("done"),
    ];
    const agent = new Agent(thinkActObserve({ model: scripted(script), tools: [echo("look")] }));
    const session = await agent.open("s");
    const { messages } = await session.send("go");
    expect(messages[0]).toEqual({ role: "user", content: [{ type: "text", text: "go" }] });
    const result = (callId: string): object => ({
      role: "tool",
      callId,
      name: "look",
      content: [{ type: "text", text: "look ran" }],
      isError: false,
    });
    expect(messages.slice(2, 4)).toEqual([result("c1"), result("c2")]);
    messages.length = 0;
    session.messages.push({ role: "user", content: [] });
    expect(session.messages).toHaveLength(5);
    expect(session.result?.messages).toHaveLength(5);
  });

  test("A1.4 a result without a tool's name, whose call has none either, belongs to the tool unknown", async () => {
    const history = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: [{ type: "tool_call", id: "c1", name: "", args: {}, rawArgs: "{}" }],
        origin: { api: "a", provider: "p", model: "m" },
        stop: { kind: "tool_use", wire: "tool_use" },
      },
      { role: "tool", callId: "c1", content: [{ type: "text", text: "seen" }], isError: false },
      { role: "user", content: [{ type: "text", text: "and?" }] },
    ] as unknown as Message[];
    const { messages } = await new Agent(thinkActObserve({ model: scripted([say("done")]) })).run(history);
    expect(messages[2]).toMatchObject({ role: "tool", callId: "c1", name: "unknown" });
    expect(messages).toHaveLength(5);
  });
});
